// What a selector is learned from: shapes, candidates and how well they do there. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/learn/performance_table.hpp"
#include "models/learn/shape_selector.hpp"

namespace idletune::selector {

using Rows = std::vector<std::size_t>;

// The shapes to learn from. Row r is a shape on a device; q is by row and candidate.
struct Lesson {
  std::size_t inputs = 0;
  std::vector<std::vector<double>> shapes;
  std::vector<double> weights;
  std::vector<std::size_t> devices;     // a number per row
  std::vector<std::size_t> candidates;  // configurations that may become classes
  std::vector<std::vector<float>> q;    // unmeasured: the row's mean
  std::vector<std::int8_t> plain;       // exponents, features x inputs
  std::vector<std::int8_t> derived;

  std::size_t rows() const { return shapes.size(); }
};

// From those sources of the table (at least one), `devices` being a number per source.
Lesson problem_of(const PerformanceTable& table, const Rows& sources, const Rows& devices,
                  const SelectorOptions& options);

}  // namespace idletune::selector
