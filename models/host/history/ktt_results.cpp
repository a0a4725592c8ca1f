#include "models/host/history/ktt_results.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/host/history/json_cells.hpp"
#include "models/host/history/time_unit.hpp"

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

// KTT's name of an overhead, and the one it has in all histories.
struct Overhead {
  const char* ktt;
  const char* extra;
};
constexpr Overhead kOverheads[] = {{"SearcherOverhead", "strategy_time"},
                                   {"ValidationOverhead", "verification_time"},
                                   {"DataMovementOverhead", "data_movement_time"}};

double number_of(const Json& object, const char* key) {
  const Json* found = member_of(object, key);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

const Json& computations_of(const Json& result) {
  static const Json kEmpty = Json::array();
  const Json* computations = member_of(result, "ComputationResults");
  return computations != nullptr && computations->is_array() ? *computations : kEmpty;
}

TrialStatus status_from(const std::string& word, bool& known) {
  known = true;
  if (word == "Ok") return TrialStatus::correct;
  if (word == "CompilationFailed") return TrialStatus::compile;
  if (word == "ValidationFailed") return TrialStatus::correctness;
  // A limit of the device shows when the kernel is launched; KTT's own T4 writer says runtime, too.
  known = word == "ComputationFailed" || word == "DeviceLimitsExceeded";
  return TrialStatus::runtime;
}

}  // namespace

void KttResults::metadata(Json value) {
  metadata_ = std::move(value);
  const std::optional<TimeUnit> unit = time_unit_from(text_member(metadata_, "TimeUnit"));
  if (unit) failure_time_ = kFailureTime_ns / unit->nanoseconds;
}

Result<KttResults::Kernel*> KttResults::kernel_of(const Json& result) {
  const std::string name = text_member(result, "KernelName");
  if (name.empty()) return Status(StatusCode::corrupt, "a result without \"KernelName\"");
  std::unique_ptr<Kernel>& kernel = kernels_[name];
  if (kernel == nullptr) {
    if (kernels_.size() > kMaxImportedKernels)
      return Status(StatusCode::corrupt, "more than 64 kernels in one file");
    kernel = std::make_unique<Kernel>();
    order_.push_back(name);
  }
  return kernel.get();
}

Status KttResults::add_parameters(const Json& configuration, Kernel& kernel, ImportedRow& row) {
  for (const Json& pair : configuration) {
    const std::string name = text_member(pair, "Name");
    const Json* value = member_of(pair, "Value");
    if (name.empty() || value == nullptr) {
      return Status(StatusCode::corrupt,
                    "a pair of \"Configuration\" without \"Name\" or \"Value\"");
    }
    if (!kernel.builder.has_parameters() && !text_member(pair, "ValueType").empty()) {
      kernel.parameter_types[name] = text_member(pair, "ValueType");
    }
    row.parameters.emplace_back(name, *value);
  }
  return Status();
}

void KttResults::add_profile(const Json& profile, const std::string& prefix, Kernel& kernel,
                             ImportedRow& row) {
  for (const auto& [name, value] : profile.items()) {
    if (name != "Counters" || !value.is_array()) {
      row.extras.emplace_back(prefix + name, value);
      continue;
    }
    for (const Json& counter : value) {
      const std::string counted = text_member(counter, "Name");
      const Json* count = member_of(counter, "Value");
      if (counted.empty() || count == nullptr) continue;
      row.extras.emplace_back(prefix + "counter." + counted, *count);
      kernel.counter_types.emplace(counted, text_member(counter, "Type"));
      kernel.profiled = true;
    }
  }
}

void KttResults::add_computation(const Json& computation, const std::string& prefix, Kernel& kernel,
                                 ImportedRow& row) {
  if (!computation.is_object()) {
    row.extras.emplace_back(prefix + "result", computation);
    return;
  }
  for (const auto& [name, value] : computation.items()) {
    if (name == "ProfilingData" && value.is_object()) {
      add_profile(value, prefix, kernel, row);
    } else if (value.is_object()) {
      for (const auto& [part, part_value] : value.items()) {
        row.extras.emplace_back(prefix + name + "." + part, part_value);
      }
    } else {
      row.extras.emplace_back(prefix + name, value);
    }
  }
}

void KttResults::add_outcome(const Json& result, Kernel& kernel, ImportedRow& row) {
  const std::string word = text_member(result, "Status");
  bool known = true;
  row.status = status_from(word, known);
  if (!known) kernel.builder.met("with an unknown status: failed (runtime)");
  if (!known || word == "DeviceLimitsExceeded") row.extras.emplace_back("Status", word);

  double sum = number_of(result, "ExtraDuration");
  for (const Json& computation : computations_of(result)) sum += number_of(computation, "Duration");
  const Json* total = member_of(result, "TotalDuration");
  const Json time = total != nullptr ? *total : Json(sum);
  if (row.status != TrialStatus::correct) {
    if (!time.is_number() || time.get<double>() != 0) row.extras.emplace_back("time", time);
    return;
  }
  if (!row.set_time(time, failure_time_)) {
    kernel.builder.met(
        "called Ok with a duration that is none (0, negative, huge, a word): failed (runtime)");
    return;
  }
  row.samples.push_back(row.run_time);  // KTT runs each configuration once
  if (sum > 0 && std::abs(sum - row.run_time) > 1e-3 * row.run_time) {
    kernel.builder.met("whose TotalDuration is not the sum of its parts: took TotalDuration");
  }
}

// CompilationOverhead; before KTT had it, the kernels' Overhead is compilation and launch (and,
// with counters, profiling: then the compile time is not known).
void KttResults::add_compile_time(const Json& result, Kernel& kernel, ImportedRow& row) {
  if (const Json* overhead = member_of(result, "CompilationOverhead")) {
    row.set_compile_time("CompilationOverhead", *overhead);
    return;
  }
  double sum = 0;
  bool profiled = false;
  for (const Json& computation : computations_of(result)) {
    sum += number_of(computation, "Overhead");
    profiled = profiled || member_of(computation, "ProfilingData") != nullptr;
  }
  kernel.overheads_only = true;
  if (sum > 0 && !profiled) row.set_compile_time("Overhead", sum);
}

Status KttResults::result(const Json& result) {
  if (!result.is_object()) return Status(StatusCode::corrupt, "a result that is no object");
  const Json* configuration = member_of(result, "Configuration");
  if (configuration == nullptr || !configuration->is_array()) {
    return Status(StatusCode::corrupt, "a result without \"Configuration\"");
  }
  Result<Kernel*> found = kernel_of(result);
  if (!found.ok()) return found.status();
  Kernel& kernel = **found;
  ImportedRow row;
  if (Status status = add_parameters(*configuration, kernel, row); !status.ok()) return status;
  add_outcome(result, kernel, row);
  add_compile_time(result, kernel, row);
  for (const auto& [name, value] : result.items()) {
    static const char* const kTaken[] = {"KernelName",    "Status",
                                         "Configuration", "ComputationResults",
                                         "TotalDuration", "CompilationOverhead"};
    if (std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken)) continue;
    const auto known = std::find_if(std::begin(kOverheads), std::end(kOverheads),
                                    [&name = name](const Overhead& o) { return name == o.ktt; });
    row.extras.emplace_back(known != std::end(kOverheads) ? known->extra : name, value);
  }
  std::size_t number = 0;
  for (const Json& computation : computations_of(result)) {
    ++number;
    const std::string prefix =
        "computation" + (number > 1 ? std::to_string(number) : std::string()) + ".";
    add_computation(computation, prefix, kernel, row);
  }
  return kernel.builder.add(std::move(row));
}

Status KttResults::read_metadata(const std::string& name, Kernel& kernel) const {
  History& history = kernel.builder.history();
  history.kernel = name;
  const Status named =
      kernel.builder.take_device(text_member(metadata_, "Device"), options_.device, path_);
  if (!named.ok()) return {named.code(), path_ + ": " + named.message()};
  const std::string word = text_member(metadata_, "TimeUnit");
  const std::optional<TimeUnit> unit = time_unit_from(word);
  if (unit) {
    history.nanoseconds_per_unit = unit->nanoseconds;
    if (unit->mistyped)
      kernel.builder.warn("TimeUnit is " + shown(word) + ": taken as " +
                          time_unit_word(unit->nanoseconds));
  } else if (word.empty()) {
    history.nanoseconds_per_unit = 1e6;
    kernel.builder.warn("the file does not say its TimeUnit: taken as milliseconds, KTT's default");
  } else {
    return Status(StatusCode::corrupt,
                  path_ + ": TimeUnit is " + shown(word) +
                      ", expected Nanoseconds, Microseconds, Milliseconds or Seconds");
  }
  history.notes.emplace_back("ktt.metadata", json_text(metadata_));
  if (!kernel.parameter_types.empty())
    history.notes.emplace_back("ktt.parameter_types", json_text(kernel.parameter_types));
  if (!kernel.counter_types.empty())
    history.notes.emplace_back("ktt.counter_types", json_text(kernel.counter_types));
  return Status();
}

// Whoever saves results may add texts; a SpaceSize among them says that the rows are a sample.
void KttResults::read_user_data(Kernel& kernel) const {
  if (!user_data_.is_object() || user_data_.empty()) return;
  kernel.builder.history().notes.emplace_back("ktt.user_data", json_text(user_data_));
  const Json size = Json::parse(text_member(user_data_, "SpaceSize"), nullptr, false);
  if (!size.is_number_unsigned() || kernels_.size() > 1) return;
  const auto configurations = size.get<std::uint64_t>();
  if (configurations >= kernel.builder.rows()) {
    kernel.builder.history().valid_count = configurations;
  } else {
    kernel.builder.warn("its SpaceSize is smaller than the number of its configurations: not used");
  }
}

Result<std::vector<History>> KttResults::finish(bool torn) {
  if (order_.empty()) return Status(StatusCode::corrupt, path_ + ": no measurement in \"Results\"");
  std::vector<History> histories;
  for (const std::string& name : order_) {
    Kernel& kernel = *kernels_[name];
    if (Status status = read_metadata(name, kernel); !status.ok()) return status;
    read_user_data(kernel);
    if (kernel.overheads_only && kernel.profiled) {
      kernel.builder.warn(
          "no CompilationOverhead, and the kernels' Overhead includes profiling: kept, but not as "
          "compile time");
    } else if (kernel.overheads_only) {
      kernel.builder.warn(
          "no CompilationOverhead: took the kernels' Overhead (compilation and launch) for it");
    }
    if (torn) kernel.builder.torn();
    histories.push_back(kernel.builder.finish());
  }
  return histories;
}

}  // namespace idletune
