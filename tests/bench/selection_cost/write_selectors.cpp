// Makes a model with the selectors that selection_cost times, and the same as C++ source:
// write_selectors MODEL HEADER. The large tree is as high and wide as the largest one of
// Cianfriglia et al. 2018, table 5 (height 19, 1,290 leaves, learned from the 3,375 shapes of their
// grid of 256s).
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/forest/tree_trainer.hpp"
#include "models/host/learn/selector_code.hpp"
#include "models/predict/selector.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/predict/model_builder.hpp"

using namespace idletune;
using learners::TreeNode;

namespace {

constexpr std::size_t kClasses = 12;

// Which class is best: by size and proportions, and for some shapes by chance.
float class_of(const double* shape, double chance, Random& random) {
  if (random.uniform() < chance) return static_cast<float>(random.below(kClasses));
  const double size = std::log2(shape[0] * shape[1] * shape[2]);
  const double tall = std::log2(shape[0] / shape[1]);
  return static_cast<float>((static_cast<std::size_t>(size) + (tall > 0 ? 3 : 0)) % kClasses);
}

test::SelectorContent selector(const std::string& device, std::vector<std::int8_t> exponents,
                               std::size_t height, double chance) {
  test::SelectorContent result;
  result.device = device;
  result.inputs = {"M", "N", "K"};
  result.low = {256, 256, 256};
  result.high = {3840, 3840, 3840};
  result.exponents = std::move(exponents);
  const std::size_t columns = result.exponents.size() / 3;
  Random random(1);
  std::vector<float> values;
  std::vector<float> targets;
  for (int m = 256; m <= 3840; m += 256) {
    for (int n = 256; n <= 3840; n += 256) {
      for (int k = 256; k <= 3840; k += 256) {
        const double shape[] = {static_cast<double>(m), static_cast<double>(n),
                                static_cast<double>(k)};
        for (std::size_t f = 0; f < columns; ++f)
          values.push_back(selector_feature(result.exponents.data() + f * 3, shape, 3));
        targets.push_back(class_of(shape, chance, random));
      }
    }
  }
  learners::Dataset data;
  data.values = {values.data(), values.size()};
  data.columns = columns;
  data.targets = {targets.data(), targets.size()};
  data.classes = kClasses;
  const auto table = learners::CodedTable::build(data);
  learners::TreeOptions options;
  options.height = height;
  learners::TreeTrainer trainer(*table, options);
  const std::vector<std::uint16_t> weights(targets.size(), 1);
  if (!trainer.grow({weights.data(), weights.size()}, random, result.nodes).ok())
    result.nodes.clear();
  for (std::size_t c = 0; c < kClasses; ++c) {
    result.classes.push_back(std::int64_t{8} << (c % 5));
    result.classes.push_back(static_cast<std::int64_t>(c) - 3);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_selectors MODEL HEADER\n");
    return 2;
  }
  test::ModelContent content;
  content.kernel = "gemm";
  const std::vector<std::int8_t> plain{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<std::int8_t> derived{1, 0, 0, 0, 1, 0,  0, 0, 1, 1, 1, 0,  1, -1, 0,
                                         1, 0, 1, 1, 0, -1, 0, 1, 1, 0, 1, -1, 1, 1,  1};
  content.selectors = {selector("large tree", plain, 19, 0.075),
                       selector("derived features", derived, 8, 0.05),
                       selector("stump", plain, 1, 0)};
  content.selectors.push_back(content.selectors.back());
  content.selectors.back().device = "";
  content.selectors.back().nodes = {TreeNode::class_leaf(3, 0.5, 1)};
  content.selectors.back().exponents.clear();
  const std::vector<std::uint8_t> bytes = test::build_model(content);
  const auto model = Model::open(bytes, argv[1]);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    return 1;
  }
  const std::string code = selector_code(**model);
  const Bytes text(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
  const bool written =
      write_file_atomically(argv[1], bytes).ok() && write_file_atomically(argv[2], text).ok();
  return written ? 0 : 1;
}
