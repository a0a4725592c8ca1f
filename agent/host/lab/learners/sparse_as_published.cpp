#include "agent/host/lab/learners/sparse_as_published.hpp"

#include <libsvm/svm.h>

#include <algorithm>
#include <memory>
#include <numeric>

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
};

Side side_of(const PublishedRows& rows, const std::vector<std::size_t>& order, std::size_t begin,
             std::size_t end) {
  Side side;
  for (std::size_t i = begin; i < end; ++i) {
    side.rows.push_back(nodes_of(rows.inputs[order[i]]));
    side.performance.push_back(rows.performance[order[i]]);
  }
  return side;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void label(Side& side, double threshold) {
  for (const double value : side.performance) side.labels.push_back(value >= threshold ? 1 : -1);
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
    }
  }
  return rows;
}

PublishedRows published_rows(const VectorTable& table) {
  PublishedRows rows;
  for (const VectorRow& measured : table.rows) {
    std::vector<double> row{measured.length};
    row.insert(row.end(), measured.kernel.begin(), measured.kernel.end());
    row.push_back(measured.work_group);
    rows.inputs.push_back(std::move(row));
    rows.performance.push_back(2 * measured.length / measured.ns);
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
  }
  return fewer;
}

Result<PublishedFigures> as_published(const PublishedRows& rows, PublishedKernel kernel, int degree,
                                      PublishedSplit split, std::uint64_t seed) {
  const std::size_t count = rows.inputs.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  for (std::size_t i = count; split == PublishedSplit::drawn && i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i))]);
  const auto cut = static_cast<std::size_t>(kTrainingShare * static_cast<double>(count));
  Status too_little(StatusCode::invalid_argument,
                    "as published: expected at least ten rows, and good and bad ones among them");
  if (count < kLeastRows) return too_little;
  Side train = side_of(rows, order, 0, cut);
  Side test = side_of(rows, order, cut, count);
  const double middle = mean(train.performance);
  const double best = *std::max_element(train.performance.begin(), train.performance.end());
  const double threshold = middle + kFactor * (best - middle);
  label(train, threshold);
  label(test, threshold);
  if (std::count(train.labels.begin(), train.labels.end(), 1.0) % static_cast<long>(cut) == 0)
    return too_little;
  PublishedFigures figures;
  const Machine classes(train.rows, train.labels, parameters_of(C_SVC, kernel, degree));
  figures.train_accuracy = accuracy(classes, train);
  judge_answers(classes, test, figures);
  const Machine values(train.rows, train.performance, parameters_of(EPSILON_SVR, kernel, degree));
  figures.train_mse = squared_error(values, train);
  figures.test_mse = squared_error(values, test);
  const double test_mean = mean(test.performance);
  for (const double value : test.performance)
    figures.test_variance += (value - test_mean) * (value - test_mean);
  figures.test_variance /= static_cast<double>(test.performance.size());
  return figures;
}

}  // namespace idletune::sparse
