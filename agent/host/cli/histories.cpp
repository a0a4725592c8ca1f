#include "agent/host/cli/histories.hpp"

#include <filesystem>

#include "agent/host/report/numbers.hpp"

#include "agent/host/explore/journal_history.hpp"
#include "agent/journal/journal.hpp"
#include "models/host/history/emulated.hpp"

namespace idletune::cli {

namespace {

bool is_history_file(Bytes bytes) {
  return bytes.size() >= 8 && std::string(bytes.begin() + 4, bytes.begin() + 8) == "ITH1";
}

}  // namespace

std::string file_behind(const std::string& path) {
  const std::string journal = path + "/" + journal::kJournalName;
  return file_stamp(journal) != 0 ? journal : path;
}

Result<std::vector<History>> import_named(Bytes bytes, const std::string& path,
                                          const ImportOptions& options) {
  if (!explore::is_journal(bytes)) return import_histories(bytes, path, options);
  Result<std::vector<History>> histories = explore::histories_of_journal(bytes, path);
  if (!histories.ok()) return histories;
  if (Status status = name_histories(*histories, path, options); !status.ok()) return status;
  return histories;
}

Result<std::vector<std::string>> history_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error) || file_behind(path) != path) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto entry = fs::directory_iterator(path, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().string();
      if (entry->path().extension() == ".ithistory" || file_behind(name) != name)
        found.push_back(name);
    }
    if (error) return Status(StatusCode::io_error, "reading '" + path + "': " + error.message());
    if (found.empty()) {
      return Status(
          StatusCode::not_found,
          "the folder '" + path + "' holds neither *.ithistory nor folders with a journal");
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void warn_unfit(std::size_t histories, const CliContext& context) {
  if (histories == 0) return;
  const std::string are = histories == 1 ? " history is" : " histories are";
  context.warn(std::to_string(histories) + are +
               " left out: of another kernel, device or space than the first one");
}

std::vector<const History*> pointers_to(const std::vector<History>& histories) {
  std::vector<const History*> pointers;
  pointers.reserve(histories.size());
  for (const History& history : histories) pointers.push_back(&history);
  return pointers;
}

Argument add_emulated(Verb verb, bool& emulated) {
  return verb.flag("--emulated", emulated,
                   "Also take histories of emulated devices, whose times nobody measured");
}

Status check_measured(const std::vector<History>& histories, const std::string& path,
                      bool emulated) {
  for (const History& history : histories) {
    const Status status = emulated ? Status() : check_measured(history);
    if (!status.ok()) return {status.code(), "%: %", path, status.message()};
  }
  return Status();
}

Result<std::vector<History>> load_file(const std::string& path, bool emulated) {
  const auto bytes = must(read_file(file_behind(path), kMaxFileBytes));
  auto histories =
      must(is_history_file(bytes) ? read_histories(bytes, path) : import_named(bytes, path));
  must(check_measured(histories, path, emulated));
  return histories;
}

Result<LoadedHistories> load_with_files(const std::vector<std::string>& paths, bool emulated) {
  LoadedHistories all;
  for (const std::string& path : must(history_files(paths))) {
    for (History& history : must(load_file(path, emulated)))
      all.histories.push_back(std::move(history));
    all.files.resize(all.histories.size(), path);
  }
  return all;
}

Result<std::vector<History>> load_histories(const std::string& path) {
  return load_histories(std::vector<std::string>{path});
}

Result<std::vector<History>> load_histories(const std::vector<std::string>& paths, bool emulated) {
  return std::move(must(load_with_files(paths, emulated)).histories);
}

namespace {

// Whatever occurs more than once gets more behind it.
template <class More>
void tell_apart(std::vector<std::string>& names, const More& more) {
  std::map<std::string, std::size_t> seen;
  for (const std::string& name : names) ++seen[name];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen[names[i]] > 1) names[i] += more(i);
  }
}

}  // namespace

std::vector<std::string> target_names(const LoadedHistories& loaded) {
  std::vector<std::string> names = loaded.files;
  const auto shape = [&](std::size_t i) {
    return " " + report::shape_text(loaded.histories[i].shape);
  };
  tell_apart(names, shape);
  tell_apart(names, [&](std::size_t i) { return " " + loaded.histories[i].kernel; });
  std::map<std::string, std::size_t> seen;
  tell_apart(names, [&](std::size_t i) { return " #" + std::to_string(++seen[names[i]]); });
  return names;
}

std::vector<std::string> problem_column(const LoadedHistories& loaded) {
  std::vector<std::string> rows;
  std::vector<std::string> texts;
  for (const History& history : loaded.histories) {
    rows.push_back(history.kernel + "\n" + history.device + "\n");
    texts.push_back(report::shape_text(history.shape));
  }
  if (std::set<std::string>(rows.begin(), rows.end()).size() == rows.size()) return {};
  std::map<std::string, std::size_t> seen;
  const auto row = [&](std::size_t i) { return rows[i] + texts[i]; };
  for (std::size_t i = 0; i < rows.size(); ++i) ++seen[row(i)];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& file = loaded.files[i];
    if (seen[row(i)] > 1) texts[i] += " " + file.substr(file.rfind('/') + 1);
  }
  return texts;
}

std::vector<std::string> with_problem(const std::vector<std::string>& problems,
                                      std::vector<std::string> columns) {
  if (!problems.empty()) columns.insert(columns.begin() + 2, "problem");
  return columns;
}

std::vector<std::string> with_problem(const std::vector<std::string>& problems, std::size_t row,
                                      std::vector<std::string> cells) {
  if (!problems.empty())
    cells.insert(cells.begin() + 2, row < problems.size() ? problems[row] : "");
  return cells;
}

std::vector<std::vector<History>> problems_together(std::vector<History> histories) {
  std::vector<std::vector<History>> groups;
  std::vector<std::set<std::uint64_t>> problems;  // of each group
  for (History& history : histories) {
    const std::uint64_t problem = digest_of(history.shape);
    std::size_t g = 0;
    while (g < groups.size() &&
           (problems[g].count(problem) > 0 || !can_share_file(groups[g].front(), history))) {
      ++g;
    }
    if (g == groups.size()) {
      groups.emplace_back();
      problems.emplace_back();
    }
    problems[g].insert(problem);
    groups[g].push_back(std::move(history));
  }
  return groups;
}

json problem_object(const History& history) {
  json object = json::object();
  const bool named = history.inputs.size() == history.shape.input_count();
  for (std::size_t i = 0; named && i < history.inputs.size(); ++i) {
    object[history.inputs[i]] =
        i < history.shape.size() ? json(history.shape[i]) : json(history.shape.input(i));
  }
  return object;
}

json statuses_of(const History& history) {
  json statuses = json::object();
  for (std::size_t s = 0; s < kTrialStatusCount; ++s) {
    const auto status = static_cast<TrialStatus>(s);
    if (history.count(status) > 0) statuses[trial_status_name(status)] = history.count(status);
  }
  return statuses;
}

json history_entry(const History& history, const std::string& file) {
  json failed = statuses_of(history);
  failed.erase(trial_status_name(TrialStatus::correct));
  return joined(IDLETUNE_FIELDS(history, kernel, device, warnings),
                {{"file", file},
                 {"shape", report::shape_object(history.shape)},
                 {"problem", problem_object(history)},
                 {"configurations", history.rows()},
                 {"correct", history.count(TrialStatus::correct)},
                 {"failed", failed}});
}

}  // namespace idletune::cli
