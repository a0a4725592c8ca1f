#include "models/host/insight/best.hpp"

#include <algorithm>
#include <unordered_map>

#include "models/host/insight/space_overlap.hpp"

namespace idletune {
namespace {

// Correct rows, the fastest first.
std::vector<std::size_t> by_time(const History& history) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row)) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return history.run_time[a] < history.run_time[b];
  });
  return rows;
}

// The rank of each of `rows`, from 1.
std::vector<std::size_t> ranks_of(const History& history, const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool tied = i > 0 && history.run_time[rows[i]] == history.run_time[rows[i - 1]];
    ranks.push_back(tied ? ranks.back() : i + 1);
  }
  return ranks;
}

void rank_on(const History& other, const RowKeys& keys, std::vector<RankedConfiguration>& best) {
  const std::vector<std::size_t> rows = by_time(other);
  const std::vector<std::size_t> ranks = ranks_of(other, rows);
  const RowKeys other_keys(other);
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.emplace(other_keys.key(rows[i]), i);
  for (RankedConfiguration& configuration : best) {
    RankedConfiguration::Elsewhere elsewhere{other.device, rows.size(), std::nullopt, 0};
    if (const auto found = places.find(keys.key(configuration.row)); found != places.end()) {
      elsewhere.rank = ranks[found->second];
      elsewhere.relative = other.run_time[rows.front()] / other.run_time[rows[found->second]];
    }
    configuration.elsewhere.push_back(std::move(elsewhere));
  }
}

}  // namespace

std::vector<RankedConfiguration> best_configurations(const History& history, std::size_t count,
                                                     const std::vector<const History*>& others) {
  const std::vector<std::size_t> rows = by_time(history);
  const std::vector<std::size_t> ranks = ranks_of(history, rows);
  std::vector<RankedConfiguration> best;
  for (std::size_t i = 0; i < std::min(count, rows.size()); ++i) {
    const double relative = history.run_time[rows.front()] / history.run_time[rows[i]];
    best.push_back({rows[i], ranks[i], history.run_time_ns(rows[i]), relative, {}});
  }
  const RowKeys keys(history);
  for (const History* other : others) {
    if (other != &history && same_kernel(history, *other)) rank_on(*other, keys, best);
  }
  return best;
}

}  // namespace idletune
