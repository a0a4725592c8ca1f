// Reading the tuning results of other tools. Host side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/history/history.hpp"

namespace idletune {

struct ImportOptions {
  std::string kernel;  // if not empty: instead of the name in the file
  std::string device;  // likewise
  std::size_t limit_bytes = std::size_t{1} << 30;  // of the unpacked file
};

// The histories in a file of any known format (plain or gzip); `path` is for messages and, where the
// file does not name its device, for guessing it. Whatever had to be guessed, dropped or mended is in
// History::warnings. Errors: corrupt (names file and place), unsupported (no known format),
// out_of_memory (beyond the limit).
Result<std::vector<History>> import_histories(Bytes bytes, const std::string& path,
                                              const ImportOptions& options = {});

// A Kernel Tuner cache (JSON text). Times there are milliseconds.
Result<History> import_kernel_tuner(const std::string& json, const std::string& path,
                                    const ImportOptions& options = {});

}  // namespace idletune
