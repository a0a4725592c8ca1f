// What host code does with the most products, and with packed operands of the largest sides.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <idletune/agent.hpp>
#include <idletune/gemm.hpp>

#include "tests/campaigns/host_sizes/idle_device.hpp"
#include "tests/unit/kernels/corner_device.hpp"

using namespace idletune;
using test::kBeyond;
using test::kMost;

namespace {

class Products {
 public:
  explicit Products(const std::string& backend) : device_(test::limits_of(backend)) {
    AgentOptions options;
    options.read_environment = false;
    auto agent = Agent::open(options);
    REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
    agent_ = std::make_unique<Agent>(std::move(*agent));
    auto gemm = Gemm::open(*agent_, device_, std::make_unique<test::IdleQueue>(device_));
    REQUIRE_MESSAGE(gemm.ok(), gemm.status().to_string());
    gemm_ = std::make_unique<Gemm>(std::move(*gemm));
  }
  Gemm& gemm() { return *gemm_; }
  std::size_t launches() { return std::exchange(device_.launches, 0); }

 private:
  test::IdleDevice device_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<Gemm> gemm_;
};

Product product_of(std::int64_t m, std::int64_t n, std::int64_t k, const Buffer& a, const Buffer& b,
                   const Buffer& c) {
  Product product;
  product.m = m, product.n = n, product.k = k;
  product.a = {a.argument(), 0, k};
  product.b = {b.argument(), 0, n};
  product.c = {c.argument(), 0, n};
  return product;
}

}  // namespace

TEST_CASE("the most products are launched, those beyond are refused") {
  const test::IdleBuffer a(size_t{4} * kMost), b(size_t{4} * kMost), c(size_t{4} * kMost);
  for (const char* backend : {"opencl", "cuda"}) {
    Products products(backend);
    (void)products.launches();
    const Product apart = product_of(1, 1, 1, a, b, c);
    CHECK(products.gemm().multiply_strided(apart, {kMost, 1, 1, 1}).to_string() == "ok");
    CHECK(products.launches() == 65536);  // of 32768 each
    const std::string beyond = "the number of products is 2147483649, expected 0 to 2147479552";
    CHECK(products.gemm().multiply_strided(apart, {kBeyond, 1, 1, 1}).message() == beyond);
    const std::size_t none = 0;
    const Span<const std::size_t> many(&none, static_cast<std::size_t>(kBeyond));
    CHECK(products.gemm().multiply_batched(apart, {many, many, many}).message() == beyond);
    CHECK(products.launches() == 0);
  }
}

TEST_CASE("whether the most products overlap is told where they lie between each other") {
  const test::IdleBuffer b(size_t{4} * kMost), c(size_t{8} * kMost);
  Products products("opencl");
  (void)products.launches();
  Product between = product_of(1, 1, 1, c, b, c);
  between.a.offset = 1;
  CHECK(products.gemm().multiply_strided(between, {kMost, 2, 1, 2}).to_string() == "ok");
  CHECK(products.launches() == 65536);
  between.a.offset = 2 * kMost - 2;
  CHECK(products.gemm().multiply_strided(between, {kMost, 0, 1, 2}).message() ==
        "c overlaps a, expected memory of its own");
}

TEST_CASE("operands with the longest sides are packed and multiplied") {
  const test::IdleBuffer a(size_t{4} * kMost), b(4), c(size_t{4} * kMost);
  for (const char* backend : {"opencl", "cuda"}) {
    Products products(backend);
    for (const bool deep : {false, true}) {
      const Product product = product_of(deep ? 1 : kMost, 1, deep ? kMost : 1, a, deep ? a : b, c);
      auto packed = products.gemm().pack(GemmArgument::a, product);
      REQUIRE_MESSAGE(packed.ok(), packed.status().to_string());
      CHECK(packed->size_bytes() == std::size_t{4} * 16 * kMost);
      CHECK(products.gemm().multiply_packed(product, *packed, {}).to_string() == "ok");
      Product beyond = product;
      (deep ? beyond.k : beyond.m) = kBeyond;
      CHECK(products.gemm().pack(GemmArgument::a, beyond).status().message() ==
            "a packed operand has a side of 2147483649, expected 1 to 2147479552");
    }
  }
}
