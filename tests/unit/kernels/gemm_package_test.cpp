// What the library idletune::gemm carries inside it.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gemm/package_bytes.hpp"
#include "kernels/gemm/unpacked.hpp"
#include "models/core/random.hpp"
#include "models/package/compressed.hpp"
#include "models/package/kernel_package.hpp"

using namespace idletune;

namespace {

std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& bytes) {
  return gemm::unpacked({bytes.data(), bytes.size()});
}
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& bytes) {
  return compressed({bytes.data(), bytes.size()});
}

}  // namespace

TEST_CASE("Compressed bytes come back as they were") {
  Random random(5);
  for (std::size_t size : {0, 1, 3, 4, 5, 18, 19, 20, 270, 300, 5000, 100000}) {
    for (std::uint32_t letters : {1, 2, 4, 256}) {
      CAPTURE(size);
      CAPTURE(letters);
      std::vector<std::uint8_t> bytes(size);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(letters));
      CHECK(unpacked(packed(bytes)) == bytes);
    }
  }
  CHECK(packed(std::vector<std::uint8_t>(100000)).size() < 500);
}

TEST_CASE("Compressed bytes that are not whole give none") {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 2000; ++i) bytes.push_back(static_cast<std::uint8_t>(i * i / 7 % 50));
  const std::vector<std::uint8_t> whole = packed(bytes);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(unpacked({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}).empty());
  }
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint8_t> changed = whole;
    changed[random.below(changed.size())] ^= static_cast<std::uint8_t>(1 + random.below(255));
    CHECK(unpacked(changed).size() <= changed.size() * 256);
  }
}

TEST_CASE("The library's package is a family with classes of shapes") {
  const std::vector<std::uint8_t> bytes = gemm::unpacked(gemm::package_bytes());
  MESSAGE(gemm::package_bytes().size() << " bytes inside, " << bytes.size() << " in memory");
  const auto package = KernelPackage::open(bytes, "sgemm");
  REQUIRE_MESSAGE(package.ok(), package.status().message());
  CHECK((*package)->has_classes());
}
