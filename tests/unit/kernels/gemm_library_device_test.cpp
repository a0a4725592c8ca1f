// The library idletune::gemm on this machine's OpenCL device against double precision on the host.
#include "tests/unit/kernels/gemm_calls.hpp"

using namespace idletune;
using namespace idletune::gemm_tests;

// Campaigns of more calls are started by hand through the environment: IDLETUNE_GEMM_CALLS=10000.
TEST_CASE("random calls of the gemm library are right in every element and touch nothing else") {
  const std::uint64_t calls = test::number_from_environment("IDLETUNE_GEMM_CALLS", 200);
  const std::uint64_t seed = test::number_from_environment("IDLETUNE_GEMM_SEED", kSeed);
  const std::uint64_t tuned_ms = test::number_from_environment("IDLETUNE_GEMM_IDLE_MS", 0);
  for (const MatrixStorage storage : kStorages) {
    Library library(storage);
    MESSAGE("device: " << library.device->info().name);
    std::size_t wrong = 0;
    for (std::uint64_t i = 0; i < calls; ++i) {
      CAPTURE(i);
      Call call(seed + i, storage);
      const std::size_t elements = call.wrong_elements(library);
      CHECK(elements == 0);
      wrong += elements > 0 ? 1 : 0;
      if (tuned_ms > 0) library.agent->idle(std::chrono::milliseconds(tuned_ms));
    }
    const std::string of = storage == MatrixStorage::half ? " calls of halves, " : " calls, ";
    MESSAGE(calls << of << wrong << " wrong");
  }
}

TEST_CASE("the gemm library refuses what it cannot do, naming the argument") {
  Library library;
  Small small(library);
  using A = GemmArgument;
  small.is_refused(A::m, "m is -1", [](Product& p) { p.m = -1; });
  small.is_refused(A::n, "n is 2147483648", [](Product& p) { p.n = std::int64_t{1} << 31; });
  // Whole groups of it would not fit 32 bits.
  small.is_refused(A::m, "m is 2147483647", [](Product& p) { p.m = (std::int64_t{1} << 31) - 1; });
  small.is_refused(A::a, "a would reach beyond",
                   [](Product& p) { p.m = p.k = p.a.leading = (std::int64_t{1} << 31) - 4096; });
  small.is_refused(A::k, "k is -7", [](Product& p) { p.k = -7; });
  small.is_refused(A::lda, "lda is 3, expected 4", [](Product& p) { p.a.leading = 3; });
  small.is_refused(A::ldb, "ldb is 0, expected 4", [](Product& p) { p.b.leading = 0; });
  small.is_refused(A::ldc, "ldc is -4, expected 4", [](Product& p) { p.c.leading = -4; });
  small.is_refused(A::lda, "lda is 4, expected 5", [](Product& p) { p.k = 5; });
  small.is_refused(A::lda, "lda is 4, expected 5", [](Product& p) {
    p.layout = MatrixLayout::column_major;
    p.m = 5;
  });
  small.is_refused(A::a, "the offset of a is -1", [](Product& p) { p.a.offset = -1; });
  small.is_refused(A::a, "a: ", [](Product& p) { p.a.offset = 1; });
  small.is_refused(A::b, "b: ", [](Product& p) { p.b.leading = 5; });
  small.is_refused(A::c, "c: ", [](Product& p) { p.c.leading = 5; });
  small.is_refused(A::b, "b: ", [](Product& p) {
    p.layout = MatrixLayout::column_major;
    p.b.offset = 1;
  });
  small.is_refused(A::b, "b would reach beyond",
                   [](Product& p) { p.b.offset = std::int64_t{1} << 60; });
  small.is_refused(A::c, "c overlaps a", [](Product& p) { p.c.buffer = p.a.buffer; });
  small.is_refused(A::c, "c overlaps b", [](Product& p) { p.c.buffer = p.b.buffer; });
  const auto halves = [](Product& p) { p.m = p.n = p.k = 2; };
  small.is_refused(A::c, "stride of 1", halves, {2, 0, 0, 1});
  small.is_refused(A::a, "the stride of a is -2", halves, {2, -2, 0, 2});
  small.is_refused(A::a, "a would reach beyond", halves, {3, std::int64_t{1} << 62, 0, 2});
  small.is_refused(A::count, "the number of products is -1", halves, {-1, 0, 0, 2});
  const std::size_t one[] = {0};
  const std::size_t two[] = {0, 8};
  CHECK(small.gemm.multiply_batched(small.product, {one, two, two}).code() ==
        StatusCode::invalid_argument);
  small.product.m = small.product.n = small.product.k = 2;
  const std::size_t close[] = {0, 5};
  CHECK(small.gemm.multiply_batched(small.product, {two, two, close}).message().find("overlap") !=
        std::string::npos);
  // Nothing of all this has run.
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 1.0f));
}

TEST_CASE("matrices that interleave within one buffer do not overlap") {
  Library library;
  const auto buffer = library.upload(std::vector<float>(4 * 6, 1.0f));
  Product product;
  product.m = 4, product.n = product.k = 2;
  product.a = {buffer->argument(), 0, 6};
  product.c = {buffer->argument(), 4, 6};
  product.b = {buffer->argument(), 2, 6};
  CHECK(library.gemm->multiply(product).ok());
  const std::vector<float> values = library.download(*buffer);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (i % 6 >= 4 ? 2.0f : 1.0f));
}

TEST_CASE("a product of nothing succeeds, and one without a depth scales C") {
  Library library;
  Small small(library);
  for (std::int64_t Product::*size : {&Product::m, &Product::n}) {
    Product product = small.product;
    product.*size = 0;
    product.a.buffer = product.b.buffer = product.c.buffer = Argument();
    CHECK(library.gemm->multiply(product).ok());
  }
  CHECK(library.gemm->multiply_strided(small.product, {0, 0, 0, 0}).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 1.0f));
  Product scaled = small.product;
  scaled.k = 0;
  scaled.beta = 3;
  scaled.a.buffer = scaled.b.buffer = Argument();
  CHECK(library.gemm->multiply(scaled).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 3.0f));
  scaled.k = 4;
  scaled.alpha = 0;
  CHECK(library.gemm->multiply(scaled).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 9.0f));
}

TEST_CASE("a handle of one storage is not taken for the other") {
  Library floats;
  Library halves(MatrixStorage::half);
  const auto multiply = [](decltype(&idletune_sgemm) function, idletune_gemm* gemm) {
    return function(gemm, IDLETUNE_ROW_MAJOR, IDLETUNE_PLAIN, IDLETUNE_PLAIN, 0, 1, 1, 1, nullptr,
                    0, 1, nullptr, 0, 1, 0, nullptr, 0, 1, nullptr, nullptr);
  };
  CHECK(multiply(idletune_sgemm, floats.c_gemm) == IDLETUNE_OK);
  CHECK(multiply(idletune_hgemm, halves.c_gemm) == IDLETUNE_OK);
  CHECK(multiply(idletune_hgemm, floats.c_gemm) == IDLETUNE_INVALID_ARGUMENT);
  CHECK(idletune_last_message() ==
        std::string("gemm is of floats, expected one of idletune_gemm_open_half"));
  CHECK(multiply(idletune_sgemm, halves.c_gemm) == IDLETUNE_INVALID_ARGUMENT);
  Product product;
  const auto matrix = floats.upload({1.0f, 2.0f, 3.0f, 4.0f});
  product.m = product.n = product.k = 2;
  product.b = {matrix->argument(), 0, 2};
  const auto packed = floats.gemm->pack(GemmArgument::b, product);
  REQUIRE_MESSAGE(packed.ok(), packed.status().to_string());
  const Status status = halves.gemm->multiply_packed(product, *packed);
  CHECK(status.message().find("another storage") != std::string::npos);
  CHECK(Gemm::last_wrong_argument() == GemmArgument::b);
  floats.wait();
}
