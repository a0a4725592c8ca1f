#include "agent/host/lab/learners/support_vectors.hpp"

#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "agent/host/lab/learners/input_scaling.hpp"

namespace idletune::learners {
namespace {

// The data as libsvm wants them. A trained svm_model points into this.
struct Problem {
  std::vector<float> inputs;
  std::vector<svm_node> nodes;
  std::vector<svm_node*> rows;
  std::vector<double> targets;
  svm_problem as_libsvm() {
    return {static_cast<int>(targets.size()), targets.data(), rows.data()};
  }
};

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

Status wrong_options(const std::string& what) {
  return Status(StatusCode::invalid_argument, "support vectors: " + what);
}

Status check(const SupportVectorOptions& options) {
  const bool finite = std::isfinite(options.c) && std::isfinite(options.gamma) &&
                      std::isfinite(options.epsilon) && std::isfinite(options.tolerance);
  if (!finite || options.c <= 0 || options.gamma < 0 || options.epsilon < 0 ||
      options.tolerance <= 0) {
    return wrong_options("expected c > 0, gamma >= 0, epsilon >= 0 and tolerance > 0");
  }
  return {};
}

// Row numbers, class by class in ascending order, so that classes come in that order.
std::vector<std::size_t> training_order(const Dataset& data) {
  std::vector<std::size_t> order(data.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (data.is_classification()) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return data.targets[a] < data.targets[b];
    });
  }
  return order;
}

Problem make_problem(const Dataset& data, const std::vector<InputColumn>& columns,
                     const TargetScale& scale) {
  const std::size_t width = input_width(columns);
  Problem problem;
  problem.inputs.resize(data.rows() * width);
  problem.nodes.reserve(data.rows() * (width + 1));
  for (const std::size_t r : training_order(data)) {
    float* inputs = problem.inputs.data() + problem.targets.size() * width;
    code_inputs(columns, data.row(r), inputs);
    for (std::size_t i = 0; i < width; ++i) {
      problem.nodes.push_back({static_cast<int>(i + 1), static_cast<double>(inputs[i])});
    }
    problem.nodes.push_back({-1, 0});
    problem.targets.push_back((static_cast<double>(data.targets[r]) - scale.mean) /
                              scale.deviation);
  }
  for (std::size_t r = 0; r < data.rows(); ++r) {
    problem.rows.push_back(problem.nodes.data() + r * (width + 1));
  }
  return problem;
}

// 1 / (inputs * variance of all inputs), scikit-learn's gamma="scale".
double scaled_gamma(const std::vector<float>& inputs, std::size_t width) {
  const double count = static_cast<double>(inputs.size());
  double mean = 0, squares = 0;
  for (const float x : inputs) mean += static_cast<double>(x) / count;
  for (const float x : inputs) {
    const double distance = static_cast<double>(x) - mean;
    squares += distance * distance;
  }
  return squares > 0 ? count / (squares * static_cast<double>(width)) : 1.0;
}

svm_parameter parameters_for(const Dataset& data, const SupportVectorOptions& options,
                             double gamma) {
  svm_parameter parameters{};
  parameters.svm_type = data.is_classification() ? C_SVC : EPSILON_SVR;
  parameters.kernel_type = RBF;
  parameters.gamma = gamma;
  parameters.cache_size = 200;  // MB
  parameters.eps = options.tolerance;
  parameters.C = options.c;
  parameters.p = options.epsilon;
  parameters.shrinking = 1;
  return parameters;
}

KernelMachine machine_from(const svm_model& model, std::vector<InputColumn> columns,
                           const TargetScale& scale) {
  KernelMachine machine;
  machine.columns = std::move(columns);
  machine.gamma = model.param.gamma;
  const auto vectors = static_cast<std::size_t>(model.l);
  const auto classes = static_cast<std::size_t>(model.nr_class);
  for (std::size_t s = 0; s < vectors; ++s) {
    for (const svm_node* node = model.SV[s]; node->index != -1; ++node) {
      machine.vectors.push_back(static_cast<float>(node->value));
    }
  }
  const bool regression = model.param.svm_type == EPSILON_SVR;
  for (std::size_t row = 0; row < (regression ? 1 : classes - 1); ++row) {
    for (std::size_t s = 0; s < vectors; ++s) {
      machine.coefficients.push_back(model.sv_coef[row][s] * scale.deviation);
    }
  }
  if (regression) {
    machine.offsets.push_back(model.rho[0] * scale.deviation - scale.mean);
    return machine;
  }
  machine.offsets.assign(model.rho, model.rho + classes * (classes - 1) / 2);
  for (std::size_t i = 0; i < classes; ++i) {
    machine.class_numbers.push_back(static_cast<std::uint32_t>(model.label[i]));
    machine.class_vectors.push_back(static_cast<std::uint32_t>(model.nSV[i]));
  }
  return machine;
}

std::size_t classes_among(const Dataset& data) {
  std::vector<float> distinct(data.targets.begin(), data.targets.end());
  std::sort(distinct.begin(), distinct.end());
  return static_cast<std::size_t>(std::unique(distinct.begin(), distinct.end()) - distinct.begin());
}

}  // namespace

Result<KernelMachine> train_support_vectors(const Dataset& data,
                                            const SupportVectorOptions& options) {
  if (Status sound = check(options); !sound.ok()) return sound;
  if (Status sound = learners::check(data); !sound.ok()) return sound;
  if (data.is_classification() && classes_among(data) > kMaxMachineClasses) {
    return wrong_options(std::to_string(classes_among(data)) +
                         " classes among the rows; expected at most " +
                         std::to_string(kMaxMachineClasses));
  }
  auto columns = input_columns(data, options.standardize);
  if (!columns.ok()) return columns.status();
  const bool scale_targets = options.standardize && !data.is_classification();
  const TargetScale scale = scale_targets ? target_scale(data) : TargetScale{};
  Problem problem = make_problem(data, *columns, scale);
  const double gamma =
      options.gamma > 0 ? options.gamma : scaled_gamma(problem.inputs, input_width(*columns));
  const svm_problem training = problem.as_libsvm();
  const svm_parameter parameters = parameters_for(data, options, gamma);
  if (const char* problem_with = svm_check_parameter(&training, &parameters))
    return wrong_options(problem_with);
  svm_set_print_string_function([](const char*) {});
  const std::unique_ptr<svm_model, FreeModel> model(svm_train(&training, &parameters));
  KernelMachine machine = machine_from(*model, std::move(*columns), scale);
  // What it learned must be readable everywhere; overflows of extreme data end here.
  if (Status sound = verify(machine.view()); !sound.ok()) return wrong_options(sound.message());
  return machine;
}

Status SupportVectorLearner::fit(const Dataset& data) {
  auto machine = train_support_vectors(data, options_);
  if (!machine.ok()) return machine.status();
  machine_ = std::move(*machine);
  return {};
}

Prediction SupportVectorLearner::predict(Span<const float> row) const {
  if (machine_.columns.empty() || row.size() != machine_.columns.size()) return {};
  return {static_cast<float>(machine_.view().predict(row)), 0};
}

}  // namespace idletune::learners
