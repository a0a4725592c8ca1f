#include "agent/host/cli/lab.hpp"
#include "agent/host/lab/learners/support_vectors.hpp"

bool idletune::cli::built_with_lab() { return true; }

std::unique_ptr<idletune::learners::Learner> idletune::cli::make_lab_learner(
    std::string_view name) {
  if (name != "svr") return nullptr;
  return std::make_unique<learners::SupportVectorLearner>();
}
