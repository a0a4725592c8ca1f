// Captured arguments from anywhere: opened as they are, and once more under a correct digest, so
// that everything behind it is reached too. Whatever opens must be readable to its last byte.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/core/digest.hpp"
#include "models/package/captured_arguments.hpp"

using namespace idletune;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void use(const CapturedArguments& captured) {
  require(!captured.kernel().empty() && captured.shape().size() > 0);
  unsigned sum = 0;
  for (const CapturedArguments::Array& array : captured.arrays()) {
    for (const std::uint8_t byte : array.data) sum += byte;
    require(captured.find(array.name) != nullptr);
  }
  volatile unsigned read = sum;
  (void)read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  if (const auto opened = CapturedArguments::open(bytes, "fuzz"); opened.ok()) use(*opened);
  if (size >= 16) {
    const std::uint64_t digest = digest_of(Bytes(bytes).subspan(16));
    std::memcpy(bytes.data() + 8, &digest, sizeof digest);
    if (const auto opened = CapturedArguments::open(bytes, "fuzz"); opened.ok()) use(*opened);
  }
  return 0;
}
