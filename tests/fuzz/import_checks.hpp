// What must hold of whatever an importer made of hostile bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "models/host/history/export.hpp"
#include "models/host/history/import.hpp"

namespace idletune::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline Result<std::vector<History>> listed(Result<History> history) {
  if (!history.ok()) return history.status();
  return std::vector<History>{std::move(*history)};
}

// The history survives its own file; both exports are read back with the same measurements.
inline void check_history(const History& history) {
  const auto bytes = write_history(history);
  const auto read = read_history(bytes, "again");
  require(read.ok() && *read == history);
  (void)space_of(history);

  const auto t4 = export_t4(history);
  require(t4.ok());
  const auto from_t4 = import_t4(*t4, "k-d.t4.json");
  require(from_t4.ok() && from_t4->status == history.status && from_t4->samples == history.samples);
  for (std::size_t row = 0; row < history.rows(); ++row) {
    require(from_t4->configuration(row) == history.configuration(row));
    require(!history.correct(row) || from_t4->run_time[row] == history.run_time[row]);
  }
  const auto cache = export_kernel_tuner(history);
  require(cache.ok() || cache.code() == StatusCode::unsupported);
  if (cache.ok()) require(import_kernel_tuner(*cache, "k-d.json")->rows() == history.rows());
}

// An error is one line that names the file; histories are sound.
inline void check_imported(const Result<std::vector<History>>& histories, const std::string& path) {
  if (!histories.ok()) {
    const std::string message = histories.status().message();
    require(message.find('\n') == std::string::npos && message.find(path) != std::string::npos);
    return;
  }
  require(!histories->empty());
  for (const History& history : *histories) check_history(history);
}

}  // namespace idletune::fuzz
