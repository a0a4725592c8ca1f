// Small spaces to search, and how long a search takes in them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/search/searcher.hpp"
#include "models/space/product_space.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

// p0, p1, ... in 0 ... size - 1.
inline Space cube(std::int64_t size, std::size_t dimensions) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(i);
  std::vector<std::string> names;
  for (std::size_t p = 0; p < dimensions; ++p) names.push_back("p" + std::to_string(p));
  return required(product_space(names, std::vector<std::vector<std::int64_t>>(dimensions, values)));
}

// p0 in 0 ... size - 1.
inline Space line(std::int64_t size) { return cube(size, 1); }

// x, y, z in 0 ... size - 1, only those with an even sum.
inline Space even_cube(std::int64_t size) {
  const std::vector<std::string> names{"x", "y", "z"};
  std::vector<std::int64_t> rows;
  for (std::int64_t x = 0; x < size; ++x) {
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t z = (x + y) % 2; z < size; z += 2) rows.insert(rows.end(), {x, y, z});
    }
  }
  return required(Space::from_rows(names, {}, {}, rows));
}

// Proposals until `best` is one, each answered with what `observe` says of it.
inline std::size_t evaluations_to(const Configuration& best, Searcher& searcher,
                                  Observation (*observe)(const Configuration&)) {
  for (std::size_t i = 1;; ++i) {
    const auto proposal = required(searcher.ask());
    if (proposal.configuration == best) return i;
    searcher.tell(proposal.configuration, observe(proposal.configuration));
  }
}

}  // namespace idletune::test
