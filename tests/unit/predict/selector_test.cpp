#include "models/predict/selector.hpp"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "models/predict/model.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using learners::TreeNode;
using test::ModelContent;
using test::SelectorContent;

namespace {

// M <= 512: (8, 1); else M / N <= 1: (16, 2), else (32, 4).
ModelContent content() {
  ModelContent c;
  c.portfolio_values = {8, 1};
  c.portfolio_relative = {1.0f};
  c.portfolio_score = {0.9f};
  c.picks = {{-1, {}, {64, 1}, 0.7f}, {0, {256, 256}, {64, 2}, 1.0f}};
  SelectorContent selector;
  selector.classes = {8, 1, 16, 2, 32, 4};
  TreeNode root = TreeNode::numeric_split(0, 512);
  TreeNode inner = TreeNode::numeric_split(2, 1);
  root.set_link(2);
  inner.set_link(2);
  selector.nodes = {root, TreeNode::class_leaf(0, 0.95, 3), inner, TreeNode::class_leaf(1, 0.9, 2),
                    TreeNode::class_leaf(2, 0.85, 2)};
  c.selectors = {selector};
  return c;
}

std::shared_ptr<const Model> opened(const ModelContent& c) {
  return required(Model::open(test::build_model(c), "test"));
}

Space tiles() {
  const std::vector<std::string> names{"wg", "tile"};
  std::vector<std::int64_t> rows;
  for (const std::int64_t wg : {8, 16, 32, 64}) {
    for (const std::int64_t tile : {1, 2, 4}) {
      rows.push_back(wg);
      rows.push_back(tile);
    }
  }
  return required(Space::from_rows(names, {}, {}, rows));
}

void refuse(const ModelContent& c) {
  CHECK(Model::open(test::build_model(c), "test").code() == StatusCode::corrupt);
}

}  // namespace

TEST_CASE("a selector answers from products and ratios of the inputs") {
  const auto model = opened(content());
  const SelectorView selector = model->kernels()[0].selector(0);
  CHECK(selector.device == "Board One");
  CHECK(selector.feature_count() == 3);
  CHECK(selector.class_count() == 3);
  CHECK(model->kernels()[0].selector_input(0, 1) == "N");
  const auto choose = [&](double m, double n) {
    const double inputs[] = {m, n};
    return selector.select({inputs, 2});
  };
  CHECK(choose(512, 1).number == 0);
  CHECK(choose(513, 513).number == 1);
  CHECK(choose(1024, 512).number == 2);
  CHECK(choose(1024, 512).expected == doctest::Approx(0.85).epsilon(1e-4));
  CHECK(selector.values(2)[0] == 32);
  CHECK(selector.values(2)[1] == 4);
}

TEST_CASE("a selector goes where its tree's splits say, also for zero and ratios of zeros") {
  const auto model = opened(content());
  const SelectorView selector = model->kernels()[0].selector(0);
  const double sizes[] = {0, 1, 511, 512, 513, 1024, 1e30, HUGE_VAL};
  for (const double m : sizes) {
    for (const double n : sizes) {
      const double inputs[] = {m, n};
      float features[3];
      for (std::size_t f = 0; f < 3; ++f) {
        features[f] = selector_feature(selector.exponents.data() + 2 * f, inputs, 2);
      }
      CAPTURE(m);
      CAPTURE(n);
      CHECK(selector.select({inputs, 2}).number ==
            selector.tree.leaf({features, 3}).class_number());
    }
  }
}

TEST_CASE("a selector covers a factor of two around what it was learned from") {
  const auto model = opened(content());
  const SelectorView selector = model->kernels()[0].selector(0);
  const auto covers = [&](std::initializer_list<double> inputs) {
    return selector.covers({inputs.begin(), inputs.size()});
  };
  CHECK(covers({16, 4096}));
  CHECK(covers({8, 8192}));
  CHECK_FALSE(covers({7, 100}));
  CHECK_FALSE(covers({100, 8193}));
  CHECK_FALSE(covers({100}));
  CHECK_FALSE(covers({100, 100, 100}));
}

TEST_CASE("the fallbacks are this shape, the selector, the nearest shape, other devices") {
  const auto model = opened(content());
  const KernelKnowledge& kernel = model->kernels()[0];
  const auto pick = [&](const Shape& shape, std::string_view device) {
    return required(first_pick(kernel, tiles(), shape, device));
  };
  CHECK(pick({256, 256}, "Board One").quality == PickQuality::exact);
  CHECK(pick({256, 256}, "Board One").configuration == Configuration{64, 2});
  CHECK(pick({1024, 512}, "Board One").quality == PickQuality::selector);
  CHECK(pick({1024, 512}, "Board One").configuration == Configuration{32, 4});
  // Too far from what the selector was learned from.
  CHECK(pick({1, 1}, "Board One").quality == PickQuality::nearest_shape);
  CHECK(pick({1, 1}, "Board One").configuration == Configuration{64, 2});
  CHECK(pick({1024, 512}, "Board Two").quality == PickQuality::other_device);
  CHECK(pick({1024, 512}, "Board Two").configuration == Configuration{64, 1});
}

TEST_CASE("a selector over all devices serves devices without their own") {
  ModelContent c = content();
  c.selectors[0].device = "";
  const auto model = opened(c);
  const KernelKnowledge& kernel = model->kernels()[0];
  const auto pick = required(first_pick(kernel, tiles(), {1024, 512}, "Board Two"));
  CHECK(pick.quality == PickQuality::other_device);
  CHECK(pick.configuration == Configuration{32, 4});
}

TEST_CASE("a processor without a selector of its own asks the first one of a processor") {
  ModelContent c = content();
  c.selectors.push_back(c.selectors[0]);
  c.selectors[0].device = "pthread-skylake-avx512-AMD EPYC";
  c.selectors[1].device = "AMD EPYC";
  c.selectors[1].classes = {16, 1, 16, 2, 16, 4};
  const auto model = opened(c);
  const auto pick = [&](std::string_view device) {
    return required(first_pick(model->kernels()[0], tiles(), {1024, 512}, device));
  };
  CHECK(pick("pthread-Intel(R) Xeon(R)").configuration == Configuration{32, 4});
  CHECK(pick("cpu-cortex-a72").quality == PickQuality::other_device);
  CHECK(pick("AMD EPYC").configuration == Configuration{16, 4});
  CHECK(pick("AMD EPYC").quality == PickQuality::selector);
  CHECK(pick("Board Two").configuration == Configuration{64, 1});  // no processor
}

TEST_CASE("what is published for a device or its family comes before other devices") {
  ModelContent c = content();
  c.published = {{"Mali-G610 MC6 r0p0", {16, 1}}, {"Mali", {16, 2}, 3}, {"Mali", {16, 4}, 5}};
  const auto model = opened(c);
  const KernelKnowledge& kernel = model->kernels()[0];
  CHECK(kernel.published_origin() == "somewhere");
  const auto pick = [&](std::string_view device) {
    return required(first_pick(kernel, tiles(), {1024, 512}, device));
  };
  CHECK(pick("Mali-G610 r0p0").quality == PickQuality::published);
  CHECK(pick("Mali-G610 r0p0").configuration == Configuration{16, 1});
  CHECK(pick("Mali-T860").quality == PickQuality::other_device);
  CHECK(pick("Mali-T860").configuration == Configuration{16, 4});  // for most devices
  CHECK(pick("Board One").quality == PickQuality::selector);
  CHECK(pick("Adreno 640").configuration == Configuration{64, 1});
}

TEST_CASE("what was measured within the family comes before what is published for it") {
  ModelContent c = content();
  c.sources[0].device = "Mali-G52";
  c.published = {{"Mali", {16, 2}, 3}};
  const auto model = opened(c);
  const auto pick = required(first_pick(model->kernels()[0], tiles(), {9, 9}, "Mali-G57"));
  CHECK(pick.configuration == Configuration{64, 1});
}

TEST_CASE("published configurations alone make a kernel known, without any distribution") {
  ModelContent c;
  c.with_sources = false;
  c.published = {{"Board One", {16, 2}}};
  const auto model = opened(c);
  REQUIRE(model->kernels().size() == 1);
  const KernelKnowledge& kernel = model->kernels()[0];
  CHECK(kernel.source_count() == 0);
  CHECK(kernel.portfolio_size() == 0);
  CHECK(kernel.selector_count() == 0);
  CHECK(kernel.well_performing_fraction(0.9) == 0);
  const auto pick = required(first_pick(kernel, tiles(), {1, 1}, "Board One"));
  CHECK(pick.quality == PickQuality::published);
}

TEST_CASE("selectors that would be read out of bounds are refused") {
  const auto with = [](const std::function<void(SelectorContent&)>& edit) {
    ModelContent c = content();
    edit(c.selectors[0]);
    refuse(c);
  };
  with([](SelectorContent& s) { s.nodes[2] = TreeNode::numeric_split(3, 1); });   // no such feature
  with([](SelectorContent& s) { s.nodes[2] = TreeNode::numeric_split(0, -1); });  // never asked
  with([](SelectorContent& s) { s.nodes[2] = TreeNode::categorical_split(0, 1); });
  with([](SelectorContent& s) { s.nodes[4] = TreeNode::class_leaf(3, 1, 1); });  // no such class
  with([](SelectorContent& s) { s.nodes.pop_back(); });                          // a child missing
  with([](SelectorContent& s) { s.nodes.clear(); });
  with([](SelectorContent& s) { s.nodes[0].set_link(9); });
  with([](SelectorContent& s) { s.exponents.pop_back(); });
  with([](SelectorContent& s) { s.exponents[0] = 4; });
  with([](SelectorContent& s) { s.low.pop_back(); });
  with([](SelectorContent& s) { s.high[0] = std::nan(""); });
  with([](SelectorContent& s) {
    s.inputs.clear();
    s.low.clear();
    s.high.clear();
    s.exponents.clear();
  });
  with([](SelectorContent& s) { s.classes.pop_back(); });
  with([](SelectorContent& s) { s.classes.clear(); });
  with([](SelectorContent& s) { s.inputs[0] = ""; });
  ModelContent c = content();
  c.published = {{"Board", {1}}};
  refuse(c);
  c.published = {{"", {1, 1}}};
  refuse(c);
}
