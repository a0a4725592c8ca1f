#include "agent/cli/given_problems.hpp"

#include "agent/cli/sparse_problem.hpp"

namespace idletune::cli {

Result<std::vector<GivenProblem>> given_problems(const ExploreArguments& arguments) {
  std::vector<GivenProblem> problems;
  for (const std::string& text : arguments.shapes)
    problems.push_back({GivenProblem::Kind::shape, text});
  for (const std::string& text : arguments.captured)
    problems.push_back({GivenProblem::Kind::captured, text});
  for (const std::string& text : arguments.problems) {
    const auto matrices = sparse_problems_of(text);
    if (!matrices.ok()) return matrices.status();
    for (const std::string& matrix : *matrices)
      problems.push_back({GivenProblem::Kind::matrix, matrix});
  }
  return problems;
}

}  // namespace idletune::cli
