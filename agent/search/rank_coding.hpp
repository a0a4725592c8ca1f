// Configurations as rows of small numbers, for what learns from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/span.hpp>

#include "models/space/space.hpp"

namespace idletune {

// A column per parameter that has more than one value (a single column of zeros if none has); the
// code is the value's number among the parameter's values in ascending order. Trees split between
// codes, so that 8, 16 and 64 are equally far apart.
class RankCoding {
 public:
  explicit RankCoding(const Space& space);  // must outlive this

  std::size_t columns() const { return levels_.size(); }
  Span<const std::uint32_t> levels() const { return levels_; }  // per column
  // False, with `codes` undefined, if a value is none of its parameter's. `codes`: columns()
  // entries.
  bool code(const Configuration& configuration, Span<std::uint16_t> codes) const;
  // The configuration of those codes; valid only if the codes came from a valid one.
  Configuration decode(Span<const std::uint16_t> codes) const;

 private:
  struct Column {
    std::size_t parameter = 0;
    std::vector<std::uint16_t> rank_of_position;
    std::vector<std::uint16_t> position_of_rank;
  };
  const Space& space_;
  std::vector<Column> columns_;
  std::vector<std::uint32_t> levels_;
};

}  // namespace idletune
