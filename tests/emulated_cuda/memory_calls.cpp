// Calls on memory.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/emulated_cuda/driver_state.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

// Who calls with what does not fit: an error, and a finding.
Error refused(const char* call, const std::string& what) {
  state().findings.add(std::string(call) + ": " + what);
  return kInvalidValue;
}

// The current context's allocation that has all these bytes; null: there is none.
Allocation* allocation_with(DeviceAddress address, std::size_t bytes) {
  Allocation* found = current_context()->device->memory.find(address);
  const bool is_own = found != nullptr && found->context == current_context();
  return is_own && found->holds(address, bytes) ? found : nullptr;
}

std::string described(DeviceAddress address) {
  return current_context()->device->memory.describe(address, current_context());
}

std::string outside(DeviceAddress address, std::size_t bytes) {
  return std::to_string(bytes) + " bytes from " + described(address);
}

enum class Direction { from_device, to_device };

// `copy` gets where the device's bytes are, and how many of them nobody wrote matters to it.
template <class Copy>
Error copy_on(const char* call, Direction direction, DeviceAddress address, std::size_t bytes,
              StreamHandle handle, Copy copy) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  Allocation* allocation = allocation_with(address, bytes);
  if (allocation == nullptr) return refused(call, outside(address, bytes));
  stream->add([allocation, at = address - allocation->start, direction, copy](Stream& self) {
    Device& device = *self.context->device;
    device.turn.take();
    if (direction == Direction::to_device) allocation->version = device.memory.new_version();
    if (self.context->device->spoilt_by == kSuccess) {
      copy(allocation->data.data() + at, allocation->written.data() + at);
    }
    device.turn.give_back();
  });
  return kSuccess;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Error cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  if (bytes == 0) return kInvalidValue;
  const Error refused_now = refuse_while_capturing();
  if (refused_now != kSuccess) return refused_now;
  *address = current_context()->device->memory.allocate(bytes, false, current_context());
  return *address != 0 ? kSuccess : kOutOfMemory;
}

// Waits for all kernels of the device, as drivers do.
Error cuMemFree_v2(DeviceAddress address) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const Error refused_now = refuse_while_capturing();
  if (refused_now != kSuccess) return refused_now;
  Device& device = *current_context()->device;
  device.wait();
  if (allocation_with(address, 1) == nullptr || !device.memory.release(address)) {
    return refused("cuMemFree", "an address where no allocation begins: " + described(address));
  }
  return check_context();
}

Error cuMemGetAddressRange_v2(DeviceAddress* start, std::size_t* bytes, DeviceAddress address) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const Allocation* found = allocation_with(address, 1);
  if (found == nullptr) return kNotFound;
  *start = found->start;
  *bytes = static_cast<std::size_t>(found->bytes);
  return kSuccess;
}

// The caller's bytes are taken at once.
Error cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes,
                           StreamHandle stream) {
  if (bytes == 0) return check_context();
  const auto* first = static_cast<const unsigned char*>(from);
  const std::vector<unsigned char> taken(first, first + bytes);
  return copy_on("cuMemcpyHtoD", Direction::to_device, to, bytes, stream,
                 [taken](unsigned char* data, unsigned char* written) {
                   std::copy(taken.begin(), taken.end(), data);
                   std::fill_n(written, taken.size(), 1);
                 });
}

// Waits until the bytes are there. They may be such as nobody wrote: programs copy whole buffers.
Error cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return check_context();
  const Error error = copy_on("cuMemcpyDtoH", Direction::from_device, from, bytes, stream,
                              [to, bytes](const unsigned char* data, const unsigned char*) {
                                std::memcpy(to, data, bytes);
                              });
  return error != kSuccess ? error : (stream_of(stream)->wait(), check_context());
}

Error cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                           StreamHandle stream) {
  const Error error = check_context();
  if (error != kSuccess || bytes == 0) return error;
  Allocation* source = allocation_with(from, bytes);
  if (source == nullptr) return refused("cuMemcpyDtoD", outside(from, bytes));
  return copy_on(
      "cuMemcpyDtoD", Direction::to_device, to, bytes, stream,
      [source, at = from - source->start, bytes](unsigned char* data, unsigned char* written) {
        std::memmove(data, source->data.data() + at, bytes);
        std::memmove(written, source->written.data() + at, bytes);
      });
}

#pragma GCC visibility pop
}
