// What tests of solvers stand on: the first OpenCL device and a queue of the application's.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include <idletune/opencl.hpp>

namespace idletune::test {

struct Subject {
  std::unique_ptr<Device> device;
  std::unique_ptr<ApplicationQueue> queue;
};

inline Subject open_subject() {
  auto device = opencl::open(0);
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  auto queue = opencl::application_queue(**device);
  REQUIRE_MESSAGE(queue.ok(), queue.status().to_string());
  return {std::move(*device), std::move(*queue)};
}

}  // namespace idletune::test
