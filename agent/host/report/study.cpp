#include "agent/host/report/study.hpp"

#include "agent/host/report/numbers.hpp"
#include "models/devices/device_names.hpp"
#include "models/host/history/combine_repeats.hpp"

namespace idletune::report {
namespace {

std::vector<std::string> sorted_names(const History& history) {
  std::vector<std::string> names = history.parameter_names();
  std::sort(names.begin(), names.end());
  return names;
}

bool comparable(const History& a, const History& b) {
  return a.kernel == b.kernel && a.shape == b.shape && sorted_names(a) == sorted_names(b);
}

// Those that are the same thing together, in the order of the first of each.
template <class Same>
std::vector<std::vector<const Recording*>> gathered(const std::vector<const Recording*>& all,
                                                    const Same& same) {
  std::vector<std::vector<const Recording*>> sets;
  for (const Recording* one : all) {
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const auto& set) {
      return same(set.front()->history, one->history);
    });
    (found == sets.end() ? *sets.emplace(sets.end()) : *found).push_back(one);
  }
  return sets;
}

Source source_of(Study& study, std::vector<const Recording*> recordings) {
  Source source;
  source.device = recordings.front()->history.device;
  source.history = &recordings.front()->history;
  source.recordings = std::move(recordings);
  if (source.recordings.size() > 1) {
    std::vector<const History*> repeats;
    for (const Recording* recording : source.recordings) repeats.push_back(&recording->history);
    study.combined.push_back(combine_repeats(repeats));
    source.history = &study.combined.back();
  }
  return source;
}

Group group_of(Study& study, const std::vector<const Recording*>& recordings) {
  Group group;
  group.kernel = recordings.front()->history.kernel;
  const auto same_device = [](const History& a, const History& b) {
    return same_device_model(a.device, b.device);
  };
  for (auto& set : gathered(recordings, same_device))
    group.sources.push_back(source_of(study, std::move(set)));
  const auto dropped = dropped_failures(group.histories());
  for (std::size_t i = 0; i < group.sources.size(); ++i) {
    Source& source = group.sources[i];
    source.dropped_failures = dropped[i].size();
    source.distribution = distribution_of(*source.history, dropped[i].size());
  }
  return group;
}

std::string or_unnamed(const std::string& name, const char* what) {
  return name.empty() ? std::string("(unnamed ") + what + ")" : name;
}

// Adds numbers to names that occurred before.
void make_distinct(const std::vector<std::string*>& names) {
  std::map<std::string, int> seen;
  for (std::string* name : names) {
    const int count = ++seen[*name];
    if (count > 1) *name += " #" + std::to_string(count);
  }
}

const Shape& shape_of(const Group& group) { return group.sources.front().history->shape; }

void name_groups(std::vector<Group>& groups) {
  std::vector<std::string*> titles;
  for (Group& group : groups) {
    group.title = or_unnamed(group.kernel, "kernel");
    const Shape& shape = shape_of(group);
    const bool sizes = std::any_of(groups.begin(), groups.end(), [&](const Group& other) {
      return other.kernel == group.kernel && shape_of(other) != shape;
    });
    if (sizes && shape.size() > 0) group.title += " " + shape_text(shape);
    std::vector<std::string*> devices;
    for (Source& source : group.sources) {
      source.device = or_unnamed(source.device, "device");
      devices.push_back(&source.device);
    }
    make_distinct(devices);
  }
  // The same kernel and size: with other parameters, then.
  std::map<std::string, std::size_t> count;
  for (const Group& group : groups) ++count[group.title];
  for (Group& group : groups) {
    const std::size_t parameters = group.sources.front().history->parameters.size();
    if (count[group.title] > 1)
      group.title += " (" + counted(parameters, "parameter", "parameters") + ")";
    titles.push_back(&group.title);
  }
  make_distinct(titles);
}

}  // namespace

void ParameterKinds::describe(const std::string& kernel, const std::string& parameter,
                              ParameterKind kind) {
  of_kernel_[{kernel, parameter}] = kind;
  of_any_.emplace(parameter, kind);
}

void ParameterKinds::decide(const std::string& parameter, ParameterKind kind) {
  decided_[parameter] = kind;
}

std::optional<ParameterKind> ParameterKinds::of(const std::string& kernel,
                                                const std::string& parameter) const {
  const auto in = [](const auto& kinds, const auto& key) {
    const auto found = kinds.find(key);
    return found == kinds.end() ? std::nullopt : std::optional<ParameterKind>(found->second);
  };
  if (const auto kind = in(decided_, parameter)) return kind;
  if (const auto kind = in(of_kernel_, std::make_pair(kernel, parameter))) return kind;
  return in(of_any_, parameter);
}

std::vector<const History*> Group::histories() const {
  std::vector<const History*> histories;
  for (const Source& source : sources) histories.push_back(source.history);
  return histories;
}

std::vector<Pair> Study::pairs() const {
  std::vector<Pair> pairs;
  for (const Group& group : groups) {
    for (const Source& source : group.sources) pairs.push_back({&group, &source});
  }
  return pairs;
}

Study study_of(std::vector<Recording> recordings, ParameterKinds kinds) {
  Study study;
  study.kinds = std::move(kinds);
  std::vector<const Recording*> usable;
  for (Recording& recording : recordings) {
    const History& history = recording.history;
    if (history.count(TrialStatus::correct) == 0) {
      study.warnings.push_back(recording.file + ": kernel " + or_unnamed(history.kernel, "kernel") +
                               " on " + or_unnamed(history.device, "device") +
                               ": nothing in it ran correctly");
      continue;
    }
    study.recordings.push_back(std::move(recording));
    usable.push_back(&study.recordings.back());
  }
  for (const auto& set : gathered(usable, comparable)) study.groups.push_back(group_of(study, set));
  name_groups(study.groups);
  return study;
}

std::string configuration_text(const History& history, std::size_t row) {
  return listed(history.parameters, " ", [row](const CellColumn& column) {
    return column.name() + "=" + column.to_string(row);
  });
}

json configuration_object(const History& history, std::size_t row) {
  json object = json::object();
  for (const CellColumn& column : history.parameters) {
    const bool is_number = column.kind(row) == CellKind::integer;
    object[column.name()] = is_number ? json(column.code(row)) : json(column.to_string(row));
  }
  return object;
}

}  // namespace idletune::report
