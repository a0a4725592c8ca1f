// What the application and idletune-helper say to each other. Both are the same version; a
// different one is refused. Whatever changes the bytes of a message raises kVersion.
//
// A message is a frame: 12 bytes of header and a payload, all integers little-endian.
//   0  u8   0xd7
//   1  u8   kVersion
//   2  u8   MessageType
//   3  u8   0
//   4  u32  bytes of payload, at most kMaxPayloadBytes
//   8  u32  CRC-32C of the first eight bytes and the payload
// Strings and byte strings are a u32 length and the bytes; vectors a u32 count and the elements;
// booleans a u8 of 0 or 1; times an i64 of nanoseconds; doubles the u64 of their bits. A payload
// that is too short, too long or holds a number out of range is `corrupt` as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/trial/trial.hpp"
#include "agent/trial/trial_executor.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::wire {

inline constexpr std::uint8_t kVersion = 7;
inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kMaxPayloadBytes = KernelPackage::kMaxBytes + (std::size_t{1} << 20);
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxSamples = 10000;

enum class MessageType : std::uint8_t {
  setup = 1,    // to the helper, first: which device, which package
  ready = 2,    // its answer
  request = 3,  // to the helper
  outcome = 4   // its answer
};

struct Setup {
  DeviceInfo device;  // which to open: back end, platform, name, driver and index
  DeviceSource source;
  TrialExecutorOptions executor;
  std::string quirks;  // in QuirkTable's text form
  std::vector<std::uint8_t> package;
};

// The same, of which somebody else has the parts.
struct SetupView {
  const DeviceInfo& device;
  const DeviceSource& source;
  const TrialExecutorOptions& executor;
  const std::string& quirks;
  Bytes package;
};

struct Ready {
  StatusCode code = StatusCode::ok;
  std::string message;  // why not
};

struct Header {
  MessageType type = MessageType::setup;
  std::uint32_t payload_bytes = 0;
  std::uint32_t checksum = 0;
};

// The whole frame. Texts longer than kMaxTextBytes are cut.
std::vector<std::uint8_t> encode(const SetupView& setup);
inline std::vector<std::uint8_t> encode(const Setup& setup) {
  return encode(SetupView{setup.device, setup.source, setup.executor, setup.quirks, setup.package});
}
std::vector<std::uint8_t> encode(const Ready& ready);
std::vector<std::uint8_t> encode(const TrialRequest& request);
std::vector<std::uint8_t> encode(const TrialOutcome& outcome);

// Reads a header. Errors: corrupt, version_mismatch.
Result<Header> decode_header(Bytes header);
// Whether `payload` is the one that the header announces. Error: corrupt.
Status verify_payload(Bytes header, Bytes payload);

// Payloads, after verify_payload. Error: corrupt, naming the field.
Result<Setup> decode_setup(Bytes payload);
Result<Ready> decode_ready(Bytes payload);
Result<TrialRequest> decode_request(Bytes payload);
Result<TrialOutcome> decode_outcome(Bytes payload);

}  // namespace idletune::wire
