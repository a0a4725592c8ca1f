// idletune export H --format t4|kernel-tuner -o F: a history in the ecosystem's formats.
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/verbs.hpp"
#include "models/history/export.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

struct ExportArguments {
  std::string history;
  std::string format;
  std::string output;
  std::string kernel;
  std::size_t problem = 0;  // from 1; 0: not said
};

// The one history of the file, or the one of that kernel, or of that problem.
Result<History> chosen_history(const ExportArguments& arguments) {
  auto histories = load_histories(arguments.history);
  if (!histories.ok()) return histories.status();
  if (arguments.problem > 0) {
    if (arguments.problem <= histories->size())
      return std::move((*histories)[arguments.problem - 1]);
    return Status(StatusCode::invalid_argument, arguments.history + ": holds " +
                                                    std::to_string(histories->size()) +
                                                    " problems, expected a --problem from 1 on");
  }
  std::string names;
  History* chosen = nullptr;
  for (History& history : *histories) {
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + history.kernel;
    const bool wanted =
        arguments.kernel.empty() ? histories->size() == 1 : history.kernel == arguments.kernel;
    if (wanted) chosen = &history;
  }
  if (chosen != nullptr) return std::move(*chosen);
  return Status(StatusCode::invalid_argument, arguments.history + ": holds histories of " + names +
                                                  "; choose one with --kernel or --problem");
}

void run_export(const ExportArguments& arguments, CliContext& context) {
  const auto history = chosen_history(arguments);
  if (!history.ok()) return context.fail(history.status());
  const bool t4 = arguments.format == "t4";
  const auto text = t4 ? export_t4(*history) : export_kernel_tuner(*history);
  if (!text.ok())
    return context.fail(Status(text.code(), arguments.history + ": " + text.status().message()));
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(text->data()), text->size());
  if (Status status = write_file_atomically(arguments.output, bytes); !status.ok())
    return context.fail(status);
  if (!context.json()) {
    return context.print(arguments.output + ": " + std::to_string(history->rows()) +
                         " configurations of " + history->kernel + " on " + history->device);
  }
  context.print_json({{"file", arguments.output},
                      {"format", arguments.format},
                      {"kernel", history->kernel},
                      {"device", history->device},
                      {"configurations", history->rows()},
                      {"bytes", text->size()}});
}

}  // namespace

void add_export_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ExportArguments>();
  Verb verb = line.add_verb("export", "writes a history in another tuner's format");
  verb.option("history", arguments->history, "An .ithistory file, or anything that import knows")
      .required();
  verb.option("--format", arguments->format, "t4 or kernel-tuner")
      .value_name("NAME")
      .required()
      .one_of({"t4", "kernel-tuner"});
  verb.option("-o,--output", arguments->output, "The file to write (JSON)")
      .value_name("FILE")
      .required();
  verb.option("--kernel", arguments->kernel, "Which one, of a file with several kernels")
      .value_name("NAME");
  verb.option("--problem", arguments->problem, "Which one, of a file with several; from 1")
      .value_name("N")
      .positive();
  verb.example("export gemm.ithistory --format t4 -o gemm.json");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_export(*arguments, context); });
}

}  // namespace idletune::cli
