// Digests (identity, 64 bit) and checksums (integrity, CRC-32C). The one place that computes
// either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <idletune/configuration.hpp>
#include <idletune/span.hpp>

namespace idletune {

// Builds a 64-bit digest of a sequence of typed values. The same sequence gives the same digest on
// every architecture and in every version; it is not cryptographic. Each value is framed with its
// type and length, so that ("ab","c") and ("a","bc") differ.
class Digest {
 public:
  Digest& add(std::uint64_t value);
  Digest& add_signed(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  Digest& add(std::string_view text);
  Digest& add(Bytes bytes);
  std::uint64_t value() const;

 private:
  void mix(std::uint64_t word);
  std::uint64_t state_ = 0x9e3779b97f4a7c15ull;
  std::uint64_t words_ = 0;
};

std::uint64_t digest_of(std::string_view text);
std::uint64_t digest_of(Bytes bytes);
std::uint64_t digest_of(const Shape& shape);
// Of the values alone: the caller keys it by the digest of the space it belongs to.
std::uint64_t digest_of(const Configuration& configuration);

// CRC-32C (Castagnoli, reflected 0x82f63b78), as in RFC 3720. `seed` continues an earlier value.
std::uint32_t crc32c(Bytes bytes, std::uint32_t seed = 0);

}  // namespace idletune
