#include <idletune/signing.hpp>

#include <algorithm>
#include <utility>

#include "agent/signing/trailer.hpp"

namespace idletune {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";

int value_of_base64(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// What its characters of base64 say; all others are passed over.
std::vector<std::uint8_t> decoded(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int value = value_of_base64(c);
    if (value < 0) continue;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  return bytes;
}

class SignedFiles final : public FileTrust {
 public:
  SignedFiles(std::vector<PublicKey> keys, std::string product, const SignatureCheck& check)
      : keys_(std::move(keys)), product_(std::move(product)), check_(check) {}
  Result<std::size_t> believed(Bytes file) const override;

 private:
  std::vector<PublicKey> keys_;
  std::string product_;
  const SignatureCheck& check_;
};

Result<std::size_t> SignedFiles::believed(Bytes file) const {
  const Result<signing::Trailer> trailer = signing::read_trailer(file);
  if (!trailer.ok()) return trailer.status();
  if (trailer->product != product_) {
    return Status(StatusCode::untrusted, "it was signed for the product '%', expected '%'",
                  trailer->product, product_);
  }
  const auto key = std::find_if(keys_.begin(), keys_.end(), [&](const PublicKey& each) {
    return std::equal(trailer->key_x.begin(), trailer->key_x.end(), each.point.begin() + 1);
  });
  if (key == keys_.end())
    return Status(StatusCode::untrusted, "it was signed with a key that is not believed");
  if (!check_.holds(*key, trailer->signed_bytes, trailer->signature))
    return Status(StatusCode::untrusted, "its signature is one of other bytes");
  return file.size() - signing::kTrailerBytes;
}

}  // namespace

Result<PublicKey> PublicKey::read(std::string_view pem) {
  const std::size_t begin = pem.find(kBegin);
  const std::size_t end = pem.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return Status(StatusCode::invalid_argument, "expected '%'", kBegin);
  const std::vector<std::uint8_t> bytes =
      decoded(pem.substr(begin + kBegin.size(), end - begin - kBegin.size()));
  PublicKey key;
  constexpr std::size_t kPrefix = sizeof signing::kPointFollows;
  if (bytes.size() != kPrefix + key.point.size() ||
      !std::equal(std::begin(signing::kPointFollows), std::end(signing::kPointFollows),
                  bytes.begin()) ||
      bytes[kPrefix] != 4) {
    return Status(StatusCode::invalid_argument, "expected a key of P-256");
  }
  std::copy(bytes.begin() + kPrefix, bytes.end(), key.point.begin());
  return key;
}

Result<std::unique_ptr<FileTrust>> signed_files(std::vector<PublicKey> keys, std::string product,
                                                const SignatureCheck* check) {
  if (keys.empty() || check == nullptr)
    return Status(StatusCode::invalid_argument, "signed files: expected a key and a check");
  if (!signing::is_product(product)) {
    return Status(StatusCode::invalid_argument,
                  "signed files: the product's name has % bytes, expected 1 to % of UTF-8 without "
                  "control characters",
                  product.size(), signing::kMaxProductBytes);
  }
  return std::unique_ptr<FileTrust>(
      std::make_unique<SignedFiles>(std::move(keys), std::move(product), *check));
}

}  // namespace idletune
