#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using test::build_model;
using test::ModelContent;

namespace {

// wg in {16, 32}, tile in {1, 2}; (32, 2) is not valid.
Space blur_space() {
  const std::vector<std::string> names{"tile", "wg"};
  const std::vector<std::int64_t> rows{1, 16, 1, 32, 2, 16};
  return required(Space::from_rows(names, {}, {}, rows));
}

ModelContent blur_content() {
  ModelContent content;
  content.sources.emplace_back();
  content.sources[1].device = "Board Two";
  content.sources[1].shape = {512, 512};
  content.sources[1].well_performing = 0.3f;
  content.portfolio_values = {32, 2,  16,
                              1,  32, 1};  // wg, tile; the first is not valid in the space
  content.portfolio_relative = {1.0f, 0.5f, 0.75f, -1.0f, 0.0f, 1.0f};
  content.portfolio_score = {0.9f, 0.8f, 0.5f};
  content.picks = {{-1, {}, {16, 1}, 0.8f},
                   {-1, {512, 512}, {32, 1}, 0.7f},
                   {0, {256, 256}, {16, 2}, 1.0f},
                   {1, {512, 512}, {32, 1}, 1.0f}};
  return content;
}

std::shared_ptr<const Model> open(const ModelContent& content) {
  return required(Model::open(build_model(content), "test"));
}

}  // namespace

TEST_CASE("a model tells what it was made of") {
  const auto model = open(blur_content());
  CHECK(model->generation() == 7);
  REQUIRE(model->kernels().size() == 1);
  const KernelKnowledge& kernel = model->kernels()[0];
  CHECK(kernel.name() == "blur");
  REQUIRE(kernel.parameter_count() == 2);
  CHECK(kernel.parameter(1) == "tile");
  REQUIRE(kernel.source_count() == 2);
  CHECK(kernel.source(1).device == "Board Two");
  CHECK(kernel.source(1).shape == Shape{512, 512});
  CHECK(kernel.source(0).best_time_ns == 1000);
  REQUIRE(kernel.portfolio_size() == 3);
  CHECK(kernel.portfolio_values(1)[0] == 16);
  CHECK(kernel.portfolio_relative(1, 0) == 0.75);
  CHECK(kernel.portfolio_relative(1, 1) < 0);
  CHECK(kernel.portfolio_score(0) == doctest::Approx(0.9));
  CHECK(kernel.well_performing_fraction(0.9) == doctest::Approx(0.2));
}

TEST_CASE("values are mapped to a space by parameter names and dropped where not valid") {
  const auto model = open(blur_content());
  const Space space = blur_space();
  const SpaceMapping mapping(model->kernels()[0], space);
  CHECK(mapping.possible());
  CHECK_FALSE(mapping.map(model->kernels()[0].portfolio_values(0)).has_value());
  CHECK(mapping.map(model->kernels()[0].portfolio_values(1)) == Configuration{1, 16});
}

TEST_CASE("a parameter that the model does not know takes its only value or the default's") {
  const auto model = open(blur_content());
  const std::vector<std::string> names{"wg", "tile", "precision", "unroll"};
  const std::vector<std::int64_t> rows{16, 1, 32, 1, 16, 1, 32, 2};
  const auto space = required(Space::from_rows(names, {}, {}, rows));
  CHECK_FALSE(SpaceMapping(model->kernels()[0], space).possible());
  REQUIRE(model->kernel("blur", space) == &model->kernels()[0]);
  const SpaceMapping mapping(model->kernels()[0], space, Configuration{16, 1, 32, 2});
  REQUIRE(mapping.possible());
  CHECK(mapping.map(model->kernels()[0].portfolio_values(1)) == Configuration{16, 1, 32, 2});
  const auto pick = first_pick(model->kernels()[0], space, Shape{4, 4}, "", {16, 1, 32, 2});
  CHECK(required(pick).configuration == Configuration{16, 1, 32, 2});
}

TEST_CASE("an entry that does not know half of what there is to choose is another kernel's") {
  const auto model = open(blur_content());
  const auto found = [&](const std::vector<std::string>& names) {
    std::vector<std::int64_t> rows(2 * names.size(), 1);
    for (std::size_t i = 0; i < names.size(); ++i) rows[i] = 16;
    return model->kernel("blur", required(Space::from_rows(names, {}, {}, rows))) != nullptr;
  };
  CHECK(found({"tile", "unroll"}));
  CHECK_FALSE(found({"tile", "unroll", "vector"}));
  CHECK(found({"tile", "wg", "unroll", "vector"}));
  CHECK_FALSE(found({"unroll"}));
}

TEST_CASE("a kernel is found by name and parameters") {
  const auto model = open(blur_content());
  CHECK(model->kernel("blur", blur_space()) == &model->kernels()[0]);
  CHECK(model->kernel("other", blur_space()) == nullptr);
}

TEST_CASE("the first pick prefers this device, then this shape, and says how near it is") {
  const auto model = open(blur_content());
  const KernelKnowledge& kernel = model->kernels()[0];
  const Space space = blur_space();
  const auto exact = required(first_pick(kernel, space, Shape{256, 256}, "Board One"));
  CHECK(exact.configuration == Configuration{2, 16});
  CHECK(exact.quality == PickQuality::exact);
  const auto nearest = first_pick(kernel, space, Shape{300, 256}, "Board One");
  CHECK(nearest->configuration == Configuration{2, 16});
  CHECK(nearest->quality == PickQuality::nearest_shape);
  const auto other = first_pick(kernel, space, Shape{500, 512}, "Board Nine");
  CHECK(other->configuration == Configuration{1, 32});
  CHECK(other->quality == PickQuality::other_device);
  const auto far = first_pick(kernel, space, Shape{4, 4}, "");
  CHECK(far->configuration == Configuration{1, 16});
  CHECK(far->expected_relative_performance == doctest::Approx(0.8));
}

TEST_CASE("what a source did not measure counts as expected, not as failed") {
  ModelContent content;
  content.parameters = {"x"};
  content.sources.resize(3);
  for (std::size_t d = 0; d < 3; ++d) {
    content.sources[d].device = "Board " + std::string(1, static_cast<char>('A' + d));
    content.sources[d].shape = {};
  }
  content.portfolio_values = {1, 2};
  // Entry 1 is the best of the only source that has it, entry 2 is mediocre on all.
  content.portfolio_relative = {0.98f, -1, -1, 0.5f, 0.5f, 0.5f};
  content.portfolio_score = {0.9f, 0.5f};
  const auto model = open(content);
  const auto space = required(
      Space::from_rows(std::vector<std::string>{"x"}, {}, {}, std::vector<std::int64_t>{1, 2}));
  const auto pick = required(first_pick(model->kernels()[0], space, Shape{}, "Board Nine"));
  CHECK(pick.configuration == Configuration{1});
  CHECK(pick.expected_relative_performance > 0.9);
  CHECK(pick.expected_relative_performance < 0.98);
}

TEST_CASE("without a pick that the space holds there is none") {
  ModelContent content = blur_content();
  content.picks = {{-1, {}, {32, 2}, 0.8f}};
  const auto model = open(content);
  CHECK_FALSE(first_pick(model->kernels()[0], blur_space(), Shape{}, "").has_value());
}

TEST_CASE("unknown sections and later versions of known ones are skipped") {
  ModelContent content = blur_content();
  content.extra_section_kind = 4711;
  CHECK(open(content)->kernels().size() == 1);
  content.extra_section_kind = 2;  // a portfolio of another version, beside the one of ours
  content.extra_section_version = 2;
  CHECK(open(content)->kernels()[0].portfolio_size() == 3);
  content.with_sources = false;  // nothing that this version understands: the kernel is not there
  CHECK(open(content)->kernels().empty());
}

TEST_CASE("models of the future are refused as such") {
  ModelContent content = blur_content();
  content.minimum_agent = kModelReaderVersion + 1;
  CHECK(Model::open(build_model(content), "m").code() == StatusCode::version_mismatch);
  content = blur_content();
  content.format_version = 2;
  CHECK(Model::open(build_model(content), "m").code() == StatusCode::version_mismatch);
}

TEST_CASE("well-formed nonsense is refused with the model's name") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::function<void(ModelContent&)> spoils[] = {
      [](ModelContent& c) { c.right_digest = false; },
      [](ModelContent& c) { c.sources.clear(); },
      [](ModelContent& c) { c.kernel.clear(); },
      [](ModelContent& c) { c.kernel = "two\nlines"; },
      [](ModelContent& c) { c.kernel.assign(300, 'k'); },
      [](ModelContent& c) { c.parameters.clear(); },
      [](ModelContent& c) {
        c.parameters = {"wg", "wg"};
      },
      [](ModelContent& c) { c.parameters.assign(40, "p"); },
      [](ModelContent& c) { c.sources[0].quantiles.pop_back(); },
      [](ModelContent& c) { c.sources[0].quantiles[5] = 0.6f; },
      [&](ModelContent& c) { c.sources[0].quantiles[5] = nan; },
      [](ModelContent& c) { c.sources[0].quantiles.back() = 1.5f; },
      [&](ModelContent& c) { c.sources[0].well_performing = nan; },
      [](ModelContent& c) { c.sources[0].valid = 0; },
      [](ModelContent& c) { c.sources[0].measured = 101; },
      [](ModelContent& c) { c.sources[0].best_ns = -1; },
      [](ModelContent& c) { c.sources[0].best_ns = std::numeric_limits<double>::infinity(); },
      [](ModelContent& c) { c.sources[0].device.clear(); },
      [](ModelContent& c) { c.sources[0].shape.assign(9, 1); },
      [](ModelContent& c) { c.portfolio_values.pop_back(); },
      [](ModelContent& c) { c.portfolio_relative.push_back(0); },
      [](ModelContent& c) { c.portfolio_relative[0] = -0.5f; },
      [&](ModelContent& c) { c.portfolio_relative[0] = nan; },
      [](ModelContent& c) { c.portfolio_score[0] = 2; },
      [](ModelContent& c) { c.picks[0].source = 2; },
      [](ModelContent& c) { c.picks[0].source = -2; },
      [](ModelContent& c) { c.picks[0].values.pop_back(); },
      [&](ModelContent& c) { c.picks[0].expected = nan; },
      [](ModelContent& c) { c.picks[0].shape.assign(9, 1); },
      [](ModelContent& c) { c.extra_section_kind = 2; },   // a second portfolio
      [](ModelContent& c) { c.extra_section_kind = 3; }};  // second first picks, and junk
  int index = 0;
  for (const auto& spoil : spoils) {
    CAPTURE(index++);
    ModelContent content = blur_content();
    spoil(content);
    const auto model = Model::open(build_model(content), "hostile");
    CHECK(model.code() == StatusCode::corrupt);
    CHECK(model.status().message().find("hostile") != std::string::npos);
  }
}

TEST_CASE("what only people ask for is verified when they ask") {
  ModelContent content = blur_content();
  CHECK(required(open(content)->kernels()[0].quality()).held_out.empty());
  content.extra_section_kind = 4;  // junk
  const auto model = open(content);
  CHECK(model->kernels()[0].quality().code() == StatusCode::corrupt);
}

TEST_CASE("every cut of a model and every flipped byte that matters is refused") {
  const std::vector<std::uint8_t> bytes = build_model(blur_content());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(
        Model::open({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, "cut")
            .ok());
  }
  const std::uint64_t digest = open(blur_content())->content_digest();
  Random random(3);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::uint8_t> damaged = bytes;
    damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ (1 + random.below(255)));
    const auto model = Model::open(damaged, "damaged");
    if (!model.ok())
      continue;  // otherwise the byte was padding, or the same table reached otherwise
    CHECK((*model)->content_digest() == digest);
  }
}
