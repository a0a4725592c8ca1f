// The fields of payloads as bytes. README.md has them.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <idletune/span.hpp>

#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {

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
  Writer& time(std::chrono::nanoseconds value) { return integer(value.count()); }  // in nanoseconds
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
  // The driver as those see it who do not know of data; `data` follows at the end of the record.
  Writer& trial(const Trial& trial) {
    word(trial.kernel).word(trial.device).word(trial.driver ^ trial.data);
    return shape(trial.shape).list(trial.configuration.values());
  }
  Writer& data(std::uint64_t digest) { return digest == 0 ? *this : word(digest); }
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
  std::chrono::nanoseconds time() {
    const std::int64_t value = integer();
    if (value < 0) ok_ = false;
    return std::chrono::nanoseconds(ok_ ? value : 0);
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
  // 0 where it was not written.
  std::uint64_t appended_word() { return bytes_.size() - position_ < 8 ? 0 : word(); }
  // Of what trial() read.
  void data_of(Trial& trial) {
    trial.data = appended_word();
    trial.driver ^= trial.data;
  }
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

}  // namespace idletune::journal
