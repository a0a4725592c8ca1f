// Products of idletune::gemm at the largest sizes and one beyond, in both back ends' limits.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <idletune/agent.hpp>
#include <idletune/gemm.hpp>

#include "tests/unit/kernels/corner_device.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using test::kBeyond;
using test::kMost;

namespace {

struct Sizes {
  std::int64_t m, n, k;
};

class Products {
 public:
  explicit Products(bool cuda)
      : device_(
            test::open_corner_device(test::limits_of(cuda ? "cuda" : "opencl"), {5000, false})) {
    AgentOptions options;
    options.read_environment = false;
    auto agent = required(Agent::open(options));
    agent_ = std::make_unique<Agent>(std::move(agent));
    auto gemm = required(Gemm::open(*agent_, *device_));
    gemm_ = std::make_unique<Gemm>(std::move(gemm));
  }
  // What is wrong with C = A B, dense; empty where its last element is written.
  std::string multiply(Sizes sizes, MatrixLayout layout, std::int64_t count = 1) {
    const auto buffer = [&](std::int64_t rows, std::int64_t columns) {
      return required(device_->allocate(static_cast<std::size_t>(rows * columns * count) * 4));
    };
    const auto [m, n, k] = sizes;
    const auto a = buffer(m, k), b = buffer(k, n), c = buffer(m, n);
    float* const last =
        reinterpret_cast<float*>(test::memory_of(c->argument())) + m * n * count - 1;
    *last = 7;
    const bool rows = layout == MatrixLayout::row_major;
    Product product;
    product.layout = layout;
    product.m = m, product.n = n, product.k = k;
    product.a = {a->argument(), 0, rows ? k : m};
    product.b = {b->argument(), 0, rows ? n : k};
    product.c = {c->argument(), 0, rows ? n : m};
    const Status status = count == 1
                              ? gemm_->multiply(product)
                              : gemm_->multiply_strided(product, {count, m * k, k * n, m * n});
    if (!status.ok()) return status.to_string();
    return *last == 0 ? "" : "nobody writes the last element";
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<Gemm> gemm_;
};

}  // namespace

TEST_CASE("products of the largest sizes stay inside their matrices, those beyond are refused") {
  for (const bool cuda : {false, true}) {
    CAPTURE(cuda);
    Products products(cuda);
    for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::column_major}) {
      CHECK(products.multiply({kMost, 1, 1}, layout) == "");
      CHECK(products.multiply({1, kMost, 1}, layout) == "");
      CHECK(products.multiply({65537, 32769, 3}, layout) == "");   // C has 2^31 elements and more
      CHECK(products.multiply({134217729, 1, 17}, layout) == "");  // A
      CHECK(products.multiply({1, 134217729, 17}, layout) == "");  // B
      CHECK(products.multiply({kMost + 1, 1, 1}, layout) ==
            "invalid_argument: m is 2147479553, expected 0 to 2147479552");
      CHECK(products.multiply({1, kBeyond, 1}, layout) ==
            "invalid_argument: n is 2147483649, expected 0 to 2147479552");
      CHECK(products.multiply({1, 1, kBeyond}, layout) ==
            "invalid_argument: k is 2147483649, expected 0 to 2147479552");
    }
    CHECK(products.multiply({256, 256, 1}, MatrixLayout::row_major, 32769) == "");  // 2^31 in all
    CHECK(products.multiply({1, 1, 1}, MatrixLayout::row_major, kBeyond) ==
          "invalid_argument: the number of products is 2147483649, expected 0 to 2147479552");
  }
}
