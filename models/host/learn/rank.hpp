// From a table of relative performances to an order in which to try configurations. Host side.
#pragma once

#include <cstddef>
#include <vector>

#include <idletune/configuration.hpp>

#include "models/host/learn/performance_table.hpp"

namespace idletune {

// Expected q on an unseen device, per configuration: the mean over the sources, each with its
// weight, shrunk towards the source's mean where it was not measured. In [0, 1].
std::vector<double> expected_relative_performance(const PerformanceTable& table,
                                                  const std::vector<double>& weights);

// How worth trying each configuration is: the weighted mean of q^4. Near the best somewhere beats
// mediocre everywhere. Leaving one device out of the recorded GPUs (32 targets, 7 kernels), the
// power 4 gave the best first picks and, with the coverage below, the shortest searches of 0.5
// ... 12.
std::vector<double> desirability(const PerformanceTable& table, const std::vector<double>& weights);

// At most `count` configurations (numbers in the table) in the order in which to try them: greedily
// the one that adds most to the mean over sources of the best q so far (coverage) plus its
// desirability. `weights` as above.
std::vector<std::size_t> portfolio(const PerformanceTable& table,
                                   const std::vector<double>& weights, std::size_t count);

// The first of the largest values; there is one.
std::size_t index_of_largest(const std::vector<double>& values);

}  // namespace idletune
