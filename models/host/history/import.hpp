// Reading the tuning results of other tools. Host side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/history/history.hpp"

namespace idletune {

struct ImportOptions {
  std::string kernel;                              // if not empty: instead of the name in the file
  std::string device;                              // likewise
  std::size_t limit_bytes = std::size_t{1} << 30;  // of the unpacked file
};

// The histories in a file of any known format (plain or gzip); `path` is for messages and, where
// the file does not name its device, for guessing it. Whatever had to be guessed, dropped or mended
// is in History::warnings. Errors: corrupt (names file and place), unsupported (no known format),
// out_of_memory (beyond the limit).
Result<std::vector<History>> import_histories(Bytes bytes, const std::string& path,
                                              const ImportOptions& options = {});

// Gives a file's histories the names that the options have. Error: invalid_argument if they are of
// several kernels, of which one would become.
Status name_histories(std::vector<History>& histories, const std::string& path,
                      const ImportOptions& options);

// The single formats, from text. `path` as above. What each of them does with which wart is said in
// models/host/history/README.md.

// A Kernel Tuner cache. Times there are milliseconds.
Result<History> import_kernel_tuner(std::string_view json, const std::string& path,
                                    const ImportOptions& options = {});

// Results in the T4 format of the autotuning community. Times are in metadata.timeunit.
Result<History> import_t4(std::string_view json, const std::string& path,
                          const ImportOptions& options = {});

// Results of KTT 2.x as its serializers write them; one history per kernel name.
Result<std::vector<History>> import_ktt_json(std::string_view json, const std::string& path,
                                             const ImportOptions& options = {});
Result<std::vector<History>> import_ktt_xml(std::string_view xml, const std::string& path,
                                            const ImportOptions& options = {});

// What CLBlast's tuners (clblast_tuner_*) write; one history per kernel name. Milliseconds.
Result<std::vector<History>> import_clblast(std::string_view json, const std::string& path,
                                            const ImportOptions& options = {});

}  // namespace idletune
