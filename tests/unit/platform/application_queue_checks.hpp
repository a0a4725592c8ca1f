// What the application's queue does on every back end: memory, copies in order, numbers waited for.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <idletune/application_queue.hpp>

#include "tests/unit/required.hpp"

namespace idletune::test {

using MakeQueue = Result<std::unique_ptr<ApplicationQueue>> (*)(Device&);

inline std::unique_ptr<ApplicationQueue> queue_of(MakeQueue make, Device& device) {
  return required(make(device));
}

inline std::unique_ptr<Buffer> memory_of(ApplicationQueue& queue, std::size_t bytes) {
  return required(queue.allocate(bytes));
}

// `handle` is that of the device's application queue or stream.
inline void check_copies(MakeQueue make, std::unique_ptr<Device> device, const void* handle) {
  const auto queue = queue_of(make, *device);
  CHECK(queue->handle() == handle);
  device.reset();  // the queue and its memory live on
  const auto a = memory_of(*queue, 64);
  const auto b = memory_of(*queue, 16);
  std::array<std::uint8_t, 16> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint8_t>(i);
  CHECK(queue->write(*a, 48, Bytes(numbers.data(), 16)).ok());
  CHECK(queue->copy(*a, 52, *b, 0, 12).ok());
  std::array<std::uint8_t, 12> back{};
  CHECK(queue->read(*b, 0, MutableBytes(back.data(), 12)).ok());
  CHECK(queue->wait().ok());  // nothing is left to wait for
  CHECK(back[0] == 4);
  CHECK(back[11] == 15);
  const auto number = required(queue->number<std::uint32_t>(*b, 4));
  CHECK(number == 0x0b0a0908);
}

template <class Stub>
void check_copies_outside(MakeQueue make, const Stub& stub, Device& device, const char* copy_call) {
  const auto queue = queue_of(make, device);
  const auto a = memory_of(*queue, 64);
  const auto b = memory_of(*queue, 16);
  const std::array<std::uint8_t, 32> data{};
  CHECK(queue->write(*b, 0, Bytes(data.data(), 32)).code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 56, *b, 0, 16).code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 0, *b, 8, 16).code() == StatusCode::invalid_argument);
  CHECK(queue->number<double>(*b, 12).status().code() == StatusCode::invalid_argument);
  CHECK(stub.calls(copy_call) == 0);
  CHECK(queue->allocate(0).status().code() == StatusCode::invalid_argument);
  CHECK(queue->copy(*a, 64, *b, 16, 0).ok());
}

template <class Stub>
void check_errors(MakeQueue make, const Stub& stub, Device& device, const char* copy_call,
                  const char* wait_call, int error) {
  const auto queue = queue_of(make, device);
  const auto a = memory_of(*queue, 64);
  stub.fail(copy_call, error, 0);
  const Status status = queue->copy(*a, 0, *a, 32, 16);
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message().find(copy_call) != std::string::npos);
  stub.fail(wait_call, error, 0);
  CHECK(queue->wait().message().find(wait_call) != std::string::npos);
}

}  // namespace idletune::test
