// What a signed file ends with. README.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/signing.hpp>
#include <idletune/span.hpp>

namespace idletune::signing {

inline constexpr std::size_t kTrailerBytes = 192;
inline constexpr std::size_t kSignatureBytes = 64;  // the last ones; all others are signed
inline constexpr std::size_t kMaxProductBytes = 71;
inline constexpr std::uint8_t kMagic[8] = {0x89, 'I', 'T', 'S', 'I', 'G', 'N', '\n'};

// SubjectPublicKeyInfo of a point of P-256 (RFC 5480), up to the point.
inline constexpr std::uint8_t kPointFollows[] = {
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
    0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00};

inline bool has_trailer(Bytes file) {
  return file.size() >= kTrailerBytes &&
         std::memcmp(file.end() - kTrailerBytes, kMagic, sizeof kMagic) == 0;
}
// What is left without it.
inline std::size_t bytes_without_trailer(Bytes file) {
  return file.size() - (has_trailer(file) ? kTrailerBytes : 0);
}

struct Trailer {
  Bytes signed_bytes;  // of the file, as are the others
  Bytes signature;
  Bytes key_x;          // of the public key, 32 bytes
  std::string product;  // whom it was signed for
};
// Errors: untrusted (no signature, or not a trailer that this version knows; says which).
Result<Trailer> read_trailer(Bytes file);

// 1 to kMaxProductBytes of UTF-8 without control characters: messages have it in one line.
bool is_product(std::string_view name);

// The trailer of so many bytes without its signature: what is to be signed ends with it.
std::vector<std::uint8_t> unsigned_trailer(std::uint64_t content_bytes, const PublicKey& key,
                                           std::string_view product);

}  // namespace idletune::signing
