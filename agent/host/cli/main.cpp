// The `idletune` command: reads the command line and runs one verb.

#include <csignal>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/lab.hpp"
#include "agent/host/cli/temporary_folder.hpp"
#include "agent/host/cli/verbs.hpp"

namespace {

using idletune::cli::Call;
using idletune::cli::catch_interrupts;
using idletune::cli::CliContext;
using idletune::cli::CommandLine;
using idletune::cli::TemporaryFolder;

void add_verbs(CommandLine& line, CliContext& context) {
  using namespace idletune::cli;
  line.begin_group("See it work");
  add_demo_verb(line, context);
  line.begin_group("Describe a kernel and measure it");
  add_devices_verb(line, context);
  add_space_verb(line, context);
  add_pack_verb(line, context);
  add_explore_verb(line, context);
  add_capture_verb(line, context);
  add_tune_verb(line, context);
  add_import_verb(line, context);
  add_export_verb(line, context);
  line.begin_group("Read what was measured");
  add_best_verb(line, context);
  add_report_verb(line, context);
  add_fractions_verb(line, context);
  add_importance_verb(line, context);
  add_prune_verb(line, context);
  line.begin_group("Learn for boards that nobody has measured");
  add_learn_verb(line, context);
  add_ask_verb(line, context);
  add_decide_verb(line, context);
  line.begin_group("Bring it to boards");
  add_key_verb(line, context);
  add_sign_verb(line, context);
  add_verify_verb(line, context);
  add_push_verb(line, context);
  add_pull_verb(line, context);
  line.begin_group("Look into files and boards");
  add_explain_verb(line, context);
  add_inspect_verb(line, context);
  line.begin_group("Beside tuning");
  add_solve_verb(line, context);
  Verb offload = line.add_verb("offload", "predicts from CPU code whether a GPU kernel would pay");
  add_offload_profile_verb(offload, context);
  add_offload_learn_verb(offload, context);
  add_offload_decide_verb(offload, context);
  add_lab_verb(line, context);
}

// Before the command line was read: a failure of reading it is told as JSON, too.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line("idletune", "idletune makes GPU kernels faster while the board is idle.",
                   IDLETUNE_VERSION);
  CliContext context;
  std::signal(SIGCHLD, SIG_DFL);  // who is ignored cannot be waited for
  if (wants_json(argc, argv)) context.expect_json();
  context.add_json_flags(line);
  line.before_verb([&context](const std::string& verb) { context.begin(verb); });
  line.before_work([&context](const Call& call) {
    if (!context.may_work(call)) return false;
    catch_interrupts([&context] {
      context.give_up();
      TemporaryFolder::remove_all();
    });
    return true;
  });
  try {
    add_verbs(line, context);
    line.run(argc, argv);
  } catch (const idletune::cli::Failure& failure) {
    context.fail(failure.status());
  } catch (const std::exception& error) {
    context.fail(std::string(error.what()));
  }
  // Who answers last answers alone.
  [[maybe_unused]] static const auto* const alone = new idletune::cli::Uninterrupted;
  context.finish(line.usage_error());
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && context.exit_status() == 0) context.fail(idletune::cli::kNotWritten);
  return context.exit_status();
}
