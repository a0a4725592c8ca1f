#include "models/history/import.hpp"

#include "models/history/compression.hpp"

namespace idletune {

namespace {

// Whether the text is a JSON object that speaks of tuning parameters before its first measurement.
bool looks_like_kernel_tuner(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string::npos && text[start] == '{' &&
         text.find("\"tune_params_keys\"") != std::string::npos;
}

}  // namespace

Result<std::vector<History>> import_histories(Bytes bytes, const std::string& path,
                                              const ImportOptions& options) {
  Result<Gunzipped> unpacked = gunzip(bytes, options.limit_bytes, path);
  if (!unpacked.ok()) return unpacked.status();
  if (!looks_like_kernel_tuner(unpacked->text)) {
    return Status(StatusCode::unsupported,
                  path + ": no known format (expected a Kernel Tuner cache: a JSON object with "
                         "\"tune_params_keys\" and \"cache\")");
  }
  Result<History> history = import_kernel_tuner(unpacked->text, path, options);
  if (!history.ok()) return history.status();
  if (unpacked->truncated) {
    history->warnings.push_back("the compressed file is cut short or damaged: read what came before");
  }
  std::vector<History> histories;
  histories.push_back(std::move(*history));
  return histories;
}

}  // namespace idletune
