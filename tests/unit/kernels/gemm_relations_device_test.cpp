// What must hold for any product: each way that it can be called gives what BLAS defines, wherever
// an Inf or NaN stands, and leaves everything else alone.
#include <doctest/doctest.h>

#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_RAPIDCHECK
#include "tests/unit/kernels/gemm_calls.hpp"
#include "tests/unit/relations.hpp"

using namespace idletune;
using namespace idletune::gemm_tests;

namespace {

constexpr float kPadding = 77;

// An element of an operand: mostly a small whole number, so that sums are exact.
rc::Gen<float> element() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return rc::gen::weightedOneOf<float>(
      {{40, rc::gen::map(rc::gen::inRange(-8, 9), [](int i) { return static_cast<float>(i); })},
       {1, rc::gen::element(HUGE_VALF, -HUGE_VALF, nan)}});
}

struct Stored {
  std::size_t rows = 0, columns = 0, leading = 0;
  bool by_rows = true;
  std::vector<float> numbers;
  std::size_t at(std::size_t row, std::size_t column) const {
    return by_rows ? row * leading + column : column * leading + row;
  }
};

Stored drawn(std::size_t rows, std::size_t columns, bool by_rows) {
  Stored stored;
  stored.rows = rows, stored.columns = columns, stored.by_rows = by_rows;
  stored.leading = (by_rows ? columns : rows) + static_cast<std::size_t>(*rc::gen::inRange(0, 4));
  stored.numbers.assign((by_rows ? rows : columns) * stored.leading, kPadding);
  const auto elements = *rc::gen::container<std::vector<float>>(rows * columns, element());
  for (std::size_t i = 0; i < elements.size(); ++i)
    stored.numbers[stored.at(i / columns, i % columns)] = elements[i];
  return stored;
}

// As the reference implementation: what is times 0 by alpha or beta is not read.
std::vector<float> product_of(const Product& product, const Stored& a, const Stored& b,
                              const Stored& c) {
  std::vector<float> result = c.numbers;
  for (std::size_t row = 0; row < c.rows; ++row) {
    for (std::size_t column = 0; column < c.columns; ++column) {
      double sum = 0;
      for (std::size_t k = 0; product.alpha != 0 && k < a.columns; ++k)
        sum += static_cast<double>(a.numbers[a.at(row, k)]) *
               static_cast<double>(b.numbers[b.at(k, column)]);
      float& element = result[c.at(row, column)];
      const double old =
          product.beta != 0 ? static_cast<double>(product.beta) * static_cast<double>(element) : 0;
      element = static_cast<float>(
          (product.alpha != 0 ? static_cast<double>(product.alpha) * sum : 0) + old);
    }
  }
  return result;
}

bool equal(const std::vector<float>& x, const std::vector<float>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::isnan(x[i]) && std::isnan(y[i])) && x[i] != y[i]) return false;
  }
  return x.size() == y.size();
}

}  // namespace

TEST_CASE("every way to call a product gives what BLAS defines, with Inf and NaN anywhere" *
          doctest::test_suite("RapidCheck")) {
  Library library;
  test::check_relation("products are those of the definition", [&] {
    const auto side = [] { return static_cast<std::size_t>(*rc::gen::inRange(1, 36)); };
    const std::size_t m = side(), n = side(), k = side();
    Product product;
    const bool by_rows = *rc::gen::arbitrary<bool>();
    product.layout = by_rows ? MatrixLayout::row_major : MatrixLayout::column_major;
    product.transpose_a = *rc::gen::arbitrary<bool>();
    product.transpose_b = *rc::gen::arbitrary<bool>();
    product.m = static_cast<std::int64_t>(m), product.n = static_cast<std::int64_t>(n);
    product.k = static_cast<std::int64_t>(k);
    product.alpha = *rc::gen::element(1.0f, 0.0f, -2.0f, 0.5f);
    product.beta = *rc::gen::element(0.0f, 1.0f, 3.0f, -0.5f);
    const Stored a = drawn(m, k, by_rows != product.transpose_a);
    const Stored b = drawn(k, n, by_rows != product.transpose_b);
    const Stored c = drawn(m, n, by_rows);
    const auto on_a = library.upload(a.numbers), on_b = library.upload(b.numbers);
    product.a = {on_a->argument(), 0, static_cast<std::int64_t>(a.leading)};
    product.b = {on_b->argument(), 0, static_cast<std::int64_t>(b.leading)};
    const std::vector<float> expected = product_of(product, a, b, c);
    const auto check = [&](const char* way, const auto& call) {
      const auto on_c = library.upload(c.numbers);
      product.c = {on_c->argument(), 0, static_cast<std::int64_t>(c.leading)};
      const Status status = call();
      RC_ASSERT(status.ok());
      library.wait();
      RC_TAG(way);
      RC_ASSERT(equal(library.download(*on_c), expected));
    };
    const std::size_t zero[] = {0};
    check("plain", [&] { return library.gemm->multiply(product); });
    check("batched", [&] { return library.gemm->multiply_batched(product, {zero, zero, zero}); });
    for (const GemmArgument operand : {GemmArgument::a, GemmArgument::b}) {
      if (product.alpha == 0) continue;
      auto packed = library.gemm->pack(operand, product);
      RC_ASSERT(packed.ok());
      check("packed", [&] { return library.gemm->multiply_packed(product, *packed); });
    }
  });
}
#else
TEST_CASE("every way to call a product gives what BLAS defines, with Inf and NaN anywhere" *
          doctest::test_suite("RapidCheck")) {
  idletune::test::skip("built without RapidCheck (librapidcheck-dev)");
}
#endif
