// What it costs on the device side to learn a measurement and to propose the next configuration:
// processor time and heap, by the number of measurements, for a space that is followed as a whole
// and for a larger one; and the same of the whole product searcher with a portfolio of 256 entries
// and sixteen historical devices. Prints figures; asserts the memory bound only.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <idletune/learning.hpp>

#include "agent/search/forest_proposals.hpp"
#include "agent/search/product_searcher.hpp"
#include "models/core/random.hpp"
#include "models/space/product_space.hpp"
#include "tests/bench/processor_cost.hpp"
#include "tests/unit/predict/model_builder.hpp"

using namespace idletune;

namespace {

constexpr std::size_t kMeasured = 200;
constexpr std::size_t kAllowedBytes = std::size_t{512} << 10;  // issue: 20,000 configurations

std::vector<std::int64_t> powers(std::size_t count) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::int64_t{1} << i);
  return values;
}

// Fourteen parameters like CLBlast's Xgemm; every few hundredth combination, in the order of
// enumeration.
Space thinned_space(std::size_t configurations) {
  const std::size_t radix[] = {4, 4, 3, 3, 3, 3, 2, 4, 4, 2, 2, 2, 2, 2};
  constexpr std::size_t kParameters = sizeof radix / sizeof *radix;
  std::uint64_t combinations = 1;
  for (const std::size_t r : radix) combinations *= r;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < kParameters; ++p) names.push_back("P" + std::to_string(p));
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < configurations; ++i) {
    std::uint64_t number = i * (combinations / configurations);
    std::int64_t row[kParameters];
    for (std::size_t c = kParameters; c-- > 0;) {
      row[c] = std::int64_t{1} << (number % radix[c]);
      number /= radix[c];
    }
    rows.insert(rows.end(), row, row + kParameters);
  }
  auto space = Space::from_rows(names, {}, {}, rows);
  if (!space.ok()) std::abort();
  return std::move(*space);
}

// Interacting factors, noise, and one in fifty that fails.
Observation measure(const Configuration& configuration, Random& random) {
  Observation seen;
  if (random.below(50) == 0) {
    seen.status = TrialStatus::runtime;
    return seen;
  }
  double log_time = 14;
  for (std::size_t p = 0; p + 1 < configuration.size(); ++p) {
    const double both = static_cast<double>(configuration[p] * configuration[p + 1]);
    log_time += std::fabs(std::log2(both) - 2.0) / static_cast<double>(p + 1);
  }
  seen.run_time = Nanoseconds(std::llround(std::exp(log_time + 0.05 * random.uniform())));
  return seen;
}

struct Timings {
  std::vector<double> us;
  double quantile(double share) {
    std::sort(us.begin(), us.end());
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  }
};

struct Cost {
  double construct_us = 0;
  Timings early;   // proposals after 6 to 40 measurements
  Timings middle;  // 41 to 150
  Timings late;    // 151 to 200
  double longest_us = 0;
  std::size_t bytes = 0;
};

void play(const Space& space, std::uint64_t seed, bool with_prior, Cost& cost) {
  Random random(seed);
  ForestProposalOptions options;
  options.seed = seed;
  if (with_prior) {
    options.prior = [](const Configuration& c) -> std::optional<float> {
      return static_cast<float>(c[0]) * 0.1f;
    };
  }
  const std::size_t before = bench::heap.bytes;
  bench::heap.peak = before;
  double begin = bench::thread_time_us();
  const auto proposals = std::make_unique<ForestProposals>(space, options);
  cost.construct_us = bench::thread_time_us() - begin;
  for (std::size_t i = 0; i < kMeasured; ++i) {
    std::optional<Configuration> next;
    begin = bench::thread_time_us();
    if (i >= 6) next = proposals->propose();
    const double asked = bench::thread_time_us() - begin;
    if (!next) next = space.sample(random);
    const Observation seen = measure(*next, random);
    begin = bench::thread_time_us();
    proposals->tell(*next, seen);
    const double both = asked + bench::thread_time_us() - begin;
    if (i >= 6) (i < 40 ? cost.early : i < 150 ? cost.middle : cost.late).us.push_back(both);
  }
  cost.bytes = std::max(cost.bytes, bench::heap.peak - before);
}

// Every 78th configuration is an entry.
std::shared_ptr<const Model> model_of(const Space& space) {
  constexpr std::size_t kSources = 16;
  test::ModelContent content;
  content.parameters.clear();
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    content.parameters.emplace_back(space.parameter_name(p));
  }
  content.sources = std::vector<test::SourceContent>(kSources);
  for (std::size_t d = 0; d < kSources; ++d) {
    content.sources[d].device = "Board " + std::to_string(d);
    content.sources[d].valid = content.sources[d].measured = space.valid_count();
  }
  Random random(1);
  for (std::uint64_t i = 0; i < 256; ++i) {
    const Configuration entry = space.at(i * 78 % space.valid_count());
    for (std::size_t p = 0; p < entry.size(); ++p) content.portfolio_values.push_back(entry[p]);
    for (std::size_t d = 0; d < kSources; ++d) {
      content.portfolio_relative.push_back(static_cast<float>(0.3 + 0.7 * random.uniform()));
    }
    content.portfolio_score.push_back(0.6f);
  }
  auto model = Model::open(test::build_model(content), "proposal_cost");
  if (!model.ok()) {
    std::fprintf(stderr, "proposal_cost: %s\n", std::string(model.status().message()).c_str());
    std::abort();
  }
  return *model;
}

// As the agent does it: ask, decide whether it pays (outlook), measure, tell.
void play_product(const Space& space, const Model& model, std::uint64_t seed, Cost& cost) {
  Random random(seed);
  SearcherOptions options;
  options.seed = seed;
  options.learner = forest_learner();
  const std::size_t before = bench::heap.bytes;
  bench::heap.peak = before;
  double begin = bench::thread_time_us();
  const auto searcher = std::make_unique<ProductSearcher>(space, model.kernels()[0], options);
  cost.construct_us = bench::thread_time_us() - begin;
  for (std::size_t i = 0; i < kMeasured; ++i) {
    begin = bench::thread_time_us();
    const SearchOutlook outlook = searcher->outlook();
    const std::optional<Proposal> proposal = searcher->ask();
    const double asked = bench::thread_time_us() - begin;
    if (!proposal || outlook.beliefs == nullptr) std::abort();
    const Observation seen = measure(proposal->configuration, random);
    begin = bench::thread_time_us();
    searcher->tell(proposal->configuration, seen);
    const double both = asked + bench::thread_time_us() - begin;
    cost.longest_us = std::max(cost.longest_us, both);
    (i < 40 ? cost.early : i < 150 ? cost.middle : cost.late).us.push_back(both);
  }
  cost.bytes = std::max(cost.bytes, bench::heap.peak - before);
}

void print(const char* what, Cost& cost) {
  std::printf("%-40s %7.2f | %6.3f %6.3f | %6.3f %6.3f | %6.3f %6.3f | %4zu KiB\n", what,
              cost.construct_us / 1000, cost.early.quantile(0.5) / 1000,
              cost.early.quantile(0.9) / 1000, cost.middle.quantile(0.5) / 1000,
              cost.middle.quantile(0.9) / 1000, cost.late.quantile(0.5) / 1000,
              cost.late.quantile(0.9) / 1000, (cost.bytes + 1023) >> 10);
}

int run(std::uint64_t searches) {
  const Space followed = thinned_space(20000);
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> values;
  for (int p = 0; p < 14; ++p) {
    names.push_back("P" + std::to_string(p));
    values.push_back(powers(p < 4 ? 5 : 3));
  }
  const auto large = product_space(names, values);
  if (!large.ok()) std::abort();
  const std::shared_ptr<const Model> model = model_of(followed);
  Cost plain, residual, sampled, product;
  for (std::uint64_t seed = 1; seed <= searches; ++seed) {
    play(followed, seed, false, plain);
    play(followed, seed, true, residual);
    play(*large, seed, false, sampled);
    play_product(followed, *model, seed, product);
  }
  std::printf(
      "ms: construction; propose and tell after 6-40, 41-150, 151-200 measurements,\n"
      "each as median and 90th percentile; heap at its peak\n");
  print("20,000 configurations", plain);
  print("20,000 configurations, with a prior", residual);
  print("36.9 million configurations (sampled)", sampled);
  print("product searcher, 20,000 configurations", product);
  std::printf("its longest step (the forest is made): %.1f ms\n", product.longest_us / 1000);
  for (const Cost* cost : {&plain, &residual, &sampled, &product}) {
    if (cost->bytes > kAllowedBytes) {
      std::fprintf(stderr, "proposal_cost: %zu bytes; expected at most %zu\n", cost->bytes,
                   kAllowedBytes);
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return run(20);
  if (argc == 2 && std::strcmp(argv[1], "--quick") == 0) return run(1);
  std::fprintf(stderr, "usage: proposal_cost [--quick]\n");
  return 2;
}
