// idletune import F... -o DIR: any known format into .ithistory files.

#include <filesystem>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/journal/journal.hpp"
#include "models/host/insight/space_overlap.hpp"

namespace idletune::cli {

namespace {

struct ImportArguments {
  std::vector<std::string> files;
  std::string folder;
  bool together = false;
  bool emulated = false;
  ImportOptions options;
};

// "x/gemm-RTX_3090.json.gz" becomes "gemm-RTX_3090"; "boards/7/" and "boards/7/journal" become "7".
std::string stem_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string journal = std::string("/") + journal::kJournalName;
  if (path.size() > journal.size() && has_ending(path, journal))
    path.resize(path.size() - journal.size());
  std::string stem = path.substr(path.find_last_of('/') + 1);
  std::error_code error;
  if (stem == "." || stem == "..") stem = std::filesystem::canonical(path, error).filename();
  for (const char* ending : {".gz", ".json", ".xml", ".ithistory"}) {
    const std::size_t length = std::strlen(ending);
    if (stem.size() > length && has_ending(stem, ending)) stem.resize(stem.size() - length);
  }
  return stem;
}

// Imports one file after the other. Each is read, converted and only then written, so that a bad
// one leaves nothing behind; the others are imported all the same.
class Import {
 public:
  Import(const ImportArguments& arguments, CliContext& context)
      : arguments_(arguments),
        context_(context),
        progress_("import", arguments.files.size(), context.json()) {}

  void run() {
    for (const std::string& file : arguments_.files) {
      if (interrupted()) {
        context_.stopped("stopped before " + file);
        break;
      }
      progress_.update(done_++, file);
      attempt(file, [&] {
        for (const std::string& one : must(history_files({file}))) attempt(one, [&] { take(one); });
      });
      context_.keep_part([&context = context_, table = table_, part = answer(false)] {
        context.json() ? context.print_json(part) : context.print(table);
      });
    }
    progress_.update(done_);
    attempt(arguments_.folder, [&] { write(problems_together(std::move(gathered_)), ""); });
    if (context_.json()) return context_.print_json(answer(done_ == arguments_.files.size()));
    if (!entries_.empty()) context_.print(table_);
  }

 private:
  json answer(bool complete) const {
    return {{"histories", entries_}, {"refused", refused_}, {"complete", complete}};
  }

  // Whoever fails is refused, and nothing else.
  void attempt(const std::string& file, const std::function<void()>& work) {
    try {
      work();
    } catch (const Failure& failure) {
      context_.fail(failure.status());
      refused_.push_back({{"file", file}, {"error", failure.status().message()}});
    }
  }

  void take(const std::string& file) {
    auto bytes = must(read_file(file_behind(file), kMaxFileBytes));
    auto histories = must(import_named(bytes, file, arguments_.options));
    must(check_measured(histories, file, arguments_.emulated));
    bytes.clear();
    bytes.shrink_to_fit();
    if (!arguments_.together) return write(problems_together(std::move(histories)), file);
    for (History& history : histories) gathered_.push_back(std::move(history));
  }

  // One file for each group. Everything is converted before anything is written.
  void write(const std::vector<std::vector<History>>& groups, const std::string& file) {
    if (groups.empty()) return;
    std::vector<std::vector<std::uint8_t>> packed;
    packed.reserve(groups.size());
    for (const auto& group : groups) packed.push_back(write_histories(group));
    must(make_folders(arguments_.folder));
    std::vector<Output> outputs;
    for (std::size_t i = 0; i < packed.size(); ++i) {
      const History& first = groups[i].front();
      const std::string output =
          file.empty()
              ? output_path(file_name_part(first.kernel), "-" + file_name_part(first.device))
              : output_path(file, packed.size() > 1 ? "-" + file_name_part(first.kernel) : "");
      check_replacing(output, groups[i]);
      outputs.push_back({output, FileKind::history, packed[i]});
    }
    if (!context_.write(outputs)) {
      refused_.push_back({{"file", file.empty() ? arguments_.folder : file},
                          {"error", "what it became was not written"}});
      return;
    }
    for (std::size_t i = 0; i < packed.size(); ++i) {
      for (const History& history : groups[i]) add(history, file, outputs[i].path);
    }
  }

  // An earlier import's file is replaced only where nothing is lost: this one has its rows, too.
  void check_replacing(const std::string& output, const std::vector<History>& group) const {
    if (context_.insists() || file_stamp(output) == 0) return;
    for (const History& old : must(load_histories(output))) {
      const bool again = std::any_of(group.begin(), group.end(), [&](const History& history) {
        return same_kernel(history, old) && history.device == old.device && has_rows(history, old);
      });
      if (again) continue;
      throw Failure(
          StatusCode::invalid_argument,
          "%: holds % % on %, which would be lost: name another folder (--force replaces it)",
          output, old.kernel, report::shape_text(old.shape), old.device);
    }
  }

  static bool has_rows(const History& history, const History& old) {
    const ConfigurationSet there(history);
    const RowKeys keys(old);
    std::size_t row = 0;
    while (row < old.rows() && there.has(keys.key(row))) ++row;
    return row == old.rows() && history.rows() >= row;
  }

  // A name in the folder that this run has not used yet.
  std::string output_path(const std::string& source, const std::string& ending) {
    const std::string base = arguments_.folder + "/" + stem_of(source) + ending;
    std::string path = base + ".ithistory";
    for (int n = 2; !used_.insert(path).second; ++n)
      path = base + "-" + std::to_string(n) + ".ithistory";
    return path;
  }

  void add(const History& history, const std::string& file, const std::string& output) {
    entries_.push_back(history_entry(history, output));
    table_.add_row({history.kernel, history.device, report::shape_text(history.shape),
                    std::to_string(history.rows()),
                    std::to_string(history.count(TrialStatus::correct)), output});
    if (context_.json()) return;
    for (const std::string& warning : history.warnings) {
      context_.warn(file.empty() ? output : file, warning);
    }
  }

  const ImportArguments& arguments_;
  CliContext& context_;
  Progress progress_;
  std::size_t done_ = 0;
  std::vector<History> gathered_;
  std::set<std::string> used_;
  json entries_ = json::array();
  json refused_ = json::array();
  TextTable table_{{"kernel", "device", "problem", ">configurations", ">correct", "file"}};
};

}  // namespace

void add_import_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ImportArguments>();
  Verb verb =
      line.add_verb("import", "turns other tuners' results and boards' journals into histories");
  verb.required("files", arguments->files,
                "Kernel Tuner caches, T4 results, KTT results (JSON, XML), CLBlast tuner results, "
                "also .gz; state folders of boards, or their journals. One that cannot be read is "
                "named, and the others are imported");
  verb.required("-o,--output", arguments->folder, "Folder for the histories; made if missing")
      .writes_below(/*replaces=*/true);
  verb.option("--kernel NAME", arguments->options.kernel,
              "Kernel's name instead of the one in the files");
  verb.option("--device NAME", arguments->options.device,
              "Device's name instead of the one in the files");
  verb.flag("--together", arguments->together,
            "Those of one kernel and device from all files into one, problem beside problem");
  add_emulated(verb, arguments->emulated);
  verb.example("import results/*.json.gz -o histories");
  verb.runs([arguments, &context] {
    const KeepsPart keeps(KeepsPart::Patience::a_second);
    Import(*arguments, context).run();
  });
}

}  // namespace idletune::cli
