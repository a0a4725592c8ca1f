// A decision diagram over value positions, read in place. models/package/format.md tells why and
// how.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::space {

// Views of the flat arrays; the bytes belong to somebody else (a package or a builder).
//
// Level l decides parameter l. Its level_nodes[l] nodes follow those of the levels before it; level
// 0 has one node, the root (none at all: the empty space). Node n has the edges node_first_edge[n]
// ... node_first_edge[n + 1] - 1, each for one position among the parameter's values, ascending. An
// edge leads to node edge_child of the *next* level, counted from that level's first node (0 on the
// last level): cycles cannot be written down. edge_before counts the configurations under the
// node's earlier edges. Every node has an edge, so every path can be completed.
struct Diagram {
  Span<const std::uint32_t> level_nodes;
  Span<const std::uint32_t> node_first_edge;
  Span<const std::uint16_t> edge_value;
  Span<const std::uint32_t> edge_child;
  Span<const std::uint64_t> edge_before;

  bool empty() const { return edge_value.empty(); }
};

// Checks all of the above for untrusted arrays: sizes, order, ranges, sums, no node without edges,
// no node that nothing leads to, counts that fit 64 bits. `value_counts` has one entry per
// parameter. Returns the number of configurations. Error: corrupt. Memory: 8 bytes per node of two
// levels.
Result<std::uint64_t> verify(const Diagram& diagram, Span<const std::uint32_t> value_counts);

// The edge of `node` (number over all levels) whose range contains `index`: the last edge with
// edge_before <= index. The node must have edges.
std::uint32_t edge_at(const Diagram& diagram, std::uint32_t node, std::uint64_t index);
// The edge of `node` for a value position; UINT32_MAX if there is none.
std::uint32_t edge_for(const Diagram& diagram, std::uint32_t node, std::uint16_t value);

}  // namespace idletune::space
