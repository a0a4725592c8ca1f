// How well a method is chosen by problem size: the data, and what choices are worth. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/history/history.hpp"

namespace idletune::selection {

using Rows = std::vector<std::size_t>;  // numbers of problems

// How long each method takes at each problem. A method is a configuration, or a library.
struct Problems {
  std::string dataset;
  std::string device;
  std::vector<std::string> inputs;            // names
  std::vector<std::vector<double>> sizes;     // by problem and input
  std::vector<std::size_t> group;             // by problem: those of a group are left out together
  std::vector<std::string> members;           // kinds of methods, such as the members of a family
  std::vector<std::size_t> member;            // by method
  std::vector<Configuration> configurations;  // by method; none where methods are libraries
  std::vector<std::vector<double>> ns;        // by problem and method; 0: it does not run there

  std::size_t seen = 0;   // so many problems, the first ones, are to be learned from
  std::size_t unfit = 0;  // histories that were left out: of others than the first one's

  std::size_t count() const { return sizes.size(); }
  std::size_t methods() const { return member.size(); }
  std::size_t best(std::size_t problem) const;  // the fastest method; the first among equals
  // Best time over the method's time: 1 for the best, 0 for what does not run.
  double quality(std::size_t problem, std::size_t method) const;
};

// Of all methods at a problem.
std::vector<float> qualities(const Problems& problems, std::size_t problem);
Rows all_rows(const Problems& problems);

// Histories of one kernel on one device, those of other kernels, parameters or devices than the
// first one's left out. Problems at which nothing ran are left out. The histories behind the first
// `seen` are of problems that are only asked; those that are also among the first are left out.
// Error: invalid_argument (fewer than 5 problems, or their sizes are not known).
Result<Problems> problems_of(Span<const History> histories,
                             std::size_t seen = static_cast<std::size_t>(-1));

// Greedily the methods that cover the rows best, most useful first: `most` at most, and none that
// adds less than 0.0005 to the mean quality of the best of them.
std::vector<std::size_t> covering_methods(const Problems& problems, const Rows& rows,
                                          std::size_t most);

// What a library without a selector does: one method of the first member, tuned at 256^3, below a
// product of the sizes, and one of the second, tuned at 1024^3, above; or at the problems nearest
// to these. Of one member there is only the latter.
struct DefaultRoutine {
  std::size_t small = 0;  // method
  std::size_t large = 0;
  std::size_t small_at = 0;  // problem
  std::size_t large_at = 0;
  double threshold = 0;  // product of sizes; above it `large`
  // Its method at a problem; where that does not run, the other, or the slowest that does.
  std::size_t at(const Problems& problems, std::size_t problem) const;
  double ns(const Problems& problems, std::size_t problem) const;
};
// The methods are tuned on all problems, as a library's are that ships; the threshold on
// `training`.
DefaultRoutine default_routine(const Problems& problems, const Rows& training);

// Of choices at problems that were not learned from.
struct Score {
  double accuracy = 0;  // share of problems where the choice is the best method
  double dtpr = 0;      // mean of best time / time of the choice
  double p10 = 0;       // 10th percentile of that
  double dttr = 0;      // mean of default's time / time of the choice
  double peak = 0;      // mean of default's time / best time: the ceiling of the former
  // Which part of the possible gain over the default was had; 0 where nothing can be gained.
  double captured() const { return peak > 1 ? (dttr - 1) / (peak - 1) : 0; }
};
// A choice that does not run is replaced by the default.
Score score(const Problems& problems, const Rows& rows, const std::vector<std::size_t>& choices,
            const DefaultRoutine& usual);

struct Split {
  Rows training;
  Rows test;
};
// `share` of the groups, drawn by `seed`, to learn from.
Split split_of(const Problems& problems, double share, std::uint64_t seed);
// So many parts of the rows, by groups: each part is left out once.
std::vector<Split> folds_of(const Problems& problems, const Rows& rows, std::size_t folds,
                            std::uint64_t seed);

}  // namespace idletune::selection
