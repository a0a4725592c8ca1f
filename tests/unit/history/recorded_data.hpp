// Where tests find data: ours in tests/data, recorded measurements in the shared folder where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace idletune::test {

inline std::string test_data(const std::string& name) {
  const char* folder = std::getenv("IDLETUNE_TEST_DATA");
  return (folder != nullptr ? std::string(folder) : std::string(IDLETUNE_TEST_DATA_FOLDER)) + "/" + name;
}

inline std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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
