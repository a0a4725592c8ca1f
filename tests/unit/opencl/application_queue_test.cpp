// The application's queue of OpenCL.
#include <doctest/doctest.h>

#include <utility>

#include <idletune/opencl.hpp>

#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/platform/application_queue_checks.hpp"

using idletune::test::open_stub;
namespace opencl = idletune::opencl;

TEST_CASE("OpenCL: what an application writes, copies and waits for comes back") {
  const idletune::test::Stub stub;
  auto device = open_stub(stub);
  const void* handle = opencl::handles(*device).queue;
  idletune::test::check_copies(opencl::application_queue, std::move(device), handle);
}

TEST_CASE("OpenCL: a copy outside its buffer is refused before the driver sees it") {
  const idletune::test::Stub stub;
  const auto device = open_stub(stub);
  idletune::test::check_copies_outside(opencl::application_queue, stub, *device,
                                       "clEnqueueCopyBuffer");
}

TEST_CASE("OpenCL: an error of the driver names its call") {
  const idletune::test::Stub stub;
  const auto device = open_stub(stub);
  idletune::test::check_errors(opencl::application_queue, stub, *device, "clEnqueueCopyBuffer",
                               "clFinish", -5);
}
