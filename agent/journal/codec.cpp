#include "agent/journal/codec.hpp"

#include <cstring>

#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

using std::chrono::nanoseconds;

class Writer {
 public:
  // Digests: 8 bytes, little-endian.
  Writer& word(std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    return *this;
  }
  Writer& byte(std::uint8_t value) {
    push(bytes_, value);
    return *this;
  }
  // LEB128: seven bits per byte, least significant first, the high bit says that more follow.
  Writer& number(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }
  // Zigzag, then LEB128.
  Writer& integer(std::int64_t value) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    return number(value < 0 ? ~(bits << 1) : bits << 1);
  }
  Writer& time(nanoseconds value) { return integer(value.count()); }  // in nanoseconds
  Writer& list(Span<const std::int64_t> values) {
    byte(static_cast<std::uint8_t>(values.size()));
    for (std::int64_t value : values) integer(value);
    return *this;
  }
  // Dimensions, in the upper half of the first byte how many features follow, and their bits.
  Writer& shape(const Shape& shape) {
    byte(static_cast<std::uint8_t>(shape.size() | shape.feature_count() << 4));
    for (std::size_t i = 0; i < shape.size(); ++i) integer(shape[i]);
    for (std::size_t i = shape.size(); i < shape.input_count(); ++i) {
      word(static_cast<std::uint64_t>(shape.words()[i]));
    }
    return *this;
  }
  Writer& text(const std::string& value, std::size_t limit) {
    const std::size_t size = value.size() < limit ? value.size() : limit;
    number(size);
    bytes_.insert(bytes_.end(), value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
    return *this;
  }
  Writer& trial(const Trial& trial) {
    word(trial.kernel).word(trial.device).word(trial.driver);
    return shape(trial.shape).list(trial.configuration.values());
  }
  Writer& key(const ShapeKey& key) {
    return word(key.kernel).word(key.device).word(key.driver).word(key.shape);
  }
  Writer& key(const TrialKey& key) { return this->key(key.shape_key()).word(key.configuration); }
  Payload take() { return std::move(bytes_); }

 private:
  Payload bytes_;
};

// Reads what Writer wrote; after the first impossible field everything is zero and ok() is false.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  void reject() { ok_ = false; }

  std::uint8_t byte() {
    if (!ok_ || position_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return bytes_.data()[position_++];
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return ok_ ? value : 0;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7fu} << shift;
      if ((next & 0x80) == 0) return ok_ ? value : 0;
    }
    ok_ = false;
    return 0;
  }
  std::uint32_t small_number() {
    const std::uint64_t value = number();
    if (value > UINT32_MAX) ok_ = false;
    return ok_ ? static_cast<std::uint32_t>(value) : 0;
  }
  std::int64_t integer() {
    const std::uint64_t bits = number();
    return static_cast<std::int64_t>((bits >> 1) ^ (0 - (bits & 1)));
  }
  // A duration that can be one: not negative.
  nanoseconds time() {
    const std::int64_t value = integer();
    if (value < 0) ok_ = false;
    return nanoseconds(ok_ ? value : 0);
  }
  Shape shape() {
    Shape shape;
    const std::uint8_t counts = byte();
    const unsigned size = counts & 15u;
    const unsigned features = counts >> 4;
    if (size > kMaxDimensions || features > kMaxFeatures) ok_ = false;
    for (unsigned i = 0; ok_ && i < size; ++i) shape.push_back(integer());
    for (unsigned i = 0; ok_ && i < features; ++i) {
      const std::uint64_t bits = word();
      double feature;
      std::memcpy(&feature, &bits, sizeof feature);
      shape.push_feature(feature);
    }
    return shape;
  }
  Configuration configuration() {
    Configuration configuration;
    const std::uint8_t size = byte();
    if (size > kMaxParameters) ok_ = false;
    for (std::uint8_t i = 0; ok_ && i < size; ++i) configuration.push_back(integer());
    return configuration;
  }
  bool at_end() const { return position_ >= bytes_.size(); }
  std::string text(std::size_t limit) {
    const std::uint64_t size = number();
    if (size > limit || size > bytes_.size() - position_) ok_ = false;
    if (!ok_) return {};
    const char* start = reinterpret_cast<const char*>(bytes_.data() + position_);
    position_ += static_cast<std::size_t>(size);
    return std::string(start, static_cast<std::size_t>(size));
  }
  Trial trial() {
    Trial trial;
    trial.kernel = word();
    trial.device = word();
    trial.driver = word();
    trial.shape = shape();
    trial.configuration = configuration();
    return trial;
  }
  ShapeKey shape_key() {
    ShapeKey key;
    key.kernel = word();
    key.device = word();
    key.driver = word();
    key.shape = word();
    return key;
  }
  TrialKey trial_key() {
    const ShapeKey shape = shape_key();
    return {shape.kernel, shape.device, shape.driver, shape.shape, word()};
  }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

// Quarantines and suspects are found by digests; the values are for people and may be missing.
Trial keyed_trial(const TrialKey& key, Reader& reader) {
  Trial trial;
  trial.kernel = key.kernel;
  trial.device = key.device;
  trial.driver = key.driver;
  trial.shape = reader.shape();
  trial.configuration = reader.configuration();
  return trial;
}

}  // namespace

Payload encode(const Session& session) {
  return Writer().word(session.boot).number(session.number).take();
}

Payload encode(const Intent& intent) {
  return Writer()
      .trial(intent.trial)
      .byte(static_cast<std::uint8_t>(intent.stage))
      .byte(intent.isolated ? 1 : 0)
      .take();
}

Payload encode(const TrialKey& key) { return Writer().key(key).take(); }
Payload encode(const ShapeKey& key) { return Writer().key(key).take(); }

Payload encode(const Quarantine& quarantine) {
  return Writer()
      .key(quarantine.key)
      .shape(quarantine.trial.shape)
      .list(quarantine.trial.configuration.values())
      .byte(static_cast<std::uint8_t>(quarantine.reason))
      .text(quarantine.detail, kMaxDetailBytes)
      .take();
}

Payload encode(const Suspect& suspect) {
  return Writer()
      .key(suspect.key)
      .shape(suspect.trial.shape)
      .list(suspect.trial.configuration.values())
      .number(suspect.deaths)
      .take();
}

// The origin was appended after version 1 was released, and then the setup: what is not known, or
// is none, takes no byte.
Payload encode(const Measurement& measurement) {
  Writer writer;
  writer.trial(measurement.trial)
      .byte(static_cast<std::uint8_t>(measurement.status))
      .time(measurement.median)
      .time(measurement.minimum)
      .number(measurement.samples)
      .time(measurement.compile)
      .number(measurement.checked_seeds)
      .integer(measurement.unix_seconds);
  const auto origin = static_cast<std::uint8_t>(measurement.origin);
  if (origin != 0 || measurement.setup.count() > 0) writer.byte(origin);
  if (measurement.setup.count() > 0) writer.time(measurement.setup);
  return writer.take();
}

Payload encode(const Adoption& adoption) {
  return Writer()
      .trial(adoption.trial)
      .time(adoption.expected)
      .time(adoption.default_time)
      .number(adoption.checked_seeds)
      .take();
}

Payload encode(const Ledger& ledger) {
  return Writer().time(ledger.charged).time(ledger.kernel_time).time(ledger.savings).take();
}

Payload encode(const ShapeStatistics& statistics) {
  return Writer()
      .word(statistics.kernel)
      .shape(statistics.shape)
      .number(statistics.launches)
      .number(statistics.active_seconds)
      .number(statistics.sessions)
      .take();
}

Payload encode(const Name& name) {
  return Writer()
      .byte(static_cast<std::uint8_t>(name.kind))
      .word(name.digest)
      .text(name.text, kMaxNameBytes)
      .take();
}

bool decode(Bytes payload, Session& out) {
  Reader reader(payload);
  out.boot = reader.word();
  out.number = reader.number();
  return reader.ok();
}

bool decode(Bytes payload, Intent& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  const std::uint8_t stage = reader.byte();
  if (stage > static_cast<std::uint8_t>(IntentStage::run)) reader.reject();
  out.stage = static_cast<IntentStage>(stage);
  const std::uint8_t isolated = reader.byte();
  if (isolated > 1) reader.reject();
  out.isolated = isolated == 1;
  return reader.ok();
}

bool decode(Bytes payload, TrialKey& out) {
  Reader reader(payload);
  out = reader.trial_key();
  return reader.ok();
}

bool decode(Bytes payload, ShapeKey& out) {
  Reader reader(payload);
  out = reader.shape_key();
  return reader.ok();
}

bool decode(Bytes payload, Quarantine& out) {
  Reader reader(payload);
  out.key = reader.trial_key();
  out.trial = keyed_trial(out.key, reader);
  // A reason of a later version still keeps the configuration out; it reads as `unknown`.
  out.reason = static_cast<QuarantineReason>(reader.byte());
  out.detail = reader.text(kMaxDetailBytes);
  return reader.ok();
}

bool decode(Bytes payload, Suspect& out) {
  Reader reader(payload);
  out.key = reader.trial_key();
  out.trial = keyed_trial(out.key, reader);
  out.deaths = reader.small_number();
  return reader.ok();
}

bool decode(Bytes payload, Measurement& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  const std::uint8_t status = reader.byte();
  if (status >= kTrialStatusCount) reader.reject();
  out.status = static_cast<TrialStatus>(status);
  out.median = reader.time();
  out.minimum = reader.time();
  out.samples = reader.small_number();
  out.compile = reader.time();
  out.checked_seeds = reader.small_number();
  out.unix_seconds = reader.integer();
  const std::uint8_t origin = reader.at_end() ? 0 : reader.byte();
  out.origin = static_cast<Origin>(origin < kOriginCount ? origin : 0);
  out.setup = reader.at_end() ? std::chrono::nanoseconds(0) : reader.time();
  return reader.ok();
}

bool decode(Bytes payload, Adoption& out) {
  Reader reader(payload);
  out.trial = reader.trial();
  out.expected = reader.time();
  out.default_time = reader.time();
  out.checked_seeds = reader.small_number();
  return reader.ok();
}

bool decode(Bytes payload, Ledger& out) {
  Reader reader(payload);
  out.charged = reader.time();
  out.kernel_time = reader.time();
  out.savings = nanoseconds(reader.integer());  // a lower bound may be below zero
  return reader.ok();
}

bool decode(Bytes payload, ShapeStatistics& out) {
  Reader reader(payload);
  out.kernel = reader.word();
  out.shape = reader.shape();
  out.launches = reader.number();
  out.active_seconds = reader.number();
  out.sessions = reader.small_number();
  return reader.ok();
}

// Kinds of later versions are kept; nobody here asks for them.
bool decode(Bytes payload, Name& out) {
  Reader reader(payload);
  out.kind = static_cast<NameKind>(reader.byte());
  out.digest = reader.word();
  out.text = reader.text(kMaxNameBytes);
  return reader.ok();
}

}  // namespace idletune::journal
