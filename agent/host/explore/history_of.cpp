#include "agent/host/explore/history_of.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/core/median.hpp"
#include "models/host/history/emulated.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {
namespace {

using Json = nlohmann::ordered_json;

Json ns(Nanoseconds time) { return Json(time.count()); }

ImportedRow row_of(const KernelPackage& package, const ExploredConfiguration& result) {
  ImportedRow row;
  for (std::size_t p = 0; p < result.configuration.size(); ++p) {
    row.parameters.emplace_back(std::string(package.space().parameter_name(p)),
                                Json(result.configuration[p]));
  }
  row.status = result.status;
  if (result.status == TrialStatus::correct) {
    for (const Nanoseconds sample : result.samples) {
      row.samples.push_back(static_cast<double>(sample.count()));
    }
  } else {
    row.extras.emplace_back("time", trial_status_name(result.status));
    row.extras.emplace_back("message", result.message);
  }
  if (result.compile.count() > 0) {
    row.compile_time = static_cast<double>(result.compile.count());
  }
  if (result.check.count() > 0) row.extras.emplace_back("verification_time", ns(result.check));
  if (result.measure.count() > 0) row.extras.emplace_back("benchmark_time", ns(result.measure));
  if (result.setup.count() > 0) row.extras.emplace_back("setup_time", ns(result.setup));
  if (result.check.count() > 0 && result.max_error < 1e300) {
    row.extras.emplace_back("max_error", Json(result.max_error));
  }
  row.extras.emplace_back("measured_at", Json(result.unix_seconds));
  return row;
}

Json configuration_json(const KernelPackage& package, const Configuration& configuration) {
  Json object = Json::object();
  for (std::size_t p = 0; p < configuration.size(); ++p) {
    object[std::string(package.space().parameter_name(p))] = configuration[p];
  }
  return object;
}

std::vector<double> medians_of(const std::vector<ControlMeasurement>& controls) {
  std::vector<double> medians;
  for (const ControlMeasurement& control : controls) {
    if (!control.samples.empty()) medians.push_back(median_ns(control.samples));
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

Json default_note(const KernelPackage& package, const std::vector<ControlMeasurement>& controls) {
  const std::vector<double> medians = medians_of(controls);
  Json note = {{"configuration", configuration_json(package, package.default_configuration())}};
  note["run_time"] = medians.empty() ? Json() : Json(median_of_ascending(medians));
  note["spread"] = control_spread(controls);
  note["control"] = Json::array();
  for (const ControlMeasurement& control : controls) {
    note["control"].push_back({{"after", control.after},
                               {"median", median_ns(control.samples)},
                               {"minimum", fastest(control.samples).count()},
                               {"at", control.unix_seconds}});
  }
  return note;
}

// Spaces that a diagram would be too large for are counted by enumeration, up to so many
// combinations of their values.
constexpr std::uint64_t kMostCombinations = 1 << 24;

void set_size(const Space& space, History& history) {
  std::uint64_t size = std::min(space.combinations(), kUnknownSize);
  if (space.indexed()) {
    size = space.valid_count();
  } else if (size <= kMostCombinations) {
    size = space.count_valid(size).value_or(size);
  } else {
    history.warnings.push_back("the size of the space is not known: at most " +
                               std::to_string(size) + ", the combinations of its values");
  }
  if (size != history.rows()) history.valid_count = size;
}

void describe(const KernelPackage& package, const DeviceInfo& device, const Shape& shape,
              History& history) {
  history.kernel = std::string(package.name());
  set_device(device.name, "", history);
  history.driver = device.platform + "; " + device.driver;
  history.shape = package.inputs().with_features(shape);
  for (std::size_t d = 0; d < package.dimension_count(); ++d) {
    history.inputs.emplace_back(package.inputs().dimension_name(d));
  }
  for (std::size_t f = 0; f < package.feature_count(); ++f) {
    history.inputs.emplace_back(package.inputs().feature_name(f));
  }
  history.nanoseconds_per_unit = 1;
  for (const Expression& constraint : package.space().constraints()) {
    history.constraints.emplace_back(constraint.text());
  }
  for (const Expression& constraint : package.shape_constraints()) {
    history.constraints.emplace_back(constraint.text());
  }
}

void add_notes(const KernelPackage& package, const Order& order, const Settings& settings,
               const Log& log, const char* run_time, History& history) {
  Json note = log.identity();
  if (settings.is_list) {
    note["run_time"] =
        std::string(run_time) + " of the samples; of the later ones where it was timed again";
    history.notes.emplace_back("sweep", note.dump());
    return;
  }
  note["dimensions"] = Json::array();
  for (std::size_t d = 0; d < package.dimension_count(); ++d) {
    note["dimensions"].push_back(std::string(package.inputs().dimension_name(d)));
  }
  note["order"] = order.is_whole_space() ? "the whole space, shuffled" : "a uniform sample";
  note["planned"] = order.size();
  note["run_time"] = std::string(run_time) + " of the samples";
  history.notes.emplace_back("explore", note.dump());
  history.notes.emplace_back("default", default_note(package, log.controls()).dump());
  const std::size_t outside = history.count(TrialStatus::constraints);
  if (outside == 0 || history.valid_count == 0) return;
  history.warnings.push_back(std::to_string(outside) +
                             " configurations do not exist at this shape; the size of the space "
                             "counts such ones");
}

// Of the first result at a problem, and of those when it was timed again.
ImportedRow row_of(const KernelPackage& package,
                   const std::vector<const ExploredConfiguration*>& results, bool smallest) {
  for (const ExploredConfiguration* result : results) {
    if (result->status != TrialStatus::correct) return row_of(package, *result);
  }
  ImportedRow row = row_of(package, *results.front());
  std::vector<Nanoseconds> later;
  for (std::size_t i = 1; i < results.size(); ++i) {
    later.insert(later.end(), results[i]->samples.begin(), results[i]->samples.end());
  }
  for (const Nanoseconds sample : later) row.samples.push_back(static_cast<double>(sample.count()));
  const std::vector<Nanoseconds>& counted = later.empty() ? results.front()->samples : later;
  row.run_time = smallest ? static_cast<double>(fastest(counted).count()) : median_ns(counted);
  return row;
}

}  // namespace

double control_spread(const std::vector<ControlMeasurement>& controls) {
  const std::vector<double> medians = medians_of(controls);
  if (medians.size() < 2) return 0;
  return (medians.back() - medians.front()) / median_of_ascending(medians);
}

Result<std::vector<History>> histories_of(const KernelPackage& package, const DeviceInfo& device,
                                          const Order& order, const Settings& settings,
                                          const Log& log) {
  const bool smallest = settings.is_list && !log.identity().contains(kEstimator);
  const std::size_t problems = settings.problems.size();
  // By problem, and by place of the configuration; a list of an earlier version may have had
  // another one there.
  using Place = std::pair<std::uint64_t, std::vector<std::int64_t>>;
  std::vector<std::map<Place, std::vector<const ExploredConfiguration*>>> rows(problems);
  for (const ExploredConfiguration& result : log.results()) {
    const auto values = result.configuration.values();
    rows[static_cast<std::size_t>(result.number % problems)]
        [{result.number / problems, {values.begin(), values.end()}}]
            .push_back(&result);
  }
  std::vector<History> histories;
  for (std::size_t s = 0; s < problems; ++s) {
    if (rows[s].empty()) continue;
    HistoryBuilder builder;
    builder.expect_missing_compile_times();
    for (const auto& [place, results] : rows[s]) {
      ImportedRow row = row_of(package, results, smallest);
      if (!settings.chosen.empty()) row.extras.emplace_back(kProposalColumn, "chosen");
      if (Status status = builder.add(std::move(row)); !status.ok()) return status;
    }
    histories.push_back(builder.finish());
    History& history = histories.back();
    describe(package, device, settings.problems[s], history);
    set_size(package.space(), history);
    if (histories.size() == 1)
      add_notes(package, order, settings, log, smallest ? "smallest" : "median", history);
  }
  if (histories.empty())
    return Status(StatusCode::invalid_argument, "nothing has been measured yet");
  return histories;
}

}  // namespace idletune::explore
