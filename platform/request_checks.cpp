#include "platform/request_checks.hpp"

namespace idletune {
namespace {

constexpr std::uint32_t kMaxLanes = 256;

}  // namespace

Status check_request(const CompileRequest& request) {
  if (request.lanes - 1 < kMaxLanes && !request.entry.empty()) return {};
  return {StatusCode::invalid_argument,
          "compile: expected an entry point and 1..% lanes, got '%' and %", kMaxLanes,
          request.entry, request.lanes};
}

Status check_allocation(const DeviceInfo& device, std::size_t bytes) {
  if (bytes == 0) return {StatusCode::invalid_argument, "allocate: expected at least one byte"};
  const std::uint64_t limit = device.max_allocation_bytes;
  if (limit == 0 || bytes <= limit) return {};
  return {StatusCode::out_of_memory, "allocate: % bytes; the device allows at most % at once",
          bytes, limit};
}

Status check_range(const Buffer& buffer, std::size_t offset, std::size_t size) {
  if (offset <= buffer.size_bytes() && size <= buffer.size_bytes() - offset) return {};
  return {StatusCode::invalid_argument, "copy of % bytes at % of a buffer of %: expected it inside",
          size, offset, buffer.size_bytes()};
}

Result<Nanoseconds> checked_time(Result<Nanoseconds> told) {
  if (!told.ok() || told->count() > 0) return told;
  return {StatusCode::device_error, "elapsed: the driver's time of a launch is none"};
}

}  // namespace idletune
