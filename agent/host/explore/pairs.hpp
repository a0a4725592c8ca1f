// What is known of each pair of a configuration and a problem, and what follows from it. Without
// clock and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "agent/host/explore/order.hpp"
#include "agent/host/explore/results.hpp"

namespace idletune::explore {

// The result of the order's configuration c at problem s has the number c * problems + s. A result
// with the number of an earlier one is what was timed again. `order` and `problems` must outlive
// it.
class Pairs {
 public:
  Pairs(const Order& order, const std::vector<Shape>& problems,
        const std::vector<ExploredConfiguration>& results);

  std::uint64_t number(std::uint64_t configuration, std::size_t problem) const {
    return configuration * problems_.size() + problem;
  }
  // Does nothing for a result of a longer order, or of one of an earlier version, which had another
  // configuration there.
  void note(const ExploredConfiguration& result);

  std::uint64_t total() const { return order_.size() * problems_.size(); }
  std::uint64_t done() const { return done_; }  // those left out as well
  std::uint64_t left_out() const { return left_out_; }
  bool is_done(std::uint64_t configuration, std::size_t problem) const;
  // Problems of the configuration that are not done.
  std::size_t open(std::uint64_t configuration) const;
  // The shortest time so far, the median of a configuration's first samples; 0: none yet.
  double best_ns(std::size_t problem) const { return best_ns_[problem]; }
  // The problems, small ones first.
  const std::vector<std::size_t>& by_extent() const { return by_extent_; }

  // Leaves a pair that is not done out, which then counts as done, if the configuration took more
  // than `times` the best time at each of the few problems most like this one. 0 times: it does
  // not. Where nothing else is known to run, it does not either.
  void leave_out_if_slow(std::uint64_t configuration, std::size_t problem, double times);

  // By configuration, the problems where it is among the best `few`, if there are others.
  std::map<std::uint64_t, std::vector<std::size_t>> finalists(std::uint32_t few) const;
  // All pairs are done, and the best `few` of each problem were timed again so often.
  bool complete(std::uint32_t few, std::uint32_t rounds) const;
  // How often the pair was timed again.
  std::uint32_t rounds(std::uint64_t configuration, std::size_t problem) const;

 private:
  struct Pair {
    bool done = false;
    std::uint32_t rounds = 0;
    double first_ns = 0;  // before it was timed again; 0: not correct
  };
  Pair& at(std::uint64_t configuration, std::size_t problem);
  const Pair* find(std::uint64_t configuration, std::size_t problem) const;
  double distance(std::size_t a, std::size_t b) const;

  const Order& order_;
  const std::vector<Shape>& problems_;
  // Of configurations that were begun, by problem.
  std::unordered_map<std::uint64_t, std::vector<Pair>> pairs_;
  std::vector<double> best_ns_;            // by problem
  std::vector<std::vector<double>> logs_;  // of the problems' dimensions and features
  std::vector<std::size_t> by_extent_;
  std::uint64_t done_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace idletune::explore
