// What the device can do at most, measured beside what is compared with it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <idletune/device.hpp>

namespace idletune::bench {

// Runs of one device; its tuning queue is used. Throws std::runtime_error where the device refuses.
class Ceilings {
 public:
  // `footprint_bytes`: of the kernel that is compared. What fits a cache there is measured in it
  // here.
  Ceilings(Device& device, double footprint_bytes);

  // One more run of everything.
  void measure();

  // The best so far; 0 before the first measure(). Bytes and operations per nanosecond.
  double bandwidth() const { return bandwidth_; }    // c[i] = a[i] + s b[i]
  double throughput() const { return throughput_; }  // independent fused multiply-adds

 private:
  struct Arithmetic {  // one shape of the same arithmetic; which is quickest depends on the
                       // compiler
    std::unique_ptr<Program> program;
    double operations_per_item;
  };
  std::unique_ptr<Program> compile(const char* source, const char* entry, const char* options);
  double run_ns(Program& program, std::size_t items, std::vector<Argument> arguments);

  Device& device_;
  std::size_t floats_;  // per buffer
  std::unique_ptr<Buffer> buffers_[3];
  struct Triad {
    std::unique_ptr<Program> program;
    std::size_t per_item;
  };
  std::vector<Triad> triads_;
  std::vector<Arithmetic> arithmetic_;
  double bandwidth_ = 0;
  double throughput_ = 0;
};

}  // namespace idletune::bench
