#include "agent/signing/trailer.hpp"

#include <algorithm>

#include "models/core/utf8.hpp"

namespace idletune::signing {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kEcdsaP256Sha256 = 1;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kAlgorithmAt = 10;
constexpr std::size_t kReservedAt = 12;
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kKeyAt = 24;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kProductAt = kKeyAt + kKeyBytes;
static_assert(kProductAt + kMaxProductBytes + 1 + kSignatureBytes == kTrailerBytes);

std::uint64_t number_at(const std::uint8_t* from, std::size_t bytes) {
  std::uint64_t value = 0;
  while (bytes > 0) value = value << 8 | from[--bytes];
  return value;
}

void put_number(std::uint64_t value, std::size_t bytes, std::uint8_t* to) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

Status untrusted(const char* why) { return Status(StatusCode::untrusted, why); }

}  // namespace

Result<Trailer> read_trailer(Bytes file) {
  if (!has_trailer(file)) return untrusted("expected a signature at its end");
  const std::size_t content = file.size() - kTrailerBytes;
  const std::uint8_t* const at = file.data() + content;
  if (number_at(at + kVersionAt, 2) != kVersion || number_at(at + kReservedAt, 4) != 0)
    return untrusted("its signature is of a version that this one does not read");
  if (number_at(at + kAlgorithmAt, 2) != kEcdsaP256Sha256)
    return untrusted("its signature is of another kind than ECDSA with P-256 and SHA-256");
  if (content == 0) return untrusted("it is a signature of nothing");
  if (number_at(at + kLengthAt, 8) != content)
    return Status(StatusCode::untrusted, "its signature is of % bytes, but it has %",
                  number_at(at + kLengthAt, 8), content);
  if (has_trailer(file.subspan(0, content))) return untrusted("it has two signatures");
  const auto* const product = reinterpret_cast<const char*>(at + kProductAt);
  const char* const end = product + kMaxProductBytes + 1;
  const char* const nul = std::find(product, end, '\0');
  Trailer trailer;
  trailer.product.assign(product, nul);
  if (!is_product(trailer.product) ||
      std::find_if(nul, end, [](char c) { return c != '\0'; }) != end)
    return untrusted("its signature names no product");
  trailer.signed_bytes = file.subspan(0, file.size() - kSignatureBytes);
  trailer.signature = file.subspan(file.size() - kSignatureBytes, kSignatureBytes);
  trailer.key_x = file.subspan(content + kKeyAt, kKeyBytes);
  return trailer;
}

bool is_product(std::string_view name) {
  bool right = !name.empty() && name.size() <= kMaxProductBytes;
  while (right && !name.empty()) {
    const Character next = first_character(name);
    right = next.well_formed && !is_control(next.code);
    name.remove_prefix(next.bytes);
  }
  return right;
}

std::vector<std::uint8_t> unsigned_trailer(std::uint64_t content_bytes, const PublicKey& key,
                                           std::string_view product) {
  std::vector<std::uint8_t> trailer(kTrailerBytes - kSignatureBytes);
  std::copy(std::begin(kMagic), std::end(kMagic), trailer.begin());
  put_number(kVersion, 2, &trailer[kVersionAt]);
  put_number(kEcdsaP256Sha256, 2, &trailer[kAlgorithmAt]);
  put_number(content_bytes, 8, &trailer[kLengthAt]);
  std::copy_n(key.point.begin() + 1, kKeyBytes, trailer.begin() + kKeyAt);
  std::copy_n(product.begin(), std::min(product.size(), kMaxProductBytes),
              trailer.begin() + kProductAt);
  return trailer;
}

}  // namespace idletune::signing
