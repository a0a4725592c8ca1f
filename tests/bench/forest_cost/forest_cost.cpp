// What learning and predicting cost per search step, in processor time: forests, nearest
// neighbours, and the selection of a class by a high tree. Prints figures; asserts only that the
// quick ways agree with the plain.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/forest/forest.hpp"
#include "models/forest/sliced_rows.hpp"
#include "models/host/learners/nearest_neighbors.hpp"
#include "models/host/learners/tree_learners.hpp"
#include "tests/bench/processor_cost.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

constexpr std::size_t kParameters = 14;
constexpr std::size_t kConfigurations = 20000;
constexpr std::size_t kMeasured = 200;
constexpr std::size_t kTrees = 32;
constexpr std::uint32_t kRadix[kParameters] = {4, 4, 3, 3, 3, 3, 2, 4, 4, 2, 2, 2, 2, 2};

struct Timing {
  double median_us = 0;
  double p90_us = 0;
};

template <class F>
Timing time_of(std::size_t repeats, const F& f) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) {
    const double begin = bench::thread_time_us();
    f(i);
    times.push_back(bench::thread_time_us() - begin);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 9 / 10]};
}

void print(const char* what, Timing timing) {
  std::printf("%-72s %10.1f us  (90th percentile %.1f)\n", what, timing.median_us, timing.p90_us);
}

// A space like CLBlast's Xgemm: parameters of 2 to 5 values, constraints that leave every few
// hundredth combination, in the order of enumeration. A value is its place.
std::vector<float> make_space() {
  std::uint64_t combinations = 1;
  for (const std::uint32_t r : kRadix) combinations *= r;
  std::vector<float> values;
  for (std::size_t i = 0; i < kConfigurations; ++i) {
    std::uint64_t number = i * (combinations / kConfigurations);
    float row[kParameters];
    for (std::size_t c = kParameters; c-- > 0;) {
      row[c] = static_cast<float>(number % kRadix[c]);
      number /= kRadix[c];
    }
    values.insert(values.end(), row, row + kParameters);
  }
  return values;
}

// ln of a run time: interacting factors, and noise.
float time_of_row(const float* row, Random& random) {
  double t = 0;
  for (std::size_t c = 0; c + 1 < kParameters; ++c) {
    t += std::fabs(static_cast<double>(row[c] + row[c + 1]) - 2.0) / static_cast<double>(c + 1);
  }
  return static_cast<float>(t + 0.05 * random.uniform());
}

struct Measurements {
  std::vector<float> values;
  std::vector<float> targets;
  Dataset data() const { return {values, kParameters, {}, targets, 0}; }
};

Measurements measure(const std::vector<float>& space, std::size_t count, Random& random) {
  Measurements result;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = space.data() + random.below(kConfigurations) * kParameters;
    result.values.insert(result.values.end(), row, row + kParameters);
    result.targets.push_back(time_of_row(row, random));
  }
  return result;
}

SlicedRows slice(const std::vector<float>& space) {
  auto rows = SlicedRows::zeros({kRadix, kParameters}, kConfigurations);
  if (!rows.ok()) std::abort();
  std::vector<std::uint16_t> codes(kParameters);
  for (std::size_t i = 0; i < kConfigurations; ++i) {
    for (std::size_t c = 0; c < kParameters; ++c) {
      codes[c] = static_cast<std::uint16_t>(space[i * kParameters + c]);
    }
    rows->set(i, codes);
  }
  return std::move(*rows);
}

// Grows forests of several kinds and sizes and watches the heap.
bool bytes_needed_is_enough(const Dataset& data, ForestOptions options) {
  bool enough = true;
  for (const std::size_t rows : {std::size_t{1}, data.rows() / 2, data.rows()}) {
    for (const std::size_t leaf_rows : {std::size_t{1}, std::size_t{8}}) {
      for (const std::size_t trees : {std::size_t{1}, std::size_t{32}, std::size_t{33}}) {
        const Dataset part{data.values.subspan(0, rows * data.columns),
                           data.columns,
                           {},
                           data.targets.subspan(0, rows),
                           0};
        options.trees = trees;
        options.bootstrap = trees != 33;
        options.tree.leaf_rows = leaf_rows;
        const std::size_t before = bench::heap.bytes;
        bench::heap.peak = before;
        if (!Forest::grow(part, options).ok()) return false;
        enough &= bench::heap.peak - before <= Forest::bytes_needed(rows, data.columns, 0, options);
      }
    }
  }
  return enough;
}

// A tree of some 1,300 leaves that chooses among 40 classes by three problem dimensions.
CartLearner selector(Random& random, std::vector<float>& shapes) {
  std::vector<float> targets;
  for (std::size_t i = 0; i < 3375; ++i) {
    for (int c = 0; c < 3; ++c) shapes.push_back(static_cast<float>(64 * (1 + random.below(60))));
    targets.push_back(static_cast<float>(random.below(40)));
  }
  TreeOptions options;
  options.height = 19;
  options.leaf_rows = 2;
  CartLearner learner(options);
  if (!learner.fit({shapes, 3, {}, targets, 40}).ok()) std::abort();
  return learner;
}

void print_sizes(const SlicedRows& rows, const FollowedPredictions& followed, const Forest& forest,
                 const ForestOptions& options, std::size_t repeats) {
  const std::size_t nodes = forest.view().nodes.size() * sizeof(TreeNode);
  const std::size_t working = Forest::bytes_needed(kMeasured, kParameters, 0, options);
  std::printf("%zu configurations of %zu parameters, %zu measured, %zu trees; %zu repeats\n",
              kConfigurations, kParameters, kMeasured, kTrees, repeats);
  std::printf(
      "bytes: sliced configurations %zu, followed predictions %zu, forest %zu; forest and all "
      "it may need while it learns %zu; sum %zu\n",
      rows.bytes(), followed.bytes(), nodes, working, rows.bytes() + followed.bytes() + working);
}

void time_growing(const Measurements& measured, const ForestOptions& options, Forest& forest,
                  FollowedPredictions& followed, std::size_t repeats) {
  ForestOptions one = options;
  one.trees = 1;
  print("grow one tree, reading the measurements included", time_of(repeats, [&](std::size_t) {
          if (!Forest::grow(measured.data(), one).ok()) std::abort();
        }));
  print("grow the forest", time_of(repeats, [&](std::size_t) {
          if (!Forest::grow(measured.data(), options).ok()) std::abort();
        }));
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    const std::string what =
        "one step: renew " + std::to_string(count) + " trees, follow all configurations";
    print(what.c_str(), time_of(repeats, [&](std::size_t) {
            if (!forest.renew(measured.data(), count, &followed).ok()) std::abort();
          }));
  }
}

void time_predictions(const SlicedRows& rows, const Forest& forest, const std::vector<float>& space,
                      std::size_t repeats) {
  std::vector<float> means(rows.rows());
  print("predict all configurations, sliced", time_of(repeats, [&](std::size_t) {
          const FollowedPredictions followed(rows, forest.view(), 100);
          means[0] = followed.mean(0);
        }));
  print("predict all configurations, one by one", time_of(repeats / 10 + 1, [&](std::size_t) {
          for (std::size_t i = 0; i < kConfigurations; ++i) {
            means[i] = forest.view().predict({space.data() + i * kParameters, kParameters}).value;
          }
        }));
  print("slice the configurations (once per space)", time_of(repeats / 10 + 1, [&](std::size_t) {
          if (slice(space).rows() != kConfigurations) std::abort();
        }));
}

void time_neighbors(const Measurements& measured, const std::vector<float>& space,
                    std::size_t repeats) {
  NearestNeighbors neighbors;
  if (!neighbors.fit(measured.data()).ok()) std::abort();
  std::vector<float> means(1000);
  print("nearest neighbours of 1,000 configurations", time_of(repeats / 10 + 1, [&](std::size_t) {
          for (std::size_t i = 0; i < 1000; ++i) {
            means[i] = neighbors.predict({space.data() + i * kParameters, kParameters}).value;
          }
        }));
}

void time_selecting(Random& random, std::size_t repeats) {
  std::vector<float> shapes;
  const CartLearner selecting = selector(random, shapes);
  const std::size_t queries = shapes.size() / 3;
  std::uint64_t sum = 0;
  const Timing all = time_of(repeats, [&](std::size_t) {
    for (std::size_t i = 0; i < queries; ++i) {
      sum += selecting.tree().leaf({shapes.data() + i * 3, 3}).class_number();
    }
  });
  std::printf(
      "select by shape, a tree of height %zu with %zu leaves: %.1f ns each (checksum %llu)\n",
      selecting.tree().height(), selecting.tree().leaf_count(),
      1000 * all.median_us / static_cast<double>(queries), static_cast<unsigned long long>(sum));
}

int failed(const char* why) {
  std::fprintf(stderr, "forest_cost: %s\n", why);
  return 1;
}

int run(std::size_t repeats) {
  Random random(1);
  const std::vector<float> space = make_space();
  const Measurements measured = measure(space, kMeasured, random);
  ForestOptions options;
  options.trees = kTrees;
  options.max_bytes = std::size_t{512} << 10;
  auto forest = Forest::grow(measured.data(), options);
  if (!forest.ok()) return failed(forest.status().message().c_str());
  const SlicedRows rows = slice(space);
  FollowedPredictions followed(rows, forest->view(), 100);
  print_sizes(rows, followed, *forest, options, repeats);
  if (!bytes_needed_is_enough(measured.data(), options)) {
    return failed("growing takes more memory than Forest::bytes_needed says");
  }
  time_growing(measured, options, *forest, followed, repeats);
  time_predictions(rows, *forest, space, repeats);
  time_neighbors(measured, space, repeats);
  time_selecting(random, repeats);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return run(500);
  if (argc == 2 && std::strcmp(argv[1], "--quick") == 0) return run(3);
  std::fprintf(stderr, "usage: forest_cost [--quick]\n");
  return 2;
}
