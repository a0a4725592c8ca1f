// What a selector is learned from, of a table of performances. Host side.
#pragma once

#include "models/host/learn/performance_table.hpp"
#include "models/host/learn/shape_selector.hpp"
#include "models/predict/selector_tree.hpp"

namespace idletune::selector {

// From those sources of the table (at least one), `devices` being a number per source.
Lesson problem_of(const PerformanceTable& table, const Rows& sources, const Rows& devices,
                  const SelectorOptions& options);

}  // namespace idletune::selector
