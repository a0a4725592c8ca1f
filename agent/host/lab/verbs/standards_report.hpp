// What `lab simulate --standards` says: the evaluation of Cui & Feng 2019 (figures 7 to 11).
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/lab/standards.hpp"

namespace idletune::cli {

struct StandardsTarget {
  std::string name;
  const Simulation* simulation = nullptr;
};

// Plays all searchers on all targets and prints the samples that each needs, absolutely, relative
// to the space, and relative to random search; Ctrl-C leaves those out that were not finished.
void report_standards(const std::vector<StandardsTarget>& targets,
                      const std::vector<std::string>& searchers, const StandardsOptions& options,
                      CliContext& context);

}  // namespace idletune::cli
