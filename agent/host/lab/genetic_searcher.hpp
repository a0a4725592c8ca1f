// A genetic algorithm with Kernel Tuner's parameters; a baseline to compare with.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/search/random_searcher.hpp"
#include "agent/search/searchers.hpp"
#include "models/core/random.hpp"

namespace idletune {

// See agent/host/lab/README.md for the method and where it departs from Kernel Tuner's. Memory: some
// 50 bytes per configuration that was measured, for the first kMaxRemembered of them; after those
// uniform random search.
class GeneticSearcher final : public Searcher {
 public:
  static constexpr std::size_t kPopulation = 30;  // at most half of the space
  static constexpr std::uint64_t kMutationOneIn = 20;
  static constexpr double kRankBeta = 2.5;  // parents' ranks are distributed as Beta(1, this)
  static constexpr int kMaxStaleGenerations = 10;  // without anything new; then a uniform draw
  static constexpr std::size_t kMaxRemembered = 32768;

  GeneticSearcher(const Space& space, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override { taken_.add(configuration); }

  // The present generation, best first once it is measured. For tests.
  const std::vector<Configuration>& population() const { return population_; }

 private:
  double cost_of(const Configuration& configuration) const;
  std::optional<Proposal> draw();
  std::optional<Proposal> next_member();
  bool awaits_results() const;
  void breed();
  void add_child(const Configuration& child, std::vector<Configuration>& children);
  Configuration mutate(const Configuration& child);
  std::size_t draw_parent();

  const Space& space_;
  ProposedSet taken_;
  RandomDraws draws_;
  Random random_;
  std::size_t size_;  // of a generation
  std::vector<Configuration> population_;
  std::unordered_map<std::uint64_t, double> times_ns_;  // of what was told, by identity
  std::uint64_t proposed_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace idletune
