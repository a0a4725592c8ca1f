#include "agent/retraining/measured_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/core/digest.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kNearest = 4;  // problems that tell what was not measured at one

static_assert(kMaxCandidates <= 64, "a bit each");

void add_row(const MeasuredRow& row, const std::vector<Candidate>& candidates,
             MeasuredLesson& made) {
  std::vector<float> q(candidates.size(), row.mean);
  std::uint64_t measured = 0;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    for (const MeasuredRow::Cell& cell : row.cells) {
      if (cell.configuration != candidates[c].configuration) continue;
      q[c] = cell.q;
      measured |= std::uint64_t{1} << c;
    }
  }
  std::vector<double> inputs;
  for (std::size_t i = 0; i < row.inputs.input_count(); ++i) inputs.push_back(row.inputs.input(i));
  made.lesson.shapes.push_back(std::move(inputs));
  made.lesson.weights.push_back(1);
  made.lesson.q.push_back(std::move(q));
  made.measured.push_back(measured);
}

float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(a[i] - b[i]);
  return sum;
}

// Of the row's qualities those that were not measured, from the others in this order.
void fill_in(const MeasuredLesson& measured, const selector::Rows& nearest, std::size_t row,
             std::vector<float>& q) {
  for (std::size_t c = 0; c < q.size(); ++c) {
    if ((measured.measured[row] >> c & 1) != 0) continue;
    float sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < nearest.size() && count < kNearest; ++i) {
      if ((measured.measured[nearest[i]] >> c & 1) == 0) continue;
      sum += measured.lesson.q[nearest[i]][c];
      ++count;
    }
    if (count > 0) q[c] = sum / static_cast<float>(count);
  }
}

}  // namespace

selector::Lesson filled_in(const MeasuredLesson& measured, const selector::Rows& rows) {
  selector::Lesson filled = measured.lesson;
  std::vector<std::vector<float>> places(filled.rows());
  for (std::size_t r = 0; r < places.size(); ++r) {
    for (const double input : filled.shapes[r]) {
      places[r].push_back(static_cast<float>(std::log2(1 + input)));
    }
  }
  std::vector<std::pair<float, std::size_t>> order;
  selector::Rows nearest;
  for (const std::size_t row : rows) {
    order.clear();
    nearest.clear();
    for (const std::size_t other : rows) {
      order.emplace_back(distance(places[row], places[other]), other);
    }
    std::sort(order.begin(), order.end());
    for (const auto& one : order) nearest.push_back(one.second);
    fill_in(measured, nearest, row, filled.q[row]);
  }
  return filled;
}

MeasuredRow row_of(const std::vector<std::pair<std::uint64_t, double>>& times,
                   std::uint64_t old_pick) {
  MeasuredRow row;
  for (const auto& [configuration, time] : times) {
    if (time > 0 && (row.best <= 0 || time < row.best)) row.best = time;
  }
  double sum = 0;
  for (const auto& [configuration, time] : times) {
    const double q = time > 0 ? row.best / time : 0;
    sum += q;
    row.cells.push_back({configuration, static_cast<float>(q)});
    if (configuration == old_pick) row.old_q = static_cast<float>(q);
  }
  if (!times.empty()) row.mean = static_cast<float>(sum / static_cast<double>(times.size()));
  std::sort(row.cells.begin(), row.cells.end(),
            [](const MeasuredRow::Cell& a, const MeasuredRow::Cell& b) {
              return a.q != b.q ? a.q > b.q : a.configuration < b.configuration;
            });
  if (row.cells.size() > kMaxCells) row.cells.resize(kMaxCells);
  row.cells.shrink_to_fit();
  return row;
}

MeasuredRow read_row(const journal::State& journal, const journal::ShapeKey& key,
                     std::uint64_t old_pick, std::chrono::nanoseconds untuned) {
  std::vector<std::pair<std::uint64_t, double>> times;
  journal.for_each_measurement(key, [&](const journal::Measurement& measurement) {
    const auto time = journal.time_of(measurement, untuned);
    if (!time) return;
    times.emplace_back(digest_of(measurement.trial.configuration),
                       static_cast<double>(time->count()));
  });
  MeasuredRow row = row_of(times, old_pick);
  row.untuned = untuned;
  return row;
}

std::vector<Candidate> candidates_of(const std::vector<MeasuredRow>& rows) {
  std::vector<Candidate> all;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const MeasuredRow::Cell& cell : rows[r].cells) {
      if (cell.q > 0) all.push_back({cell.configuration, r, static_cast<double>(cell.q)});
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.configuration != b.configuration ? a.configuration < b.configuration : a.row < b.row;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept > 0 && all[kept - 1].configuration == all[i].configuration) {
      all[kept - 1].sum += all[i].sum;
    } else {
      all[kept++] = all[i];
    }
  }
  all.resize(kept);
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.sum != b.sum ? a.sum > b.sum : a.configuration < b.configuration;
  });
  if (all.size() > kMaxCandidates) all.resize(kMaxCandidates);
  return all;
}

MeasuredLesson lesson_of(const std::vector<MeasuredRow>& rows,
                         const std::vector<Candidate>& candidates,
                         std::vector<Configuration> configurations) {
  MeasuredLesson made;
  made.configurations = std::move(configurations);
  made.lesson.inputs = rows.empty() ? 0 : rows.front().inputs.input_count();
  for (std::size_t c = 0; c < candidates.size(); ++c) made.lesson.candidates.push_back(c);
  for (const MeasuredRow& row : rows) add_row(row, candidates, made);
  made.lesson.devices.assign(rows.size(), 0);
  if (!rows.empty()) selector::set_features(made.lesson);
  return made;
}

MeasuredLesson lesson_of(const journal::State& journal, const journal::Trial& identity,
                         const std::vector<MeasuredRow>& rows) {
  std::vector<Candidate> candidates = candidates_of(rows);
  std::vector<Configuration> configurations;
  journal::TrialKey key = identity.key();
  std::size_t kept = 0;
  for (const Candidate& candidate : candidates) {
    key.shape = digest_of(rows[candidate.row].shape);
    key.configuration = candidate.configuration;
    const auto found = journal.measurement(key);
    if (!found) continue;
    configurations.push_back(found->trial.configuration);
    candidates[kept++] = candidate;
  }
  candidates.resize(kept);
  MeasuredLesson made = lesson_of(rows, candidates, std::move(configurations));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].cells.size() < kMaxCells) continue;
    key.shape = digest_of(rows[r].shape);
    for (std::size_t c = 0; c < kept; ++c) {
      if ((made.measured[r] >> c & 1) != 0) continue;
      key.configuration = candidates[c].configuration;
      const auto found = journal.measurement(key);
      const auto time = found ? journal.time_of(*found, rows[r].untuned) : std::nullopt;
      if (!time) continue;
      made.measured[r] |= std::uint64_t{1} << c;
      const auto ns = static_cast<double>(time->count());
      made.lesson.q[r][c] = ns > 0 ? static_cast<float>(rows[r].best / ns) : 0;
    }
  }
  return made;
}

}  // namespace idletune::detail
