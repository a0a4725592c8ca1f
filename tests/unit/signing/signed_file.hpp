// Files that are signed without arithmetic, for tests of what is believed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/signing.hpp>

#include "agent/signing/trailer.hpp"
#include "models/core/digest.hpp"

namespace idletune::test {

// Stands for ECDSA: a signature is a digest of the key and the bytes, eight times.
class DigestCheck final : public SignatureCheck {
 public:
  static std::vector<std::uint8_t> sign(const PublicKey& key, Bytes bytes) {
    const std::uint64_t digest = Digest().add(Bytes(key.point)).add(bytes).value();
    std::vector<std::uint8_t> signature;
    for (unsigned i = 0; i < signing::kSignatureBytes; ++i)
      signature.push_back(static_cast<std::uint8_t>(digest >> (8 * (i % 8))));
    return signature;
  }
  bool holds(const PublicKey& key, Bytes bytes, Bytes signature) const override {
    const std::vector<std::uint8_t> right = sign(key, bytes);
    return std::equal(signature.begin(), signature.end(), right.begin(), right.end());
  }
};

inline PublicKey key_number(std::uint8_t number) {
  PublicKey key;
  key.point.fill(number);
  key.point[0] = 4;
  return key;
}

inline std::vector<std::uint8_t> signed_by(const PublicKey& key, const std::string& product,
                                           std::vector<std::uint8_t> file) {
  const auto trailer = signing::unsigned_trailer(file.size(), key, product);
  file.insert(file.end(), trailer.begin(), trailer.end());
  const auto signature = DigestCheck::sign(key, file);
  file.insert(file.end(), signature.begin(), signature.end());
  return file;
}

}  // namespace idletune::test
