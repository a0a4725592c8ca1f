// Time since a moment, by the device's clock, and times in microseconds.
#pragma once

#include <chrono>

#include <idletune/device.hpp>

namespace idletune::krylov {

using Microseconds = std::chrono::duration<double, std::micro>;

class Stopwatch {
 public:
  explicit Stopwatch(const Device& device) : device_(device), begin_(device.now()) {}
  double seconds() const { return std::chrono::duration<double>(device_.now() - begin_).count(); }

 private:
  const Device& device_;
  const Nanoseconds begin_;
};

}  // namespace idletune::krylov
