#include "agent/host/explore/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "agent/host/explore/shape_list.hpp"

namespace idletune::explore {
namespace {

// The problems most like another one: so many, and all of them so near (two dimensions twice as
// large, or one four times).
constexpr std::size_t kNearby = 4;
constexpr double kNear = 2;

}  // namespace

Pairs::Pairs(const Order& order, const std::vector<Shape>& problems,
             const std::vector<ExploredConfiguration>& results)
    : order_(order),
      problems_(problems),
      best_ns_(problems.size(), 0.0),
      by_extent_(problems.size()) {
  std::iota(by_extent_.begin(), by_extent_.end(), std::size_t{0});
  std::stable_sort(by_extent_.begin(), by_extent_.end(), [&](std::size_t a, std::size_t b) {
    return extent(problems[a]) < extent(problems[b]);
  });
  for (const Shape& problem : problems) {
    logs_.emplace_back();
    for (const std::int64_t value : problem.values()) {
      logs_.back().push_back(std::log2(1.0 + std::abs(static_cast<double>(value))));
    }
  }
  for (const ExploredConfiguration& result : results) note(result);
}

Pairs::Pair& Pairs::at(std::uint64_t configuration, std::size_t problem) {
  std::vector<Pair>& row = pairs_[configuration];
  row.resize(problems_.size());
  return row[problem];
}

const Pairs::Pair* Pairs::find(std::uint64_t configuration, std::size_t problem) const {
  const auto row = pairs_.find(configuration);
  return row == pairs_.end() ? nullptr : &row->second[problem];
}

void Pairs::note(const ExploredConfiguration& result) {
  const std::uint64_t configuration = result.number / problems_.size();
  const std::size_t problem = static_cast<std::size_t>(result.number % problems_.size());
  if (configuration >= order_.size() || result.configuration != order_.at(configuration)) return;
  Pair& pair = at(configuration, problem);
  if (pair.done) {
    ++pair.rounds;
    return;
  }
  pair.done = true;
  ++done_;
  if (result.samples.empty()) return;
  pair.first_ns = std::max(1.0, median_ns(result.samples));
  double& best = best_ns_[problem];
  if (best == 0 || pair.first_ns < best) best = pair.first_ns;
}

bool Pairs::is_done(std::uint64_t configuration, std::size_t problem) const {
  const Pair* pair = find(configuration, problem);
  return pair != nullptr && pair->done;
}

std::size_t Pairs::open(std::uint64_t configuration) const {
  const auto row = pairs_.find(configuration);
  if (row == pairs_.end()) return problems_.size();
  return static_cast<std::size_t>(std::count_if(row->second.begin(), row->second.end(),
                                                [](const Pair& pair) { return !pair.done; }));
}

std::uint32_t Pairs::rounds(std::uint64_t configuration, std::size_t problem) const {
  const Pair* pair = find(configuration, problem);
  return pair == nullptr ? 0 : pair->rounds;
}

double Pairs::distance(std::size_t a, std::size_t b) const {
  double sum = 0;
  for (std::size_t i = 0; i < logs_[a].size(); ++i) sum += std::abs(logs_[a][i] - logs_[b][i]);
  return sum;
}

void Pairs::leave_out_if_slow(std::uint64_t configuration, std::size_t problem, double times) {
  const auto row = pairs_.find(configuration);
  if (times <= 0 || row == pairs_.end() || row->second[problem].done || best_ns_[problem] == 0)
    return;
  // How far, and whether it is too slow there.
  std::array<std::pair<double, bool>, kNearby> nearest;
  nearest.fill({kNear, false});
  for (std::size_t s = 0; s < problems_.size(); ++s) {
    const double time = row->second[s].first_ns;
    const double away = time > 0 ? distance(s, problem) : kNear;
    if (away >= nearest.back().first) continue;
    nearest.back() = {away, time > times * best_ns_[s]};
    std::sort(nearest.begin(), nearest.end());
  }
  for (const auto& [away, too_slow] : nearest) {
    if (!too_slow) return;
  }
  row->second[problem].done = true;
  ++done_;
  ++left_out_;
}

std::map<std::uint64_t, std::vector<std::size_t>> Pairs::finalists(std::uint32_t few) const {
  std::map<std::uint64_t, std::vector<std::size_t>> problems_of;
  for (const std::size_t s : by_extent_) {
    std::vector<std::pair<double, std::uint64_t>> timed;
    for (const auto& [c, row] : pairs_) {
      if (few > 0 && row[s].first_ns > 0) timed.emplace_back(row[s].first_ns, c);
    }
    if (timed.size() < 2) continue;
    std::sort(timed.begin(), timed.end());
    timed.resize(std::min<std::size_t>(timed.size(), few));
    for (const auto& [time, c] : timed) problems_of[c].push_back(s);
  }
  return problems_of;
}

bool Pairs::complete(std::uint32_t few, std::uint32_t rounds_of_each) const {
  if (done() < total()) return false;
  for (const auto& [c, problems] : finalists(few)) {
    for (const std::size_t s : problems) {
      if (rounds(c, s) < rounds_of_each) return false;
    }
  }
  return true;
}

}  // namespace idletune::explore
