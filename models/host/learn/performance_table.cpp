#include "models/host/learn/performance_table.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/core/digest.hpp"
#include "models/devices/device_names.hpp"
#include "models/host/history/combine_repeats.hpp"

namespace idletune {

std::vector<std::string> input_names(const History& history) {
  if (!history.inputs.empty()) return history.inputs;
  for (const auto& [key, text] : history.notes) {
    if (key != "explore") continue;
    const auto note = nlohmann::json::parse(text, nullptr, false);
    if (!note.is_object() || !note.contains("dimensions") || !note["dimensions"].is_array())
      continue;
    std::vector<std::string> names;
    for (const auto& name : note["dimensions"]) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
    if (names.size() == history.shape.input_count()) return names;
  }
  return {};
}

std::vector<std::vector<std::size_t>> group_repeats(const std::vector<const History*>& histories) {
  std::vector<std::vector<std::size_t>> groups;
  std::unordered_multimap<std::uint64_t, std::size_t> by_shape;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const std::uint64_t key = digest_of(histories[i]->shape);
    const auto [first, last] = by_shape.equal_range(key);
    const auto found = std::find_if(first, last, [&](const auto& entry) {
      const History& other = *histories[groups[entry.second].front()];
      return other.shape == histories[i]->shape &&
             same_device_model(other.device, histories[i]->device);
    });
    if (found != last) {
      groups[found->second].push_back(i);
      continue;
    }
    by_shape.emplace(key, groups.size());
    groups.push_back({i});
  }
  return groups;
}

namespace {

// Where each of `names` is among the history's parameters.
std::vector<std::size_t> order_of(const History& history, const std::vector<std::string>& names) {
  std::vector<std::size_t> order;
  for (const std::string& name : names) {
    for (std::size_t p = 0; p < history.parameters.size(); ++p) {
      if (history.parameters[p].name() == name) order.push_back(p);
    }
  }
  return order;
}

}  // namespace

PerformanceTable::PerformanceTable(const std::vector<const History*>& histories) {
  if (histories.empty()) return;
  kernel_ = histories.front()->kernel;
  parameters_ = histories.front()->parameter_names();
  for (const History* history : histories) {
    if (inputs_.empty()) inputs_ = input_names(*history);
  }
  std::vector<History> combined;
  for (const std::vector<std::size_t>& group : group_repeats(histories)) {
    std::vector<const History*> repeats;
    repeats.reserve(group.size());
    for (const std::size_t i : group) repeats.push_back(histories[i]);
    combined.push_back(combine_repeats(repeats));
  }
  std::vector<const History*> pointers;
  pointers.reserve(combined.size());
  for (const History& history : combined) pointers.push_back(&history);
  const std::vector<std::uint64_t> dropped = dropped_failures(pointers);
  for (std::size_t i = 0; i < combined.size(); ++i) {
    if (combined[i].count(TrialStatus::correct) > 0) add_source(combined[i], dropped[i]);
  }
  for (Source& source : sources_) source.relative.resize(configurations_.size(), -1.0f);
  mark_dropped_failures();
  fill_unknown_distributions();
}

void PerformanceTable::fill_unknown_distributions() {
  std::vector<double> drawn;
  for (const Source& source : sources_) {
    drawn.insert(drawn.end(), source.distribution.sorted.begin(), source.distribution.sorted.end());
  }
  for (Source& source : sources_) {
    std::vector<double>& sorted = source.distribution.sorted;
    if (!sorted.empty()) continue;
    sorted = drawn;
    for (std::size_t c = 0; drawn.empty() && c < source.relative.size(); ++c) {
      if (source.relative[c] >= 0) sorted.push_back(static_cast<double>(source.relative[c]));
    }
    std::sort(sorted.begin(), sorted.end());
    source.distribution.valid = sorted.size();
    source.distribution.space = std::max(source.distribution.space, source.distribution.valid);
  }
}

// As dropped_failures() counts them: what a source lacks and others of nearly the same set have.
void PerformanceTable::mark_dropped_failures() {
  const std::size_t count = configurations_.size();
  const std::vector<Source> as_measured = sources_;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    for (const Source& other : as_measured) {
      if (other.shape != sources_[s].shape || other.chosen || sources_[s].chosen) continue;
      std::size_t common = 0;
      std::size_t together = 0;
      for (std::size_t c = 0; c < count; ++c) {
        const bool here = as_measured[s].relative[c] >= 0;
        const bool there = other.relative[c] >= 0;
        common += here && there ? 1 : 0;
        together += here || there ? 1 : 0;
      }
      if (common * 5 < together * 4) continue;
      for (std::size_t c = 0; c < count; ++c) {
        if (other.relative[c] >= 0 && as_measured[s].relative[c] < 0) sources_[s].relative[c] = 0;
      }
    }
  }
}

std::size_t PerformanceTable::number_of(const Configuration& configuration) {
  const std::uint64_t key = digest_of(configuration);
  const auto [first, last] = index_.equal_range(key);
  for (auto i = first; i != last; ++i) {
    if (configurations_[i->second] == configuration) return i->second;
  }
  index_.emplace(key, configurations_.size());
  configurations_.push_back(configuration);
  return configurations_.size() - 1;
}

void PerformanceTable::add_source(const History& history, std::uint64_t dropped) {
  Source source;
  source.device = history.device;
  source.shape = history.shape;
  source.distribution = distribution_of(history, dropped);
  source.chosen = history.proposals() != nullptr;
  const std::vector<std::size_t> order = order_of(history, parameters_);
  const double best = history.best_time_ns();
  for (const std::size_t row : history.valid_rows()) {
    Configuration configuration;
    for (const std::size_t p : order) configuration.push_back(history.parameters[p].code(row));
    const std::size_t number = number_of(configuration);
    if (source.relative.size() <= number) source.relative.resize(number + 1, -1.0f);
    source.relative[number] =
        history.correct(row) ? static_cast<float>(best / history.run_time_ns(row)) : 0.0f;
  }
  sources_.push_back(std::move(source));
}

}  // namespace idletune
