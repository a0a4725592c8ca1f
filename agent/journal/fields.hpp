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

namespace idletune::journal {

// One payload, field by field: written from values, which stay as they are, or read into them, so
// that one function says what a record holds. What is read after the first impossible field is zero.
class Fields {
 public:
  Fields() = default;
  explicit Fields(Bytes payload) : input_(payload), reads_(true) {}
  bool reads() const { return reads_; }
  bool ok() const { return ok_; }
  void reject() { ok_ = false; }
  // Whether a field that later versions appended is there; when writing: if it is `wanted`.
  bool more(bool wanted = true) const { return reads_ ? position_ < input_.size() : wanted; }
  Payload take() { return std::move(output_); }

  // Digests: 8 bytes, little-endian.
  Fields& word(std::uint64_t& value) { return set(value, fixed(value, 8)); }
  // Numbers from `count` on are impossible.
  template <class Small>
  Fields& byte(Small& value, unsigned count = 256) {
    static_assert(sizeof(Small) == 1);
    return small(reinterpret_cast<std::uint8_t&>(value), count);
  }
  // Those are a later version's, and read as 0.
  template <class Small>
  Fields& known_byte(Small& value, unsigned count) {
    byte(value);
    return static_cast<unsigned>(value) < count ? *this : set(value, Small{});
  }
  Fields& number(std::uint64_t& value) { return set(value, leb(value)); }
  Fields& small_number(std::uint32_t& value) {
    const std::uint64_t read = leb(value);
    if (read > UINT32_MAX) ok_ = false;
    return set(value, static_cast<std::uint32_t>(ok_ ? read : 0));
  }
  // Zigzag, then LEB128.
  Fields& integer(std::int64_t& value) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    const std::uint64_t read = leb(value < 0 ? ~(bits << 1) : bits << 1);
    return set(value, static_cast<std::int64_t>((read >> 1) ^ (0 - (read & 1))));
  }
  Fields& difference(std::chrono::nanoseconds& value) {
    std::int64_t count = value.count();
    return integer(count).set(value, std::chrono::nanoseconds(count));
  }
  Fields& time(std::chrono::nanoseconds& value) {
    difference(value);
    if (reads_ && value.count() < 0) ok_ = false;
    return *this;
  }
  // Dimensions, in the upper half of the first byte how many features follow, and their bits.
  Fields& shape(Shape& shape) {
    auto counts = static_cast<std::uint8_t>(shape.size() | shape.feature_count() << 4);
    byte(counts);
    const unsigned size = counts & 15u;
    const unsigned all = size + (counts >> 4);
    if (size > kMaxDimensions || all - size > kMaxFeatures) ok_ = false;
    Shape read;
    for (unsigned i = 0; ok_ && i < all; ++i) {
      std::int64_t value = reads_ ? 0 : shape.words()[i];
      if (i < size) {
        integer(value);
        read.push_back(value);
        continue;
      }
      auto bits = static_cast<std::uint64_t>(value);
      word(bits);
      double feature;
      std::memcpy(&feature, &bits, sizeof feature);
      read.push_feature(feature);
    }
    return set(shape, read);
  }
  Fields& configuration(Configuration& configuration) {
    auto size = static_cast<std::uint8_t>(configuration.size());
    byte(size, kMaxParameters + 1);
    Configuration read;
    for (std::uint8_t i = 0; ok_ && i < size; ++i) {
      std::int64_t value = reads_ ? 0 : configuration[i];
      integer(value);
      read.push_back(value);
    }
    return set(configuration, read);
  }
  // What is longer is cut when written.
  Fields& text(std::string& value, std::size_t limit) {
    std::uint64_t size = value.size() < limit ? value.size() : limit;
    number(size);
    if (size > limit) ok_ = false;
    std::string read;
    for (std::size_t i = 0; ok_ && i < size; ++i) {
      char letter = reads_ ? '\0' : value[i];
      byte(letter);
      read.push_back(letter);
    }
    return set(value, read);
  }
  // The driver as those see it who do not know of data, which follow at the end of the record.
  Fields& trial(Trial& trial) {
    std::uint64_t mixed = trial.driver ^ trial.data;
    word(trial.kernel).word(trial.device).word(mixed);
    return set(trial.driver, mixed).shape(trial.shape).configuration(trial.configuration);
  }
  Fields& data_of(Trial& trial) {
    return appended(trial.data).set(trial.driver, trial.driver ^ trial.data);
  }
  // A word that is not written where it is 0.
  Fields& appended(std::uint64_t& value) {
    if (reads_ ? input_.size() - position_ >= 8 : value != 0) return word(value);
    return set(value, std::uint64_t{0});
  }
  Fields& key(ShapeKey& key) {
    return word(key.kernel).word(key.device).word(key.driver).word(key.shape);
  }
  Fields& key(TrialKey& key) {
    return word(key.kernel)
        .word(key.device)
        .word(key.driver)
        .word(key.shape)
        .word(key.configuration);
  }
  template <class Value>
  Fields& set(Value& value, const Value& read) {
    if (reads_) value = read;
    return *this;
  }

 private:
  Fields& small(std::uint8_t& value, unsigned count) {
    const std::uint64_t read = fixed(value, 1);
    if (reads_ && read >= count) ok_ = false;
    return set(value, static_cast<std::uint8_t>(ok_ ? read : 0));
  }
  std::uint64_t fixed(std::uint64_t value, unsigned size) {
    if (!reads_) {
      put(value, size, output_);
      return value;
    }
    if (size > input_.size() - position_) ok_ = false;
    if (!ok_) return 0;
    position_ += size;
    return get(input_.data() + position_ - size, size);
  }
  // LEB128: seven bits per byte, least significant first, the high bit says that more follow.
  std::uint64_t leb(std::uint64_t value) {
    std::uint64_t all = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t next = fixed((value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
      value >>= 7;
      if (shift == 63 && next > 1) break;
      all |= (next & 0x7f) << shift;
      if (next < 0x80) return ok_ ? all : 0;
    }
    ok_ = false;
    return 0;
  }

  Bytes input_;
  std::size_t position_ = 0;
  Payload output_;
  bool reads_ = false;
  bool ok_ = true;
};

}  // namespace idletune::journal
