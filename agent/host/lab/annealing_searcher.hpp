// Simulated annealing over the neighbours of the current configuration, as CLTune does it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "agent/search/neighbours.hpp"
#include "agent/search/random_searcher.hpp"
#include "agent/search/searchers.hpp"
#include "models/core/random.hpp"

namespace idletune {

// See agent/host/lab/README.md for the method and where it departs from CLTune's. Memory: some 90
// bytes per configuration that was measured, for the first kMaxRemembered of them; after those
// uniform random search.
class AnnealingSearcher final : public Searcher {
 public:
  static constexpr double kStartTemperatureMs = 4.0;
  static constexpr int kMaxRevisits = 10;
  static constexpr std::size_t kMaxRemembered = 32768;

  AnnealingSearcher(const Space& space, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override { taken_.add(configuration); }

  // The temperature after what was told so far, in milliseconds; falls linearly to 0.
  double temperature_ms() const;

 private:
  void consider(const Configuration& configuration, double energy_ms);
  std::optional<Proposal> draw();
  bool is_full() const { return energies_ms_.size() >= kMaxRemembered; }

  const Space& space_;
  ProposedSet taken_;
  RandomDraws draws_;
  Neighbours neighbours_;
  Random random_;
  std::optional<Configuration> current_;
  double current_energy_ms_ = 0;
  std::unordered_map<std::uint64_t, double>
      energies_ms_;  // of what was told, by ProposedSet::identify
  std::uint64_t told_ = 0;
};

}  // namespace idletune
