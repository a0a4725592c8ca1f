#include "agent/host/lab/steps/device_spaces.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "models/devices/device_names.hpp"
#include "models/host/history/combine_repeats.hpp"
#include "models/host/insight/space_overlap.hpp"

namespace idletune {

namespace {

// The parameters in `columns` that belong to those of `history`, in the latter's order.
std::vector<const CellColumn*> in_order_of(const History& history,
                                           const std::vector<const CellColumn*>& columns) {
  std::vector<const CellColumn*> ordered;
  for (const CellColumn& wanted : history.parameters) {
    ordered.push_back(*std::find_if(columns.begin(), columns.end(), [&](const CellColumn* column) {
      return column->name() == wanted.name();
    }));
  }
  return ordered;
}

// Adds as failed what `other` has and `entry` does not.
void add_missing(DeviceSpace& entry, const History& other,
                 std::unordered_set<std::uint64_t>& present) {
  const RowKeys keys(other);
  const std::vector<const CellColumn*> columns = in_order_of(entry.history, keys.columns());
  for (std::size_t row = 0; row < other.rows(); ++row) {
    if (other.status[row] == TrialStatus::constraints || !present.insert(keys.key(row)).second)
      continue;
    History& history = entry.history;
    for (std::size_t p = 0; p < columns.size(); ++p)
      history.parameters[p].push_integer(columns[p]->code(row));
    history.status.push_back(TrialStatus::runtime);
    history.run_time.push_back(std::numeric_limits<double>::quiet_NaN());
    history.compile_time.push_back(std::numeric_limits<double>::quiet_NaN());
    history.sample_count.push_back(0);
    ++entry.dropped;
  }
}

}  // namespace

std::vector<DeviceSpace> device_spaces(const std::vector<const History*>& histories) {
  std::vector<DeviceSpace> entries;
  std::vector<ConfigurationSet> sets;  // of the first history of each entry, then of all of them
  for (std::size_t i = 0; i < histories.size(); ++i) {
    ConfigurationSet set(*histories[i]);
    std::size_t found = 0;
    for (; found < entries.size(); ++found) {
      const History& first = *histories[entries[found].histories.front()];
      if (same_kernel(first, *histories[i]) &&
          same_device_model(first.device, histories[i]->device) && nearly_equal(sets[found], set)) {
        break;
      }
    }
    if (found == entries.size()) {
      entries.emplace_back();
      sets.push_back(std::move(set));
    }
    entries[found].histories.push_back(i);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::vector<const History*> repeats;
    repeats.reserve(entries[i].histories.size());
    for (const std::size_t index : entries[i].histories) repeats.push_back(histories[index]);
    entries[i].history = combine_repeats(repeats);
    sets[i] = ConfigurationSet(entries[i].history);
  }
  std::vector<History> measured;
  measured.reserve(entries.size());
  for (const DeviceSpace& entry : entries) measured.push_back(entry.history);
  std::size_t spaces = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::unordered_set<std::uint64_t> present;
    const RowKeys own(measured[i]);
    for (std::size_t row = 0; row < measured[i].rows(); ++row) present.insert(own.key(row));
    entries[i].space = spaces;
    for (std::size_t j = 0; j < entries.size(); ++j) {
      if (j == i || !same_kernel(measured[i], measured[j]) || !nearly_equal(sets[i], sets[j]))
        continue;
      if (is_whole(measured[i]) && is_whole(measured[j]))
        add_missing(entries[i], measured[j], present);
      if (j < i) entries[i].space = std::min(entries[i].space, entries[j].space);
    }
    if (entries[i].space == spaces) ++spaces;
  }
  return entries;
}

}  // namespace idletune
