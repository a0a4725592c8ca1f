#include "agent/search/annealing_searcher.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {

namespace {

// Failures are worse than anything that runs, and all alike: from one to another is a free move.
constexpr double kFailedEnergyMs = 1e300;

}  // namespace

Neighbours::Neighbours(const Space& space) : space_(space) {
  const std::size_t parameters = space.parameter_count();
  for (std::size_t p = 0; p < parameters; ++p) {
    others_.push_back(static_cast<double>(space.parameter_values(p).size()) - 1);
  }
  ways_.assign(parameters + 1, std::vector<double>(kMaxDifferences + 1, 0.0));
  ways_[parameters][0] = 1;
  for (std::size_t p = parameters; p-- > 0;) {
    ways_[p][0] = 1;
    for (std::size_t k = 1; k <= kMaxDifferences; ++k) {
      ways_[p][k] = ways_[p + 1][k] + others_[p] * ways_[p + 1][k - 1];
    }
  }
}

// Each way to change one to kMaxDifferences parameters is as likely as any other.
Configuration Neighbours::change(const Configuration& around, Random& random) const {
  double all = 0;
  for (std::size_t k = 1; k <= kMaxDifferences; ++k) all += ways_[0][k];
  double chosen = random.uniform() * all;
  std::size_t left = 1;
  while (left < kMaxDifferences && chosen >= ways_[0][left]) chosen -= ways_[0][left++];
  Configuration changed = around;
  for (std::size_t p = 0; p < around.size() && left > 0; ++p) {
    if (random.uniform() * ways_[p][left] >= others_[p] * ways_[p + 1][left - 1]) continue;
    const Span<const std::int64_t> values = space_.parameter_values(p);
    const std::size_t kept = space_.value_position(p, around[p]).value_or(0);
    const std::size_t drawn = static_cast<std::size_t>(random.below(values.size() - 1));
    changed[p] = values[drawn < kept ? drawn : drawn + 1];
    --left;
  }
  return changed;
}

std::optional<Configuration> Neighbours::draw(const Configuration& around, Random& random) const {
  if (!(ways_[0][1] > 0)) return std::nullopt;  // no parameter has a second value
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Configuration changed = change(around, random);
    if (changed != around && space_.contains(changed)) return changed;
  }
  return std::nullopt;
}

AnnealingSearcher::AnnealingSearcher(const Space& space, const SearcherOptions& options)
    : space_(space),
      taken_(space),
      draws_(space, taken_, options.seed, options.random_position),
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
  const bool failed =
      observation.status != TrialStatus::correct || observation.run_time.count() <= 0;
  const double energy_ms =
      failed ? kFailedEnergyMs : static_cast<double>(observation.run_time.count()) / 1e6;
  const std::optional<std::uint64_t> id = taken_.identify(configuration);
  if (!id) return;
  ++told_;
  energies_ms_[*id] = energy_ms;
  consider(configuration, energy_ms);
}

}  // namespace idletune
