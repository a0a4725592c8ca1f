// The golden kernel package of the test data.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/paths.hpp"
#include "tests/unit/package/sealing.hpp"

namespace idletune::test {

// Empty if the file cannot be read.
inline std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::vector<std::uint8_t> bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) bytes.push_back(static_cast<std::uint8_t>(c));
  std::fclose(file);
  return bytes;
}

inline std::vector<std::uint8_t> golden_package() {
  return read_bytes(std::string(IDLETUNE_TEST_DATA_FOLDER) + "/packages/saxpy_v1.itkernel");
}

}  // namespace idletune::test
