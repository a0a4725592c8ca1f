#include "agent/trial/trial_wire.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "models/core/bits.hpp"
#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::wire {
namespace {

constexpr std::uint8_t kMagic = 0xd7;
constexpr std::size_t kChecksumOffset = 8;

std::uint64_t load(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

void store(std::uint8_t* bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Writing and reading share one list of fields per message: `code(fields, value)` below names each
// field once, and these two give it a direction.
class Writer {
 public:
  explicit Writer(MessageType type) : frame_(kHeaderBytes) {
    frame_[0] = kMagic;
    frame_[1] = kVersion;
    frame_[2] = static_cast<std::uint8_t>(type);
  }

  template <class T>
  void integer(const char*, const T& value) {
    store(grown_by(sizeof(T)), static_cast<std::uint64_t>(value), sizeof(T));
  }
  void size(const char* name, const std::size_t& value) {
    integer(name, static_cast<std::uint64_t>(value));
  }
  void boolean(const char* name, const bool& value) {
    integer(name, static_cast<std::uint8_t>(value));
  }
  template <class E>
  void enumeration(const char* name, const E& value, std::size_t) {
    integer(name, static_cast<std::uint8_t>(value));
  }
  void time(const char* name, const Nanoseconds& value) {
    integer(name, static_cast<std::int64_t>(value.count()));
  }
  void number(const char* name, const double& value) { integer(name, bits_of(value)); }
  void text(const char* name, const std::string& value) {
    const std::string_view cut = std::string_view(value).substr(0, kMaxTextBytes);
    integer(name, static_cast<std::uint32_t>(cut.size()));
    put(cut.data(), cut.size());
  }
  void bytes(const char* name, Bytes value, std::size_t) {
    integer(name, static_cast<std::uint32_t>(value.size()));
    put(value.data(), value.size());
  }
  // Dimensions, in the upper half of their number how many features follow, and their bits.
  void shape(const char* name, const Shape& shape) {
    integer(name, static_cast<std::uint32_t>(shape.size() | shape.feature_count() << 16));
    for (const std::int64_t word : shape.words()) integer(name, word);
  }
  // A Configuration.
  template <class Values>
  void values(const char* name, const Values& value, std::size_t) {
    integer(name, static_cast<std::uint32_t>(value.size()));
    for (std::size_t i = 0; i < value.size(); ++i) integer(name, value[i]);
  }
  void times(const char* name, const std::vector<Nanoseconds>& value, std::size_t limit) {
    const std::size_t count = value.size() < limit ? value.size() : limit;
    integer(name, static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) time(name, value[i]);
  }

  std::vector<std::uint8_t> finish() {
    store(&frame_[4], frame_.size() - kHeaderBytes, 4);
    const Bytes frame(frame_);
    const std::uint32_t checksum =
        crc32c(frame.subspan(kHeaderBytes), crc32c(frame.subspan(0, kChecksumOffset)));
    store(&frame_[kChecksumOffset], checksum, 4);
    return std::move(frame_);
  }

 private:
  std::uint8_t* grown_by(std::size_t bytes) {
    frame_.resize(frame_.size() + bytes);
    return frame_.data() + (frame_.size() - bytes);
  }
  void put(const void* bytes, std::size_t size) {
    std::uint8_t* end = grown_by(size);
    if (size != 0) std::memcpy(end, bytes, size);
  }

  std::vector<std::uint8_t> frame_;
};

class Reader {
 public:
  explicit Reader(Bytes payload) : rest_(payload) {}

  template <class T>
  void integer(const char* name, T& value) {
    const Bytes bytes = take(name, sizeof(T));
    if (!bytes.empty()) value = static_cast<T>(load(bytes.data(), sizeof(T)));
  }
  void size(const char* name, std::size_t& value) {
    std::uint64_t wide = 0;
    integer(name, wide);
    value = static_cast<std::size_t>(wide);
    if (value != wide) fail(name);
  }
  void boolean(const char* name, bool& value) {
    std::uint8_t byte = 0;
    integer(name, byte);
    if (byte > 1) fail(name);
    value = byte == 1;
  }
  template <class E>
  void enumeration(const char* name, E& value, std::size_t count) {
    std::uint8_t byte = 0;
    integer(name, byte);
    if (byte >= count) return fail(name);
    value = static_cast<E>(byte);
  }
  void time(const char* name, Nanoseconds& value) {
    std::int64_t count = 0;
    integer(name, count);
    if (count < 0) fail(name);
    value = Nanoseconds(count);
  }
  void number(const char* name, double& value) {
    std::uint64_t bits = 0;
    integer(name, bits);
    std::memcpy(&value, &bits, sizeof value);
  }
  void text(const char* name, std::string& value) {
    const Bytes bytes = take(name, count(name, kMaxTextBytes, 1));
    value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void bytes(const char* name, std::vector<std::uint8_t>& value, std::size_t limit) {
    const Bytes bytes = take(name, count(name, limit, 1));
    value.assign(bytes.begin(), bytes.end());
  }
  template <class Values>
  void values(const char* name, Values& value, std::size_t limit) {
    const std::size_t number = count(name, limit, sizeof(std::int64_t));
    for (std::size_t i = 0; i < number; ++i) {
      std::int64_t element = 0;
      integer(name, element);
      value.push_back(element);
    }
  }
  void shape(const char* name, Shape& shape) {
    std::uint32_t counts = 0;
    integer(name, counts);
    const std::uint32_t size = counts & 0xffff;
    const std::uint32_t features = counts >> 16;
    if (size > kMaxDimensions || features > kMaxFeatures) return fail(name);
    for (std::uint32_t i = 0; i < size; ++i) {
      std::int64_t dimension = 0;
      integer(name, dimension);
      shape.push_back(dimension);
    }
    for (std::uint32_t i = 0; i < features; ++i) {
      std::int64_t bits = 0;
      integer(name, bits);
      double feature = 0;
      std::memcpy(&feature, &bits, sizeof feature);
      shape.push_feature(feature);
      // No writer has a negative zero: a problem has one zero, not two.
      if (shape.words()[size + i] != bits) return fail(name);
    }
  }
  void times(const char* name, std::vector<Nanoseconds>& value, std::size_t limit) {
    value.resize(count(name, limit, sizeof(std::int64_t)));
    for (Nanoseconds& element : value) time(name, element);
  }

  Status finish() {
    if (wrong_ == nullptr && !rest_.empty()) wrong_ = "end";
    if (wrong_ == nullptr) return {};
    return Status(StatusCode::corrupt, "helper message, field '%': out of range", wrong_);
  }

 private:
  void fail(const char* name) {
    if (wrong_ == nullptr) wrong_ = name;
    rest_ = Bytes();
  }
  // Empty after a failure (and for a size of 0).
  Bytes take(const char* name, std::size_t size) {
    if (size > rest_.size()) {
      fail(name);
      return {};
    }
    const Bytes taken = rest_.subspan(0, size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  // A length that what is left can hold.
  std::size_t count(const char* name, std::size_t limit, std::size_t element_bytes) {
    std::uint32_t number = 0;
    integer(name, number);
    if (number <= limit && number <= rest_.size() / element_bytes) return number;
    fail(name);
    return 0;
  }

  Bytes rest_;
  const char* wrong_ = nullptr;
};

template <class Fields, class Value>
void code_device(Fields& fields, Value& device) {
  fields.text("backend", device.backend);
  fields.text("platform", device.platform);
  fields.text("name", device.name);
  fields.text("driver", device.driver);
  fields.integer("index", device.index);
}

template <class Fields, class Value>
void code_source(Fields& fields, Value& source) {
  fields.text("library", source.library);
  fields.text("compiler", source.compiler);
  fields.text("program cache", source.cache_folder);
  fields.integer("cache limit", source.cache_limit_bytes);
}

template <class Fields, class Value>
void code_executor(Fields& fields, Value& options) {
  fields.integer("scratch limit", options.scratch_limit_bytes);
  fields.integer("guard", options.guard_bytes);
  fields.integer("compiled variants", options.compiled_variants);
  fields.time("first-run allowance", options.first_run_allowance);
  fields.time("reference deadline", options.reference_deadline);
}

template <class Fields, class Value>
void code_setup(Fields& fields, Value& setup) {
  code_device(fields, setup.device);
  code_source(fields, setup.source);
  code_executor(fields, setup.executor);
  fields.text("quirks", setup.quirks);
  fields.bytes("package", setup.package, KernelPackage::kMaxBytes);
}

template <class Fields, class Value>
void code_ready(Fields& fields, Value& ready) {
  fields.enumeration("code", ready.code, static_cast<std::size_t>(StatusCode::internal) + 1);
  fields.text("message", ready.message);
}

template <class Fields, class Value>
void code_request(Fields& fields, Value& request) {
  fields.enumeration("stage", request.stage, 4);
  fields.shape("shape", request.shape);
  fields.values("configuration", request.configuration, kMaxParameters);
  fields.integer("seed", request.seed);
  fields.integer("repeats", request.repeats);
  fields.time("deadline", request.deadline);
  fields.time("stop above", request.stop_above);
  fields.boolean("cold", request.cold);
  fields.text("captured", request.captured);
  fields.integer("captured digest", request.captured_digest);
  fields.boolean("only warm up", request.only_warm_up);
  fields.boolean("ignore device limits", request.ignore_device_limits);
}

template <class Fields, class Value>
void code_outcome(Fields& fields, Value& outcome) {
  fields.enumeration("stage", outcome.stage, 4);
  fields.enumeration("status", outcome.status, kTrialStatusCount);
  fields.text("message", outcome.message);
  fields.times("samples", outcome.samples, kMaxSamples);
  fields.time("setup", outcome.setup);
  fields.time("wall", outcome.wall);
  fields.time("device", outcome.device);
  fields.number("max error", outcome.max_error);
}

template <class Value, class Code>
Result<Value> decode(Bytes payload, Code code) {
  Reader reader(payload);
  Value value;
  code(reader, value);
  Status status = reader.finish();
  if (!status.ok()) return status;
  return value;
}

template <class Value, class Code>
std::vector<std::uint8_t> encoded(MessageType type, const Value& value, Code code) {
  Writer writer(type);
  code(writer, value);
  return writer.finish();
}

}  // namespace

std::vector<std::uint8_t> encode(const SetupView& setup) {
  return encoded(MessageType::setup, setup, [](auto& f, auto& v) { code_setup(f, v); });
}
std::vector<std::uint8_t> encode(const Ready& ready) {
  return encoded(MessageType::ready, ready, [](auto& f, auto& v) { code_ready(f, v); });
}
std::vector<std::uint8_t> encode(const TrialRequest& request) {
  return encoded(MessageType::request, request, [](auto& f, auto& v) { code_request(f, v); });
}
std::vector<std::uint8_t> encode(const TrialOutcome& outcome) {
  return encoded(MessageType::outcome, outcome, [](auto& f, auto& v) { code_outcome(f, v); });
}

Result<Setup> decode_setup(Bytes payload) {
  return decode<Setup>(payload, [](auto& f, auto& v) { code_setup(f, v); });
}
Result<Ready> decode_ready(Bytes payload) {
  return decode<Ready>(payload, [](auto& f, auto& v) { code_ready(f, v); });
}
Result<TrialRequest> decode_request(Bytes payload) {
  return decode<TrialRequest>(payload, [](auto& f, auto& v) { code_request(f, v); });
}
Result<TrialOutcome> decode_outcome(Bytes payload) {
  return decode<TrialOutcome>(payload, [](auto& f, auto& v) { code_outcome(f, v); });
}

Result<Header> decode_header(Bytes header) {
  const auto corrupt = [](const char* expected) {
    return Status(StatusCode::corrupt, "helper message header: expected %", expected);
  };
  if (header.size() != kHeaderBytes) return corrupt("12 bytes");
  if (header[0] != kMagic || header[3] != 0) return corrupt("0xd7 at the start and 0 at byte 3");
  if (header[1] != kVersion) {
    return Status(StatusCode::version_mismatch,
                  "version %, expected %: helper and library are of different releases", header[1],
                  kVersion);
  }
  if (header[2] < 1 || header[2] > 4) return corrupt("a message type of 1 to 4");
  Header result;
  result.type = static_cast<MessageType>(header[2]);
  result.payload_bytes = static_cast<std::uint32_t>(load(&header[4], 4));
  result.checksum = static_cast<std::uint32_t>(load(&header[kChecksumOffset], 4));
  if (result.payload_bytes > kMaxPayloadBytes) return corrupt("a shorter payload");
  return result;
}

Status verify_payload(Bytes header, Bytes payload) {
  const Result<Header> decoded = decode_header(header);
  if (!decoded) return decoded.status();
  const std::uint32_t checksum = crc32c(payload, crc32c(header.subspan(0, kChecksumOffset)));
  if (payload.size() == decoded->payload_bytes && checksum == decoded->checksum) return {};
  return Status(StatusCode::corrupt, "helper message: payload and checksum do not match");
}

}  // namespace idletune::wire
