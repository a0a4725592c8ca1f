// What the verbs that read histories share.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <idletune/result.hpp>

#include "models/history/history.hpp"

namespace idletune::cli {

// The histories in a file: our own format, or whatever import_histories knows.
Result<std::vector<History>> load_histories(const std::string& path);

// All of them, in the order of the paths; the first failure ends it.
Result<std::vector<History>> load_histories(const std::vector<std::string>& paths);

// What `import` and `explore` answer about a history in `file`: kernel, device, counts, warnings.
nlohmann::json history_entry(const History& history, const std::string& file);

}  // namespace idletune::cli
