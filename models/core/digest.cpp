#include "models/core/digest.hpp"

namespace idletune {
namespace {

// The finaliser of SplitMix64: a bijection of 64-bit words with full avalanche.
std::uint64_t avalanche(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t load_little_endian(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

constexpr std::uint64_t kTagWord = 1;
constexpr std::uint64_t kTagBytes = 2;

// Half a byte at a time: a table for whole bytes would be a KiB of every program.
struct Crc32cTable {
  std::uint32_t entries[16];
  constexpr Crc32cTable() : entries() {
    for (std::uint32_t i = 0; i < 16; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 4; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0x82f63b78u : 0u);
      entries[i] = crc;
    }
  }
};
constexpr Crc32cTable kCrc32c;

}  // namespace

void Digest::mix(std::uint64_t word) {
  ++words_;
  state_ = avalanche(state_ ^ avalanche(word + words_ * 0x9e3779b97f4a7c15ull));
}

Digest& Digest::add(std::uint64_t value) {
  mix(kTagWord);
  mix(value);
  return *this;
}

Digest& Digest::add(std::string_view text) {
  return add(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Digest& Digest::add(Bytes bytes) {
  mix(kTagBytes);
  mix(bytes.size());
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) mix(load_little_endian(bytes.data() + i, 8));
  if (i < bytes.size()) mix(load_little_endian(bytes.data() + i, bytes.size() - i));
  return *this;
}

std::uint64_t Digest::value() const { return avalanche(state_ + words_); }

std::uint64_t digest_of(std::string_view text) { return Digest().add(text).value(); }
std::uint64_t digest_of(Bytes bytes) { return Digest().add(bytes).value(); }

std::uint64_t digest_of(const Shape& shape) {
  Digest digest;
  for (std::int64_t word : shape.words()) digest.add_signed(word);
  if (shape.feature_count() > 0) digest.add(std::uint64_t{shape.feature_count()});
  return digest.value();
}

std::uint64_t digest_of(const Configuration& configuration) {
  Digest digest;
  for (std::int64_t v : configuration.values()) digest.add_signed(v);
  return digest.value();
}

std::uint32_t crc32c(Bytes bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  for (std::uint8_t byte : bytes) {
    crc ^= byte;
    crc = (crc >> 4) ^ kCrc32c.entries[crc & 0xfu];
    crc = (crc >> 4) ^ kCrc32c.entries[crc & 0xfu];
  }
  return ~crc;
}

}  // namespace idletune
