// The `idletune` command: reads the command line and runs one verb.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "agent/cli/context.hpp"
#include "agent/cli/verbs.hpp"

namespace {

using idletune::cli::CliContext;

void add_verbs(CLI::App& app, CliContext& context) {
  using namespace idletune::cli;
  add_devices_verb(app, context);
  add_space_verb(app, context);
  add_pack_verb(app, context);
  add_import_verb(app, context);
  add_export_verb(app, context);
  add_explore_verb(app, context);
  add_learn_verb(app, context);
  add_simulate_verb(app, context);
  add_inspect_verb(app, context);
  add_fractions_verb(app, context);
  add_importance_verb(app, context);
  add_prune_verb(app, context);
  add_tune_verb(app, context);
  add_explain_verb(app, context);
  add_decide_verb(app, context);
  add_regret_verb(app, context);
  add_report_verb(app, context);
  add_demo_verb(app, context);
}

// Prints what the parser has to say: help and version are answers (0), the rest is misuse (2).
int answer_parser(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  const std::vector<std::string> unknown =
      app.get_subcommands().empty() ? app.remaining() : std::vector<std::string>();
  if (!unknown.empty()) {
    std::fprintf(stderr, "idletune: there is no verb '%s' (try 'idletune --help')\n",
                 unknown.front().c_str());
  } else {
    std::fprintf(stderr, "idletune: %s (try 'idletune --help')\n", error.what());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"idletune: makes GPU kernels faster while the board is idle", "idletune"};
  CliContext context;
  try {
    app.require_subcommand(1);
    app.set_version_flag("--version", IDLETUNE_VERSION);
    add_verbs(app, context);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer_parser(app, error);
  } catch (const std::exception& error) {
    context.fail(std::string(error.what()));
  }
  if (std::fflush(stdout) != 0) context.fail("standard output could not be written");
  return context.exit_status();
}
