// Signed models and kernel packages: for AgentOptions::trust. A program contains a check of
// signatures only if it names one, and links idletune::signing then.
//
//   auto key = idletune::PublicKey::read(kProductKey);  // the text of a file of `idletune key`
//   auto trust = idletune::signed_files({*key}, "thermostat-3");
//   options.trust = trust.get();
//
// agent/signing/README.md has the bytes, the commands and what a signature does not promise.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/trust.hpp>

namespace idletune {

// Of ECDSA with the curve P-256 (FIPS 186-5, SP 800-186).
struct PublicKey {
  // In PEM, as `idletune key` and `openssl pkey -pubout` write it. Errors: invalid_argument (no such
  // text, or a key of another kind).
  static Result<PublicKey> read(std::string_view pem);

  std::array<std::uint8_t, 65> point{};  // uncompressed: 4, then x and y, each 32 bytes, big-endian
};

// Whether a signature is one: hashing and arithmetic.
class SignatureCheck {
 public:
  virtual ~SignatureCheck() = default;
  // Of SHA-256 of the bytes. `signature`: r and s, each 32 bytes, big-endian. Any thread.
  virtual bool holds(const PublicKey& key, Bytes bytes, Bytes signature) const = 0;
};
// With BearSSL, which is linked then: some 14 KiB and, on a board, some 10 ms per file.
const SignatureCheck* p256_check();

// Believes files that one of the keys has signed for this product: several while keys change.
// `product`: 1 to 71 bytes of UTF-8, no control characters; what was signed for another one is
// refused. `check` must outlive what is returned; an application with a check of its own (a secure
// element, another library) gives that and links no BearSSL. Errors: invalid_argument.
Result<std::unique_ptr<FileTrust>> signed_files(std::vector<PublicKey> keys, std::string product,
                                                const SignatureCheck* check);
inline Result<std::unique_ptr<FileTrust>> signed_files(std::vector<PublicKey> keys,
                                                       std::string product) {
  return signed_files(std::move(keys), std::move(product), p256_check());
}

}  // namespace idletune
