// The application's queue: memory, copies in order, numbers waited for; CUDA.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <idletune/cuda.hpp>

#include "tests/unit/cuda/stub_device.hpp"

using idletune::Bytes;
using idletune::MutableBytes;
using idletune::StatusCode;
using idletune::test::open_stub;
namespace cuda = idletune::cuda;

namespace {

std::unique_ptr<idletune::ApplicationQueue> queue_of(idletune::Device& device) {
  auto queue = cuda::application_queue(device);
  REQUIRE_MESSAGE(queue.ok(), queue.status().to_string());
  return std::move(*queue);
}

std::unique_ptr<idletune::Buffer> memory_of(idletune::ApplicationQueue& queue, std::size_t bytes) {
  auto buffer = queue.allocate(bytes);
  REQUIRE_MESSAGE(buffer.ok(), buffer.status().to_string());
  return std::move(*buffer);
}

}  // namespace

TEST_CASE("CUDA: what an application writes, copies and waits for comes back") {
  idletune::test::CudaStub stub;
  auto device = open_stub(stub);
  const auto queue = queue_of(*device);
  CHECK(queue->handle() == cuda::handles(*device).stream);
  device.reset();  // the queue and its memory live on
  const auto a = memory_of(*queue, 64);
  const auto b = memory_of(*queue, 16);
  std::array<std::uint8_t, 16> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint8_t>(i);
  CHECK(queue->write(*a, 48, Bytes(numbers.data(), 16)).ok());
  CHECK(queue->copy(*a, 52, *b, 0, 12).ok());
  std::array<std::uint8_t, 12> back{};
  CHECK(queue->read(*b, 0, MutableBytes(back.data(), 12)).ok());
  CHECK(queue->wait().ok());
  CHECK(back[0] == 4);
  CHECK(back[11] == 15);
  const auto number = queue->number<std::uint32_t>(*b, 4);
  REQUIRE(number.ok());
  CHECK(*number == 0x0b0a0908);
}

TEST_CASE("CUDA: a copy outside its buffer is refused before the driver sees it") {
  idletune::test::CudaStub stub;
  const auto device = open_stub(stub);
  const auto queue = queue_of(*device);
  const auto a = memory_of(*queue, 64);
  const auto b = memory_of(*queue, 16);
  const std::array<std::uint8_t, 32> data{};
  CHECK(queue->write(*b, 0, Bytes(data.data(), 32)).code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 56, *b, 0, 16).code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 0, *b, 8, 16).code() == StatusCode::invalid_argument);
  CHECK(queue->number<double>(*b, 12).status().code() == StatusCode::invalid_argument);
  CHECK(stub.calls("cuMemcpyDtoDAsync") == 0);
  CHECK(queue->allocate(0).status().code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 64, *b, 16, 0).ok());
}

TEST_CASE("CUDA: an error of the driver names its call") {
  idletune::test::CudaStub stub;
  const auto device = open_stub(stub);
  const auto queue = queue_of(*device);
  const auto a = memory_of(*queue, 64);
  stub.fail("cuMemcpyDtoDAsync", 1, 0);
  const idletune::Status status = queue->copy(*a, 0, *a, 32, 16);
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message().find("cuMemcpyDtoDAsync") != std::string::npos);
  stub.fail("cuStreamSynchronize", 1, 0);
  CHECK(queue->wait().message().find("cuStreamSynchronize") != std::string::npos);
}
