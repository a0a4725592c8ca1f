#include "models/host/learn/performance_table.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/core/digest.hpp"
#include "models/devices/device_names.hpp"
#include "models/host/history/combine_repeats.hpp"
#include "models/host/insight/space_overlap.hpp"

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
    combined.push_back(combine_repeats(repeats, parameters_));
  }
  std::vector<const History*> pointers;
  pointers.reserve(combined.size());
  for (const History& history : combined) pointers.push_back(&history);
  std::vector<std::unordered_set<std::uint64_t>> dropped = dropped_failures(pointers);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < combined.size(); ++i) {
    if (combined[i].count(TrialStatus::correct) == 0) continue;
    add_source(combined[i], dropped[i].size());
    std::swap(dropped[kept++], dropped[i]);
  }
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    sources_[s].relative.resize(configurations_.size(), -1.0f);
    for (const std::uint64_t key : dropped[s]) {
      const auto found = index_.find(key);
      if (found != index_.end()) sources_[s].relative[found->second] = 0;
    }
  }
  fill_unknown_distributions();
}

void PerformanceTable::fill_unknown_distributions() {
  std::vector<double> drawn;
  for (const Source& source : sources_) {
    drawn.insert(drawn.end(), source.distribution.sorted.begin(), source.distribution.sorted.end());
  }
  for (Source& source : sources_) {
    PerformanceDistribution& distribution = source.distribution;
    if (!distribution.sorted.empty()) continue;
    std::vector<double> own;
    for (const float q : source.relative) {
      if (q >= 0) own.push_back(static_cast<double>(q));
    }
    distribution.sorted = drawn.empty() ? own : drawn;
    std::sort(distribution.sorted.begin(), distribution.sorted.end());
    distribution.valid = distribution.sorted.size();
    distribution.space = std::max<std::uint64_t>(distribution.space, own.size());
    distribution.measured = std::min<std::uint64_t>(distribution.space, drawn.size());
  }
}

std::size_t PerformanceTable::number_of(std::uint64_t key, const Configuration& configuration) {
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
  const RowKeys keys(history);
  const double best = history.best_time_ns();
  for (const std::size_t row : history.valid_rows()) {
    const std::size_t number = number_of(keys.key(row), history.configuration(row));
    if (source.relative.size() <= number) source.relative.resize(number + 1, -1.0f);
    source.relative[number] =
        history.correct(row) ? static_cast<float>(best / history.run_time_ns(row)) : 0.0f;
  }
  sources_.push_back(std::move(source));
}

}  // namespace idletune
