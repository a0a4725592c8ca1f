// The verbs of the command line. Each function adds its sub-command with options to `app` and runs,
// as that sub-command's callback, when the command line has been read. Defined in verb_<name>.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include "agent/cli/context.hpp"

namespace idletune::cli {

void add_devices_verb(CLI::App& app, CliContext& context);
void add_space_verb(CLI::App& app, CliContext& context);
void add_pack_verb(CLI::App& app, CliContext& context);
void add_import_verb(CLI::App& app, CliContext& context);
void add_export_verb(CLI::App& app, CliContext& context);
void add_explore_verb(CLI::App& app, CliContext& context);
void add_learn_verb(CLI::App& app, CliContext& context);
void add_simulate_verb(CLI::App& app, CliContext& context);
void add_inspect_verb(CLI::App& app, CliContext& context);
void add_fractions_verb(CLI::App& app, CliContext& context);
void add_importance_verb(CLI::App& app, CliContext& context);
void add_prune_verb(CLI::App& app, CliContext& context);
void add_tune_verb(CLI::App& app, CliContext& context);
void add_explain_verb(CLI::App& app, CliContext& context);
void add_decide_verb(CLI::App& app, CliContext& context);
void add_regret_verb(CLI::App& app, CliContext& context);
void add_report_verb(CLI::App& app, CliContext& context);
void add_demo_verb(CLI::App& app, CliContext& context);

}  // namespace idletune::cli
