// Host side: builds decision diagrams from constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/space/diagram.hpp"
#include "models/space/space_data.hpp"

namespace idletune::space {

// The arrays of a diagram, owned.
struct DiagramArrays {
  std::vector<std::uint32_t> level_nodes;
  std::vector<std::uint32_t> node_first_edge;
  std::vector<std::uint16_t> edge_value;
  std::vector<std::uint32_t> edge_child;
  std::vector<std::uint64_t> edge_before;
  Diagram view() const;
};

struct BuilderLimits {
  std::uint32_t max_edges = 0;
  std::uint32_t max_states = 0;
};

// The reduced diagram of the data's constraints. nullopt if it exceeds a limit or if the number of
// configurations does not fit 64 bits.
std::optional<DiagramArrays> build_diagram(const Data& data, const BuilderLimits& limits);

}  // namespace idletune::space
