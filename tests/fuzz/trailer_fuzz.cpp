// What a signed file ends with. What is read must be what would be written, and a check that believes
// everything must not make anything of it that is not there.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/signing/trailer.hpp"

using namespace idletune;

namespace {

class Credulous final : public SignatureCheck {
 public:
  bool holds(const PublicKey&, Bytes, Bytes) const override { return true; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(data, size);
  (void)PublicKey::read({reinterpret_cast<const char*>(data), size});
  const auto trailer = signing::read_trailer(file);
  if (!trailer.ok()) {
    if (trailer.code() != StatusCode::untrusted || trailer.status().message().empty()) std::abort();
    return 0;
  }
  PublicKey key;
  key.point[0] = 4;
  std::copy(trailer->key_x.begin(), trailer->key_x.end(), key.point.begin() + 1);
  const std::size_t content = size - signing::kTrailerBytes;
  const auto again = signing::unsigned_trailer(content, key, trailer->product);
  if (!std::equal(again.begin(), again.end(), trailer->signed_bytes.begin() + content))
    std::abort();
  static const Credulous check;
  const auto trust = signed_files({key}, trailer->product, &check);
  if (!trust.ok()) std::abort();
  const auto believed = (*trust)->believed(file);
  if (!believed.ok() || *believed != content) std::abort();
  return 0;
}
