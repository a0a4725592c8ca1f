#include "agent/host/lab/learners/learners.hpp"

#include <string>

#include "agent/host/lab/learners/perceptron_training.hpp"
#include "agent/host/lab/learners/support_vectors.hpp"
#include "models/host/learners/nearest_neighbors.hpp"
#include "models/host/learners/tree_learners.hpp"

namespace idletune::learners {

const std::vector<std::string_view>& learner_names() {
  static const std::vector<std::string_view> names{"cart", "forest", "knn", "svm", "mlp"};
  return names;
}

Result<std::unique_ptr<Learner>> make_learner(std::string_view name, std::uint64_t seed) {
  std::unique_ptr<Learner> learner;
  if (name == "cart") {
    learner = std::make_unique<CartLearner>(TreeOptions(), seed);
  } else if (name == "forest") {
    ForestOptions options;
    options.seed = seed;
    learner = std::make_unique<ForestLearner>(options);
  } else if (name == "knn") {
    learner = std::make_unique<NearestNeighbors>();
  } else if (name == "svm") {
    learner = std::make_unique<SupportVectorLearner>();
  } else if (name == "mlp") {
    PerceptronOptions options;
    options.seed = seed;
    learner = std::make_unique<PerceptronLearner>(options);
  } else {
    std::string known;
    for (const std::string_view each : learner_names())
      known += (known.empty() ? "" : ", ") + std::string(each);
    return Status(StatusCode::invalid_argument,
                  "no learner '" + std::string(name) + "'; expected one of " + known);
  }
  return learner;
}

}  // namespace idletune::learners
