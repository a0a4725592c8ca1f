#include "agent/host/lab/annealing_searcher.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {

namespace {

// Failures are worse than anything that runs, and all alike: from one to another is a free move.
constexpr double kFailedEnergyMs = 1e300;

}  // namespace

AnnealingSearcher::AnnealingSearcher(const Space& space, const SearcherOptions& options)
    : space_(space),
      taken_(space),
      draws_(space, taken_, options),
      neighbours_(space),
      random_(options.seed ^ 0x616e6e65616cull) {}

double AnnealingSearcher::temperature_ms() const {
  const std::uint64_t size =
      space_.indexed() ? std::max<std::uint64_t>(1, space_.valid_count()) : kMaxRemembered;
  const double progress = static_cast<double>(told_) / static_cast<double>(size);
  return kStartTemperatureMs * std::max(0.0, 1 - progress);
}

// Moves there if it is better, or worse and the temperature allows it (Kirkpatrick et al. 1983).
void AnnealingSearcher::consider(const Configuration& configuration, double energy_ms) {
  if (current_ && energy_ms > current_energy_ms_) {
    const double temperature = temperature_ms();
    const double worse_by = energy_ms - current_energy_ms_;
    const double acceptance = temperature > 0 ? std::exp(-worse_by / temperature) : 0;
    if (random_.uniform() >= acceptance) return;
  }
  current_ = configuration;
  current_energy_ms_ = energy_ms;
}

std::optional<Proposal> AnnealingSearcher::draw() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  if (!is_full()) taken_.add(*drawn);
  return Proposal{*drawn, ProposalOrigin::random};
}

std::optional<Proposal> AnnealingSearcher::ask() {
  if (!current_ || is_full()) return draw();
  for (int revisits = 0; revisits <= kMaxRevisits; ++revisits) {
    const std::optional<Configuration> neighbour = neighbours_.draw(*current_, random_);
    if (!neighbour) break;
    if (taken_.add(*neighbour)) return Proposal{*neighbour, ProposalOrigin::learned};
    const auto known = energies_ms_.find(taken_.identify(*neighbour).value_or(0));
    if (known != energies_ms_.end()) consider(*neighbour, known->second);
  }
  return draw();
}

void AnnealingSearcher::tell(const Configuration& configuration, const Observation& observation) {
  if (is_full()) return;
  taken_.add(configuration);
  const bool failed = observation.failed();
  const double energy_ms =
      failed ? kFailedEnergyMs : static_cast<double>(observation.run_time.count()) / 1e6;
  const std::optional<std::uint64_t> id = taken_.identify(configuration);
  if (!id) return;
  ++told_;
  energies_ms_[*id] = energy_ms;
  consider(configuration, energy_ms);
}

}  // namespace idletune
