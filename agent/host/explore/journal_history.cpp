#include "agent/host/explore/journal_history.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <idletune/text.hpp>

#include "agent/journal/names.hpp"
#include "agent/journal/summary.hpp"
#include "models/host/history/emulated.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/space/expression_parser.hpp"

namespace idletune::explore {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

constexpr std::string_view kOver = " over ";

// One line of text that every format can hold, whatever the bytes were.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(plain(text.substr(start, end - start)));
    start = end + 1;
  }
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found = split(text, ' ');
  found.erase(std::remove(found.begin(), found.end(), std::string()), found.end());
  return found;
}

const char* origin_name(journal::Origin origin) {
  switch (origin) {
    case journal::Origin::first_pick: return "first_pick";
    case journal::Origin::portfolio: return "portfolio";
    case journal::Origin::random: return kUniformDraw;
    case journal::Origin::learned: return "learned";
    case journal::Origin::application: return "application";
    case journal::Origin::unknown: break;
  }
  return "unknown";
}

ImportedRow row_of(const KernelNames& names, const journal::Measurement& measurement) {
  ImportedRow row;
  for (std::size_t p = 0; p < names.parameters.size(); ++p) {
    row.parameters.emplace_back(names.parameters[p], Json(measurement.trial.configuration[p]));
  }
  row.status = measurement.status;
  if (measurement.status == TrialStatus::correct && measurement.median.count() <= 0) {
    row.status = TrialStatus::runtime;
  }
  if (row.status == TrialStatus::correct) {
    row.run_time = static_cast<double>(measurement.median.count());
  } else {
    row.extras.emplace_back("time", trial_status_name(row.status));
  }
  if (measurement.compile.count() > 0) {
    row.compile_time = static_cast<double>(measurement.compile.count());
  }
  if (measurement.setup.count() > 0) {
    row.extras.emplace_back("setup_time", Json(measurement.setup.count()));
  }
  row.extras.emplace_back(kProposalColumn, origin_name(measurement.origin));
  if (measurement.unix_seconds > 0) {
    row.extras.emplace_back("measured_at", Json(measurement.unix_seconds));
  }
  return row;
}

// Of one kernel on one device under one driver at one shape.
struct Group {
  journal::ShapeKey key;
  std::vector<journal::Measurement> measurements;
};

std::vector<Group> groups_of(const journal::State& state) {
  std::map<journal::ShapeKey, Group> groups;
  state.for_each_measurement([&](const journal::Measurement& measurement) {
    Group& group = groups[measurement.trial.shape_key()];
    group.key = measurement.trial.shape_key();
    group.measurements.push_back(measurement);
  });
  std::vector<Group> all;
  all.reserve(groups.size());
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  for (Group& group : all) {
    std::stable_sort(group.measurements.begin(), group.measurements.end(),
                     [](const auto& a, const auto& b) { return a.unix_seconds < b.unix_seconds; });
  }
  return all;
}

// A feature's expressions as numbers; nothing where they have none.
std::optional<double> value_of(const std::string& text, const KernelNames& names,
                               const Shape& shape) {
  const Result<Expression> expression = parse_expression(text, {names.dimensions, {}});
  if (!expression.ok()) return std::nullopt;
  const Evaluation value = expression->evaluate(shape.values(), {});
  return value.ok() ? std::optional<double>(static_cast<double>(value.value)) : std::nullopt;
}

// As KernelPackage::with_features does it.
double computed(const KernelNames::Feature& feature, const KernelNames& names, const Shape& shape) {
  const std::optional<double> value = value_of(feature.value, names, shape);
  const std::optional<double> over =
      feature.over.empty() ? std::optional<double>(1) : value_of(feature.over, names, shape);
  const bool known = value && over && *over != 0 && *value / *over > 0;
  return known ? *value / *over : 0;
}

void set_problem(const KernelNames& names, const Shape& shape, History& history) {
  history.shape = shape;
  for (std::size_t f = shape.feature_count(); f < names.features.size(); ++f) {
    history.shape.push_feature(computed(names.features[f], names, shape));
  }
  history.inputs = names.dimensions;
  for (const KernelNames::Feature& feature : names.features) history.inputs.push_back(feature.name);
  if (history.inputs.size() != history.shape.input_count()) history.inputs.clear();
}

void describe(const journal::State& state, const journal::JournalSummary& summary,
              const KernelNames& names, const Group& group, History& history) {
  const DeviceNames device = device_names(state, group.key.device);
  const auto driver = state.name(journal::NameKind::driver, group.key.driver);
  history.kernel = names.name;
  set_device(device.name, "", history);
  history.driver =
      device.platform + "; " + (driver ? plain(driver->text) : hexadecimal(group.key.driver));
  set_problem(names, group.measurements.front().trial.shape, history);
  history.nanoseconds_per_unit = 1;
  const std::uint64_t size = names.valid_count > 0 ? names.valid_count : kUnknownSize;
  history.valid_count = std::max<std::uint64_t>(size, history.rows());
  Json note = {{"kernel", hexadecimal(group.key.kernel)}, {"dimensions", names.dimensions}};
  note["run_time"] = "median of the runs that the search needed";
  history.notes.emplace_back("journal", note.dump());
  if (names.valid_count == 0)
    history.warnings.push_back("the size of the space is not known: its package has no number");
  if (summary.dropped_bytes() > 0) {
    history.warnings.push_back("the journal's last " + std::to_string(summary.dropped_bytes()) +
                               " bytes were torn or being written and are left out");
  }
  const CellColumn* proposals = history.proposals();
  std::size_t draws = 0;
  for (std::size_t row = 0; row < history.rows(); ++row) draws += drawn_uniformly(proposals, row);
  if (draws == 0) {
    history.warnings.push_back(
        "no uniform draws: it says which configurations are good, not how many are");
  }
}

Result<History> history_of_group(const journal::JournalSummary& summary, const KernelNames& names,
                                 const Group& group) {
  HistoryBuilder builder;
  builder.expect_missing_compile_times();
  for (const journal::Measurement& measurement : group.measurements) {
    if (measurement.trial.configuration.size() != names.parameters.size()) {
      builder.met("have another number of values than the kernel has parameters, and are left out");
      continue;
    }
    if (Status added = builder.add(row_of(names, measurement)); !added.ok()) return added;
  }
  if (builder.rows() == 0) {
    return Status(StatusCode::corrupt,
                  "kernel '" + names.name + "': no configuration fits its parameters");
  }
  History history = builder.finish();
  describe(summary.state, summary, names, group, history);
  return history;
}

}  // namespace

bool is_journal(Bytes bytes) {
  constexpr std::uint8_t kBegin[] = {0x89, 'I', 'T', 'J', 'R', 'N', 'L'};
  return bytes.size() >= sizeof kBegin &&
         std::equal(std::begin(kBegin), std::end(kBegin), bytes.begin());
}

KernelNames kernel_names(const journal::State& state, std::uint64_t digest) {
  KernelNames names;
  names.name = hexadecimal(digest);
  const auto found = state.name(journal::NameKind::kernel, digest);
  if (!found) return names;
  const std::vector<std::string> lines = split(found->text, '\n');
  if (lines.size() < 4 || lines[0].empty()) return names;
  names.known = true;
  names.name = lines[0];
  names.valid_count = std::strtoull(lines[1].c_str(), nullptr, 10);
  names.dimensions = words(lines[2]);
  names.parameters = words(lines[3]);
  for (const std::string& text : lines.size() > 4 ? split(lines[4], ';') : Lines()) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string value = text.substr(std::min(equals + 1, text.size()));
    const std::size_t over = std::min(value.find(kOver), value.size());
    names.features.push_back({text.substr(0, equals), value.substr(0, over),
                              over < value.size() ? value.substr(over + kOver.size()) : ""});
  }
  return names;
}

DeviceNames device_names(const journal::State& state, std::uint64_t digest) {
  constexpr journal::NameKind kDevice = journal::NameKind::device;
  const std::string platform = journal::name_line(state, kDevice, digest, 1);
  const bool named = !journal::name_line(state, kDevice, digest, 2).empty();
  return {journal::called(state, kDevice, digest), named ? platform : "unknown platform"};
}

std::string problem_text(const KernelNames& names, const Shape& problem) {
  History history;
  set_problem(names, problem, history);
  return problem_text(history);
}

std::string configuration_text(const KernelNames& names, const Configuration& configuration) {
  std::string parameters;
  for (const std::string& name : names.parameters)
    parameters += (parameters.empty() ? "" : " ") + name;
  return journal::named_values(names.known ? parameters : std::string(), configuration.values());
}

Result<std::vector<History>> histories_of_journal(Bytes bytes, const std::string& path) {
  const Result<journal::JournalSummary> summary = journal::read_journal(bytes);
  if (!summary.ok()) return Status(summary.code(), path + ": " + summary.status().message());
  std::vector<History> histories;
  std::size_t nameless = 0;
  for (const Group& group : groups_of(summary->state)) {
    const KernelNames names = kernel_names(summary->state, group.key.kernel);
    if (!names.known) {
      nameless += group.measurements.size();
      continue;
    }
    Result<History> history = history_of_group(*summary, names, group);
    if (!history.ok()) return Status(history.code(), path + ": " + history.status().message());
    histories.push_back(std::move(*history));
  }
  const std::string lacks =
      std::to_string(nameless) +
      " measurements of kernels that the journal has no names for (an older "
      "agent's, which a newer one adds when it loads the kernel; or names and "
      "formulas of features that take more than " +
      std::to_string(journal::kMaxNameBytes) + " bytes)";
  if (histories.empty() && nameless > 0)
    return Status(StatusCode::unsupported, path + ": " + lacks);
  if (histories.empty()) {
    return Status(StatusCode::invalid_argument, path + ": the journal holds no measurements");
  }
  if (nameless > 0) histories.front().warnings.push_back("left out: " + lacks);
  return histories;
}

}  // namespace idletune::explore
