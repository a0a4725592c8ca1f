// The application's queue of CUDA.
#include <doctest/doctest.h>

#include <utility>

#include <idletune/cuda.hpp>

#include "tests/unit/cuda/stub_device.hpp"
#include "tests/unit/platform/application_queue_checks.hpp"

using idletune::test::open_stub;
namespace cuda = idletune::cuda;

TEST_CASE("CUDA: what an application writes, copies and waits for comes back") {
  const idletune::test::CudaStub stub;
  auto device = open_stub(stub);
  const void* handle = cuda::handles(*device).stream;
  idletune::test::check_copies(cuda::application_queue, std::move(device), handle);
}

TEST_CASE("CUDA: a copy outside its buffer is refused before the driver sees it") {
  const idletune::test::CudaStub stub;
  const auto device = open_stub(stub);
  idletune::test::check_copies_outside(cuda::application_queue, stub, *device, "cuMemcpyDtoDAsync");
}

TEST_CASE("CUDA: an error of the driver names its call") {
  const idletune::test::CudaStub stub;
  const auto device = open_stub(stub);
  idletune::test::check_errors(cuda::application_queue, stub, *device, "cuMemcpyDtoDAsync",
                               "cuStreamSynchronize", 1);
}
