// How the launch benchmarks measure two contestants, summarize and print. A contest launches shapes
// by their number: shape_count(), launch_raw(i), launch_idletune(i), finish(). Its agent().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/launch_cost/allocation_counter.hpp"
#include "tests/bench/launch_cost/tuning_beside.hpp"
#include "tests/bench/quartiles.hpp"

namespace idletune::bench {

// Nanoseconds per launch; the differences and ratios are those of the pairs.
struct Measurement {
  std::string scenario;
  Quartiles raw_ns, idletune_ns, difference_ns, ratio;
  std::size_t launches = 0;  // of idletune, in all
  std::size_t raw_launches = 0;
  std::uint64_t steps = 0;              // of tuning that ended meanwhile
  std::uint64_t first_allocations = 0;  // by the first launch of every shape
  std::uint64_t allocations = 0;        // by all further ones
  // KiB by which the process' resident memory grew after the first pair of blocks; where looked at.
  std::optional<std::int64_t> growth_kib;
};

// What raw and idletune launches took at about the same time.
struct Pair {
  double raw_ns, idletune_ns;
};

inline std::vector<double> each(const std::vector<Pair>& pairs, double (*value)(const Pair&)) {
  std::vector<double> values;
  for (const Pair& pair : pairs) values.push_back(value(pair));
  return values;
}

inline void summarize(const std::vector<Pair>& pairs, Measurement& result) {
  result.raw_ns = quartiles(each(pairs, [](const Pair& p) { return p.raw_ns; }));
  result.idletune_ns = quartiles(each(pairs, [](const Pair& p) { return p.idletune_ns; }));
  result.difference_ns =
      quartiles(each(pairs, [](const Pair& p) { return p.idletune_ns - p.raw_ns; }));
  result.ratio = quartiles(each(pairs, [](const Pair& p) { return p.idletune_ns / p.raw_ns; }));
}

// Throws unless both contestants ask the stub driver for the same, which `recording` has it record.
template <class Launch, class Stub, class Setting, class Contest, class Same>
void require_same_launches(const Stub& stub, Setting recording, Contest& contest,
                           const Same& same) {
  stub.set(recording, 1);
  for (std::size_t i = 0; i < contest.shape_count(); ++i) {
    Launch raw = {}, tuned = {};
    contest.launch_raw(i);
    stub.last_launch(&raw);
    contest.launch_idletune(i);
    stub.last_launch(&tuned);
    if (!same(raw, tuned)) throw std::runtime_error("idletune's launch differs from the raw one");
  }
  stub.set(recording, 0);
}

template <class Work>
double elapsed_ns(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
std::uint64_t allocations_of(const Work& work) {
  const std::uint64_t before = allocations_of_this_thread();
  work();
  return allocations_of_this_thread() - before;
}

struct Effort {
  std::size_t pairs;    // of blocks; more where the steps below take longer
  std::size_t block;    // launches of one contestant
  std::uint64_t steps;  // of tuning meanwhile, at least, where tuning goes on
};

// Nanoseconds per launch of one block that goes through the shapes from `first_shape` on in turn;
// waits for the device afterwards.
template <class Contest, class Launch>
double block_ns(Contest& contest, std::size_t block, std::size_t first_shape,
                const Launch& launch) {
  const std::size_t shapes = contest.shape_count();
  const double all = elapsed_ns([&] {
    for (std::size_t i = 0, shape = first_shape; i < block; ++i) {
      launch(shape);
      if (++shape == shapes) shape = first_shape;
    }
  });
  contest.finish();
  return all / static_cast<double>(block);
}

template <class Contest>
Pair measure_pair(Contest& contest, const Effort& effort, std::size_t first_shape, bool raw_first,
                  std::uint64_t& allocations) {
  const auto raw = [&](std::size_t i) { contest.launch_raw(i); };
  const auto idletune = [&](std::size_t i) { contest.launch_idletune(i); };
  Pair pair{};
  if (raw_first) pair.raw_ns = block_ns(contest, effort.block, first_shape, raw);
  allocations += allocations_of(
      [&] { pair.idletune_ns = block_ns(contest, effort.block, first_shape, idletune); });
  if (!raw_first) pair.raw_ns = block_ns(contest, effort.block, first_shape, raw);
  return pair;
}

// Alternates blocks of the two, each of them first in every other pair. `tuning`: while steps of
// tuning are made; throws if they are not.
template <class Contest>
Measurement measure_blocks(const std::string& scenario, Contest& contest, const Effort& effort,
                           bool tuning, std::size_t first_shape = 0) {
  Measurement result;
  result.scenario = scenario;
  result.first_allocations = allocations_of([&] {
    for (std::size_t i = 0; i < contest.shape_count(); ++i) contest.launch_idletune(i);
  });
  std::optional<TuningBeside> beside;
  if (tuning) beside.emplace(contest.agent());
  const std::uint64_t steps_before = beside ? beside->steps() : 0;
  const auto end = std::chrono::steady_clock::now() + kTuningPatience;
  std::vector<Pair> pairs;
  while (pairs.size() < effort.pairs || (beside && result.steps < effort.steps)) {
    pairs.push_back(
        measure_pair(contest, effort, first_shape, pairs.size() % 2 == 0, result.allocations));
    if (!beside) continue;
    result.steps = beside->steps() - steps_before;
    beside->require_time_left(end);
  }
  result.raw_launches = pairs.size() * effort.block;
  result.launches = contest.shape_count() + result.raw_launches;
  summarize(pairs, result);
  return result;
}

inline std::string spread(const Quartiles& q, const char* format) {
  char text[96];
  char pattern[64];
  std::snprintf(pattern, sizeof pattern, "%s [%s .. %s]", format, format, format);
  std::snprintf(text, sizeof text, pattern, q.median, q.low, q.high);
  return text;
}

inline void print_table_head() {
  std::printf("Nanoseconds per launch with 8 arguments: median [lower .. upper quartile].\n\n");
  std::printf(
      "| scenario | raw | idletune | difference | ratio | allocations | steps of tuning |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
}

inline void print_row(const Measurement& m, bool count_allocations) {
  const std::string allocations =
      count_allocations ? std::to_string(m.first_allocations + m.allocations) : "the driver's";
  std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", m.scenario.c_str(),
              spread(m.raw_ns, "%.0f").c_str(), spread(m.idletune_ns, "%.0f").c_str(),
              spread(m.difference_ns, "%.0f").c_str(), spread(m.ratio, "%.3f").c_str(),
              allocations.c_str(), m.steps > 0 ? std::to_string(m.steps).c_str() : "none");
}

}  // namespace idletune::bench
