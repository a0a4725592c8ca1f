// Keys of ECDSA with P-256 on a host: made, read, used. What boards need is in agent/signing.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <idletune/signing.hpp>

namespace idletune::cli {

using Sha256 = std::array<std::uint8_t, 32>;
using RawSignature = std::array<std::uint8_t, 64>;  // r and s, big-endian

struct PrivateKey {
  std::array<std::uint8_t, 32> x{};
  PublicKey public_key() const;
  RawSignature sign(const Sha256& digest) const;  // RFC 6979: equal digests, equal signatures
};

// From the system's source of random numbers. Errors: unsupported (there is none).
Result<PrivateKey> make_private_key();
// In PEM: SEC 1 or PKCS #8, not encrypted. Errors: invalid_argument.
Result<PrivateKey> read_private_key(const std::string& pem);
std::string private_key_text(const PrivateKey& key);
std::string public_key_text(const PublicKey& key);

Sha256 sha256(Bytes bytes);
// As 64 bytes, or in DER as most tools write it. Errors: invalid_argument.
Result<RawSignature> read_signature(Bytes bytes);

}  // namespace idletune::cli
