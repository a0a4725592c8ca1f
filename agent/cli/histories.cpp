#include "agent/cli/histories.hpp"

#include <utility>

#include "models/history/import.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

bool is_history_file(Bytes bytes) {
  return bytes.size() >= 8 && std::string(bytes.begin() + 4, bytes.begin() + 8) == "ITH1";
}

}  // namespace

Result<std::vector<History>> load_histories(const std::string& path) {
  const Result<std::vector<std::uint8_t>> bytes = read_file(path, kMaxFileBytes);
  if (!bytes.ok()) return bytes.status();
  if (!is_history_file(*bytes)) return import_histories(*bytes, path);
  Result<History> history = read_history(*bytes, path);
  if (!history.ok()) return history.status();
  std::vector<History> histories;
  histories.push_back(std::move(*history));
  return histories;
}

Result<std::vector<History>> load_histories(const std::vector<std::string>& paths) {
  std::vector<History> all;
  for (const std::string& path : paths) {
    Result<std::vector<History>> loaded = load_histories(path);
    if (!loaded.ok()) return loaded.status();
    for (History& history : *loaded) all.push_back(std::move(history));
  }
  return all;
}

std::string to_text(const Shape& shape) {
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? "x" : "") + std::to_string(shape[i]);
  return text.empty() ? "-" : text;
}

}  // namespace idletune::cli
