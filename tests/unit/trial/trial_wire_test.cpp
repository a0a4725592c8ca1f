#include "agent/trial/trial_wire.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "models/core/digest.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::wire;

namespace {

Bytes header_of(const std::vector<std::uint8_t>& frame) {
  return Bytes(frame).subspan(0, kHeaderBytes);
}
Bytes payload_of(const std::vector<std::uint8_t>& frame) {
  return Bytes(frame).subspan(kHeaderBytes);
}

TrialRequest some_request() {
  TrialRequest request;
  request.stage = TrialStage::measure;
  request.shape = {1, -2, std::int64_t{1} << 62};
  request.configuration = {0, -1, INT64_MIN, INT64_MAX};
  request.seed = 0xffffffffu;
  request.repeats = 7;
  request.deadline = std::chrono::milliseconds(250);
  request.stop_above = Nanoseconds(123456789012345);
  request.cold = true;
  request.captured = "/tmp/state/captures/k";
  request.captured_digest = 0x123456789abcdef0u;
  request.only_warm_up = true;
  request.ignore_device_limits = true;
  return request;
}

Setup some_setup() {
  Setup setup;
  setup.device.backend = "opencl";
  setup.device.platform = "Stub";
  setup.device.name = std::string("name with \0 zero", 16);
  setup.device.driver = "3.1";
  setup.device.index = 3;
  setup.source = {"libcuda.so", "libnvrtc.so", "/tmp/cache", 77};
  setup.executor.scratch_limit_bytes = 12345;
  setup.executor.guard_bytes = 64;
  setup.executor.compiled_variants = 9;
  setup.executor.first_run_allowance = Nanoseconds(5);
  setup.executor.reference_deadline = Nanoseconds(6);
  setup.quirks = "::r\n";
  setup.package = {1, 2, 3, 255};
  return setup;
}

}  // namespace

TEST_CASE("requests come back as they went") {
  const TrialRequest request = some_request();
  const auto frame = encode(request);
  const auto header = required(decode_header(header_of(frame)));
  CHECK(header.type == MessageType::request);
  CHECK(verify_payload(header_of(frame), payload_of(frame)).ok());
  const auto decoded = required(decode_request(payload_of(frame)));
  CHECK(decoded.stage == request.stage);
  CHECK(decoded.shape == request.shape);
  CHECK(decoded.configuration == request.configuration);
  CHECK(decoded.seed == request.seed);
  CHECK(decoded.repeats == request.repeats);
  CHECK(decoded.deadline == request.deadline);
  CHECK(decoded.stop_above == request.stop_above);
  CHECK(decoded.cold);
  CHECK(decoded.captured == request.captured);
  CHECK(decoded.captured_digest == request.captured_digest);
  CHECK(decoded.only_warm_up);
  CHECK(decoded.ignore_device_limits);
}

TEST_CASE("the features of a request's problem come back") {
  TrialRequest request;
  request.shape = Problem({512, 0}, {12.1, 0});
  std::vector<std::uint8_t> frame = encode(request);
  const auto payload = [&] { return Bytes(frame).subspan(12); };
  const auto read = required(decode_request(payload()));
  CHECK(read.shape == request.shape);
  frame[12 + 3] = 9;  // features
  CHECK_FALSE(decode_request(payload()).ok());
}

TEST_CASE("outcomes come back as they went") {
  TrialOutcome outcome;
  outcome.stage = TrialStage::check;
  outcome.status = TrialStatus::crash;
  outcome.message = "because";
  outcome.samples = {Nanoseconds(1), Nanoseconds(INT64_MAX)};
  outcome.setup = Nanoseconds(6);
  outcome.wall = Nanoseconds(7);
  outcome.device = Nanoseconds(8);
  outcome.max_error = std::numeric_limits<double>::infinity();
  const auto decoded = required(decode_outcome(payload_of(encode(outcome))));
  CHECK(decoded.stage == outcome.stage);
  CHECK(decoded.status == outcome.status);
  CHECK(decoded.message == outcome.message);
  CHECK(decoded.samples == outcome.samples);
  CHECK(decoded.setup == outcome.setup);
  CHECK(decoded.wall == outcome.wall);
  CHECK(decoded.device == outcome.device);
  CHECK(decoded.max_error == outcome.max_error);
}

TEST_CASE("setups and answers come back as they went") {
  const Setup setup = some_setup();
  const auto decoded = required(decode_setup(payload_of(encode(setup))));
  CHECK(decoded.device.backend == setup.device.backend);
  CHECK(decoded.device.name == setup.device.name);
  CHECK(decoded.device.platform == setup.device.platform);
  CHECK(decoded.device.driver == setup.device.driver);
  CHECK(decoded.device.index == 3);
  CHECK(decoded.source.library == setup.source.library);
  CHECK(decoded.source.compiler == setup.source.compiler);
  CHECK(decoded.source.cache_folder == setup.source.cache_folder);
  CHECK(decoded.source.cache_limit_bytes == 77);
  CHECK(decoded.executor.scratch_limit_bytes == 12345);
  CHECK(decoded.executor.guard_bytes == 64);
  CHECK(decoded.executor.compiled_variants == 9);
  CHECK(decoded.executor.first_run_allowance == Nanoseconds(5));
  CHECK(decoded.executor.reference_deadline == Nanoseconds(6));
  CHECK(decoded.quirks == setup.quirks);
  CHECK(decoded.package == setup.package);
  const auto ready =
      required(decode_ready(payload_of(encode(Ready{StatusCode::not_found, "no device"}))));
  CHECK(ready.code == StatusCode::not_found);
  CHECK(ready.message == "no device");
}

TEST_CASE("the bytes of a frame are the same on every architecture") {
  const auto frame = encode(Ready{StatusCode::timeout, "ab"});
  const std::vector<std::uint8_t> start = {0xd7, kVersion, 2, 0, 7, 0, 0, 0};
  CHECK(std::vector<std::uint8_t>(frame.begin(), frame.begin() + 8) == start);
  const std::vector<std::uint8_t> payload = {11, 2, 0, 0, 0, 'a', 'b'};
  CHECK(std::vector<std::uint8_t>(frame.begin() + 12, frame.end()) == payload);
}

// Both sides are told apart by the version alone: whatever changes these bytes raises kVersion, and
// then the seeds in tests/fuzz/corpus/trial_wire are renewed.
TEST_CASE("messages of this version have the bytes that they always had") {
  TrialOutcome outcome;
  outcome.stage = TrialStage::measure;
  outcome.samples = {Nanoseconds(1), Nanoseconds(2)};
  std::uint32_t all = 0;
  for (const auto& frame : {encode(some_setup()), encode(Ready{StatusCode::timeout, "ab"}),
                            encode(some_request()), encode(outcome)}) {
    all = crc32c(payload_of(frame), all);
  }
  CHECK(kVersion == 7);
  CHECK(all == 0x90f944b5u);
}

TEST_CASE("the fuzzer begins with messages of this version") {
  const auto seed = [](const char* name) {
    const std::string bytes = test::content_of(
        std::string(IDLETUNE_SOURCE_FOLDER "/tests/fuzz/corpus/trial_wire/") + name);
    REQUIRE_MESSAGE(bytes.size() > 1, name);
    return std::vector<std::uint8_t>(bytes.begin() + 1, bytes.end());  // the first chooses the type
  };
  CHECK(decode_setup(seed("setup")).ok());
  CHECK(decode_ready(seed("ready")).ok());
  CHECK(decode_request(seed("request")).ok());
  CHECK(decode_outcome(seed("outcome")).ok());
  for (const char* name : {"frame_setup", "frame_request"}) {
    CAPTURE(name);
    const std::vector<std::uint8_t> frame = seed(name);
    CHECK(decode_header(header_of(frame)).ok());
    CHECK(verify_payload(header_of(frame), payload_of(frame)).ok());
  }
}

TEST_CASE("every flipped bit of a frame is noticed") {
  const auto frame = encode(some_request());
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    auto broken = frame;
    broken[bit / 8] = static_cast<std::uint8_t>(broken[bit / 8] ^ (1u << (bit % 8)));
    CAPTURE(bit);
    CHECK_FALSE(verify_payload(header_of(broken), payload_of(broken)).ok());
  }
}

TEST_CASE("every truncation and every added byte is refused") {
  const auto check = [](const std::vector<std::uint8_t>& frame, auto decode) {
    for (std::size_t size = 0; size < payload_of(frame).size(); ++size) {
      CAPTURE(size);
      CHECK(decode(payload_of(frame).subspan(0, size)).code() == StatusCode::corrupt);
    }
    auto longer = frame;
    longer.push_back(0);
    CHECK(decode(payload_of(longer)).code() == StatusCode::corrupt);
    CHECK(decode(payload_of(frame)).ok());
  };
  check(encode(some_request()), [](Bytes b) { return decode_request(b); });
  check(encode(some_setup()), [](Bytes b) { return decode_setup(b); });
  check(encode(Ready{StatusCode::corrupt, "x"}), [](Bytes b) { return decode_ready(b); });
  TrialOutcome outcome;
  outcome.samples = {Nanoseconds(3)};
  check(encode(outcome), [](Bytes b) { return decode_outcome(b); });
}

TEST_CASE("numbers out of range are refused with their field") {
  auto frame = encode(some_request());
  frame[kHeaderBytes] = 4;  // the stage
  CHECK(decode_request(payload_of(frame)).status().message().find("'stage'") != std::string::npos);
  frame = encode(TrialOutcome());
  frame[kHeaderBytes + 1] = kTrialStatusCount;
  CHECK(decode_outcome(payload_of(frame)).status().message().find("'status'") != std::string::npos);
  frame = encode(some_request());
  frame[kHeaderBytes + 1] = kMaxDimensions + 1;  // the number of dimensions
  CHECK(decode_request(payload_of(frame)).status().message().find("'shape'") != std::string::npos);
}

TEST_CASE("headers of other versions, types and sizes are refused") {
  const auto frame = encode(some_request());
  const auto with = [&](std::size_t at, std::uint8_t value) {
    auto changed = frame;
    changed[at] = value;
    return decode_header(header_of(changed)).code();
  };
  CHECK(with(0, 0) == StatusCode::corrupt);
  CHECK(with(1, kVersion - 1) == StatusCode::version_mismatch);
  CHECK(with(1, kVersion + 1) == StatusCode::version_mismatch);
  CHECK(with(2, 0) == StatusCode::corrupt);
  CHECK(with(2, 5) == StatusCode::corrupt);
  CHECK(with(3, 1) == StatusCode::corrupt);
  CHECK(with(7, 0x7f) == StatusCode::corrupt);  // two gigabytes
  CHECK(decode_header(Bytes(frame).subspan(0, 11)).code() == StatusCode::corrupt);
}

TEST_CASE("texts too long for a message are cut") {
  TrialOutcome outcome;
  outcome.message.assign(kMaxTextBytes + 5, 'x');
  const auto decoded = required(decode_outcome(payload_of(encode(outcome))));
  CHECK(decoded.message.size() == kMaxTextBytes);
}
