#include <idletune/product_times.hpp>

#include "models/host/learn/sparse_times.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "models/host/learn/model_contents.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "tests/unit/learn/made_products.hpp"

namespace {

using namespace idletune;
using ByteVector = std::vector<std::uint8_t>;

ByteVector model_with(ByteVector section) {
  ModelContents contents;
  ModelKernel kernel;
  kernel.name = kProductsEntry;
  kernel.parameters = {"FORMAT", "GROUP_PER_ROW", "WG"};
  kernel.sections.push_back({static_cast<std::uint32_t>(model_schema::SectionKind::products),
                             model_schema::kSectionVersion, std::move(section)});
  contents.kernels.push_back(std::move(kernel));
  return write_model(contents);
}

ByteVector section_of(const std::vector<std::int64_t>& candidates,
                      const std::vector<float>& coefficients,
                      const std::vector<float>& conversion) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<model_schema::ProductTimes>> devices{
      model_schema::CreateProductTimesDirect(builder, "made up", 8, &candidates, &coefficients,
                                             &conversion)};
  builder.Finish(model_schema::CreateProductTimesSectionDirect(builder, &devices));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST_CASE("a note on the matrix with members of other types is another note") {
  History history;
  history.kernel = "spmv";
  history.device = "made up";
  const std::string features =
      R"("name": "m", "features": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])";
  const auto tables_with = [&](const std::string& member) {
    history.notes = {{"matrix", "{" + features + ", " + member + "}"}};
    return sparse::tables_of({&history}).size() + sparse::vector_tables_of({&history}).size();
  };
  CHECK(tables_with(R"("format": "CSR")") == 1);
  CHECK(tables_with(R"("number_bytes": 4)") == 1);
  for (const char* member :
       {R"("format": 5)", R"("format": "CSR", "number_bytes": "four")",
        R"("format": "CSR", "number_bytes": -4)", R"("format": "CSR", "conversion_ns": [1])",
        R"("format": "CSR", "turns": 1)", R"("format": null)"}) {
    CAPTURE(member);
    CHECK(tables_with(member) == 0);
  }
}

TEST_CASE("times that follow the features are learned, and read back from a model the same") {
  const sparse::Table table = test::made_products(60);
  std::vector<std::size_t> all(60);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const sparse::LearnedTimes learned = sparse::learn_times(table, all);
  REQUIRE(learned.candidates.size() == 4);
  const auto times =
      ProductTimes::open(model_with(sparse::write_product_times({table})), "made up", 8);
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  REQUIRE(times->size() == 4);
  for (std::size_t m = 0; m < 60; ++m) {
    for (std::size_t c = 0; c < 4; ++c) {
      const ProductCandidate candidate = times->candidate(c);
      CHECK(candidate.format == table.candidates[c].format);
      CHECK(candidate.work_group == table.candidates[c].work_group);
      const ProductInputs inputs = table.inputs(m, candidate.format);
      const double predicted = times->microseconds(c, inputs);
      CHECK(predicted == learned.predicted(table, m, c));
      CHECK(predicted == doctest::Approx(table.ns[m][c] / 1000).epsilon(0.25));
    }
    const double conversion = times->conversion_us(3, table.inputs(m, 3));
    CHECK(conversion == doctest::Approx(table.matrices[m].conversion_ns[3] / 1000).epsilon(0.25));
    CHECK(times->conversion_us(4, table.inputs(m, 4)) == 0);  // never converted to HYB
    CHECK(times->conversion_us(15, table.inputs(m, 4)) == 0);
  }
}

TEST_CASE("a model says nothing of another device, other numbers, or without the section") {
  const auto model = model_with(sparse::write_product_times({test::made_products(20)}));
  CHECK(ProductTimes::open(model, "another", 8).code() == StatusCode::not_found);
  CHECK(ProductTimes::open(model, "made up", 4).code() == StatusCode::not_found);
  CHECK(sparse::write_product_times({test::made_products(5)}).empty());
  ModelContents contents;
  contents.kernels.push_back({"other", {"WG"}, {}});
  CHECK(ProductTimes::open(write_model(contents), "made up", 8).code() == StatusCode::not_found);
}

TEST_CASE("a section that does not hold together is refused") {
  const std::vector<float> row(kProductInputs + 1, 1.0f);
  const auto open = [](const ByteVector& section) {
    return ProductTimes::open(model_with(section), "made up", 8).code();
  };
  CHECK(open(section_of({0, 0, 64}, row, {})) == StatusCode::ok);
  CHECK(open(section_of({0, 0}, row, {})) == StatusCode::corrupt);
  CHECK(open(section_of({16, 0, 64}, row, {})) == StatusCode::corrupt);
  CHECK(open(section_of({0, 3, 64}, row, {})) == StatusCode::corrupt);   // not a power of two
  CHECK(open(section_of({0, 64, 32}, row, {})) == StatusCode::corrupt);  // more than a group has
  CHECK(open(section_of({0, 8, 64}, row, {})) == StatusCode::ok);
  CHECK(open(section_of({0, 0, 0}, row, {})) == StatusCode::corrupt);
  CHECK(open(section_of({0, 0, 64, 1, 0, 64}, row, {})) == StatusCode::corrupt);
  CHECK(open(section_of({0, 0, 64}, row, {1})) == StatusCode::corrupt);
  std::vector<float> endless = row;
  endless[2] = std::numeric_limits<float>::infinity();
  CHECK(open(section_of({0, 0, 64}, endless, {})) == StatusCode::corrupt);
  ByteVector cut = section_of({0, 0, 64}, row, {});
  cut.resize(cut.size() / 2);
  CHECK(open(cut) == StatusCode::corrupt);
}

}  // namespace
