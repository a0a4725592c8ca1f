// What a replayed device knows: for each configuration of a kernel, how measuring it once went. The
// adapter from stored histories lives above this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::replay {

// One row; the samples belong to the table and live as long as it.
struct TableEntry {
  TrialStatus status = TrialStatus::correct;
  Span<const Nanoseconds> samples;  // device times of single runs; may be empty unless `correct`
  Nanoseconds compile_time{0};
};

// Read-only once a device uses it; lookups from one thread.
class MeasurementTable {
 public:
  virtual ~MeasurementTable() = default;
  virtual const DeviceInfo& device() const = 0;
  // Tuning parameters in the order of a Configuration; the names of the kernel's #defines.
  virtual Span<const std::string> parameters() const = 0;
  // False if the configuration was never measured.
  virtual bool find(const Configuration& configuration, TableEntry& entry) const = 0;
};

// A table in memory.
class MemoryTable final : public MeasurementTable {
 public:
  MemoryTable(DeviceInfo device, std::vector<std::string> parameters);

  // Adds a row, or replaces the one with the same configuration. invalid_argument if the number of
  // values is not that of the parameters, or if a `correct` row has no sample or one that is not
  // positive.
  Status add(const Configuration& configuration, TrialStatus status,
             std::vector<Nanoseconds> samples, Nanoseconds compile_time);

  const DeviceInfo& device() const override { return device_; }
  Span<const std::string> parameters() const override { return parameters_; }
  bool find(const Configuration& configuration, TableEntry& entry) const override;
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    Configuration configuration;
    TrialStatus status;
    std::vector<Nanoseconds> samples;
    Nanoseconds compile_time;
  };
  const Row* find_row(const Configuration& configuration) const;

  DeviceInfo device_;
  std::vector<std::string> parameters_;
  std::vector<Row> rows_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_;  // digest of the values to a row
};

}  // namespace idletune::replay
