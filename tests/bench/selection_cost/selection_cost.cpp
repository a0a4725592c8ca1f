// What selection by shape costs, from a model and as generated code: selection_cost MODEL. Prints
// figures; asserts only that both answer the same.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "agent/api/model_file.hpp"
#include "models/core/median.hpp"
#include "models/core/random.hpp"
#include "models/predict/model.hpp"
#include "tests/bench/processor_cost.hpp"

// generated_selection.cpp
std::size_t generated_select(int selector, double m, double n, double k);
bool generated_covers(double m, double n, double k);
const std::int64_t* generated_values(int selector, std::size_t number);

using namespace idletune;

namespace {

constexpr std::size_t kFew = 20;  // problems that an application has, again and again

struct ProblemSize {
  double sizes[3];
};

// Median over 21 rounds of the mean time of one selection among random problems.
template <class F>
double time_of(const std::vector<ProblemSize>& problems, const F& select) {
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) {
    std::size_t sum = 0;
    const double begin = bench::thread_time_us();
    for (const ProblemSize& p : problems) sum += select(p);
    const double end = bench::thread_time_us();
    volatile std::size_t sink = sum;
    (void)sink;
    rounds.push_back(1e3 * (end - begin) / static_cast<double>(problems.size()));
  }
  return median_of(std::move(rounds));
}

std::vector<ProblemSize> grid() {
  std::vector<ProblemSize> problems;
  const double sizes[] = {0,   1,    7,    64,   255,  256,  257,  300,  512,  700,
                          768, 1000, 1024, 1500, 2048, 2500, 3000, 3840, 4096, 100000};
  for (const double m : sizes) {
    for (const double n : sizes) {
      for (const double k : sizes) problems.push_back({{m, n, k}});
    }
  }
  return problems;
}

bool agree(const SelectorView& selector, int number) {
  for (const ProblemSize& p : grid()) {
    const std::size_t a = selector.select({p.sizes, 3}).number;
    const std::size_t b = generated_select(number, p.sizes[0], p.sizes[1], p.sizes[2]);
    const bool covers = selector.covers({p.sizes, 3});
    const bool generated = generated_covers(p.sizes[0], p.sizes[1], p.sizes[2]);
    const auto values = selector.values(a);
    if (a == b && covers == generated &&
        std::equal(values.begin(), values.end(), generated_values(number, b))) {
      continue;
    }
    std::fprintf(stderr, "selector %d: %g x %g x %g: %zu in the model, %zu in the code\n", number,
                 p.sizes[0], p.sizes[1], p.sizes[2], a, b);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: selection_cost MODEL [--quick]\n");
    return 2;
  }
  const bool quick = argc > 2 && std::strcmp(argv[2], "--quick") == 0;
  const auto model = read_model(argv[1]);
  if (!model.ok()) return 1;
  const KernelKnowledge& kernel = (*model)->kernels()[0];
  Random random(1);
  std::vector<ProblemSize> problems(quick ? 1000 : 100000);
  for (ProblemSize& p : problems) {
    for (double& size : p.sizes) size = static_cast<double>(256 + random.below(3585));
  }
  for (std::size_t s = 0; s < kernel.selector_count(); ++s) {
    const SelectorView selector = kernel.selector(s);
    const int number = static_cast<int>(s);
    if (!agree(selector, number)) return 1;
    for (const bool again : {false, true}) {
      std::vector<ProblemSize> asked = problems;
      for (std::size_t i = 0; i < asked.size() && again; ++i) asked[i] = problems[i % kFew];
      const double from_model = time_of(asked, [&](const ProblemSize& p) {
        return selector.select({p.sizes, 3}).number;
      });
      const double from_code = time_of(asked, [&](const ProblemSize& p) {
        return generated_select(number, p.sizes[0], p.sizes[1], p.sizes[2]);
      });
      std::printf(
          "%-16s height %2zu, %4zu leaves, %2zu features, %s: %5.1f ns from the model, %5.1f "
          "ns as generated code\n",
          std::string(selector.device.empty() ? "any device" : selector.device).c_str(),
          selector.tree.height(), selector.tree.leaf_count(), selector.feature_count(),
          again ? "20 problems in turn" : "new problems       ", from_model, from_code);
    }
  }
  return 0;
}
