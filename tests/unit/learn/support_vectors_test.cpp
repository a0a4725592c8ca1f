#include <libsvm/svm.h>

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/learners/support_vectors.hpp"
#include "models/core/random.hpp"
#include "tests/unit/forest/golden_file.hpp"

using namespace idletune;
using namespace idletune::learners;
using test::GoldenFile;
using test::GoldenResult;
using test::read_golden;

namespace {

SupportVectorOptions options_of(const GoldenResult& golden) {
  SupportVectorOptions options;
  options.c = golden.number("c", 0);
  options.gamma = golden.number("gamma", 0);
  options.epsilon = golden.number("epsilon", 0);
  options.tolerance = golden.number("tolerance", 0);
  options.standardize = false;
  return options;
}

KernelMachine trained(const Dataset& data, const SupportVectorOptions& options) {
  auto machine = train_support_vectors(data, options);
  REQUIRE_MESSAGE(machine.ok(), machine.status().message());
  return std::move(*machine);
}

// The largest difference; for classes, the number of rows that differ.
double difference(const KernelMachine& machine, const GoldenFile& file,
                  const GoldenResult& golden) {
  double worst = 0;
  for (std::size_t r = 0; r < file.test.targets.size(); ++r) {
    const double ours = machine.view().predict(file.test_data().row(r));
    if (file.classes != 0) {
      worst += ours == golden.predictions[r] ? 0 : 1;
    } else {
      worst = std::max(worst, std::fabs(ours - golden.predictions[r]));
    }
  }
  return worst;
}

// libsvm's own model of numeric data, for comparison.
class Reference {
 public:
  Reference(const Dataset& data, const SupportVectorOptions& options) : columns_(data.columns) {
    for (std::size_t r = 0; r < data.rows(); ++r) {
      append(data.row(r), nodes_);
      targets_.push_back(static_cast<double>(data.targets[r]));
    }
    for (std::size_t r = 0; r < data.rows(); ++r)
      rows_.push_back(nodes_.data() + r * (columns_ + 1));
    const svm_problem problem{static_cast<int>(targets_.size()), targets_.data(), rows_.data()};
    svm_parameter parameters{};
    parameters.svm_type = data.is_classification() ? C_SVC : EPSILON_SVR;
    parameters.kernel_type = RBF;
    parameters.gamma = options.gamma;
    parameters.cache_size = 100;
    parameters.eps = options.tolerance;
    parameters.C = options.c;
    parameters.p = options.epsilon;
    parameters.shrinking = 1;
    svm_set_print_string_function([](const char*) {});
    model_ = svm_train(&problem, &parameters);
  }
  ~Reference() { svm_free_and_destroy_model(&model_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  double predict(Span<const float> row) const {
    std::vector<svm_node> nodes;
    append(row, nodes);
    return svm_predict(model_, nodes.data());
  }

 private:
  static void append(Span<const float> row, std::vector<svm_node>& nodes) {
    int index = 0;
    for (const float x : row) nodes.push_back({++index, static_cast<double>(x)});
    nodes.push_back({-1, 0});
  }
  std::size_t columns_;
  std::vector<svm_node> nodes_;
  std::vector<svm_node*> rows_;
  std::vector<double> targets_;
  svm_model* model_ = nullptr;
};

}  // namespace

TEST_CASE("support vectors predict what scikit-learn's predict") {
  std::size_t compared = 0;
  for (const char* name : {"friedman", "blobs", "gemm", "gemm_quartiles"}) {
    const GoldenFile file = read_golden(name);
    for (const GoldenResult& golden : file.results) {
      if (golden.learner != "svr" && golden.learner != "svc") continue;
      CAPTURE(golden.description());
      const KernelMachine machine = trained(file.training_data(), options_of(golden));
      CHECK(difference(machine, file, golden) <= (file.classes != 0 ? 0 : 1e-6));
      ++compared;
    }
  }
  CHECK(compared == 8);
}

TEST_CASE("a kernel machine reads a trained model as libsvm does") {
  for (const char* name : {"friedman", "gemm"}) {
    CAPTURE(name);
    const GoldenFile file = read_golden(name);
    SupportVectorOptions options;
    options.gamma = 0.3;
    options.standardize = false;
    const KernelMachine machine = trained(file.training_data(), options);
    const Reference reference(file.training_data(), options);
    for (std::size_t r = 0; r < file.test.targets.size(); ++r) {
      const Span<const float> row = file.test_data().row(r);
      CHECK(std::fabs(machine.view().predict(row) - reference.predict(row)) <= 1e-6);
    }
  }
}

TEST_CASE("a kernel machine chooses the classes that libsvm chooses, also among many") {
  Random random(7);
  std::vector<float> values, targets;
  for (int i = 0; i < 300; ++i) {
    const float target =
        static_cast<float>(i % 9);  // in order of class, as the training takes them
    values.push_back(target + static_cast<float>(2 * random.uniform()));
    values.push_back(static_cast<float>(random.uniform()));
    targets.push_back(target);
  }
  const Dataset data{values, 2, {}, targets, 9};
  SupportVectorOptions options;
  options.gamma = 1;
  options.standardize = false;
  const KernelMachine machine = trained(data, options);
  REQUIRE(verify(machine.view()).ok());
  const Reference reference(data, options);
  for (int i = 0; i < 500; ++i) {
    const std::vector<float> row{static_cast<float>(12 * random.uniform() - 1),
                                 static_cast<float>(random.uniform())};
    CHECK(machine.view().predict(row) == reference.predict(row));
  }
}

TEST_CASE("standardised support vectors do not depend on the units of features and target") {
  const GoldenFile file = read_golden("friedman");
  SupportVectorLearner plain, scaled;
  std::vector<float> values = file.train.values, targets = file.train.targets;
  for (std::size_t i = 0; i < values.size(); i += file.columns) values[i] = values[i] * 1024 + 512;
  for (float& target : targets) target = target * 64 + 1024;
  REQUIRE(plain.fit(file.training_data()).ok());
  REQUIRE(scaled.fit({values, file.columns, {}, targets, 0}).ok());
  CHECK(score_of(predictions_of(plain, file), file) > 0.8);
  for (std::size_t r = 0; r < 20; ++r) {
    std::vector<float> row(file.test_data().row(r).begin(), file.test_data().row(r).end());
    const float expected = plain.predict(row).value;
    row[0] = row[0] * 1024 + 512;
    CHECK(scaled.predict(row).value == doctest::Approx(expected * 64 + 1024).epsilon(1e-3));
  }
}

TEST_CASE("support vectors take categories and refuse bad options") {
  const GoldenFile file = read_golden("categories");
  SupportVectorLearner learner;
  REQUIRE(learner.fit(file.training_data()).ok());
  CHECK(score_of(predictions_of(learner, file), file) > 0.9);
  CHECK(learner.machine().columns[0].categories == 8);

  for (int field = 0; field < 4; ++field) {
    SupportVectorOptions options;
    (field == 0   ? options.c
     : field == 1 ? options.gamma
     : field == 2 ? options.epsilon
                  : options.tolerance) = -1;
    CHECK(train_support_vectors(file.training_data(), options).code() ==
          StatusCode::invalid_argument);
  }
  SupportVectorOptions options;
  options.c = std::numeric_limits<double>::quiet_NaN();
  CHECK(train_support_vectors(file.training_data(), options).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("support vectors learn from one row, equal targets, or a single class") {
  const std::vector<float> values{1, 2, 3};
  const std::vector<float> equal{4, 4, 4};
  SupportVectorLearner learner;
  REQUIRE(learner.fit({values, 1, {}, equal, 0}).ok());
  CHECK(learner.predict({values.data(), 1}).value == doctest::Approx(4));
  const std::vector<float> one_class{2, 2, 2};
  REQUIRE(learner.fit({values, 1, {}, one_class, 5}).ok());
  CHECK(learner.predict({values.data(), 1}).value == 2);
  REQUIRE(learner.fit({{values.data(), 1}, 1, {}, {equal.data(), 1}, 0}).ok());
  CHECK(learner.predict({values.data(), 1}).value == doctest::Approx(4));
}
