// Multilayer perceptrons: trained by FANN, read by Perceptron. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/learners/learner.hpp"
#include "models/host/learners/perceptron.hpp"

namespace idletune::learners {

struct PerceptronOptions {
  std::vector<std::uint32_t> hidden{
      16};  // widths of the hidden layers; 1 to kMaxLayers - 1 of them
  // Perceptrons trained one by one and averaged. With one hidden layer their average is itself a
  // perceptron, `members` times as wide; so more than 1 takes exactly one hidden layer.
  std::size_t members = 16;
  std::size_t max_epochs = 1000;  // passes over the data
  // Of the rows, other ones for each member, kept aside to notice overfitting: the weights with the
  // least error on them are kept, and training ends when that has not improved for `patience`
  // epochs. 0, or fewer than 20 rows: none.
  double validation_share = 0.15;
  std::size_t patience = 100;
  std::uint64_t seed = 1;  // of the first weights and of the rows kept aside
};

// iRPROP- (Igel & Hüsken 2003) on the mean squared error, over all rows at a time; first weights
// uniform as in Glorot & Bengio 2010. Features and targets are standardised. Deterministic under
// the seed. Errors: what check(data) says, invalid_argument (options, too many inputs or classes),
// out_of_memory.
Result<Perceptron> train_perceptron(const Dataset& data, const PerceptronOptions& options);

class PerceptronLearner final : public Learner {
 public:
  explicit PerceptronLearner(const PerceptronOptions& options = {}) : options_(options) {}
  Status fit(const Dataset& data) override;
  Prediction predict(Span<const float> row) const override;
  const char* name() const override { return "mlp"; }
  const Perceptron& perceptron() const { return perceptron_; }

 private:
  PerceptronOptions options_;
  Perceptron perceptron_;
};

}  // namespace idletune::learners
