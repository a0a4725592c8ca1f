// What the verbs that read histories share.
#pragma once

#include "agent/host/cli/command_line.hpp"
#include "agent/host/cli/context.hpp"
#include "agent/host/cli/text_layout.hpp"
#include "models/host/history/import.hpp"

namespace idletune::cli {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

// Each path that is a folder replaced by the histories (*.ithistory) in it, by name; a board's
// state folder stays what it is. Errors: not_found if a folder has none; those of reading a folder.
Result<std::vector<std::string>> history_files(const std::vector<std::string>& paths);

// What one argument that the user named holds: a file of a format that import_histories knows, a
// journal, or a board's state folder with one. `bytes` are the file's.
Result<std::vector<History>> import_named(Bytes bytes, const std::string& path,
                                          const ImportOptions& options = {});
// The file behind such an argument: `path`, or the journal in the state folder of that path.
std::string file_behind(const std::string& path);

// --emulated: what fits a model takes histories of emulated devices only where the user says so.
Argument add_emulated(Verb verb, bool& emulated);
// Errors: unless `emulated` that of check_measured, with the path.
Status check_measured(const std::vector<History>& histories, const std::string& path,
                      bool emulated);

// The histories in a file: our own format, or whatever import_named knows.
Result<std::vector<History>> load_file(const std::string& path, bool emulated = true);

// All of them, in the order of the paths, which may be folders; the first failure ends it.
Result<std::vector<History>> load_histories(const std::string& path);
Result<std::vector<History>> load_histories(const std::vector<std::string>& paths,
                                            bool emulated = true);

// Says how many were left out since the first one is of another kernel, device or space.
void warn_unfit(std::size_t histories, const CliContext& context);

// In their order; valid as long as these stay where they are.
std::vector<const History*> pointers_to(const std::vector<History>& histories);

// The same, and where each is from.
struct LoadedHistories {
  std::vector<History> histories;
  std::vector<std::string> files;  // of each
};
Result<LoadedHistories> load_with_files(const std::vector<std::string>& paths,
                                        bool emulated = true);

// A name for each that no other one has: its file's, where that holds several with the problem.
std::vector<std::string> target_names(const LoadedHistories& loaded);
// Of a table of kernels and devices the column that tells its rows apart: the problem, and the file
// where that is not enough. Empty: kernel and device do.
std::vector<std::string> problem_column(const LoadedHistories& loaded);

// What `import` and `explore` answer about a history in `file`: kernel, device, counts, warnings.
// Names and values of its problem; empty where names are not known.
json problem_object(const History& history);
// How many rows have each of the statuses that occur.
json statuses_of(const History& history);

// Groups that can share a file, problems in order. Two histories of one problem (repeats) stay
// apart.
std::vector<std::vector<History>> problems_together(std::vector<History> histories);

// A table's columns or cells with that column behind kernel and device, where there is one.
std::vector<std::string> with_problem(const std::vector<std::string>& problems,
                                      std::vector<std::string> columns);
std::vector<std::string> with_problem(const std::vector<std::string>& problems, std::size_t row,
                                      std::vector<std::string> cells);

json history_entry(const History& history, const std::string& file);

// --threshold and --probability: what is looked for, and how surely.
inline Argument add_threshold(Verb verb, double& threshold, double least = 0) {
  return verb.option("--threshold", threshold, "Relative performance that counts as good")
      .between(least, 1.0);
}
inline Argument add_probability(Verb verb, double& probability) {
  return verb.option("--probability", probability, "Wanted probability of finding a good one")
      .between(0.0, 0.999999999);
}

}  // namespace idletune::cli
