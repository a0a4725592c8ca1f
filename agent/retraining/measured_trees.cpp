#include "agent/retraining/measured_trees.hpp"

#include <algorithm>

namespace idletune::detail {
namespace {

constexpr std::size_t kClasses = 16;  // that a tree chooses from: as many as launches keep
constexpr double kLeastGain = 0.01;   // mean q, over the model in use
constexpr selector::Recipe kRecipes[] = {{learners::kMaxTreeHeight, 1, true},
                                         {learners::kMaxTreeHeight, 2, true},
                                         {learners::kMaxTreeHeight, 4, true}};

}  // namespace

void Comparison::add(double difference) {
  ++rows;
  gain += difference;
  squares += difference * difference;
}

bool Comparison::better() const {
  if (rows < kLeastRows) return false;
  const auto count = static_cast<double>(rows);
  const double mean = gain / count;
  const double variance = std::max(0.0, squares / count - mean * mean) / (count - 1);
  return mean >= kLeastGain && mean * mean > variance;
}

Contest::Contest(std::size_t rows) : fold_(selector::folds_of(rows, kFolds)) {}

// Of all rows but the fold's.
selector::Grown Contest::grow(const MeasuredLesson& measured, std::size_t fold,
                              std::size_t kind) const {
  selector::Rows inside;
  for (std::size_t r = 0; r < fold_.size(); ++r) {
    if (fold_[r] != fold) inside.push_back(r);
  }
  const selector::Lesson lesson = filled_in(measured, inside);
  return selector::grow(lesson, inside, selector::choose_classes(lesson, inside, kClasses),
                        kRecipes[kind]);
}

bool Contest::next(const MeasuredLesson& measured, const std::vector<MeasuredRow>& rows) {
  const std::size_t fold = next_ / kKinds;
  const std::size_t kind = next_ % kKinds;
  const selector::Grown grown = grow(measured, fold, kind);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (fold_[r] != fold || rows[r].old_q < 0) continue;
    const auto old = static_cast<double>(rows[r].old_q);
    const std::size_t choice = grown.choose(measured.lesson.shapes[r]);
    auto q = static_cast<double>(measured.lesson.q[r][choice]);
    // What was not measured here earns nothing.
    if ((measured.measured[r] >> choice & 1) == 0) q = std::min(q, old);
    comparisons_[kind].add(q - old);
  }
  if (++next_ < kFolds * kKinds) return true;
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (comparisons_[i].gain > comparisons_[best_].gain) best_ = i;
  }
  return false;
}

selector::Grown Contest::winner(const MeasuredLesson& measured) const {
  return grow(measured, kFolds, best_);
}

}  // namespace idletune::detail
