// How the launch benchmarks count and summarize.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/launch_cost/allocation_counter.hpp"

namespace idletune::bench {

struct Quartiles {
  double low = 0, median = 0, high = 0;
};

inline Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

// Nanoseconds per launch; the differences and ratios are those of the pairs.
struct Measurement {
  std::string scenario;
  Quartiles raw_ns, idletune_ns, difference_ns, ratio;
  std::size_t launches = 0;             // of idletune, in all
  std::uint64_t first_allocations = 0;  // by the first launch of every shape
  std::uint64_t allocations = 0;        // by all further ones
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

}  // namespace idletune::bench
