#include "agent/host/cli/signing_keys.hpp"

#include <algorithm>

#include <bearssl.h>

#include "agent/signing/trailer.hpp"

namespace idletune::cli {
namespace {

br_ec_private_key lent(std::array<std::uint8_t, 32>& x) {
  return {BR_EC_secp256r1, x.data(), x.size()};
}

std::string pem(const char* name, Bytes der) {
  std::string text(br_pem_encode(nullptr, nullptr, der.size(), name, BR_PEM_LINE64), '\0');
  // It writes a NUL behind the text, where the string has one.
  br_pem_encode(text.data(), der.data(), der.size(), name, BR_PEM_LINE64);
  return text;
}

// The first object of the text with one of the names of private keys; empty: there is none.
std::vector<std::uint8_t> der_of(const std::string& text) {
  br_pem_decoder_context decoder;
  br_pem_decoder_init(&decoder);
  std::vector<std::uint8_t> der;
  bool wanted = false;
  const auto take = [](void* to, const void* bytes, std::size_t count) {
    const auto* const begin = static_cast<const std::uint8_t*>(bytes);
    static_cast<std::vector<std::uint8_t>*>(to)->insert(
        static_cast<std::vector<std::uint8_t>*>(to)->end(), begin, begin + count);
  };
  for (std::size_t at = 0; at < text.size();) {
    at += br_pem_decoder_push(&decoder, text.data() + at, text.size() - at);
    const int event = br_pem_decoder_event(&decoder);
    if (event == BR_PEM_ERROR) break;
    if (event == BR_PEM_END_OBJ && wanted) return der;
    if (event != BR_PEM_BEGIN_OBJ) continue;
    const std::string name = br_pem_decoder_name(&decoder);
    wanted = name == BR_ENCODE_PEM_EC_RAW || name == BR_ENCODE_PEM_PKCS8;
    br_pem_decoder_setdest(&decoder, wanted ? +take : nullptr, &der);
  }
  return {};
}

}  // namespace

PublicKey PrivateKey::public_key() const {
  std::array<std::uint8_t, 32> copy = x;
  const br_ec_private_key key = lent(copy);
  PublicKey made;
  br_ec_compute_pub(&br_ec_prime_i31, nullptr, made.point.data(), &key);
  return made;
}

RawSignature PrivateKey::sign(const Sha256& digest) const {
  std::array<std::uint8_t, 32> copy = x;
  const br_ec_private_key key = lent(copy);
  RawSignature signature{};
  br_ecdsa_i31_sign_raw(&br_ec_prime_i31, &br_sha256_vtable, digest.data(), &key, signature.data());
  return signature;
}

Result<PrivateKey> make_private_key() {
  const br_prng_seeder seed = br_prng_seeder_system(nullptr);
  br_hmac_drbg_context random;
  br_hmac_drbg_init(&random, &br_sha256_vtable, nullptr, 0);
  if (seed == nullptr || seed(&random.vtable) == 0)
    return Status(StatusCode::unsupported, "the system gives no random numbers");
  PrivateKey made;
  br_ec_private_key key{};
  if (br_ec_keygen(&random.vtable, &br_ec_prime_i31, &key, made.x.data(), BR_EC_secp256r1) !=
      made.x.size()) {
    return Status(StatusCode::internal, "no key was made");
  }
  return made;
}

Result<PrivateKey> read_private_key(const std::string& text) {
  const std::vector<std::uint8_t> der = der_of(text + '\n');  // an object ends with its line
  br_skey_decoder_context decoder;
  br_skey_decoder_init(&decoder);
  br_skey_decoder_push(&decoder, der.data(), der.size());
  const br_ec_private_key* const key = br_skey_decoder_get_ec(&decoder);
  PrivateKey read;
  if (key == nullptr || key->curve != BR_EC_secp256r1 || key->xlen > read.x.size()) {
    return Status(StatusCode::invalid_argument,
                  "expected a private key of P-256 in PEM, not encrypted");
  }
  std::copy_n(key->x, key->xlen, read.x.end() - static_cast<std::ptrdiff_t>(key->xlen));
  if (read.public_key().point[0] != 4)
    return Status(StatusCode::invalid_argument, "the private key is none of P-256");
  return read;
}

std::string private_key_text(const PrivateKey& key) {
  std::array<std::uint8_t, 32> x = key.x;
  PublicKey known = key.public_key();
  const br_ec_private_key secret = lent(x);
  const br_ec_public_key open = {BR_EC_secp256r1, known.point.data(), known.point.size()};
  std::vector<std::uint8_t> der(br_encode_ec_raw_der(nullptr, &secret, &open));
  br_encode_ec_raw_der(der.data(), &secret, &open);
  return pem(BR_ENCODE_PEM_EC_RAW, der);
}

std::string public_key_text(const PublicKey& key) {
  std::vector<std::uint8_t> der(std::begin(signing::kPointFollows),
                                std::end(signing::kPointFollows));
  der.insert(der.end(), key.point.begin(), key.point.end());
  return pem("PUBLIC KEY", der);
}

Sha256 sha256(Bytes bytes) {
  br_sha256_context hash;
  br_sha256_init(&hash);
  br_sha256_update(&hash, bytes.data(), bytes.size());
  Sha256 digest{};
  br_sha256_out(&hash, digest.data());
  return digest;
}

Result<RawSignature> read_signature(Bytes bytes) {
  RawSignature signature{};
  std::array<std::uint8_t, 128> copy{};
  std::size_t size = bytes.size();
  if (size != signature.size() && size <= copy.size()) {
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    size = br_ecdsa_asn1_to_raw(copy.data(), size);
    bytes = Bytes(copy.data(), size);
  }
  // Both numbers are as long as the longer one, which may begin with zeros that DER leaves out.
  if (size == 0 || size % 2 != 0 || size > signature.size()) {
    return Status(StatusCode::invalid_argument,
                  "expected a signature of P-256: 64 bytes, or DER with two numbers");
  }
  const std::size_t half = size / 2;
  std::copy_n(bytes.begin(), half, signature.begin() + 32 - half);
  std::copy_n(bytes.begin() + half, half, signature.end() - half);
  return signature;
}

}  // namespace idletune::cli
