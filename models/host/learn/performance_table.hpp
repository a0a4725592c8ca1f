// What all histories of one kernel say, side by side: configurations x sources. Host side.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <idletune/configuration.hpp>

#include "models/host/history/history.hpp"
#include "models/host/insight/fractions.hpp"

namespace idletune {

// Names of the dimensions and features of its problem, where the history or its exploration noted
// them.
std::vector<std::string> input_names(const History& history);

// Numbers of histories of the same device and shape, in the order of their first one.
std::vector<std::vector<std::size_t>> group_repeats(const std::vector<const History*>& histories);

// A source is a device at a shape; its column holds q = t_best / t per configuration: 0 if it
// failed, negative if it was not measured.
class PerformanceTable {
 public:
  struct Source {
    std::string device;
    Shape shape;
    std::vector<float> relative;  // per configuration
    PerformanceDistribution distribution;
  };

  // Histories of one kernel with the same parameter names; those without any correct row, and rows
  // that violate constraints, are left out. Distributions are those of uniform draws; a source
  // without any takes over those of the others or, where none has any, of all its rows.
  explicit PerformanceTable(const std::vector<const History*>& histories);

  const std::string& kernel() const { return kernel_; }
  const std::vector<std::string>& parameters() const { return parameters_; }
  // Names of the dimensions and features of its problems; empty: no history says.
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<Configuration>& configurations() const { return configurations_; }
  const std::vector<Source>& sources() const { return sources_; }

 private:
  std::size_t number_of(std::uint64_t key, const Configuration& configuration);
  void add_source(const History& history, std::uint64_t dropped);
  void fill_unknown_distributions();
  std::string kernel_;
  std::vector<std::string> parameters_;
  std::vector<std::string> inputs_;
  std::vector<Configuration> configurations_;
  std::unordered_multimap<std::uint64_t, std::size_t> index_;  // by RowKeys
  std::vector<Source> sources_;
};

}  // namespace idletune
