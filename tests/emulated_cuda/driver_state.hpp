// What the emulated driver remembers.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/board.hpp"
#include "tests/emulated_cuda/device_memory.hpp"
#include "tests/emulated_cuda/findings.hpp"
#include "tests/emulated_cuda/graph.hpp"
#include "tests/emulated_cuda/launch.hpp"
#include "tests/emulated_cuda/remembered_launches.hpp"
#include "tests/emulated_cuda/stream.hpp"
#include "tests/emulated_cuda/turn.hpp"

namespace emulated_cuda {

using idletune::cuda::Error;

struct Device;

struct Context {
  explicit Context(Device* of) : device(of) {}
  Device* const device;
};

// A module on a device, and one of its kernels.
struct Program {
  ~Program();
  Context* context = nullptr;
  std::unique_ptr<Module> module;
  LoadedModule loaded;
  RememberedLaunches remembered;
  std::atomic<bool> unloaded{false};  // only graphs and late launches still have it
};
struct Function {
  std::shared_ptr<Program> program;
  const Kernel* kernel = nullptr;
};

// What callers hold handles of.
template <class Object>
class Registry {
 public:
  template <class Handle>
  void keep(std::shared_ptr<Object> object, Handle* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *handle = reinterpret_cast<Handle>(object.get());
    objects_[object.get()] = std::move(object);
  }
  // Null: no such object lives.
  std::shared_ptr<Object> find(const void* handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(handle);
    return found != objects_.end() ? found->second : nullptr;
  }
  std::shared_ptr<Object> take(const void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    for (const auto& entry : objects_) objects.push_back(entry.second);
    return objects;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const void*, std::shared_ptr<Object>> objects_;
};

struct Device {
  Device(const Board& its_board, std::atomic<Error>& spoilt)
      : board(its_board), spoilt_by(spoilt), memory(its_board.memory_bytes), primary(this) {}
  const Board& board;
  std::atomic<Error>& spoilt_by;  // its state's, which may be an older one than state()
  DeviceMemory memory;
  Turn turn;
  Context primary;
  std::shared_ptr<Stream> default_stream = std::make_shared<Stream>(&primary, 0);
  // Until all streams of the device have done what was added to them.
  void wait() const;
};

struct State {
  State();
  Findings findings;
  const std::string work_file;  // of IDLETUNE_EMULATED_WORK; empty: none
  // An error that ends a context ends every context of the process, as an H100 showed (driver 580): no
  // call succeeds any more, and none is made anew.
  std::atomic<Error> spoilt_by{idletune::cuda::kSuccess};
  std::vector<std::unique_ptr<Device>> devices;
  Registry<Context> contexts;  // besides the primary ones
  Registry<Stream> streams;
  Registry<Event> events;
  Registry<Program> programs;
  Registry<Function> functions;
  Registry<Graph> graphs;
};

// Outlives every exit handler, since kernels may still run then.
State& state();
// A new state; the old one stays where threads may still use it.
void reset_state();

// Of the calling thread; null: none.
Context* current_context();
std::vector<Context*>& context_stack();
// kSuccess, if the thread has a context that no error has ended.
Error check_context();
// The stream of a handle, the default streams among them; null: there is none.
std::shared_ptr<Stream> stream_of(idletune::cuda::StreamHandle handle);
// The default streams are everybody's.
bool is_of_current_context(const Stream& stream);

}  // namespace emulated_cuda
