// What an application and host libraries need of a device besides launches: memory, copies in the
// order of the launches, and a number to wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <idletune/device.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// The queue or stream that launches go to unless they name another: the one given to adopt(), or
// the device's own. Made by opencl::application_queue or cuda::application_queue; it and its
// buffers may outlive the device. Unlike the functions of Device, all may be called while an agent
// tunes, from any thread.
//
// Everything happens in the order in which it was enqueued, launches included, also where the queue
// is out of order. Offsets and sizes are bytes and must lie inside the buffer. Errors:
// invalid_argument (they do not), device_error.
class ApplicationQueue {
 public:
  virtual ~ApplicationQueue() = default;
  // The cl_command_queue or CUstream; stays the device's.
  virtual void* handle() const = 0;
  // Device memory without a value. Freed with the Buffer, which must not happen before what uses it
  // is done. Error: out_of_memory.
  virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;
  // Returns when the bytes are there, and all that was enqueued before is done. (NVIDIA's OpenCL
  // takes five times as long where reading and waiting are two calls.)
  virtual Status read(const Buffer& from, std::size_t offset, MutableBytes data) = 0;
  // These two return when the copy is enqueued. The caller's memory stays as it is until a later
  // wait() or read() has returned.
  virtual Status write(Buffer& to, std::size_t offset, Bytes data) = 0;
  // Between two buffers, or two parts of one that do not overlap.
  virtual Status copy(const Buffer& from, std::size_t from_offset, Buffer& to,
                      std::size_t to_offset, std::size_t bytes) = 0;
  // Returns when all that was enqueued is done.
  virtual Status wait() = 0;

  // The number at `offset`.
  template <class T>
  Result<T> number(const Buffer& from, std::size_t offset = 0) {
    static_assert(std::is_arithmetic_v<T>, "one number");
    T value{};
    Status status =
        read(from, offset, MutableBytes(reinterpret_cast<std::uint8_t*>(&value), sizeof value));
    if (!status.ok()) return status;
    return value;
  }
};

}  // namespace idletune
