// The verbs of the command line. Each function describes its verb to `line`, which runs it if the
// words name it. Defined in verb_<name>.cpp.
#pragma once

#include "agent/host/cli/context.hpp"

namespace idletune::cli {

void add_ask_verb(CommandLine& line, CliContext& context);
void add_best_verb(CommandLine& line, CliContext& context);
void add_capture_verb(CommandLine& line, CliContext& context);
void add_devices_verb(CommandLine& line, CliContext& context);
void add_space_verb(CommandLine& line, CliContext& context);
void add_pack_verb(CommandLine& line, CliContext& context);
void add_import_verb(CommandLine& line, CliContext& context);
void add_export_verb(CommandLine& line, CliContext& context);
void add_explore_verb(CommandLine& line, CliContext& context);
void add_learn_verb(CommandLine& line, CliContext& context);
void add_inspect_verb(CommandLine& line, CliContext& context);
void add_fractions_verb(CommandLine& line, CliContext& context);
void add_importance_verb(CommandLine& line, CliContext& context);
void add_prune_verb(CommandLine& line, CliContext& context);
void add_tune_verb(CommandLine& line, CliContext& context);
void add_solve_verb(CommandLine& line, CliContext& context);
void add_explain_verb(CommandLine& line, CliContext& context);
void add_decide_verb(CommandLine& line, CliContext& context);
void add_report_verb(CommandLine& line, CliContext& context);
void add_demo_verb(CommandLine& line, CliContext& context);
void add_key_verb(CommandLine& line, CliContext& context);
void add_push_verb(CommandLine& line, CliContext& context);
void add_pull_verb(CommandLine& line, CliContext& context);
void add_sign_verb(CommandLine& line, CliContext& context);
void add_verify_verb(CommandLine& line, CliContext& context);

// Those of `idletune offload`.
void add_offload_profile_verb(Verb& offload, CliContext& context);
void add_offload_learn_verb(Verb& offload, CliContext& context);
void add_offload_decide_verb(Verb& offload, CliContext& context);

}  // namespace idletune::cli
