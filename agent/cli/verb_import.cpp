// idletune import F... -o DIR: any known format into .ithistory files.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "agent/cli/histories.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/verbs.hpp"
#include "models/history/import.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

struct ImportArguments {
  std::vector<std::string> files;
  std::string folder;
  ImportOptions options;
};

// "x/gemm-RTX_3090.json.gz" becomes "gemm-RTX_3090".
std::string stem_of(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  for (const char* ending : {".gz", ".json", ".ithistory"}) {
    const std::string suffix(ending);
    if (stem.size() > suffix.size() &&
        stem.compare(stem.size() - suffix.size(), suffix.size(), suffix) == 0) {
      stem.resize(stem.size() - suffix.size());
    }
  }
  return stem;
}

// A name in the folder that this run has not used yet.
std::string output_path(const ImportArguments& arguments, const std::string& source,
                        std::set<std::string>& used) {
  const std::string base = arguments.folder + "/" + stem_of(source);
  std::string path = base + ".ithistory";
  for (int n = 2; !used.insert(path).second; ++n)
    path = base + "-" + std::to_string(n) + ".ithistory";
  return path;
}

nlohmann::json describe(const History& history, const std::string& file) {
  nlohmann::json failed = nlohmann::json::object();
  for (std::size_t s = 1; s < kTrialStatusCount; ++s) {
    const auto status = static_cast<TrialStatus>(s);
    if (history.count(status) > 0) failed[trial_status_name(status)] = history.count(status);
  }
  return {{"file", file},
          {"kernel", history.kernel},
          {"device", history.device},
          {"shape",
           std::vector<std::int64_t>(history.shape.values().begin(), history.shape.values().end())},
          {"configurations", history.rows()},
          {"correct", history.count(TrialStatus::correct)},
          {"failed", failed},
          {"warnings", history.warnings}};
}

void run_import(const ImportArguments& arguments, CliContext& context) {
  mkdir(arguments.folder.c_str(), 0777);  // if it cannot be made, writing into it says why
  Progress progress("import", arguments.files.size(), context.json());
  nlohmann::json entries = nlohmann::json::array();
  TextTable table({{"kernel"},
                   {"device"},
                   {"shape"},
                   {"configurations", Align::right},
                   {"correct", Align::right},
                   {"file"}});
  std::set<std::string> used;
  std::size_t done = 0;
  for (const std::string& file : arguments.files) {
    if (interrupted()) break;
    progress.update(done++, file);
    const auto bytes = read_file(file, kMaxFileBytes);
    if (!bytes.ok()) return context.fail(bytes.status());
    const auto histories = import_histories(*bytes, file, arguments.options);
    if (!histories.ok()) return context.fail(histories.status());
    for (const History& history : *histories) {
      const std::string output = output_path(arguments, file, used);
      if (Status status = write_file_atomically(output, write_history(history)); !status.ok()) {
        return context.fail(status);
      }
      entries.push_back(describe(history, output));
      table.add_row({history.kernel, history.device, to_text(history.shape),
                     std::to_string(history.rows()),
                     std::to_string(history.count(TrialStatus::correct)), output});
      progress.clear();
      for (const std::string& warning : history.warnings) {
        if (!context.json()) context.warn(file + ": " + warning);
      }
    }
  }
  progress.clear();
  if (context.json()) return context.print_json({{"histories", entries}});
  context.print(table);
}

}  // namespace

void add_import_verb(CLI::App& app, CliContext& context) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* verb =
      app.add_subcommand("import", "Turns other tuners' results into .ithistory files");
  verb->add_option("files", arguments->files, "Kernel Tuner caches (.json, .json.gz)")->required();
  verb->add_option("-o,--output", arguments->folder, "Folder for the histories; made if missing")
      ->required();
  verb->add_option("--kernel", arguments->options.kernel,
                   "Kernel name, instead of the one in the files");
  verb->add_option("--device", arguments->options.device,
                   "Device name, instead of the one in the files");
  context.add_json_flag(*verb);
  verb->callback([arguments, &context] {
    catch_interrupts();
    run_import(*arguments, context);
  });
}

}  // namespace idletune::cli
