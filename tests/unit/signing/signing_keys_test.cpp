// Keys and signatures of P-256, and another implementation's verdict on them.
#include <doctest/doctest.h>

#include <random>

#include "agent/host/cli/signing_keys.hpp"
#include "agent/signing/trailer.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_OPENSSL
#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#endif

using namespace idletune;
using namespace idletune::cli;

namespace {

std::vector<std::uint8_t> signed_with(const PrivateKey& key, const std::string& product,
                                      std::vector<std::uint8_t> file) {
  const auto trailer = signing::unsigned_trailer(file.size(), key.public_key(), product);
  file.insert(file.end(), trailer.begin(), trailer.end());
  const RawSignature signature = key.sign(sha256(file));
  file.insert(file.end(), signature.begin(), signature.end());
  return file;
}

PrivateKey some_key() { return required(make_private_key()); }

#ifdef IDLETUNE_WITH_OPENSSL
// A million in the campaign (agent/signing/README.md).
std::uint64_t wanted() {
  return test::number_from_environment("IDLETUNE_TEST_SIGNATURES", test::repeats(400));
}

// By OpenSSL alone: its reader of keys, its digest, its verification.
class OpenSslCheck {
 public:
  explicit OpenSslCheck(const std::string& pem) {
    BIO* text = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    key_ = PEM_read_bio_PUBKEY(text, nullptr, nullptr, nullptr);
    BIO_free(text);
    REQUIRE(key_ != nullptr);
  }
  ~OpenSslCheck() { EVP_PKEY_free(key_); }
  OpenSslCheck(const OpenSslCheck&) = delete;
  OpenSslCheck& operator=(const OpenSslCheck&) = delete;

  bool holds(Bytes bytes, Bytes signature) const {
    ECDSA_SIG* const both = ECDSA_SIG_new();
    ECDSA_SIG_set0(both, BN_bin2bn(signature.data(), 32, nullptr),
                   BN_bin2bn(signature.data() + 32, 32, nullptr));
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(both, &der);
    ECDSA_SIG_free(both);
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key_);
    const int verdict =
        EVP_DigestVerify(context, der, static_cast<std::size_t>(size), bytes.data(), bytes.size());
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    return verdict == 1;
  }

 private:
  EVP_PKEY* key_ = nullptr;
};
#endif

}  // namespace

TEST_CASE("a key that was written is read again, and its signatures hold for it alone") {
  const PrivateKey key = some_key();
  const auto again = required(read_private_key(private_key_text(key)));
  CHECK(again.x == key.x);
  std::string one_line_less = private_key_text(key);
  one_line_less.pop_back();
  CHECK(required(read_private_key(one_line_less)).x == key.x);
  const auto known = required(PublicKey::read(public_key_text(key.public_key())));
  CHECK(known.point == key.public_key().point);

  const std::vector<std::uint8_t> file = signed_with(key, "p", {1, 2, 3});
  CHECK(*(*signed_files({known}, "p"))->believed(file) == 3);
  const PrivateKey other = some_key();
  CHECK(other.x != key.x);
  CHECK((*signed_files({other.public_key()}, "p"))->believed(file).code() == StatusCode::untrusted);
  // A point that lies on no curve.
  PublicKey wrong = known;
  wrong.point[64] ^= 1;
  CHECK_FALSE(p256_check()->holds(wrong, Bytes(file).subspan(0, file.size() - 64),
                                  Bytes(file).subspan(file.size() - 64)));
}

TEST_CASE("texts that are no private key are refused") {
  const std::string text = private_key_text(some_key());
  CHECK_FALSE(read_private_key("").ok());
  CHECK_FALSE(read_private_key(text.substr(0, text.size() / 2)).ok());
  CHECK_FALSE(read_private_key(public_key_text(some_key().public_key())).ok());
}

TEST_CASE("signatures are read as they are, and in DER") {
  RawSignature raw{};
  raw[31] = 0x81;  // r and s of one byte
  raw[63] = 0x02;
  CHECK(*read_signature(raw) == raw);
  const std::vector<std::uint8_t> der = {0x30, 0x07, 0x02, 0x02, 0x00, 0x81, 0x02, 0x01, 0x02};
  const auto read = required(read_signature(der));
  CHECK(read == raw);
  CHECK_FALSE(read_signature({}).ok());
  CHECK_FALSE(read_signature(Bytes(der).subspan(1)).ok());
  CHECK_FALSE(read_signature(std::vector<std::uint8_t>(200, 1)).ok());
}

TEST_CASE("no file and no signature that was changed is believed, and OpenSSL agrees") {
#ifndef IDLETUNE_WITH_OPENSSL
  test::skip("OpenSSL's headers are missing (libssl-dev)");
#else
  std::mt19937_64 random(wanted());
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const PrivateKey key = some_key();
  const auto trust = required(signed_files({key.public_key()}, "p"));
  const OpenSslCheck openssl(public_key_text(key.public_key()));
  for (std::uint64_t i = 0; i < wanted(); i += 100) {
    std::vector<std::uint8_t> content(1 + below(300));
    for (std::uint8_t& byte : content) byte = static_cast<std::uint8_t>(random());
    const std::vector<std::uint8_t> file = signed_with(key, "p", content);
    REQUIRE(trust->believed(file).ok());
    REQUIRE(openssl.holds(Bytes(file).subspan(0, file.size() - 64),
                          Bytes(file).subspan(file.size() - 64)));
    for (int change = 0; change < 100; ++change) {
      auto other = file;
      // Mostly where arithmetic decides: in the content or in the signature.
      for (std::size_t bytes = 1 + below(3); bytes > 0 || other == file; --bytes) {
        const std::size_t at =
            below(8) == 0 ? below(file.size())
                          : (below(2) == 0 ? below(content.size()) : file.size() - 1 - below(64));
        other[at] = static_cast<std::uint8_t>(random());
        if (bytes == 0) bytes = 1;
      }
      const auto believed = trust->believed(other);
      REQUIRE(believed.code() == StatusCode::untrusted);
      REQUIRE_FALSE(openssl.holds(Bytes(other).subspan(0, other.size() - 64),
                                  Bytes(other).subspan(other.size() - 64)));
    }
  }
#endif
}
