#include "models/host/offload/import_samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/core/median.hpp"
#include "models/host/history/comma_table.hpp"
#include "models/host/history/history.hpp"

namespace idletune::offload {

namespace {

// "npb-3.3-BT-x_solve1": suite with its version, program, kernel. The kernel's name has no dash.
Groups groups_of_benchmark(const std::string& name) {
  Groups groups;
  groups.kernel = name;
  const std::size_t last = name.rfind('-');
  groups.program = name.substr(0, last);
  // The suite ends where a part that begins with a digit does.
  std::size_t dash = name.find('-');
  while (dash != std::string::npos && dash + 1 < name.size()) {
    const std::size_t next = name.find('-', dash + 1);
    if (name[dash + 1] >= '0' && name[dash + 1] <= '9') {
      groups.suite = name.substr(0, next);
      return groups;
    }
    dash = next;
  }
  groups.suite = name.substr(0, name.find('-'));
  return groups;
}

Status nothing_left(const CommaTable& table) {
  return {StatusCode::corrupt, table.path() + ": no row could be used"};
}

// Takes the numbers of one row; corrupt if one is none.
Status read_features(const CommaTable& table, std::size_t row, const FeatureSet& features,
                     Sample& sample) {
  for (const std::string& name : features.names) {
    const double value = table.number(row, name);
    if (!std::isfinite(value)) {
      return {StatusCode::corrupt, table.place(row) + ": '" + name + "' is '" +
                                       std::string(table.text(row, name)) + "', not a number"};
    }
    sample.features.push_back(value);
  }
  return {};
}

using CellKey = std::string;  // application, size, kernel

CellKey cell_of(const CommaTable& table, std::size_t row) {
  return std::string(table.text(row, "application")) + "-" + std::string(table.text(row, "size")) +
         "-" + std::string(table.text(row, "kernel"));
}

// Times by cell and device, in milliseconds.
struct DeviceTimes {
  std::set<std::string> devices;
  std::map<CellKey, std::map<std::string, double>> cells;
  std::size_t rejected = 0;
};

DeviceTimes read_device_times(const CommaTable& table) {
  DeviceTimes times;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string device(table.text(row, "device"));
    const double ms = table.number(row, "median") / 1000;
    times.devices.insert(device);
    if (is_time_ms(ms)) {
      times.cells[cell_of(table, row)][device] = ms;
    } else {
      ++times.rejected;
    }
  }
  return times;
}

double time_of(const std::map<std::string, double>& times, const std::string& device) {
  const auto found = times.find(device);
  return found == times.end() ? kNoTime : found->second;
}

Status check_cpu(const DeviceTimes& times, const std::string& cpu, const std::string& path) {
  if (times.devices.count(cpu) > 0) return {};
  std::string known;
  for (const std::string& device : times.devices) known += (known.empty() ? "" : ", ") + device;
  return {StatusCode::not_found, path + ": no times of '" + cpu + "' (it has " + known + ")"};
}

// Its name, features and devices, without samples.
SampleSet described_set(const CommaTable& features, const CommaTable& times,
                        const DeviceTimes& measured, const std::string& cpu) {
  SampleSet set;
  set.name = "OpenDwarfs";
  set.features = {"aiwc", 1, {}};
  for (const std::string& name : features.names()) {
    if (name != "application" && name != "size" && name != "kernel")
      set.features.names.push_back(name);
  }
  for (const std::string& device : measured.devices) {
    if (device != cpu) set.variants.push_back(device);
  }
  set.remark(measured.rejected, times.rows(), "times are not above 0 and below 1e6 ms");
  return set;
}

}  // namespace

bool is_time_ms(double ms) { return ms > 0 && ms < 1e6; }

Result<SampleSet> import_device_mapping(Bytes bytes, const std::string& path) {
  auto table = CommaTable::parse(bytes, path);
  if (!table.ok()) return table.status();
  SampleSet set;
  set.name = "device mapping";
  set.features = {
      "device mapping",
      1,
      {"comp", "rational", "mem", "localmem", "coalesced", "atomic", "transfer", "wgsize"}};
  set.variants = {"measured"};
  if (Status status = table->require({"benchmark", "dataset", "comp", "rational", "mem", "localmem",
                                      "coalesced", "atomic", "transfer", "wgsize", "runtime_cpu",
                                      "runtime_gpu"});
      !status.ok())
    return status;
  std::size_t rejected = 0;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    Sample sample;
    const std::string benchmark(table->text(row, "benchmark"));
    sample.name = benchmark + " " + std::string(table->text(row, "dataset"));
    sample.groups = groups_of_benchmark(benchmark);
    sample.cpu_ms = table->number(row, "runtime_cpu");
    sample.gpu_ms = {table->number(row, "runtime_gpu")};
    if (!is_time_ms(sample.cpu_ms) || !is_time_ms(sample.gpu_ms[0])) {
      ++rejected;
      continue;
    }
    if (Status status = read_features(*table, row, set.features, sample); !status.ok())
      return status;
    set.samples.push_back(std::move(sample));
  }
  set.remark(rejected, table->rows(), "rows have no time above 0 and below 1e6 ms");
  if (set.samples.empty()) return nothing_left(*table);
  return set;
}

Result<SampleSet> import_characterized_kernels(Bytes features, const std::string& features_path,
                                               Bytes times, const std::string& times_path,
                                               const std::string& cpu) {
  auto feature_table = CommaTable::parse(features, features_path);
  if (!feature_table.ok()) return feature_table.status();
  auto time_table = CommaTable::parse(times, times_path);
  if (!time_table.ok()) return time_table.status();
  if (Status s = feature_table->require({"application", "size", "kernel"}); !s.ok()) return s;
  if (Status s = time_table->require({"application", "size", "kernel", "device", "median"});
      !s.ok())
    return s;
  const DeviceTimes measured = read_device_times(*time_table);
  if (Status s = check_cpu(measured, cpu, times_path); !s.ok()) return s;

  SampleSet set = described_set(*feature_table, *time_table, measured, cpu);
  for (std::size_t row = 0; row < feature_table->rows(); ++row) {
    Sample sample;
    sample.name = cell_of(*feature_table, row);
    sample.groups.program = std::string(feature_table->text(row, "application"));
    sample.groups.kernel =
        sample.groups.program + "-" + std::string(feature_table->text(row, "kernel"));
    const auto found = measured.cells.find(sample.name);
    if (found == measured.cells.end()) continue;
    sample.cpu_ms = time_of(found->second, cpu);
    for (const std::string& device : set.variants)
      sample.gpu_ms.push_back(time_of(found->second, device));
    if (Status s = read_features(*feature_table, row, set.features, sample); !s.ok()) return s;
    if (std::isnan(sample.cpu_ms) || std::isnan(sample.best_gpu_ms())) continue;
    set.samples.push_back(std::move(sample));
  }
  if (set.samples.empty()) return nothing_left(*feature_table);
  return set;
}

namespace {

constexpr std::pair<const char*, std::string Groups::*> kGroupColumns[] = {
    {"program", &Groups::program}, {"suite", &Groups::suite}, {"kind", &Groups::kind}};

void read_groups(const CommaTable& table, std::size_t row, Groups& groups) {
  for (const auto& [name, member] : kGroupColumns) {
    const std::size_t column = table.find(name);
    if (column < table.names().size()) groups.*member = std::string(table.text(row, column));
  }
}

void merge_groups(const Groups& said, Groups& groups) {
  for (const auto& [name, member] : kGroupColumns) {
    if (!(said.*member).empty()) groups.*member = said.*member;
  }
}

bool is_entered_often(const RegionProfile& region) {
  return std::any_of(region.counts.begin(), region.counts.end(), [](const auto& count) {
    return count.first == "entries" && count.second > 1;
  });
}

}  // namespace

double median_or_nan(const Repeats& repeats, const std::string& variant) {
  const auto found = repeats.find(variant);
  return found == repeats.end() ? kNoTime : median_of(found->second);
}

Status take_device(const CommaTable& table, std::size_t row, std::string& device) {
  const std::string_view found = table.text(row, table.find("device"));
  if (!device.empty() && found != device) {
    return Status(StatusCode::invalid_argument,
                  "%: times of '%' beside those of '%', expected one device", table.place(row),
                  found, device);
  }
  device = std::string(found);
  return {};
}

Result<SampleSet> import_profiled(const Profile& profile, Bytes times,
                                  const std::string& times_path) {
  auto table = CommaTable::parse(times, times_path);
  if (!table.ok()) return table.status();
  if (Status s = table->require({"region", "variant", "gpu_ms"}); !s.ok()) return s;
  std::map<std::string, Repeats> measured;  // by region
  std::set<std::string> variants;
  SampleSet set;
  std::size_t rejected = 0;
  const bool names_device = table->find("device") < table->names().size();
  std::map<std::string, Groups> groups;  // by region, where the table says them
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const double ms = table->number(row, "gpu_ms");
    if (!is_time_ms(ms)) {
      ++rejected;
      continue;
    }
    const std::string region(table->text(row, "region"));
    read_groups(*table, row, groups[region]);
    Status s = names_device ? take_device(*table, row, set.device) : Status();
    if (!s.ok()) return s;
    const std::string variant(table->text(row, "variant"));
    variants.insert(variant);
    measured[region][variant].push_back(ms);
  }
  set.name = "profiled";
  set.features = profiled_features();
  set.variants.assign(variants.begin(), variants.end());
  set.remark(rejected, table->rows(), "times are not above 0 and below 1e6 ms");
  std::size_t untimed = 0;
  std::size_t entered_often = 0;
  for (const RegionProfile& region : profile.regions) {
    const auto found = measured.find(region.name);
    if (found == measured.end() || !region.cpu_ms || !is_time_ms(*region.cpu_ms)) {
      ++untimed;
      continue;
    }
    Sample sample;
    sample.name = region.name;
    sample.groups = region.groups;
    merge_groups(groups[region.name], sample.groups);
    if (sample.groups.kernel.empty()) sample.groups.kernel = region.name;
    if (sample.groups.program.empty()) sample.groups.program = sample.groups.kernel;
    sample.features = region.features;
    sample.cpu_ms = *region.cpu_ms;
    for (const std::string& variant : set.variants)
      sample.gpu_ms.push_back(median_or_nan(found->second, variant));
    sample.bytes_in = region.bytes_in;
    sample.bytes_out = region.bytes_out;
    set.samples.push_back(std::move(sample));
    entered_often += is_entered_often(region);
  }
  set.remark(entered_often, set.samples.size(),
             "regions were entered more than once: gpu_ms is taken for all entries together");
  set.remark(untimed, profile.regions.size(), "regions lack a time on the CPU or the GPU");
  if (set.samples.empty()) return nothing_left(*table);
  return set;
}

}  // namespace idletune::offload
