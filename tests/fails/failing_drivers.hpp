// The drivers that fail at a chosen call: stubs on which one kernel runs, out = factor * in.
#pragma once

#include <memory>
#include <string>

#include <idletune/device.hpp>

#include "models/package/package_specs.hpp"

namespace idletune::test {

class FailingDriver {
 public:
  virtual ~FailingDriver() = default;
  virtual Result<std::unique_ptr<Device>> open() = 0;
  // What the kernel is called and written in.
  virtual Dialect dialect() const = 0;
  virtual std::string entry() const = 0;
  virtual std::string source() const = 0;
  // Where the helper finds these libraries.
  virtual void set_environment() const = 0;
  // From now on the n-th call fails for want of resources; 0: none does, and none is counted.
  virtual void fail(unsigned long n) = 0;
  virtual unsigned long counted_calls() const = 0;
  virtual std::string failed_call() const = 0;  // empty: none did
  // The same of a compiler that is a library of its own; 0 calls where there is none. `fail`
  // returns how many there were.
  virtual unsigned long fail_compiler(unsigned long n) = 0;
  virtual long live_programs() const = 0;  // of that compiler
  virtual long new_objects() const = 0;    // made and not released since this is
};

std::unique_ptr<FailingDriver> failing_cuda();
std::unique_ptr<FailingDriver> failing_opencl();

}  // namespace idletune::test
