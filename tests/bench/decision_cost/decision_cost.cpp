// What one measurement costs the decision: updating what is believed, and deciding anew. And what
// is held in memory per kernel and shape.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "agent/search/searchers.hpp"
#include "agent/tuning/shape_search.hpp"
#include "models/core/random.hpp"
#include "tests/bench/launch_cost/allocation_counter.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/unit/predict/model_builder.hpp"

namespace idletune::bench {
namespace {

constexpr std::size_t kEntries = 256;  // the most that `learn` stores unless told otherwise
constexpr std::size_t kMemoryBound = 32 * 1024;

// Sources that agree with each other as GPUs of different generations do: a common rank and noise
// of 0.3 in the logarithm.
std::shared_ptr<const Model> model_of(std::size_t sources) {
  test::ModelContent content;
  content.parameters = {"x"};
  content.sources.resize(sources);
  for (std::size_t d = 0; d < sources; ++d) {
    content.sources[d].device = "device " + std::string(1, static_cast<char>('A' + d));
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      content.sources[d].quantiles[i] =
          static_cast<float>(0.1 + 0.9 * std::pow(quantile_levels()[i], 6));
    }
  }
  Random random(5);
  for (std::size_t i = 0; i < kEntries; ++i) {
    content.portfolio_values.push_back(static_cast<std::int64_t>(i));
    for (std::size_t d = 0; d < sources; ++d) {
      const double q = std::exp(-0.003 * static_cast<double>(i) - 0.3 * random.uniform());
      content.portfolio_relative.push_back(static_cast<float>(std::min(1.0, q)));
    }
    content.portfolio_score.push_back(0.8f);
  }
  auto model = Model::open(test::build_model(content), "decision_cost");
  return model.ok() ? *model : nullptr;
}

struct Times {
  std::vector<double> tell;
  std::vector<double> decide;
  std::uint64_t allocations = 0;
};

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

// One search of 200 measurements, as many of them uniform draws as a searcher makes by default; a
// decision after each.
void search(const KernelKnowledge& knowledge, std::uint64_t seed, Times& times) {
  DevicePosterior beliefs(knowledge);
  ShapeEvidence evidence;
  const Space space;
  SearchSubject subject;
  subject.space = &space;
  SearchSituation situation;
  situation.expected_launches = 1e5;
  situation.step.charge = std::chrono::milliseconds(100);
  const std::uint32_t random_every = SearcherOptions().random_every;
  std::vector<DevicePosterior::Forecast> upcoming(SearchForecast::kUpcoming);
  for (std::size_t i = 0; i < upcoming.size(); ++i) upcoming[i].entry = 200 - i;
  const SearchOutlook outlook{&beliefs, 1.0 / random_every, {upcoming.data(), upcoming.size()}};
  situation.promise = Promise();
  Random random(seed);
  double running = 1e9;
  const std::uint64_t before = allocations_of_this_thread();
  for (std::size_t i = 0; i < 200; ++i) {
    const double noise = std::exp(0.3 * random.uniform());
    const bool draw = (i + 1) % random_every == 0;
    const double time = draw ? 4e6 * noise : 1e6 / knowledge.portfolio_relative(i, 0) * noise;
    const auto start = std::chrono::steady_clock::now();
    if (draw) {
      evidence.draws.add(Nanoseconds(static_cast<std::int64_t>(time)));
      beliefs.tell_draw(time);
    } else {
      beliefs.tell_entry(i, time);
    }
    times.tell.push_back(microseconds_since(start));
    running = std::min(running, time);
    situation.running_time = Nanoseconds(static_cast<std::int64_t>(running));
    situation.promise->untuned = situation.running_time;
    const auto middle = std::chrono::steady_clock::now();
    const Decision decision = decide(decision_input(evidence, subject, situation, outlook));
    times.decide.push_back(microseconds_since(middle));
    if (decision.reason().empty()) std::printf("no reason\n");  // and nothing is optimised away
  }
  times.allocations += allocations_of_this_thread() - before;
}

int run(std::size_t searches) {
  const std::size_t bytes = sizeof(DevicePosterior) + sizeof(ShapeEvidence);
  const std::size_t transient = sizeof(SearchForecast) + sizeof(DecisionInput) + sizeof(Decision);
  std::printf(
      "memory per kernel and shape: %zu bytes kept (%zu of them what devices resemble), "
      "%zu more while deciding; bound %zu\n",
      bytes, sizeof(DevicePosterior), transient, kMemoryBound);
  std::printf("%-8s %-28s %10s %10s %10s %10s\n", "sources", "us per measurement", "p10", "median",
              "p90", "allocated");
  bool sane = bytes + transient <= kMemoryBound;
  for (std::size_t sources : {std::size_t{3}, std::size_t{12}}) {
    const auto model = model_of(sources);
    if (model == nullptr) return 1;
    const KernelKnowledge& knowledge = model->kernels()[0];
    Times times;
    times.tell.reserve(200 * (searches + 1));
    times.decide.reserve(200 * (searches + 1));
    for (std::size_t i = 0; i < searches; ++i) search(knowledge, i + 1, times);
    std::vector<double> both(times.tell.size());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = times.tell[i] + times.decide[i];
    const auto row = [&](const char* name, const std::vector<double>& values) {
      std::printf("%-8zu %-28s %10.2f %10.2f %10.2f %10llu\n", sources, name, quantile(values, 0.1),
                  quantile(values, 0.5), quantile(values, 0.9),
                  static_cast<unsigned long long>(times.allocations));
    };
    row("beliefs updated", times.tell);
    row("decided", times.decide);
    row("both", both);
    sane = sane && times.allocations == 0;
  }
  return sane ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 2 || (argc == 2 && !quick)) {
    std::fprintf(stderr, "usage: decision_cost [--quick]\n");
    return 2;
  }
  return idletune::bench::run(quick ? 2 : 200);
}
