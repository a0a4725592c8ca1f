// A space that was pruned as the words say, and how that is told.
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/cli/histories.hpp"
#include "models/host/insight/pruning.hpp"

namespace idletune::cli {

struct PruneArguments {
  std::string history;
  std::string method = "conservative";
  std::vector<std::string> checked;
  PruningOptions options;
};

void add_pruning_options(Verb verb, PruneArguments& arguments);

struct PrunedSpace {
  std::vector<History> histories;  // the one that decided, then those to check
  Pruning pruning;
};

// Fails as reading histories and prune() do, and where not one history decides.
PrunedSpace read_and_prune(const PruneArguments& arguments);

// {kernel, device, kept[], constant[], configurations, remaining, method, pruned[], reduction}.
json pruning_object(const Pruning& pruning, const std::string& method);
void print_pruning(const json& object, const CliContext& context);

}  // namespace idletune::cli
