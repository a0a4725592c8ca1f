// Where tests find data: ours in tests/data, recorded measurements in the shared folder where it
// is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/host/history/import.hpp"
#include "tests/paths.hpp"
#include "tests/unit/skip.hpp"

namespace idletune::test {

inline std::string test_data(const std::string& name) {
  const char* folder = std::getenv("IDLETUNE_TEST_DATA");
  return (folder != nullptr ? std::string(folder) : std::string(IDLETUNE_TEST_DATA_FOLDER)) + "/" +
         name;
}

inline std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The one history of a file of ours; where the file names no device it is "Board Nine".
inline History import_one(const std::string& name) {
  const std::string path = test_data(name);
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  auto histories = import_histories(bytes, path);
  ImportOptions options;
  options.device = "Board Nine";
  if (!histories.ok()) histories = import_histories(bytes, path, options);
  REQUIRE_MESSAGE(histories.ok(), histories.status().message());
  REQUIRE(histories->size() == 1);
  return std::move(histories->front());
}

inline const CellColumn& extra(const History& history, const std::string& name) {
  for (const CellColumn& column : history.extras) {
    if (column.name() == name) return column;
  }
  FAIL("no extra column " << name);
  return history.extras.front();
}

inline std::string note(const History& history, const std::string& key) {
  for (const auto& [name, text] : history.notes) {
    if (name == key) return text;
  }
  FAIL("no note " << key);
  return "";
}

inline constexpr const char* kNoRecordedData = "no recorded data (IDLETUNE_SHARED)";

// The recorded caches in data/tuning/<folder>, sorted; none without the shared folder.
inline std::vector<std::string> recorded_caches(const std::string& folder) {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  std::vector<std::string> paths;
  if (shared == nullptr || *shared == '\0') return paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(shared) + "/data/tuning/" + folder, error)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace idletune::test
