#include "agent/host/lab/iterml_searcher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "agent/host/lab/learners/learners.hpp"

namespace idletune {

namespace {

Status wrong(const std::string& what) {
  return Status(StatusCode::invalid_argument, "iterml: " + what);
}

}  // namespace

Result<std::unique_ptr<Searcher>> IterMlSearcher::make(const Space& space,
                                                       const SearcherOptions& options,
                                                       const IterMlOptions& iterml) {
  if (!(iterml.pick_ratio > 0 && iterml.pick_ratio <= 1))
    return wrong("the pick ratio must be above 0 and at most 1");
  if (!(iterml.cut_ratio >= 0 && iterml.cut_ratio < 1))
    return wrong("the cut ratio must be at least 0 and below 1");
  if (!space.indexed() || space.valid_count() > kMaxConfigurations) {
    return wrong("expected a space of at most " + std::to_string(kMaxConfigurations) +
                 " numbered configurations");
  }
  auto learner = learners::make_learner(iterml.learner, options.seed);
  if (!learner.ok()) return learner.status();
  return std::unique_ptr<Searcher>(new IterMlSearcher(space, options, iterml, std::move(*learner)));
}

IterMlSearcher::IterMlSearcher(const Space& space, const SearcherOptions& options,
                               const IterMlOptions& iterml,
                               std::unique_ptr<learners::Learner> learner)
    : space_(space), options_(iterml), random_(options.seed), learner_(std::move(learner)) {
  remaining_.resize(static_cast<std::size_t>(space.valid_count()));
  std::iota(remaining_.begin(), remaining_.end(), 0u);
  const double wanted = std::round(iterml.pick_ratio * static_cast<double>(remaining_.size()));
  sample_size_ = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
}

// A uniform draw, without repetition.
std::optional<Proposal> IterMlSearcher::take(std::vector<std::uint32_t>& from,
                                             ProposalOrigin origin) {
  if (from.empty()) return std::nullopt;
  std::swap(from[static_cast<std::size_t>(random_.below(from.size()))], from.back());
  const std::uint32_t number = from.back();
  from.pop_back();
  ++outstanding_;
  return Proposal{space_.at(number), origin};
}

bool IterMlSearcher::done_pruning() const {
  if (options_.iterations > 0) return iteration_ >= options_.iterations;
  return remaining_.size() <= sample_size_;
}

std::optional<Proposal> IterMlSearcher::ask() {
  if (picked_ >= sample_size_ && outstanding_ == 0 && !done_pruning()) prune();
  if (!done_pruning()) ++picked_;
  const ProposalOrigin origin = iteration_ == 0 ? ProposalOrigin::random : ProposalOrigin::learned;
  if (auto proposal = take(remaining_, origin)) return proposal;
  return options_.search_dropped ? take(dropped_, ProposalOrigin::random) : std::nullopt;
}

void IterMlSearcher::tell(const Configuration& configuration, const Observation& observation) {
  const std::optional<std::uint64_t> number = space_.index_of(configuration);
  if (!number) return;
  if (outstanding_ > 0) --outstanding_;
  if (done_pruning()) return;
  const bool failed = observation.failed();
  measured_.push_back({static_cast<std::uint32_t>(*number),
                       failed ? std::numeric_limits<double>::infinity()
                              : static_cast<double>(observation.run_time.count())});
}

void IterMlSearcher::exclude(const Configuration& configuration) {
  const std::optional<std::uint64_t> number = space_.index_of(configuration);
  if (!number) return;
  for (std::vector<std::uint32_t>* from : {&remaining_, &dropped_}) {
    from->erase(std::remove(from->begin(), from->end(), static_cast<std::uint32_t>(*number)),
                from->end());
  }
}

void IterMlSearcher::append_row(std::uint32_t number, std::vector<float>& rows) const {
  const Configuration configuration = space_.at(number);
  for (const std::int64_t value : configuration.values()) {
    rows.push_back(static_cast<float>(value));
  }
}

// Learns performance, relative to the best of the sample; failures perform 0.
bool IterMlSearcher::fit() {
  double best = std::numeric_limits<double>::infinity();
  for (const Measured& each : measured_) best = std::min(best, each.time_ns);
  if (!std::isfinite(best)) return false;
  std::vector<float> rows, performances;
  for (const Measured& each : measured_) {
    append_row(each.number, rows);
    performances.push_back(static_cast<float>(best / each.time_ns));
  }
  return learner_->fit({rows, space_.parameter_count(), {}, performances, 0}).ok();
}

// Where nothing can be learned from a sample nothing is dropped.
void IterMlSearcher::prune() {
  ++iteration_;
  picked_ = 0;
  const bool learned = fit();
  if (!options_.all_samples) measured_.clear();
  if (!learned) return;
  // In random order first, so that chance decides among equal predictions.
  for (std::size_t i = remaining_.size(); i > 1; --i) {
    std::swap(remaining_[i - 1], remaining_[static_cast<std::size_t>(random_.below(i))]);
  }
  std::vector<float> rows;
  std::vector<std::pair<float, std::uint32_t>> predicted;
  for (const std::uint32_t number : remaining_) {
    rows.clear();
    append_row(number, rows);
    predicted.push_back({learner_->predict(rows).value, number});
  }
  std::stable_sort(predicted.begin(), predicted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto kept = static_cast<std::size_t>(
      std::ceil((1 - options_.cut_ratio) * static_cast<double>(remaining_.size())));
  remaining_.clear();
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    (i < kept ? remaining_ : dropped_).push_back(predicted[i].second);
  }
}

}  // namespace idletune
