#include "agent/host/lab/genetic_searcher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idletune {

namespace {

constexpr int kBreedAttempts = 1000;  // couples per generation
constexpr double kWorst = std::numeric_limits<double>::infinity();

std::size_t population_size(const Space& space) {
  if (!space.indexed()) return GeneticSearcher::kPopulation;
  const std::uint64_t half = (space.valid_count() + 1) / 2;
  return static_cast<std::size_t>(std::min<std::uint64_t>(half, GeneticSearcher::kPopulation));
}

}  // namespace

GeneticSearcher::GeneticSearcher(const Space& space, const SearcherOptions& options)
    : space_(space),
      taken_(space),
      draws_(space, taken_, options),
      random_(options.seed ^ 0x67656e65ull),
      size_(population_size(space)) {}

double GeneticSearcher::cost_of(const Configuration& configuration) const {
  const auto known = times_ns_.find(taken_.identify(configuration).value_or(0));
  return known != times_ns_.end() ? known->second : kWorst;
}

std::optional<Proposal> GeneticSearcher::draw() {
  const std::optional<Configuration> drawn = draws_.next();
  if (!drawn) return std::nullopt;
  taken_.add(*drawn);
  ++proposed_;
  return Proposal{*drawn, ProposalOrigin::random};
}

// A member of the generation that was never proposed.
std::optional<Proposal> GeneticSearcher::next_member() {
  for (const Configuration& member : population_) {
    if (!taken_.add(member)) continue;
    ++proposed_;
    return Proposal{member, ProposalOrigin::learned};
  }
  return std::nullopt;
}

bool GeneticSearcher::awaits_results() const { return told_ < proposed_; }

std::optional<Proposal> GeneticSearcher::ask() {
  if (times_ns_.size() >= kMaxRemembered) return draw();
  if (population_.size() < size_) {  // the first generation: uniform
    std::optional<Proposal> drawn = draw();
    if (drawn) population_.push_back(drawn->configuration);
    return drawn;
  }
  if (auto member = next_member()) return member;
  if (awaits_results()) return draw();
  for (int stale = 0; stale < kMaxStaleGenerations; ++stale) {
    breed();
    if (auto member = next_member()) return member;
  }
  std::optional<Proposal> drawn = draw();
  if (drawn && !population_.empty()) population_.back() = drawn->configuration;
  return drawn;
}

void GeneticSearcher::tell(const Configuration& configuration, const Observation& observation) {
  taken_.add(configuration);
  ++told_;
  if (times_ns_.size() >= kMaxRemembered) return;
  const bool failed = observation.failed();
  const std::optional<std::uint64_t> id = taken_.identify(configuration);
  if (id) times_ns_[*id] = failed ? kWorst : static_cast<double>(observation.run_time.count());
}

// The inverse of Beta(1, b)'s distribution function: the better, the likelier.
std::size_t GeneticSearcher::draw_parent() {
  const double share = 1 - std::pow(1 - random_.uniform(), 1 / kRankBeta);
  const auto count = static_cast<double>(population_.size());
  return std::min(static_cast<std::size_t>(share * count), population_.size() - 1);
}

// With a chance of one in kMutationOneIn another valid configuration that differs in one parameter,
// uniformly among all such; the child itself otherwise, or if there is none.
Configuration GeneticSearcher::mutate(const Configuration& child) {
  if (random_.below(kMutationOneIn) != 0) return child;
  Configuration chosen = child;
  std::uint64_t seen = 0;
  for (std::size_t p = 0; p < child.size(); ++p) {
    Configuration changed = child;
    for (const std::int64_t value : space_.parameter_values(p)) {
      changed[p] = value;
      if (value == child[p] || !space_.contains(changed)) continue;
      if (random_.below(++seen) == 0) chosen = changed;
    }
  }
  return chosen;
}

void GeneticSearcher::add_child(const Configuration& child, std::vector<Configuration>& children) {
  if (children.size() == size_) return;
  const Configuration changed = mutate(child);
  if (!space_.contains(changed)) return;
  if (std::find(children.begin(), children.end(), changed) != children.end()) return;
  children.push_back(changed);
}

// Replaces the generation by its children; keeps it where no couple has any.
void GeneticSearcher::breed() {
  if (population_.size() < 2) return;
  std::stable_sort(
      population_.begin(), population_.end(),
      [&](const Configuration& a, const Configuration& b) { return cost_of(a) < cost_of(b); });
  std::vector<Configuration> children;
  for (int i = 0; i < kBreedAttempts && children.size() < size_; ++i) {
    const std::size_t mother = draw_parent();
    std::size_t father = draw_parent();
    while (father == mother) father = draw_parent();
    Configuration one = population_[mother], other = population_[father];
    for (std::size_t p = 0; p < one.size(); ++p) {
      if (random_.below(2) == 0) std::swap(one[p], other[p]);
    }
    add_child(one, children);
    add_child(other, children);
  }
  if (children.size() >= 2) population_ = std::move(children);
}

}  // namespace idletune
