#include "agent/host/lab/learners/sparse_evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "models/host/learn/sparse_times.hpp"

namespace idletune::sparse {
namespace {

constexpr double kAsGood = 0.95;

class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  double value() const { return count_ > 0 ? std::exp(sum_ / static_cast<double>(count_)) : 0; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::vector<std::size_t> others(const Table& table, std::size_t matrix) {
  std::vector<std::size_t> from;
  for (std::size_t m = 0; m < table.matrices.size(); ++m) {
    if (table.matrices[m].family != table.matrices[matrix].family) from.push_back(m);
  }
  return from;
}

std::size_t fastest(const Table& table, std::size_t matrix) {
  std::size_t best = table.candidates.size();
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    const double ns = table.ns[matrix][c];
    if (ns > 0 && (best == table.candidates.size() || ns < table.ns[matrix][best])) best = c;
  }
  return best;
}

}  // namespace

std::size_t choose_by_times(const Table& table, const std::vector<std::size_t>& from,
                            std::size_t matrix) {
  const LearnedTimes learned = learn_times(table, from);
  std::size_t best = choose_one_for_all(table, from, matrix);
  double least = 0;
  for (std::size_t i = 0; i < learned.candidates.size(); ++i) {
    const std::size_t c = learned.candidates[i];
    if (!(table.matrices[matrix].slots[table.candidates[c].format] > 0)) continue;
    const double time = learned.predicted(table, matrix, i);
    if (least > 0 && time >= least) continue;
    least = time;
    best = c;
  }
  return best;
}

namespace {

// Of the wanted candidates.
template <class Wanted>
std::size_t best_for_all(const Table& table, const std::vector<std::size_t>& from,
                         const Wanted& wanted) {
  std::size_t best = 0;
  std::size_t most = 0;
  double highest = 0;
  for (std::size_t c = 0; c < table.candidates.size(); ++c) {
    if (!wanted(c)) continue;
    GeometricMean speed;
    std::size_t measured = 0;
    for (const std::size_t m : from) {
      if (!(table.ns[m][c] > 0)) continue;
      ++measured;
      speed.add(table.best_ns(m) / table.ns[m][c]);
    }
    if (measured < most || (measured == most && speed.value() <= highest)) continue;
    best = c;
    most = measured;
    highest = speed.value();
  }
  return best;
}

}  // namespace

std::size_t choose_one_for_all(const Table& table, const std::vector<std::size_t>& from,
                               std::size_t) {
  return best_for_all(table, from, [](std::size_t) { return true; });
}

namespace {

using MakeLearner = std::function<std::unique_ptr<learners::Learner>()>;

// What the learner says of a matrix, having seen the class of each other one; none: it failed.
template <class ClassOf>
std::optional<std::size_t> predicted_class(const Table& table, const std::vector<std::size_t>& from,
                                           std::size_t matrix, const MakeLearner& make,
                                           const ClassOf& class_of) {
  std::vector<std::size_t> classes;
  std::vector<float> rows;
  std::vector<float> targets;
  for (const std::size_t m : from) {
    const std::size_t best = fastest(table, m);
    if (best == table.candidates.size()) continue;
    auto found = std::find(classes.begin(), classes.end(), class_of(best));
    if (found == classes.end()) found = classes.insert(classes.end(), class_of(best));
    targets.push_back(static_cast<float>(found - classes.begin()));
    for (const double input : table.inputs(m, 0)) rows.push_back(static_cast<float>(input));
  }
  learners::Dataset data;
  data.values = rows;
  data.columns = kProductInputs;
  data.targets = targets;
  data.classes = static_cast<std::uint32_t>(classes.size());
  const auto learner = make();
  if (classes.size() < 2 || !learner->fit(data).ok()) return {};
  std::array<float, kProductInputs> row{};
  const ProductInputs inputs = table.inputs(matrix, 0);
  std::copy(inputs.begin(), inputs.end(), row.begin());
  return classes[static_cast<std::size_t>(learner->predict(row).value)];
}

}  // namespace

Chooser choose_by_class(MakeLearner make) {
  return [make = std::move(make)](const Table& table, const std::vector<std::size_t>& from,
                                  std::size_t matrix) {
    const auto same = [](std::size_t candidate) { return candidate; };
    const auto found = predicted_class(table, from, matrix, make, same);
    return found ? *found : choose_one_for_all(table, from, matrix);
  };
}

Chooser choose_in_two_stages(MakeLearner make) {
  return [make = std::move(make)](const Table& table, const std::vector<std::size_t>& from,
                                  std::size_t matrix) {
    const auto format_of = [&](std::size_t candidate) {
      return std::size_t{table.candidates[candidate].format};
    };
    const auto format = predicted_class(table, from, matrix, make, format_of);
    return best_for_all(table, from, [&](std::size_t candidate) {
      return !format || format_of(candidate) == *format;
    });
  };
}

namespace {

// The best candidate of half of the samples, also of one format alone; nothing: there is none.
template <class Wanted>
std::optional<std::size_t> best_of_half(const Table& table, std::size_t matrix, std::size_t half,
                                        const Wanted& wanted) {
  const std::vector<double>& ns = table.half_ns[half][matrix];
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < ns.size(); ++c) {
    if (ns[c] > 0 && wanted(c) && (!best || ns[c] < ns[*best])) best = c;
  }
  return best;
}

// Adds up what of a choice is kept in the other half of the samples.
class Again {
 public:
  void add(const Table& table, std::size_t matrix, std::size_t chosen) {
    if (table.half_ns[0].empty()) return;
    for (const std::size_t half : {0, 1}) {
      const std::vector<double>& other = table.half_ns[1 - half][matrix];
      const auto best = best_of_half(table, matrix, half, [](std::size_t) { return true; });
      const auto of_format = best_of_half(table, matrix, half, [&](std::size_t c) {
        return table.candidates[c].format == table.candidates[chosen].format;
      });
      if (!best || !of_format) continue;
      const double speed = other[*best] / other[chosen];
      kept_.add(speed);
      format_.add(other[*best] / other[*of_format]);
      good_ += speed >= kAsGood ? 1 : 0;
      ++count_;
    }
  }
  void tell(ChoiceQuality& quality) const {
    if (count_ == 0) return;
    quality.kept_again = kept_.value();
    quality.format_kept_again = format_.value();
    quality.within_5_percent_again = static_cast<double>(good_) / static_cast<double>(count_);
  }

 private:
  GeometricMean kept_, format_;
  std::size_t good_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

ChoiceQuality evaluate_oracle(const Table& table) {
  ChoiceQuality quality;
  quality.chooser = "oracle";
  GeometricMean kept, format;
  std::size_t good = 0;
  std::size_t good_formats = 0;
  std::size_t count = 0;
  const auto any = [](std::size_t) { return true; };
  for (std::size_t m = 0; m < table.half_ns[0].size(); ++m) {
    for (const std::size_t half : {0, 1}) {
      const auto chosen = best_of_half(table, m, half, any);
      const auto best = best_of_half(table, m, 1 - half, any);
      if (!chosen || !best) continue;
      const std::vector<double>& ns = table.half_ns[1 - half][m];
      const auto of_format = best_of_half(table, m, 1 - half, [&](std::size_t c) {
        return table.candidates[c].format == table.candidates[*chosen].format;
      });
      const double speed = ns[*best] / ns[*chosen];
      const double by_format = ns[*best] / ns[*of_format];
      kept.add(speed);
      format.add(by_format);
      good += speed >= kAsGood ? 1 : 0;
      good_formats += by_format >= kAsGood ? 1 : 0;
      if (count++ == 0 || speed < quality.worst) {
        quality.worst = speed;
        quality.worst_matrix = table.matrices[m].name;
      }
    }
  }
  if (count == 0) return quality;
  quality.matrices = count / 2;
  quality.kept = kept.value();
  quality.format_kept = format.value();
  quality.within_5_percent = static_cast<double>(good) / static_cast<double>(count);
  quality.format_within_5_percent = static_cast<double>(good_formats) / static_cast<double>(count);
  quality.kept_again = quality.format_kept_again = 1;
  quality.within_5_percent_again = 1;
  return quality;
}

ChoiceQuality evaluate(const Table& table, const std::string& name, const Chooser& chooser) {
  ChoiceQuality quality;
  quality.chooser = name;
  GeometricMean kept, format, kernel, work_group;
  Again again;
  std::array<std::size_t, kMaxProductFormats> right{}, all{};
  std::size_t good = 0;
  std::size_t good_formats = 0;
  for (std::size_t m = 0; m < table.matrices.size(); ++m) {
    const std::size_t best = fastest(table, m);
    if (best == table.candidates.size()) continue;
    const std::vector<std::size_t> from = others(table, m);
    std::size_t chosen = chooser(table, from, m);
    if (!(table.ns[m][chosen] > 0)) chosen = choose_one_for_all(table, from, m);
    if (!(table.ns[m][chosen] > 0)) continue;
    const ProductCandidate& choice = table.candidates[chosen];
    const double speed = table.ns[m][best] / table.ns[m][chosen];
    const double of_format = table.best_ns(m, choice.format);
    const double of_kernel = table.best_ns(m, choice.format, choice.kernel);
    const double by_format = table.ns[m][best] / of_format;
    again.add(table, m, chosen);
    kept.add(speed);
    format.add(by_format);
    kernel.add(of_format / of_kernel);
    work_group.add(of_kernel / table.ns[m][chosen]);
    if (quality.matrices++ == 0 || speed < quality.worst) {
      quality.worst = speed;
      quality.worst_matrix = table.matrices[m].name;
    }
    good += speed >= kAsGood ? 1 : 0;
    good_formats += by_format >= kAsGood ? 1 : 0;
    ++all[table.candidates[best].format];
    right[table.candidates[best].format] += by_format >= kAsGood ? 1 : 0;
  }
  if (quality.matrices == 0) return quality;
  const auto count = static_cast<double>(quality.matrices);
  again.tell(quality);
  quality.kept = kept.value();
  quality.format_kept = format.value();
  quality.kernel_kept = kernel.value();
  quality.work_group_kept = work_group.value();
  quality.within_5_percent = static_cast<double>(good) / count;
  quality.format_within_5_percent = static_cast<double>(good_formats) / count;
  std::size_t classes = 0;
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (all[f] == 0) continue;
    ++classes;
    quality.balanced_accuracy += static_cast<double>(right[f]) / static_cast<double>(all[f]);
  }
  quality.balanced_accuracy /= static_cast<double>(classes);
  return quality;
}

}  // namespace idletune::sparse
