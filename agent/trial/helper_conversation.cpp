#include "agent/trial/helper_conversation.hpp"

#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/trial/helper_exit.hpp"

namespace idletune {
namespace {

using wire::MessageType;

constexpr std::chrono::seconds kTransfer(10);

[[noreturn]] void leave(int code) { ::_exit(code); }

void check(const Status& status) {
  if (status.ok()) return;
  leave(status.code() == StatusCode::not_found ? kParentGoneExitCode : kProtocolExitCode);
}

// The next message's payload. Leaves when the application is gone or talks nonsense.
MessageType receive(Channel& channel, std::vector<std::uint8_t>& payload) {
  std::uint8_t header[wire::kHeaderBytes];
  check(channel.receive_all(MutableBytes(header), kNoTimeout));
  const Result<wire::Header> decoded = wire::decode_header(Bytes(header));
  check(decoded.status());
  payload.resize(decoded->payload_bytes);
  if (!payload.empty()) check(channel.receive_all(MutableBytes(payload), kTransfer));
  check(wire::verify_payload(Bytes(header), payload));
  return decoded->type;
}

Status set_up(StageServer& server, const std::vector<std::uint8_t>& payload) {
  Result<wire::Setup> setup = wire::decode_setup(payload);
  return setup ? server.set_up(std::move(*setup)) : setup.status();
}

}  // namespace

void serve_trials(Channel channel, StageServer& server) {
  std::vector<std::uint8_t> payload;
  bool is_set_up = false;
  for (;;) {
    const MessageType type = receive(channel, payload);
    if (type == MessageType::setup) {
      const Status status = set_up(server, payload);
      is_set_up = status.ok();
      check(channel.send(wire::encode(wire::Ready{status.code(), status.message()}), kTransfer));
    } else if (type == MessageType::request && is_set_up) {
      const Result<TrialRequest> request = wire::decode_request(payload);
      check(request.status());
      renew_farewell();
      check(channel.send(wire::encode(server.run(*request)), kTransfer));
      if (server.poisoned()) leave(0);
    } else {
      leave(kProtocolExitCode);
    }
  }
}

}  // namespace idletune
