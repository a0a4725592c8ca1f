#include "agent/lab/measurement_table.hpp"

#include <idletune/text.hpp>

#include <algorithm>

#include "models/core/digest.hpp"

namespace idletune::replay {

MemoryTable::MemoryTable(DeviceInfo device, std::vector<std::string> parameters)
    : device_(std::move(device)), parameters_(std::move(parameters)) {
  if (device_.backend.empty()) device_.backend = "replay";
}

Status MemoryTable::add(const Configuration& configuration, TrialStatus status,
                        std::vector<Nanoseconds> samples, Nanoseconds compile_time) {
  const std::string place =
      joined({"row ", rows_.size() + 1, " of the table of ", device_.name, ": "});
  if (configuration.size() != parameters_.size()) {
    return Status(StatusCode::invalid_argument,
                  {place, configuration.size(), " values, expected ", parameters_.size()});
  }
  if (status == TrialStatus::correct && samples.empty()) {
    return Status(StatusCode::invalid_argument, {place, "'correct' without a sample"});
  }
  for (Nanoseconds sample : samples) {
    if (sample.count() <= 0) {
      return Status(StatusCode::invalid_argument,
                    {place, "a sample of ", sample.count(), " ns, expected more than 0"});
    }
  }
  Row row{configuration, status, std::move(samples), std::max(Nanoseconds{0}, compile_time)};
  if (const Row* old = find_row(configuration)) {
    rows_[static_cast<std::size_t>(old - rows_.data())] = std::move(row);
    return Status();
  }
  index_.emplace(digest_of(configuration), rows_.size());
  rows_.push_back(std::move(row));
  return Status();
}

const MemoryTable::Row* MemoryTable::find_row(const Configuration& configuration) const {
  const auto [first, last] = index_.equal_range(digest_of(configuration));
  for (auto at = first; at != last; ++at) {
    const Row& row = rows_[at->second];
    if (row.configuration == configuration) return &row;
  }
  return nullptr;
}

bool MemoryTable::find(const Configuration& configuration, TableEntry& entry) const {
  const Row* row = find_row(configuration);
  if (row == nullptr) return false;
  entry.status = row->status;
  entry.samples = row->samples;
  entry.compile_time = row->compile_time;
  return true;
}

}  // namespace idletune::replay
