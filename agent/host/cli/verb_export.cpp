// idletune export H --format t4|kernel-tuner -o F: a history in the ecosystem's formats.

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/host/history/export.hpp"

namespace idletune::cli {

namespace {

struct ExportArguments {
  std::string history;
  std::string format;
  std::string output;
  std::string kernel;
  std::size_t problem = 0;  // from 1; 0: not said
};

// The one history of the file, of those of that kernel, or of these that problem.
Result<History> chosen_history(const ExportArguments& arguments) {
  auto histories = must(load_histories(arguments.history));
  std::vector<History*> wanted;
  std::set<std::string> kernels;
  for (History& history : histories) {
    kernels.insert(history.kernel);
    if (arguments.kernel.empty() || history.kernel == arguments.kernel) wanted.push_back(&history);
  }
  if (arguments.problem > 0 && arguments.problem <= wanted.size())
    return std::move(*wanted[arguments.problem - 1]);
  if (arguments.problem == 0 && wanted.size() == 1) return std::move(*wanted[0]);
  const std::string names = listed(kernels);
  const bool several = kernels.size() > 1 && arguments.kernel.empty();
  return Status(
      StatusCode::invalid_argument,
      arguments.history + ": holds " + std::to_string(wanted.size()) + " problems of " +
          (arguments.kernel.empty() ? names : arguments.kernel) + "; choose with " +
          (several || wanted.empty() ? "--kernel and --problem" : "--problem") +
          (wanted.empty() ? " among those of " + names : " 1 to " + std::to_string(wanted.size())));
}

void run_export(const ExportArguments& arguments, CliContext& context) {
  const auto history = must(chosen_history(arguments));
  const bool t4 = arguments.format == "t4";
  const auto text =
      must_of(arguments.history, t4 ? export_t4(history) : export_kernel_tuner(history));
  if (!context.write({{arguments.output, FileKind::measurements, bytes_of(text)}})) return;
  if (!context.json()) {
    return context.print_paragraph(
        arguments.output + ": " +
        report::counted(history.rows(), "configuration", "configurations") + " of " +
        history.kernel + " on " + history.device);
  }
  context.print_json({{"file", arguments.output},
                      {"format", arguments.format},
                      {"kernel", history.kernel},
                      {"device", history.device},
                      {"configurations", history.rows()},
                      {"bytes", text.size()}});
}

}  // namespace

void add_export_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ExportArguments>();
  Verb verb = line.add_verb("export", "writes a history in another tuner's format");
  verb.required("history", arguments->history, "An .ithistory file, or anything that import knows");
  verb.required("--format", arguments->format, "t4 or kernel-tuner").one_of({"t4", "kernel-tuner"});
  verb.required("-o,--output", arguments->output, "The file to write (JSON)")
      .writes(FileKind::measurements);
  verb.option("--kernel NAME", arguments->kernel, "Which one, of a file with several kernels");
  verb.option("--problem N", arguments->problem, "Which one, of several").at_least(1);
  verb.example("export gemm.ithistory --format t4 -o gemm.json");
  verb.runs([arguments, &context] { run_export(*arguments, context); });
}

}  // namespace idletune::cli
