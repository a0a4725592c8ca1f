// The `idletune` command: reads the command line and runs one verb.
#include <cstdio>
#include <exception>
#include <string>

#include "agent/cli/context.hpp"
#include "agent/cli/verbs.hpp"

namespace {

using idletune::cli::CliContext;
using idletune::cli::CommandLine;

void add_verbs(CommandLine& line, CliContext& context) {
  using namespace idletune::cli;
  add_devices_verb(line, context);
  add_space_verb(line, context);
  add_pack_verb(line, context);
  add_import_verb(line, context);
  add_export_verb(line, context);
  add_explore_verb(line, context);
  add_learn_verb(line, context);
  add_simulate_verb(line, context);
  add_inspect_verb(line, context);
  add_fractions_verb(line, context);
  add_importance_verb(line, context);
  add_prune_verb(line, context);
  add_tune_verb(line, context);
  add_explain_verb(line, context);
  add_decide_verb(line, context);
  add_regret_verb(line, context);
  add_report_verb(line, context);
  add_demo_verb(line, context);
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line("idletune", "idletune: makes GPU kernels faster while the board is idle",
                   IDLETUNE_VERSION);
  CliContext context;
  try {
    add_verbs(line, context);
    if (!line.run(argc, argv)) return 2;
  } catch (const std::exception& error) {
    context.fail(std::string(error.what()));
  }
  if (std::fflush(stdout) != 0) context.fail("standard output could not be written");
  return context.exit_status();
}
