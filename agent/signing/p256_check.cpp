// Apart from the others, so that only programs that name this check link BearSSL.
#include <idletune/signing.hpp>

#include <bearssl.h>

namespace idletune {
namespace {

class P256Check final : public SignatureCheck {
 public:
  bool holds(const PublicKey& key, Bytes bytes, Bytes signature) const override {
    br_sha256_context hash;
    br_sha256_init(&hash);
    br_sha256_update(&hash, bytes.data(), bytes.size());
    std::uint8_t digest[br_sha256_SIZE];
    br_sha256_out(&hash, digest);
    std::array<std::uint8_t, 65> point = key.point;  // it takes no const pointer
    const br_ec_public_key known = {BR_EC_secp256r1, point.data(), point.size()};
    return br_ecdsa_i31_vrfy_raw(&br_ec_prime_i31, digest, sizeof digest, &known, signature.data(),
                                 signature.size()) == 1;
  }
};

}  // namespace

const SignatureCheck* p256_check() {
  static const P256Check check;
  return &check;
}

}  // namespace idletune
