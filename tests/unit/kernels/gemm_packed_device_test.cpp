// Operands of the library idletune::gemm that many products share.
#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/kernels/gemm_calls.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::gemm_tests;

TEST_CASE("an operand is packed again where its values have changed") {
  Library library;
  for (const bool in_c : {false, true}) {
    const std::size_t n = 33, k = 20;
    const auto ones = library.upload(std::vector<float>(2 * k, 1.0f));
    const auto weights = library.upload(std::vector<float>(n * k, 2.0f));
    const auto result = library.upload(std::vector<float>(2 * n));
    const std::vector<float> changed(n * k, 3.0f);
    Product product;
    product.m = 2, product.n = n, product.k = k;
    product.transpose_b = true;
    product.a = {ones->argument(), 0, k};
    product.b = {weights->argument(), 0, k};
    product.c = {result->argument(), 0, n};
    auto packed = required(library.gemm->pack(GemmArgument::b, product));
    const auto write = [&] {
      library.wait();
      library.write(*weights, changed);
    };
    const auto product_is = [&](float expected) {
      REQUIRE(library.gemm->multiply_packed(product, packed).ok());
      library.wait();
      CHECK(library.download(*result) == std::vector<float>(2 * n, expected));
    };
    product_is(2.0f * k);
    write();
    product_is(2.0f * k);
    if (in_c) {
      // The same through the interface in C, on an operand of its own.
      idletune_packed* own = nullptr;
      void* handles[3] = {};
      std::memcpy(&handles[0], product.a.buffer.data(), sizeof(void*));
      std::memcpy(&handles[1], product.b.buffer.data(), sizeof(void*));
      std::memcpy(&handles[2], product.c.buffer.data(), sizeof(void*));
      const auto size = static_cast<std::int64_t>(k);
      done(idletune_gemm_pack(library.c_gemm, IDLETUNE_OPERAND_B, IDLETUNE_ROW_MAJOR,
                              IDLETUNE_PLAIN, size, 1, handles[0], 0, 1, nullptr, nullptr, &own));
      CHECK(idletune_gemm_pack_again(library.c_gemm, own, IDLETUNE_ROW_MAJOR, IDLETUNE_TRANSPOSED,
                                     handles[1], 0, size - 1, nullptr,
                                     nullptr) == IDLETUNE_INVALID_ARGUMENT);
      done(idletune_gemm_pack_again(library.c_gemm, own, IDLETUNE_ROW_MAJOR, IDLETUNE_TRANSPOSED,
                                    handles[1], 0, size, nullptr, nullptr));
      done(idletune_sgemm_packed(library.c_gemm, own, IDLETUNE_ROW_MAJOR, IDLETUNE_PLAIN, 2, 1,
                                 size, 1.0f, handles[0], 0, size, 0.0f, handles[2], 0, 1, nullptr,
                                 nullptr));
      library.wait();
      CHECK(library.download(*result)[1] == 3.0f * k);
      idletune_packed_free(own);
    }
    REQUIRE(library.gemm->pack_again(packed, product).ok());
    product_is(3.0f * k);
  }
}

TEST_CASE("what cannot be packed is refused, naming the argument") {
  Library library;
  Small small(library);
  const auto refused = [&](const Status& status, GemmArgument argument, const char* message) {
    CHECK(status.code() == StatusCode::invalid_argument);
    CHECK_MESSAGE(status.message().find(message) != std::string::npos, status.message());
    CHECK(Gemm::last_wrong_argument() == argument);
  };
  Product product = small.product;
  refused(library.gemm->pack(GemmArgument::c, product).status(), GemmArgument::c, "only a or b");
  product.n = 0;
  refused(library.gemm->pack(GemmArgument::b, product).status(), GemmArgument::b, "a side of 0");
  product = small.product;
  product.b.leading = 3;
  refused(library.gemm->pack(GemmArgument::b, product).status(), GemmArgument::ldb, "ldb is 3");
  product.b.leading = 4, product.b.offset = 1;
  refused(library.gemm->pack(GemmArgument::b, product).status(), GemmArgument::b, "b: ");
  product.b.offset = -1;
  refused(library.gemm->pack(GemmArgument::b, product).status(), GemmArgument::b, "offset of b");
  Product zeros;  // what packing writes first
  zeros.m = zeros.n = 16;
  CHECK(library.gemm->explain(zeros).code() == StatusCode::not_found);
  product = small.product;
  auto packed = required(library.gemm->pack(GemmArgument::b, product));
  CHECK(Gemm::last_wrong_argument() == GemmArgument::none);
  CHECK(library.gemm->explain(zeros).ok());
  product.k = 3;
  refused(library.gemm->multiply_packed(product, packed), GemmArgument::k, "k is 3, expected 4");
  refused(library.gemm->pack_again(packed, product), GemmArgument::b, "b is 4 by 3");
  product.k = 4, product.n = 5;
  refused(library.gemm->multiply_packed(product, packed), GemmArgument::n, "n is 5, expected 4");
  library.wait();
  // Nothing of all this has run.
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 1.0f));
}

TEST_CASE("what was prepared is what batches of every kind and packed products launch") {
  using How = GemmOperands;
  Library library;
  const std::int64_t m = 6, n = 10, k = 12, count = 3;
  const auto a = library.upload(std::vector<float>(m * k * count, 1.0f));
  const auto b = library.upload(std::vector<float>(k * n * count, 1.0f));
  const auto c = library.upload(std::vector<float>(m * n * count));
  for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::column_major}) {
    const bool by_rows = layout == MatrixLayout::row_major;
    Product product;
    product.layout = layout;
    product.m = m, product.n = n, product.k = k;
    product.transpose_a = true;
    product.a = {a->argument(), 0, by_rows ? m : k};
    product.b = {b->argument(), 0, by_rows ? n : k};
    product.c = {c->argument(), 0, by_rows ? n : m};
    std::vector<PackedOperand> packed;
    for (const GemmArgument operand : {GemmArgument::a, GemmArgument::b}) {
      packed.push_back(required(library.gemm->pack(operand, product)));
    }
    const std::vector<std::size_t> apart{0, 72, 144}, c_apart{120, 0, 60};
    for (const How how :
         {How::apart, How::a_shared, How::b_shared, How::anywhere, How::a_packed, How::b_packed}) {
      CAPTURE(static_cast<int>(how));
      const auto launches = [&] {
        const auto known = required(library.gemm->explain(product, count, how));
        return known.launches;
      };
      REQUIRE(library.gemm->prepare(product, count, how).ok());
      CHECK(launches() == 0);
      Strides strides{count, how == How::a_shared ? 0 : m * k, how == How::b_shared ? 0 : k * n,
                      m * n};
      Status status;
      if (how == How::anywhere) {
        status = library.gemm->multiply_batched(product, {apart, apart, c_apart});
      } else if (how == How::a_packed || how == How::b_packed) {
        const PackedOperand& own = packed[how == How::a_packed ? 0 : 1];
        status = library.gemm->multiply_packed(product, own, strides);
      } else {
        status = library.gemm->multiply_strided(product, strides);
      }
      REQUIRE_MESSAGE(status.ok(), status.to_string());
      library.wait();
      CHECK(launches() == 1);
    }
  }
}

TEST_CASE("what was prepared is what products of nothing launch, and all parts of long ones") {
  Library library;
  const auto ones = library.upload(std::vector<float>(240, 1.0f));
  const auto c = library.upload(std::vector<float>(120));
  for (const bool no_depth : {true, false}) {
    Product product;
    product.m = 6, product.n = 10, product.k = no_depth ? 0 : 12;
    product.transpose_b = true;
    product.alpha = no_depth ? 1.0f : 0.0f;
    product.a = {ones->argument(), 0, 12};
    product.b = {ones->argument(), 0, 12};
    product.c = {c->argument(), 0, 10};
    for (const std::int64_t count : {1, 2}) {
      CAPTURE(count);
      REQUIRE(library.gemm->prepare(product, count).ok());
      REQUIRE(library.gemm->multiply_strided(product, {count, 72, 72, 60}).ok());
      library.wait();
      CHECK(required(library.gemm->explain(product, count)).launches == (no_depth ? 1 : 2));
    }
  }
  test::NarrowDevice narrow(*library.device, 8);  // 32 rows at once
  AgentOptions options;
  options.model = kNoModel;
  auto agent = Agent::open(options);  // goes before the device
  REQUIRE(agent.ok());
  library.gemm = required(Gemm::open(*agent, narrow, library.application_queue()));
  Product rows;
  rows.m = 40, rows.n = rows.k = 4;
  REQUIRE(library.gemm->prepare(rows).ok());
  for (const std::int64_t part : {32, 8}) {
    rows.m = part;
    CHECK(library.gemm->explain(rows).ok());
  }
  library.gemm.reset();
}
