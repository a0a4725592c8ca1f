#include "models/host/history/import.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "models/host/history/compression.hpp"
#include "models/host/history/emulated.hpp"

namespace idletune {

namespace {

enum class Format {
  history,
  kernel_tuner,
  t4,
  ktt_json,
  ktt_xml,
  clblast,
  parameters_only,
  unknown
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The keys of the top-level JSON object in the text, one after the other.
class TopLevelKeys {
 public:
  explicit TopLevelKeys(std::string_view text) : text_(text) {}
  // The next key; empty at the end. Does not judge whether the rest is JSON.
  std::string_view next() {
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '{' || c == '[') ++depth_;
      if (c == '}' || c == ']') --depth_;
      if (c != '"') continue;
      const std::string_view text = read_string();
      const std::size_t after = text_.find_first_not_of(" \t\r\n", position_ + 1);
      if (depth_ == 1 && after != std::string_view::npos && text_[after] == ':') {
        position_ = after;
        return text;
      }
    }
    return {};
  }
  std::string_view rest() const { return text_.substr(position_); }

 private:
  // Leaves the position at the closing quotation mark.
  std::string_view read_string() {
    const std::size_t begin = ++position_;
    while (position_ < text_.size() && text_[position_] != '"')
      position_ += text_[position_] == '\\' ? 2 : 1;
    if (position_ > text_.size()) position_ = text_.size();
    return text_.substr(begin, position_ - begin);
  }
  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

Format json_format(std::string_view text) {
  TopLevelKeys keys(text);
  for (std::string_view key = keys.next(); !key.empty(); key = keys.next()) {
    if (key == "tune_params_keys") return Format::kernel_tuner;
    if (key == "Results") return Format::ktt_json;
    if (key == "kernel_family" || key == "clblast_device_name") return Format::clblast;
    if (key == "sections") return Format::parameters_only;  // CLBlast's database of best results
    if (key == "results") {
      const std::size_t t4 = keys.rest().find("\"configuration\"");
      const std::size_t clblast = keys.rest().find("\"parameters\"");
      return clblast < t4 ? Format::clblast : Format::t4;
    }
    if (key == "schema_version" || key == "metadata") {
      // Also Kernel Tuner's later caches may say a schema_version.
      return has(keys.rest(), "\"tune_params_keys\"") ? Format::kernel_tuner : Format::t4;
    }
  }
  return Format::unknown;
}

Format format_of(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return Format::unknown;
  if (text.size() >= 8 && text.substr(4, 4) == "ITH1") return Format::history;
  if (text[start] == '{') return json_format(text.substr(start));
  if (text[start] == '<' && has(text, "<TuningData")) return Format::ktt_xml;
  constexpr std::string_view kBestParameters = "kernel,precision,device_type,";
  if (text.substr(start, kBestParameters.size()) == kBestParameters) return Format::parameters_only;
  return Format::unknown;
}

// One history as a list of one.
Result<std::vector<History>> listed(Result<History> history) {
  if (!history.ok()) return history.status();
  std::vector<History> histories;
  histories.push_back(std::move(*history));
  return histories;
}

Result<std::vector<History>> import_text(std::string_view text, const std::string& path,
                                         const ImportOptions& options) {
  switch (format_of(text)) {
    case Format::history:
      return read_histories(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                            path);
    case Format::kernel_tuner: return listed(import_kernel_tuner(text, path, options));
    case Format::t4: return listed(import_t4(text, path, options));
    case Format::ktt_json: return import_ktt_json(text, path, options);
    case Format::ktt_xml: return import_ktt_xml(text, path, options);
    case Format::clblast: return import_clblast(text, path, options);
    case Format::parameters_only:
      return Status(
          StatusCode::unsupported,
          path +
              ": best parameters without the measurements behind them (CLBlast's database): "
              "nothing that a history could hold");
    case Format::unknown: break;
  }
  return Status(
      StatusCode::unsupported,
      path +
          ": no known format (expected a Kernel Tuner cache, T4 results, KTT 2.x results in "
          "JSON or XML, CLBlast tuner results, or an .ithistory file)");
}

}  // namespace

Status name_histories(std::vector<History>& histories, const std::string& path,
                      const ImportOptions& options) {
  std::set<std::string> kernels;
  for (const History& history : histories) kernels.insert(history.kernel);
  if (!options.kernel.empty() && kernels.size() > 1) {
    return {StatusCode::invalid_argument, "%: holds % kernels, which cannot all be named '%'", path,
            std::to_string(kernels.size()), options.kernel};
  }
  for (History& history : histories) {
    if (!options.kernel.empty()) history.kernel = options.kernel;
    if (!options.device.empty()) set_device(history.device, options.device, history);
  }
  return Status();
}

Result<std::vector<History>> import_histories(Bytes bytes, const std::string& path,
                                              const ImportOptions& options) {
  std::string unpacked;
  const Result<Gunzipped> text = gunzip(bytes, options.limit_bytes, path, unpacked);
  if (!text.ok()) return text.status();
  Result<std::vector<History>> histories = import_text(text->text, path, options);
  if (!histories.ok()) return histories;
  if (Status status = name_histories(*histories, path, options); !status.ok()) return status;
  for (History& history : *histories) {
    if (!text->truncated) continue;
    history.warnings.push_back(
        "the compressed file is cut short or damaged: read what came before");
  }
  return histories;
}

}  // namespace idletune
