#include "agent/cli/histories.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/explore/journal_history.hpp"
#include "agent/journal/journal.hpp"
#include "models/core/digest.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

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
  for (History& history : *histories) {
    if (!options.kernel.empty()) history.kernel = options.kernel;
    if (!options.device.empty()) history.device = options.device;
  }
  return histories;
}

Result<std::vector<History>> load_histories(const std::string& path) {
  const Result<std::vector<std::uint8_t>> bytes = read_file(file_behind(path), kMaxFileBytes);
  if (!bytes.ok()) return bytes.status();
  if (!is_history_file(*bytes)) return import_named(*bytes, path);
  return read_histories(*bytes, path);
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
      if (entry->path().extension() == ".ithistory") found.push_back(entry->path().string());
    }
    if (error) return Status(StatusCode::io_error, "reading '" + path + "': " + error.message());
    if (found.empty()) {
      return Status(StatusCode::not_found, "the folder '" + path + "' holds no *.ithistory");
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Status expand_folders(std::vector<std::string>& paths) {
  Result<std::vector<std::string>> files = history_files(paths);
  if (files.ok()) paths = std::move(*files);
  return files.status();
}

Result<std::vector<History>> load_histories(const std::vector<std::string>& paths) {
  const Result<std::vector<std::string>> files = history_files(paths);
  if (!files.ok()) return files.status();
  std::vector<History> all;
  for (const std::string& path : *files) {
    Result<std::vector<History>> loaded = load_histories(path);
    if (!loaded.ok()) return loaded.status();
    for (History& history : *loaded) all.push_back(std::move(history));
  }
  return all;
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

nlohmann::json problem_object(const History& history) {
  nlohmann::json object = nlohmann::json::object();
  const bool named = history.inputs.size() == history.shape.input_count();
  for (std::size_t i = 0; named && i < history.inputs.size(); ++i) {
    object[history.inputs[i]] = i < history.shape.size() ? nlohmann::json(history.shape[i])
                                                         : nlohmann::json(history.shape.input(i));
  }
  return object;
}

nlohmann::json history_entry(const History& history, const std::string& file) {
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
          {"problem", problem_object(history)},
          {"configurations", history.rows()},
          {"correct", history.count(TrialStatus::correct)},
          {"failed", failed},
          {"warnings", history.warnings}};
}

}  // namespace idletune::cli
