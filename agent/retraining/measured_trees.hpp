// Trees of what was measured, and whether they are better than what is in use.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "agent/retraining/measured_rows.hpp"

namespace idletune::detail {

// What trees grown without some of the rows do on those, beside the model in use.
struct Comparison {
  static constexpr std::size_t kLeastRows = 10;  // that tell
  std::size_t rows = 0;                          // where what the model in use picks was measured
  double gain = 0;                               // sum of q(tree) - q(model in use)
  double squares = 0;                            // of that
  void add(double difference);
  // By a hundredth on average, on enough rows, and by more than chance would have it.
  bool better() const;
};

// All trees beside the model in use: of several kinds, and each without a part of the rows, on
// which it is asked.
class Contest {
 public:
  Contest() = default;
  explicit Contest(std::size_t rows);
  // One tree; false: all were. `rows`: those of the lesson.
  bool next(const MeasuredLesson& measured, const std::vector<MeasuredRow>& rows);
  const Comparison& comparison() const { return comparisons_[best_]; }  // of the best kind
  // Of all rows, by the best kind.
  selector::Grown winner(const MeasuredLesson& measured) const;

 private:
  static constexpr std::size_t kFolds = 5;
  static constexpr std::size_t kKinds = 3;
  selector::Grown grow(const MeasuredLesson& measured, std::size_t fold, std::size_t kind) const;

  std::vector<std::size_t> fold_;  // by row
  std::size_t next_ = 0;
  std::array<Comparison, kKinds> comparisons_;
  std::size_t best_ = 0;
};

}  // namespace idletune::detail
