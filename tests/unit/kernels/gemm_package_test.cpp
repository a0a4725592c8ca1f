// What the library idletune::gemm carries inside it.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kernels/blas/package_bytes.hpp"
#include "kernels/blas/unpacked.hpp"
#include "models/core/random.hpp"
#include "models/host/pack/compressed.hpp"
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

TEST_CASE("Compressed bytes come back beside others that are known") {
  Random random(7);
  std::vector<std::uint8_t> known(150000);
  for (std::uint8_t& byte : known) byte = static_cast<std::uint8_t>(random.below(256));
  for (std::size_t size : {0, 1, 5, 300, 140000}) {
    std::vector<std::uint8_t> bytes(known.begin(),
                                    known.begin() + static_cast<std::ptrdiff_t>(size));
    if (size > 2) bytes[size / 2] ^= 1;
    const std::vector<std::uint8_t> small =
        compressed({bytes.data(), size}, {known.data(), known.size()});
    CHECK(small.size() < 700);
    const Bytes whole(small.data(), small.size());
    CHECK(gemm::unpacked(whole, {known.data(), known.size()}) == bytes);
    if (size < 300) continue;
    CHECK(gemm::unpacked({small.data(), small.size() - 1}, {known.data(), known.size()}).empty());
    // Without what was known, or with less of it.
    CHECK(gemm::unpacked(whole) != bytes);
    CHECK(gemm::unpacked(whole, {known.data(), 4}) != bytes);
  }
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

TEST_CASE("The library's packages are families with classes of shapes") {
  const std::vector<std::uint8_t> single = gemm::unpacked(gemm::package_bytes());
  const std::vector<std::uint8_t> half =
      gemm::unpacked(gemm::half_package_bytes(), {single.data(), single.size()});
  MESSAGE(gemm::package_bytes().size()
          << " and " << gemm::half_package_bytes().size() << " bytes inside, " << single.size()
          << " and " << half.size() << " in memory");
  for (const std::vector<std::uint8_t>* bytes : {&single, &half}) {
    const auto package = KernelPackage::open(*bytes, "gemm");
    REQUIRE_MESSAGE(package.ok(), package.status().message());
    CHECK((*package)->has_classes());
    CHECK((*package)->name() == (bytes == &half ? "hgemm" : "sgemm"));
  }
}
