// What this board measured of a kernel, as rows to learn from: a row per problem.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/journal/state.hpp"
#include "models/predict/selector_tree.hpp"

namespace idletune::detail {

// Not more than that many rows, candidates and configurations of a row, so that learning stays
// within its memory.
inline constexpr std::size_t kMaxRows = 256;
inline constexpr std::size_t kMaxCandidates = 64;
inline constexpr std::size_t kMaxCells = 32;

struct MeasuredRow {
  struct Cell {
    std::uint64_t configuration;  // digest
    float q;                      // best time / its time; 0: it failed
  };
  Shape shape;                          // as the journal has it
  Shape inputs;                         // with all features
  std::vector<Cell> cells;              // the best ones, best first
  std::chrono::nanoseconds untuned{0};  // the default's time
  double best = 0;                      // time, ns
  float mean = 0;                       // q of all that were measured
  float old_q = -1;                     // of what the model in use picks; negative: not measured
};

// Of what was measured at a problem: configurations by digest and their times, 0 where it failed.
MeasuredRow row_of(const std::vector<std::pair<std::uint64_t, double>>& times,
                   std::uint64_t old_pick);
// Everything that was measured at the shape of `key`, where the default takes `untuned`.
// `old_pick`: a configuration's digest.
MeasuredRow read_row(const journal::State& journal, const journal::ShapeKey& key,
                     std::uint64_t old_pick, std::chrono::nanoseconds untuned);

// A configuration that a tree may choose: measured at several problems, and good there.
struct Candidate {
  std::uint64_t configuration;  // digest
  std::size_t row;              // one at which it was measured
  double sum;                   // of its q over those
};
// The best kMaxCandidates, best first.
std::vector<Candidate> candidates_of(const std::vector<MeasuredRow>& rows);

// What trees are grown from.
struct MeasuredLesson {
  selector::Lesson lesson;
  std::vector<Configuration> configurations;  // by candidate
  std::vector<std::uint64_t> measured;        // by row, a bit per candidate
};
// `configurations`: those of the candidates.
MeasuredLesson lesson_of(const std::vector<MeasuredRow>& rows,
                         const std::vector<Candidate>& candidates,
                         std::vector<Configuration> configurations);
// The same from the journal, which also knows what a row has no room for. `identity`: kernel,
// device and driver.
MeasuredLesson lesson_of(const journal::State& journal, const journal::Trial& identity,
                         const std::vector<MeasuredRow>& rows);

// What to learn of those rows alone: the quality of what was not measured at one of them is the
// mean of the nearest of them (by the ratios of inputs) where it was, for want of such the row's
// mean.
selector::Lesson filled_in(const MeasuredLesson& measured, const selector::Rows& rows);

}  // namespace idletune::detail
