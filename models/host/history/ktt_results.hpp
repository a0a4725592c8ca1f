// KTT's results, whichever of its serializers wrote them: both readers give them as the JSON that
// the JSON serializer writes. Host side.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

#include "models/host/history/history_builder.hpp"
#include "models/host/history/import.hpp"

namespace idletune {

class KttResults {
 public:
  using Json = nlohmann::ordered_json;
  KttResults(const std::string& path, const ImportOptions& options)
      : path_(path), options_(options) {}

  // "Metadata": device, unit of time, ... Given before the results, if there is any.
  void metadata(Json value);
  bool has_metadata() const { return !metadata_.empty(); }
  // "UserData": an object of texts.
  void user_data(Json value) { user_data_ = std::move(value); }
  // One element of "Results". Errors: corrupt, without path or place; those of HistoryBuilder::add.
  Status result(const Json& result);
  // One history per kernel. Errors name the path.
  Result<std::vector<History>> finish(bool torn);

 private:
  struct Kernel {
    HistoryBuilder builder;
    std::map<std::string, std::string> parameter_types;
    std::map<std::string, std::string> counter_types;
    bool profiled = false;
    bool overheads_only = false;  // no CompilationOverhead
  };
  Result<Kernel*> kernel_of(const Json& result);
  Status add_parameters(const Json& configuration, Kernel& kernel, ImportedRow& row);
  void add_computation(const Json& computation, const std::string& prefix, Kernel& kernel,
                       ImportedRow& row);
  void add_profile(const Json& profile, const std::string& prefix, Kernel& kernel,
                   ImportedRow& row);
  void add_outcome(const Json& result, Kernel& kernel, ImportedRow& row);
  void add_compile_time(const Json& result, Kernel& kernel, ImportedRow& row);
  Status read_metadata(const std::string& name, Kernel& kernel) const;
  void read_user_data(Kernel& kernel) const;

  std::string path_;
  ImportOptions options_;
  Json metadata_ = Json::object();
  Json user_data_ = Json::object();
  double failure_time_ = kFailureTime_ms;  // in the file's unit
  std::vector<std::string> order_;         // of the kernels
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace idletune
