// Gives damaged kernel packages a correct content digest, so that tests and fuzzers get past it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "models/package/package_seal.hpp"
#include "models/schema/kernel_generated.h"

namespace idletune::test {

// Makes the content digest right again, as an attacker would. False if the bytes are so broken that
// there is no seal to write.
inline bool seal_again(std::vector<std::uint8_t>& bytes) {
  namespace fb = idletune::kernel_schema;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 12, 20000);
  if (bytes.size() < 16 || !fb::VerifyKernelPackageBuffer(verifier)) return false;
  const fb::KernelPackage* root = fb::GetKernelPackage(bytes.data());
  const auto offset = [&](const void* part) {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(part) - bytes.data());
  };
  package::Hole signature;
  const package::Hole seal{offset(root->seal()), sizeof(fb::KernelSeal)};
  if (root->signature() != nullptr) {
    signature = {offset(root->signature()->Data()), root->signature()->size()};
    const bool disjoint = signature.offset + signature.length <= seal.offset ||
                          seal.offset + seal.length <= signature.offset;
    if (signature.length != 0 && !disjoint) return false;
  }
  const std::uint64_t digest =
      package::content_digest(Bytes(bytes.data(), bytes.size()), seal, signature);
  std::memcpy(bytes.data() + seal.offset, &digest, sizeof(digest));
  return true;
}

}  // namespace idletune::test
