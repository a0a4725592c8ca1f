// Support vector regression and classification: trained by libsvm, read by KernelMachine. Host
// side.
#pragma once

#include <idletune/result.hpp>

#include "models/host/learners/kernel_machine.hpp"
#include "models/host/learners/learner.hpp"

namespace idletune::learners {

struct SupportVectorOptions {
  double c = 1;             // cost of an error; above 0
  double gamma = 0;         // of the radial kernel; 0: 1 / (inputs * variance of all inputs)
  double epsilon = 0.1;     // regression: errors up to it cost nothing; at least 0
  double tolerance = 1e-3;  // of the optimisation's end; above 0
  // Numeric features, and a regression's targets, to mean 0 and standard deviation 1 (c and epsilon
  // then count in standard deviations). Without it and otherwise as they are, the options are those
  // of scikit-learn's SVR and SVC, gamma="scale".
  bool standardize = true;
};

// Deterministic: rows are taken class by class in their order. Errors: what check(data) says,
// invalid_argument (options; more than kMaxMachineClasses classes among the rows; too many inputs).
Result<KernelMachine> train_support_vectors(const Dataset& data,
                                            const SupportVectorOptions& options);

class SupportVectorLearner final : public Learner {
 public:
  explicit SupportVectorLearner(const SupportVectorOptions& options = {}) : options_(options) {}
  Status fit(const Dataset& data) override;
  Prediction predict(Span<const float> row) const override;
  const char* name() const override { return "svm"; }
  const KernelMachine& machine() const { return machine_; }

 private:
  SupportVectorOptions options_;
  KernelMachine machine_;
};

}  // namespace idletune::learners
