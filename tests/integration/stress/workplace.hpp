// What the stress runs work on: a kernel, two models for it, a state folder with adoptions from an
// earlier run, and an application whose threads launch and check what comes out. Failures are
// exceptions; std::terminate() says which.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::stress {

// out = 2 * in over one dimension, N; parameters WIDTH and PER.
std::vector<std::uint8_t> package();
inline const Configuration kAdopted{32, 2};
inline constexpr std::int64_t kMaxElements = 4096;
// Shape number i; different for each i, at most kMaxElements elements.
Shape shape_of(std::size_t i);
inline constexpr std::size_t kAdoptedShapes = 24;  // adopted earlier: more than are built at once
inline constexpr std::size_t kMaxShapes = 32;      // that the agents take
inline constexpr std::size_t kShapes = 40;         // that are launched

// Models of generation 1 that start with this configuration.
std::vector<std::uint8_t> model_saying(std::int64_t width, std::int64_t per);

void require(bool holds, const std::string& what);
void require(const Status& status, const char* what);

// Files of one run.
class Workplace {
 public:
  Workplace();
  // As an earlier run on this device left it: kAdoptedShapes adoptions. Its path.
  std::string state_with_adoptions(const DeviceInfo& device, const char* name) const;
  // Replaces the model file: one of two, sometimes by nonsense.
  void push_model(std::uint64_t number) const;
  const std::string& model() const { return model_; }
  const std::string& package_file() const { return package_; }

 private:
  test::TemporaryFolder folder_;
  std::string model_ = folder_.path() + "/model.itmodel";
  std::string package_ = folder_.path() + "/stress.itkernel";
};

// What a launching thread owns: an output buffer, and a queue unless it shares the adopted one.
class Launcher {
 public:
  // `handles`: the device's; they outlive the launcher.
  Launcher(const opencl::Handles& handles, bool own_queue);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  cl_mem in() const { return in_; }
  cl_mem out() const { return out_; }
  cl_command_queue queue() const { return queue_; }
  void poison();
  // Waits for the launches before; whether the first `elements` outputs are twice the inputs.
  bool output_is_right(std::int64_t elements);

 private:
  std::shared_ptr<const opencl::Api> api_;
  std::vector<float> input_, output_;
  cl_command_queue queue_ = nullptr;
  cl_mem in_ = nullptr, out_ = nullptr;
};

// Eight threads launch all shapes over and over, each with a launcher of its own, until `stop`; now
// and then they check what came out. `launch` launches a shape once.
inline constexpr int kLaunchers = 8;
using Launch = std::function<void(Launcher&, const Shape&)>;
struct Launched {
  std::atomic<std::uint64_t> launches{0};
  std::atomic<std::uint64_t> checks{0};
};
void launch_until(const std::atomic<bool>& stop, const opencl::Handles& handles,
                  const Launch& launch, Launched& done);

// A call that several threads make over and over.
struct Call {
  const char* name;
  std::function<void(std::uint64_t turn)> make;  // its how manieth time, from 0
};
// Four threads make the calls in turn, each beginning elsewhere, until `stop`. counts[i]: of call
// i.
void call_until(const std::atomic<bool>& stop, const std::vector<Call>& calls,
                std::vector<std::atomic<std::uint64_t>>& counts);

// Launches and calls at once for `seconds`, and on until every call was made and `enough` holds
// (but not for ever). Says what was done.
void run_all(const char* title, double seconds, const opencl::Handles& handles,
             const Launch& launch, const std::vector<Call>& calls,
             const std::function<bool()>& enough);

// The runs: the C++ interface in both ways of isolation, and the C interface.
void stress_agent(double seconds, bool in_process);
void stress_c_interface(double seconds);

}  // namespace idletune::stress
