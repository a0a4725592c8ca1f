// What CLBlast's tuners (clblast_tuner_*, and CLTune before them) write: one JSON object with texts
// about device and problem, and "results", a list of {"kernel", "time", "parameters"}.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/host/history/emulated.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/history/import.hpp"
#include "models/host/history/json_cells.hpp"
#include "models/host/history/json_stream.hpp"
#include "models/host/history/source_name.hpp"
#include "models/host/history/time_unit.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

// What makes the shape, in this order, as far as the file has them.
constexpr const char* kSizes[] = {
    "arg_m",     "arg_n",        "arg_k",        "arg_channels",    "arg_height",
    "arg_width", "arg_kernel_h", "arg_kernel_w", "arg_num_kernels", "arg_batch_count"};

class ClblastImporter {
 public:
  ClblastImporter(const std::string& path, const ImportOptions& options)
      : path_(path), options_(options) {}
  Status header(const std::string& key, Json&& value) {
    header_[key] = std::move(value);
    return Status();
  }
  Status record(const Json& result);
  Result<std::vector<History>> finish(bool torn);

 private:
  Status fill_header(const std::string& kernel, HistoryBuilder& builder) const;
  void fill_shape(HistoryBuilder& builder) const;
  std::string text(const char* key) const {
    const auto found = header_.find(key);
    if (found == header_.end()) return "";
    return found->is_string() ? found->get<std::string>() : json_text(*found);
  }

  std::string path_;
  ImportOptions options_;
  Json header_ = Json::object();
  std::vector<std::string> order_;  // of the kernels
  std::map<std::string, std::unique_ptr<HistoryBuilder>> kernels_;
};

Status ClblastImporter::record(const Json& result) {
  const auto corrupt = [](const char* what) { return Status(StatusCode::corrupt, what); };
  if (!result.is_object()) return corrupt("a result that is no object");
  const auto parameters = result.find("parameters");
  if (parameters == result.end() || !parameters->is_object())
    return corrupt("a result without \"parameters\"");
  const auto kernel = result.find("kernel");
  const std::string name =
      kernel != result.end() && kernel->is_string() ? kernel->get<std::string>() : "";
  if (name.empty()) return corrupt("a result without \"kernel\"");
  std::unique_ptr<HistoryBuilder>& builder = kernels_[name];
  if (builder == nullptr) {
    if (kernels_.size() > kMaxImportedKernels) return corrupt("more than 64 kernels in one file");
    builder = std::make_unique<HistoryBuilder>();
    order_.push_back(name);
  }
  ImportedRow row;
  for (const auto& [parameter, value] : parameters->items())
    row.parameters.emplace_back(parameter, value);
  const auto time = result.find("time");
  if (time == result.end() || !row.set_time(*time, kFailureTime_ms)) {
    row.status = TrialStatus::runtime;
    builder->met(
        "with a time that is none (0: too short for CLBlast's three digits, negative, huge, a "
        "word): failed (runtime)");
  }
  for (const auto& [key, value] : result.items()) {
    if (key != "kernel" && key != "time" && key != "parameters")
      row.extras.emplace_back(key, value);
  }
  return builder->add(std::move(row));
}

void ClblastImporter::fill_shape(HistoryBuilder& builder) const {
  Shape shape;
  for (const char* key : kSizes) {
    const std::string value = text(key);
    if (value.empty()) continue;
    const Json parsed = Json::parse(value, nullptr, false);
    if (!is_whole_number(parsed) || shape.size() == kMaxDimensions) {
      builder.warn(std::string("its sizes are no list of up to 8 integers (") + key + " is " +
                   shown(value) + "): left out");
      return;
    }
    shape.push_back(parsed.get<std::int64_t>());
  }
  builder.history().shape = shape;
}

Status ClblastImporter::fill_header(const std::string& kernel, HistoryBuilder& builder) const {
  History& history = builder.history();
  history.nanoseconds_per_unit = kMillisecond;
  history.kernel = kernel;
  set_device(text("clblast_device_name"), options_.device, history);
  if (history.device.empty()) history.device = text("device");
  if (!names_a_device(history.device)) {
    return Status(StatusCode::corrupt,
                  path_ + ": no device name (\"clblast_device_name\" or \"device\")");
  }
  history.driver = text("platform_version");
  fill_shape(builder);
  history.notes.emplace_back("clblast.header", json_text(header_));
  builder.warn(
      "CLBlast's tuners do not record what failed: configurations that are not here may have "
      "failed");
  return Status();
}

Result<std::vector<History>> ClblastImporter::finish(bool torn) {
  if (order_.empty()) return Status(StatusCode::corrupt, path_ + ": no measurement in \"results\"");
  std::vector<History> histories;
  for (const std::string& name : order_) {
    HistoryBuilder& builder = *kernels_[name];
    if (Status status = fill_header(name, builder); !status.ok()) return status;
    if (torn) builder.torn();
    histories.push_back(builder.finish());
  }
  return histories;
}

}  // namespace

Result<std::vector<History>> import_clblast(std::string_view json, const std::string& path,
                                            const ImportOptions& options) {
  ClblastImporter importer(path, options);
  JsonStreamCalls calls;
  calls.member = [&](const std::string& key, Json&& value) {
    return importer.header(key, std::move(value));
  };
  calls.element = [&](const std::string&, Json&& value) { return importer.record(value); };
  const Result<JsonStreamResult> streamed = stream_json(json, path, "results", calls);
  if (!streamed.ok()) return streamed.status();
  return importer.finish(streamed->torn);
}

}  // namespace idletune
