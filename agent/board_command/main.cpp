// idletune-board: what people and `idletune push` ask of a board.
#include <idletune/text.hpp>

#include <csignal>
#include <cstdio>

#include "agent/board_command/verbs.hpp"
#include "models/core/lists.hpp"

namespace idletune::board {
namespace {

constexpr Verb kVerbs[] = {
    {"devices", "", "", "lists what can compute here, as an agent sees it", list_devices, ""},
    {"status", "STATE", "", "tells what is adopted, and which models are confirmed and on trial",
     tell_status, "Changes nothing; the agent may be running.\n"},
    {"receive", "STATE [NAME]", "length digest", "takes a model from standard input", receive_model,
     "Into STATE/incoming, as pushed.itmodel or NAME: written beside, synced, renamed.\nWhat is "
     "cut off "
     "leaves nothing. --length N: so many bytes; --digest D: of its\ncontent, as status tells.\n"},
    {"confirm", "STATE", "", "says that the model on trial stays", confirm_model,
     "While no agent has the folder open: a running one is told by its application.\n"},
    {"reject", "STATE [WHY]", "", "goes back from the model on trial, for good", reject_model,
     "While no agent has the folder open: a running one is told by its application.\n"},
    {"journal", "STATE", "", "writes what was measured to standard output, for import",
     write_journal, "--json: only how much there is, and how much of its end is torn.\n"},
    {"explore", "PACKAGE STATE", "shape seconds backend device",
     "tunes a kernel now, for import and learn", explore_kernel,
     "--shape 256,256,256 (features behind a colon) is needed. --seconds N (60);\n--backend opencl "
     "or cuda; "
     "--device N, as devices lists them. Configurations are\ndrawn as the agent draws them without "
     "a model. "
     "What was measured is in STATE/journal.\n"},
    {"sensors", "", "sysfs", "tells heat, supply, load, clocks and power", tell_sensors,
     "--sysfs FOLDER stands in for /sys.\n"},
};

void print_usage(std::FILE* out) {
  std::fputs("usage: idletune-board VERB [--json] [--help] ...\n\n", out);
  for (const Verb& verb : kVerbs)
    std::fprintf(out, "  %-8s %-18s %s\n", verb.name, verb.words, verb.does);
  std::fputs("\nExit status: 0 done, 1 failed, 2 used wrongly.\n", out);
}

int print_help(const Verb& verb) {
  std::printf("usage: idletune-board %s %s [--json]\n\n%s %s.\n%s", verb.name, verb.words,
              verb.name, verb.does, verb.help);
  return 0;
}

int fail(int exit_status, const Status& status) {
  std::fprintf(stderr, "idletune-board: %s\n", printable(status.message()).c_str());
  return exit_status;
}

int run(const Verb& verb, const std::vector<std::string>& words) {
  const Result<Call> call = call_of(verb, words);
  if (!call.ok()) return fail(2, call.status());
  if (call->help) return print_help(verb);
  Facts answer(call->json);
  if (call->json) answer.count("schema_version", 1);
  Status status = verb.run(*call, answer);
  std::string text = answer.finish();
  if (call->json) text += '\n';
  if (status.ok() && !text.empty()) {
    status =
        write_to_standard_output({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  return status.ok() ? 0 : fail(1, status);
}

int answer(int count, char** words) {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);  // a reader who has gone is a failure to write
  const std::string name = count > 1 ? words[1] : "";
  if (name == "--help" || name == "-h") {
    print_usage(stdout);
    return 0;
  }
  if (name == "--version") {
    std::puts("idletune-board " IDLETUNE_VERSION);
    return 0;
  }
  std::vector<std::string> rest;
  for (int i = 2; i < count; ++i) push(rest, words[i]);
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return run(verb, rest);
  }
  if (count > 1)
    std::fprintf(stderr, "idletune-board: there is no verb '%s'\n\n", printable(name).c_str());
  print_usage(stderr);
  return 2;
}

int run_command(int count, char** words) {
  const int status = answer(count, words);
  if (status != 0) return status;
  const Status written = write_to_standard_output({});
  return written.ok() ? 0 : fail(1, written);
}

}  // namespace
}  // namespace idletune::board

int main(int count, char** words) { return idletune::board::run_command(count, words); }
