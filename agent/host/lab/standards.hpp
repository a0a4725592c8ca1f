// The evaluation of Cui & Feng 2019 (section 5): how large a share of the space a
// search has to sample until its result is good in the median, and in 95 of 100 searches. Host
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <idletune/result.hpp>

#include "agent/host/lab/simulation.hpp"

namespace idletune {

struct StandardsOptions {
  double until = 0.95;         // relative performance that is good
  std::size_t repeats = 500;   // searches per number of samples
  std::uint64_t seed = 1;      // of the first
  std::size_t iterations = 3;  // of IterML where its name gives none: picks that share the samples
};

// Samples are configurations measured.
struct Standards {
  std::optional<std::uint64_t> standard1;  // median at least `until`; nothing: not before random's
  std::optional<std::uint64_t> standard2;  // 5th percentile at least `until`; likewise
};

// Of uniform random search without repetition, exactly (hypergeometric distribution).
Standards standards_of_random(const Simulation& target, double until);

// Of the searcher of that name. Searchers that get on without knowing how many samples they will
// have are played once per seed. IterML divides the samples among its picks ("The number of
// iterations", figure 6): every number of samples is played by itself, in steps of a twelfth, up to
// those that random search needs. `go_on` is called between series of searches; false stops, and
// the result is not to be used. Errors: those of make_compared_searcher.
Result<Standards> standards_of(const Simulation& target, std::string_view searcher,
                               const StandardsOptions& options, const std::function<bool()>& go_on);

}  // namespace idletune
