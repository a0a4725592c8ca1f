// Playing a searcher on a recorded history: how soon does it find a good configuration? Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/result.hpp>

#include "agent/search/searchers.hpp"
#include "models/host/history/history.hpp"
#include "models/predict/model.hpp"

namespace idletune {

struct SimulationOptions {
  double until = 0.95;                // relative performance that ends a search
  std::uint64_t max_evaluations = 0;  // 0: until the space is exhausted
};

// When a search's best configuration so far got better.
struct ImprovedBest {
  std::uint64_t evaluations = 0;  // made, that one included
  double tuning_ms = 0;           // spent, that one included
  double relative = 0;            // its relative performance
};

struct SimulatedSearch {
  bool reached = false;
  std::uint64_t evaluations = 0;  // until it was reached, that one included; or all that were made
  double tuning_ms = 0;           // see Simulation::cost_ms
  double first_relative = 0;      // relative performance of the first configuration
  std::vector<ImprovedBest> improvements;
};

// A target: the rows of a history as a space, with what measuring each would give. Immutable once
// made; searches may run on several threads.
class Simulation {
 public:
  // Errors: those of space_of; invalid_argument if nothing in the history ran correctly. The
  // history must outlive this.
  static Result<Simulation> of(const History& history);

  const Space& space() const { return space_; }
  const History& history() const { return *history_; }

  // The searcher of that name (see make_compared_searcher), which proposes no row of status
  // `constraints`. `kernel` may be null.
  Result<std::unique_ptr<Searcher>> searcher(std::string_view name, const KernelKnowledge* kernel,
                                             std::uint64_t seed) const;
  // One search with it.
  Result<SimulatedSearch> run(std::string_view searcher, const KernelKnowledge* kernel,
                              std::uint64_t seed, const SimulationOptions& options) const;

  // What evaluating a row takes: its compile time where recorded, and two runs (one to warm up and
  // check, one that counts). A failed one costs its compile time.
  double cost_ms(std::size_t row) const;
  // t_best / t; 0 if it failed.
  double relative_performance(std::size_t row) const;
  // What a searcher is told of it.
  Observation observation(std::size_t row) const;

 private:
  Simulation(const History& history, Space space);
  const History* history_;
  Space space_;
  double best_ns_ = 0;
};

struct Summary {
  double median = 0;
  double p90 = 0;  // nearest rank
  double max = 0;
};
// Of at least one value.
Summary summarize(std::vector<double> values);

}  // namespace idletune
