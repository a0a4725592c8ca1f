#include "models/host/learn/model_contents.hpp"

#include <doctest/doctest.h>

#include "models/host/learn/provenance.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using test::ModelContent;

namespace {

ModelContents model_of(const std::string& kernel, const std::string& device,
                       std::uint64_t generation, bool published = false) {
  ModelContent content;
  content.kernel = kernel;
  content.sources[0].device = device;
  content.generation = generation;
  content.portfolio_values = {8, 1};
  content.portfolio_relative = {1.0f};
  content.portfolio_score = {0.9f};
  if (published) content.published = {{"Mali", {16, 2}}};
  return required(read_model(test::build_model(content), "test"));
}

std::shared_ptr<const Model> opened(const ModelContents& contents) {
  return required(Model::open(write_model(contents), "test"));
}

}  // namespace

TEST_CASE("taking a model apart and writing it gives the same content") {
  ModelContent content;
  content.portfolio_values = {8, 1};
  content.portfolio_relative = {1.0f};
  content.portfolio_score = {0.9f};
  content.extra_section_kind = 4711;  // of a later version
  const auto bytes = test::build_model(content);
  const auto read = required(read_model(bytes, "test"));
  CHECK(opened(read)->content_digest() == (*Model::open(bytes, "test"))->content_digest());
  CHECK(section_kind_name(read.kernels[0].sections.back().kind) == std::string("unknown"));
  CHECK(read_model({bytes.data(), bytes.size() / 2}, "test").code() == StatusCode::corrupt);
}

TEST_CASE("merging puts kernels side by side") {
  const MergedModel merged =
      merge_models({model_of("blur", "A1", 3), model_of("sharpen", "B1", 5)}, {"a", "b"});
  CHECK(merged.conflicts.empty());
  const auto model = opened(merged.contents);
  CHECK(model->kernels().size() == 2);
  CHECK(model->generation() == 6);
}

TEST_CASE("of a kernel that two models know the newer one's entry is taken, and that is said") {
  const ModelContents old_one = model_of("blur", "A1", 3);
  const ModelContents new_one = model_of("blur", "B1", 5);
  for (const bool newer_first : {false, true}) {
    const MergedModel merged = newer_first ? merge_models({new_one, old_one}, {"new", "old"})
                                           : merge_models({old_one, new_one}, {"old", "new"});
    REQUIRE(merged.conflicts.size() == 1);
    CHECK(merged.conflicts[0].kept == "new");
    CHECK(merged.conflicts[0].dropped == "old");
    CHECK_FALSE(merged.conflicts[0].same);
    const auto model = opened(merged.contents);
    REQUIRE(model->kernels().size() == 1);
    CHECK(model->kernels()[0].source(0).device == "B1");
  }
  // Among equals the later one.
  const MergedModel equal =
      merge_models({model_of("blur", "A1", 3), model_of("blur", "B1", 3)}, {"first", "second"});
  CHECK(equal.conflicts[0].kept == "second");
  CHECK(merge_models({old_one, old_one}, {"x", "y"}).conflicts[0].same);
  // There is none above.
  const auto last = model_of("blur", "A1", UINT64_MAX);
  CHECK(merge_models({old_one, last}, {"x", "y"}).contents.generation == UINT64_MAX);
  CHECK(merge_models({last, old_one}, {"x", "y"}).conflicts[0].kept == "x");
}

TEST_CASE("published configurations come along where the winner has none") {
  const ModelContents shipped = model_of("blur", "A1", 3, true);
  const ModelContents own = model_of("blur", "B1", 5);
  for (const bool own_first : {false, true}) {
    const MergedModel merged = own_first ? merge_models({own, shipped}, {"own", "shipped"})
                                         : merge_models({shipped, own}, {"shipped", "own"});
    const auto model = opened(merged.contents);
    CHECK(model->kernels()[0].source(0).device == "B1");
    CHECK(model->kernels()[0].published_count() == 1);
  }
}

TEST_CASE("published configurations come along into another order of parameters") {
  const ModelContents shipped = model_of("blur", "A1", 3, true);
  ModelContents own = model_of("blur", "B1", 5);
  std::swap(own.kernels[0].parameters[0], own.kernels[0].parameters[1]);
  const auto model = opened(merge_models({shipped, own}, {"shipped", "own"}).contents);
  const KernelKnowledge& kernel = model->kernels()[0];
  REQUIRE(kernel.published_count() == 1);
  CHECK(kernel.published(0).device == "Mali");
  CHECK(kernel.published(0).values[0] == 2);
  CHECK(kernel.published(0).values[1] == 16);
}

TEST_CASE("a section of a later version comes along unread, with what its file asked of readers") {
  ModelContent content;
  content.minimum_agent = 2;
  content.extra_section_kind = static_cast<std::uint32_t>(model_schema::SectionKind::sources);
  content.extra_section_version = 2;
  const auto later = required(read_model(test::build_model(content), "test"));
  const MergedModel merged = merge_models({later, model_of("sharpen", "B1", 5)}, {"a", "b"});
  const auto bytes = write_model(merged.contents);
  CHECK(model_schema::GetModelFile(bytes.data())->minimum_agent() == 2);
  CHECK(read_model(bytes, "test")->kernels[0].sections.back().version == 2);
}

TEST_CASE("a model knows the histories that it learned from, however many there are") {
  std::vector<History> histories(300);
  for (std::size_t i = 0; i < histories.size(); ++i) {
    histories[i].device = "NVIDIA A100-PCIE-40GB";
    histories[i].shape = Shape{static_cast<std::int64_t>(i)};
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{256}, std::size_t{300}}) {
    CAPTURE(count);
    std::vector<const History*> told;
    for (std::size_t i = 0; i < count; ++i) told.push_back(&histories[i]);
    ModelKernel kernel;
    kernel.sections.push_back(write_provenance(provenance_from(told, {})));
    const KernelProvenance provenance = provenance_of(kernel);
    for (const History* history : told) CHECK(learned_from(provenance, *history));
    // Which ones they are is not listed of so many.
    History other = histories.front();
    other.shape = Shape{-1};
    CHECK(learned_from(provenance, other) == (count > 256));
    other.device = "NVIDIA H100";
    CHECK_FALSE(learned_from(provenance, other));
  }
}
