// What a Space shares between its copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/space/diagram.hpp"
#include "models/space/expression.hpp"
#include "models/space/space.hpp"

namespace idletune::space {

struct ParameterData {
  std::string name;
  ParameterKind kind = ParameterKind::other;
  Span<const std::int64_t> values;           // owned by Data::owner
  std::vector<std::uint16_t> by_value = {};  // positions in ascending order of value; empty if they
                                             // already are
};

// The level whose assignment makes the constraint decidable.
inline std::size_t deciding_level(const Expression& constraint) {
  const std::uint32_t mask = constraint.parameter_mask();
  return mask == 0 ? 0 : 31u - static_cast<unsigned>(__builtin_clz(mask));
}

struct Data {
  std::shared_ptr<const void> owner;  // of everything that is only viewed here
  std::vector<ParameterData> parameters;
  std::vector<Expression> constraints;
  std::uint64_t combinations = 0;
  bool saturated = false;
  std::uint64_t digest = 0;
  std::uint64_t names_digest = 0;

  SpaceBacking backing = SpaceBacking::constraints;
  std::uint64_t valid_count = 0;
  Diagram diagram;                       // backing diagram
  std::vector<std::uint16_t> rows;       // backing rows: value positions, row after row
  std::vector<std::uint32_t> row_table;  // hash table of row number + 1; 0 is free

  std::size_t levels() const { return parameters.size(); }
  // True if every constraint that `level` decides holds for the values up to it.
  bool satisfied_at(std::size_t level, const std::int64_t* values) const;
};

// Checks parameters (1 ... kMaxParameters, 1 ... kMaxParameterValues distinct values each, distinct
// names) and constraints (no dimensions) and computes what follows from them. The result is backed
// by its constraints. Error: invalid_argument.
Result<std::shared_ptr<Data>> make_data(std::vector<ParameterData> parameters,
                                        std::vector<Expression> constraints,
                                        std::shared_ptr<const void> owner);

// Verifies `diagram` (which the owner must keep alive) and backs the data by it. Error: corrupt.
Status adopt_diagram(Data& data, const Diagram& diagram);

// The position of `value`; UINT32_MAX if there is none.
std::uint32_t position_of(const ParameterData& parameter, std::int64_t value);

// Of each value of the configuration; false, with some of them written, if one is no value of its
// parameter.
bool positions_of(const Data& data, const Configuration& configuration, std::uint16_t* positions);

// Backing rows: the slot of row_table that holds the row with these positions, or the free one
// where it belongs.
std::size_t find_slot(const Data& data, const std::uint16_t* positions);

}  // namespace idletune::space
