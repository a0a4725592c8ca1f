#include "agent/host/lab/learners/sparse_as_published.hpp"

#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "models/core/random.hpp"

namespace idletune::sparse {
namespace {

constexpr std::size_t kTheirFormats = 5;  // the first ones, in two kernels each
constexpr double kFactor = 0.1;           // formula 6
constexpr double kCost = 50;
constexpr double kGamma = 0.5;
constexpr double kEpsilon = 0.01;
constexpr double kTrainingShare = 0.6;
constexpr std::size_t kLeastRows = 10;
constexpr std::size_t kFolds = 5;

using Nodes = std::vector<svm_node>;

Nodes nodes_of(const std::vector<double>& inputs) {
  Nodes nodes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    nodes.push_back({static_cast<int>(i + 1), inputs[i]});
  nodes.push_back({-1, 0});
  return nodes;
}

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

// Trained rows must outlive it.
class Machine {
 public:
  Machine(std::vector<Nodes>& rows, std::vector<double> targets, const svm_parameter& parameters)
      : targets_(std::move(targets)) {
    for (Nodes& row : rows) pointers_.push_back(row.data());
    const svm_problem problem{static_cast<int>(rows.size()), targets_.data(), pointers_.data()};
    svm_set_print_string_function([](const char*) {});
    model_.reset(svm_train(&problem, &parameters));
  }
  double answer(const Nodes& row) const { return svm_predict(model_.get(), row.data()); }

 private:
  std::vector<double> targets_;
  std::vector<svm_node*> pointers_;
  std::unique_ptr<svm_model, FreeModel> model_;
};

svm_parameter parameters_of(int type, PublishedKernel kernel, int degree) {
  svm_parameter parameters{};
  parameters.svm_type = type;
  parameters.kernel_type = kernel == PublishedKernel::radial ? RBF : POLY;
  parameters.degree = degree;
  parameters.gamma = kernel == PublishedKernel::radial ? kGamma : 1;
  parameters.coef0 = 1;
  parameters.cache_size = 200;  // MB
  parameters.eps = 1e-3;
  parameters.C = kCost;
  parameters.p = kEpsilon;
  parameters.shrinking = 1;
  return parameters;
}

struct Side {
  std::vector<Nodes> rows;
  std::vector<double> performance;
  std::vector<double> labels;
  std::vector<std::size_t> group;

  void take(const Side& from, std::size_t i) {
    rows.push_back(from.rows[i]);
    performance.push_back(from.performance[i]);
    labels.push_back(from.labels[i]);
  }
};

struct Sides {
  Side train, test;
};

template <class T>
void shuffle(std::vector<T>& values, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.below(i))]);
}

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

std::size_t training_share(std::size_t count) {
  return static_cast<std::size_t>(kTrainingShare * static_cast<double>(count));
}

// Rows in the order in which they are cut, and how many of them are learned from.
std::pair<std::vector<std::size_t>, std::size_t> cut(const PublishedRows& rows,
                                                     PublishedSplit split, std::uint64_t seed) {
  std::vector<std::size_t> order = numbers(rows.inputs.size());
  if (split == PublishedSplit::drawn) shuffle(order, seed);
  if (split != PublishedSplit::by_group) return {order, training_share(order.size())};
  const std::size_t groups =
      rows.group.empty() ? 0 : *std::max_element(rows.group.begin(), rows.group.end()) + 1;
  std::vector<std::size_t> drawn = numbers(groups), place(groups);
  shuffle(drawn, seed);
  for (std::size_t i = 0; i < groups; ++i) place[drawn[i]] = i;
  const auto before = [&](std::size_t i) { return place[rows.group[i]] < training_share(groups); };
  const auto middle = std::stable_partition(order.begin(), order.end(), before);
  return {order, static_cast<std::size_t>(middle - order.begin())};
}

Side side_of(const PublishedRows& rows, const std::vector<std::size_t>& order, std::size_t begin,
             std::size_t end) {
  Side side;
  for (std::size_t i = begin; i < end; ++i) {
    side.rows.push_back(nodes_of(rows.inputs[order[i]]));
    side.performance.push_back(rows.performance[order[i]]);
    side.group.push_back(rows.group[order[i]]);
  }
  return side;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void label(Side& side, double threshold) {
  for (const double value : side.performance) side.labels.push_back(value >= threshold ? 1 : -1);
}

// By the threshold of the training rows. Error: invalid_argument (one label alone among them).
Result<Sides> sides_of(const PublishedRows& rows, PublishedSplit split, std::uint64_t seed) {
  const auto [order, count] = cut(rows, split, seed);
  Status too_little(StatusCode::invalid_argument,
                    "as published: expected at least ten rows, and good and bad ones among them");
  if (order.size() < kLeastRows || count == 0 || count == order.size()) return too_little;
  Sides sides{side_of(rows, order, 0, count), side_of(rows, order, count, order.size())};
  const double middle = mean(sides.train.performance);
  const double best =
      *std::max_element(sides.train.performance.begin(), sides.train.performance.end());
  const double threshold = middle + kFactor * (best - middle);
  label(sides.train, threshold);
  label(sides.test, threshold);
  const std::vector<double>& labels = sides.train.labels;
  if (std::count(labels.begin(), labels.end(), 1.0) % static_cast<long>(count) == 0)
    return too_little;
  return sides;
}

double accuracy(const Machine& machine, const Side& side) {
  double right = 0;
  for (std::size_t i = 0; i < side.rows.size(); ++i)
    right += machine.answer(side.rows[i]) * side.labels[i] > 0 ? 1 : 0;
  return right / static_cast<double>(side.rows.size());
}

double squared_error(const Machine& machine, const Side& side) {
  double sum = 0;
  for (std::size_t i = 0; i < side.rows.size(); ++i) {
    const double error = machine.answer(side.rows[i]) - side.performance[i];
    sum += error * error;
  }
  return sum / static_cast<double>(side.rows.size());
}

void judge_answers(const Machine& machine, const Side& test, PublishedFigures& figures) {
  double count[2] = {}, right[2] = {}, answered = 0;
  for (std::size_t i = 0; i < test.rows.size(); ++i) {
    const bool good = test.labels[i] > 0;
    const bool said = machine.answer(test.rows[i]) > 0;
    ++count[good ? 1 : 0];
    right[good ? 1 : 0] += good == said ? 1 : 0;
    answered += said ? 1 : 0;
  }
  const auto all = static_cast<double>(test.rows.size());
  figures.test_accuracy = (right[0] + right[1]) / all;
  figures.test_majority = std::max(count[0], count[1]) / all;
  figures.same_answer = std::max(answered, all - answered) / all;
  double labels = 0;
  for (int side = 0; side < 2; ++side) {
    if (count[side] == 0) continue;
    ++labels;
    figures.test_balanced += right[side] / count[side];
  }
  figures.test_balanced /= labels;
}

PublishedFigures figures_of(Sides& sides, const svm_parameter& classing,
                            const svm_parameter& valuing) {
  PublishedFigures figures;
  const Machine classes(sides.train.rows, sides.train.labels, classing);
  figures.train_accuracy = accuracy(classes, sides.train);
  judge_answers(classes, sides.test, figures);
  const Machine values(sides.train.rows, sides.train.performance, valuing);
  figures.train_mse = squared_error(values, sides.train);
  figures.test_mse = squared_error(values, sides.test);
  const double test_mean = mean(sides.test.performance);
  for (const double value : sides.test.performance)
    figures.test_variance += (value - test_mean) * (value - test_mean);
  figures.test_variance /= static_cast<double>(sides.test.performance.size());
  figures.class_cost = classing.C;
  figures.value_cost = valuing.C;
  return figures;
}

void scale(Sides& sides) {
  for (Side* side : {&sides.train, &sides.test})
    for (Nodes& row : side->rows)
      for (svm_node& node : row)
        node.value = std::copysign(std::log2(1 + std::abs(node.value)), node.value);
  const auto count = static_cast<double>(sides.train.rows.size());
  for (std::size_t i = 0; i + 1 < sides.train.rows[0].size(); ++i) {
    double sum = 0, squares = 0;
    for (const Nodes& row : sides.train.rows) sum += row[i].value;
    const double middle = sum / count;
    for (const Nodes& row : sides.train.rows)
      squares += (row[i].value - middle) * (row[i].value - middle);
    const double deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    for (Side* side : {&sides.train, &sides.test})
      for (Nodes& row : side->rows) row[i].value = (row[i].value - middle) / deviation;
  }
}

// How well the rows of each fold are answered by what the others teach, in the mean: the higher the
// better.
double over_folds(const Side& train, bool by_group, const svm_parameter& parameters) {
  const bool classes = parameters.svm_type == C_SVC;
  double sum = 0;
  std::size_t folds = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Side from, on;
    for (std::size_t i = 0; i < train.rows.size(); ++i)
      ((by_group ? train.group[i] : i) % kFolds == fold ? on : from).take(train, i);
    if (on.rows.empty() || from.rows.empty()) continue;
    ++folds;
    const Machine machine(from.rows, classes ? from.labels : from.performance, parameters);
    sum += classes ? accuracy(machine, on) : -squared_error(machine, on);
  }
  return sum / static_cast<double>(folds);
}

void search_cost(const Side& train, bool by_group, svm_parameter& parameters) {
  double best = kCosts[0], most = -HUGE_VAL;
  for (const double cost : kCosts) {
    parameters.C = cost;
    const double found = over_folds(train, by_group, parameters);
    if (found > most) best = cost, most = found;
  }
  parameters.C = best;
}

}  // namespace

PublishedRows published_rows(const Table& table) {
  PublishedRows rows;
  for (std::size_t m = 0; m < table.matrices.size(); ++m) {
    for (std::size_t c = 0; c < table.candidates.size(); ++c) {
      if (!(table.ns[m][c] > 0)) continue;
      const ProductCandidate& candidate = table.candidates[c];
      if (candidate.format >= kTheirFormats || candidate.kernel > 1) continue;
      std::vector<double> row(kTheirFormats + 2 * kTheirFormats, 0.0);
      row[candidate.format] = 1;
      row[kTheirFormats + 2 * std::size_t{candidate.format} + candidate.kernel] = 1;
      row.push_back(static_cast<double>(candidate.work_group));
      row.insert(row.end(), table.matrices[m].features.begin(), table.matrices[m].features.end());
      rows.inputs.push_back(std::move(row));
      rows.performance.push_back(table.matrices[m].operations() / table.ns[m][c]);
      rows.group.push_back(m);
    }
  }
  return rows;
}

PublishedRows published_rows(const VectorTable& table) {
  PublishedRows rows;
  std::map<double, std::size_t> lengths;
  for (const VectorRow& measured : table.rows) {
    std::vector<double> row{measured.length};
    row.insert(row.end(), measured.kernel.begin(), measured.kernel.end());
    row.push_back(measured.work_group);
    rows.inputs.push_back(std::move(row));
    rows.performance.push_back(2 * measured.length / measured.ns);
    rows.group.push_back(lengths.emplace(measured.length, lengths.size()).first->second);
  }
  return rows;
}

PublishedRows thinned(const PublishedRows& rows) {
  const std::size_t count = rows.inputs.size();
  const std::size_t kept = std::min(count, kMostPublishedRows);
  PublishedRows fewer;
  for (std::size_t i = 0; i < kept; ++i) {
    fewer.inputs.push_back(rows.inputs[i * count / kept]);
    fewer.performance.push_back(rows.performance[i * count / kept]);
    fewer.group.push_back(rows.group[i * count / kept]);
  }
  return fewer;
}

std::size_t rows_of_equal_inputs(const PublishedRows& rows) {
  std::map<std::vector<double>, std::size_t> by_inputs;
  for (const std::vector<double>& row : rows.inputs) ++by_inputs[row];
  std::size_t shared = 0;
  for (const auto& [row, count] : by_inputs) shared += count > 1 ? count : 0;
  return shared;
}

Result<PublishedFigures> as_published(const PublishedRows& rows, PublishedKernel kernel, int degree,
                                      PublishedSplit split, std::uint64_t seed) {
  Result<Sides> sides = sides_of(rows, split, seed);
  if (!sides.ok()) return sides.status();
  return figures_of(*sides, parameters_of(C_SVC, kernel, degree),
                    parameters_of(EPSILON_SVR, kernel, degree));
}

Result<PublishedFigures> with_scaled_inputs(const PublishedRows& rows, PublishedKernel kernel,
                                            int degree, PublishedSplit split, std::uint64_t seed) {
  Result<Sides> sides = sides_of(rows, split, seed);
  if (!sides.ok()) return sides.status();
  scale(*sides);
  svm_parameter parameters[] = {parameters_of(C_SVC, kernel, degree),
                                parameters_of(EPSILON_SVR, kernel, degree)};
  for (svm_parameter& each : parameters) {
    each.gamma = 1 / static_cast<double>(rows.inputs[0].size());
    search_cost(sides->train, split == PublishedSplit::by_group, each);
  }
  return figures_of(*sides, parameters[0], parameters[1]);
}

}  // namespace idletune::sparse
