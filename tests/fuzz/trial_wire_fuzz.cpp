// The messages between application and helper. The first byte chooses a message type (or, 0, a
// whole frame); the rest are the bytes. What is accepted must be encoded to the very same bytes
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "agent/trial/trial_wire.hpp"

using namespace idletune;
using namespace idletune::wire;

namespace {

template <class T>
void check_round_trip(const Result<T>& decoded, Bytes payload) {
  if (!decoded.ok()) {
    if (decoded.status().message().empty()) std::abort();
    return;
  }
  const std::vector<std::uint8_t> frame = encode(*decoded);
  const Bytes again = Bytes(frame).subspan(kHeaderBytes);
  if (again.size() != payload.size()) std::abort();
  if (!again.empty() && std::memcmp(again.data(), payload.data(), again.size()) != 0) std::abort();
  const Bytes header = Bytes(frame).subspan(0, kHeaderBytes);
  if (!verify_payload(header, again).ok()) std::abort();
}

void read_payload(MessageType type, Bytes payload) {
  switch (type) {
    case MessageType::setup: return check_round_trip(decode_setup(payload), payload);
    case MessageType::ready: return check_round_trip(decode_ready(payload), payload);
    case MessageType::request: return check_round_trip(decode_request(payload), payload);
    case MessageType::outcome: return check_round_trip(decode_outcome(payload), payload);
  }
}

void read_frame(Bytes frame) {
  const Bytes header = frame.subspan(0, kHeaderBytes);
  const Bytes payload = frame.subspan(kHeaderBytes);
  const Result<Header> decoded = decode_header(header);
  if (!decoded.ok() || !verify_payload(header, payload).ok()) return;
  read_payload(decoded->type, payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  if (data[0] % 5 == 0) {
    read_frame(rest);
  } else {
    read_payload(static_cast<MessageType>(data[0] % 5), rest);
  }
  return 0;
}
