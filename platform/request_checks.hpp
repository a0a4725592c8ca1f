// What every back end asks of a request before it troubles its driver, and of an answer. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune {

// Error: invalid_argument where the request names no entry point or the lanes are not 1 to 256.
Status check_request(const CompileRequest& request);

// Errors: invalid_argument (no bytes), out_of_memory (more than the device allows at once).
Status check_allocation(const DeviceInfo& device, std::size_t bytes);

// Error: invalid_argument unless `size` bytes at `offset` are inside the buffer.
Status check_range(const Buffer& buffer, std::size_t offset, std::size_t size);

// What a driver tells of a launch that has ended. Error: device_error where that is no time.
Result<Nanoseconds> checked_time(Result<Nanoseconds> told);

}  // namespace idletune
