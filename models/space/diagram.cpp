#include "models/space/diagram.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cstdarg>
#include <vector>

#include "models/core/lists.hpp"

namespace idletune::space {
namespace {

Status broken_as(PieceKinds kinds, const char* form, ...) {
  std::va_list words;
  va_start(words, form);
  Status status(StatusCode::corrupt, "decision diagram: %",
                pieces::joined_list(kinds, form, words));
  va_end(words);
  return status;
}

template <class... Pieces>
[[gnu::always_inline]] inline Status broken(const char* form, const Pieces&... given) {
  return broken_as(pieces::kinds<Pieces...>(), form, pieces::word(given)...);
}

Status verify_sizes(const Diagram& d, std::size_t levels) {
  if (d.level_nodes.size() != levels) return broken("expected one level per parameter");
  std::uint64_t nodes = 0;
  for (std::uint32_t n : d.level_nodes) nodes += n;
  if (d.node_first_edge.size() != nodes + 1) {
    return broken("expected % edge offsets, got %", nodes + 1, d.node_first_edge.size());
  }
  const std::size_t edges = d.edge_value.size();
  if (d.edge_child.size() != edges || d.edge_before.size() != edges) {
    return broken("edge arrays differ in length");
  }
  if (d.node_first_edge[0] != 0 || d.node_first_edge[d.node_first_edge.size() - 1] != edges) {
    return broken("edge offsets do not cover the edges");
  }
  if (nodes == 0) return Status();  // the empty space
  if (edges == 0) return broken("a node has no edges");
  if (d.level_nodes[0] != 1) return broken("expected one root");
  return Status();
}

// Checks levels from the last to the first; keeps the counts of one level's nodes.
class LevelVerifier {
 public:
  LevelVerifier(const Diagram& diagram, Span<const std::uint32_t> value_counts)
      : diagram_(diagram), value_counts_(value_counts) {}

  Status verify_level(std::size_t level, std::uint32_t first_node) {
    const bool last = level + 1 == value_counts_.size();
    const std::uint32_t nodes = diagram_.level_nodes[level];
    if (nodes == 0) return broken("level % has no nodes", level);
    reached_ = std::vector<std::uint8_t>(below_.size());
    counts_ = std::vector<std::uint64_t>(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      Status status = verify_node(first_node + i, value_counts_[level], last, counts_[i]);
      if (!status.ok()) return status;
    }
    if (contains(reached_, std::uint8_t{0})) {
      return broken("a node under level % cannot be reached", level);
    }
    below_.swap(counts_);
    return Status();
  }
  std::uint64_t root_count() const { return below_[0]; }

 private:
  Status verify_node(std::uint32_t node, std::uint32_t values, bool last, std::uint64_t& count) {
    const std::uint32_t begin = diagram_.node_first_edge[node];
    const std::uint32_t end = diagram_.node_first_edge[node + 1];
    const auto bad = [node](const char* what) { return broken("node %: %", node, what); };
    if (end <= begin || end > diagram_.edge_value.size()) return bad("no edges");
    count = 0;
    for (std::uint32_t e = begin; e < end; ++e) {
      if (diagram_.edge_value[e] >= values) return bad("value out of range");
      if (e > begin && diagram_.edge_value[e] <= diagram_.edge_value[e - 1]) {
        return bad("values do not ascend");
      }
      if (diagram_.edge_before[e] != count) return bad("counts do not add up");
      const std::uint32_t child = diagram_.edge_child[e];
      if (last ? child != 0 : child >= below_.size()) return bad("child out of range");
      const std::uint64_t under = last ? 1 : below_[child];
      if (__builtin_add_overflow(count, under, &count)) return bad("count overflows");
      if (!last) reached_[child] = true;
    }
    return Status();
  }

  const Diagram& diagram_;
  Span<const std::uint32_t> value_counts_;
  std::vector<std::uint64_t> below_, counts_;  // configurations under each node, by level
  std::vector<std::uint8_t> reached_;          // 1 for a node that an edge leads to
};

}  // namespace

Result<std::uint64_t> verify(const Diagram& diagram, Span<const std::uint32_t> value_counts) {
  if (value_counts.empty()) return broken("there are no parameters");
  if (Status status = verify_sizes(diagram, value_counts.size()); !status.ok()) return status;
  if (diagram.empty()) return std::uint64_t{0};
  LevelVerifier verifier(diagram, value_counts);
  std::uint32_t first_node = static_cast<std::uint32_t>(diagram.node_first_edge.size() - 1);
  for (std::size_t level = value_counts.size(); level-- > 0;) {
    first_node -= diagram.level_nodes[level];
    if (Status status = verifier.verify_level(level, first_node); !status.ok()) return status;
  }
  return verifier.root_count();
}

std::uint32_t edge_at(const Diagram& diagram, std::uint32_t node, std::uint64_t index) {
  const std::uint64_t* before = diagram.edge_before.data();
  const std::uint64_t* begin = before + diagram.node_first_edge[node];
  const std::uint64_t* end = before + diagram.node_first_edge[node + 1];
  return static_cast<std::uint32_t>(std::upper_bound(begin, end, index) - before - 1);
}

std::uint32_t edge_for(const Diagram& diagram, std::uint32_t node, std::uint16_t value) {
  const std::uint16_t* values = diagram.edge_value.data();
  const std::uint16_t* begin = values + diagram.node_first_edge[node];
  const std::uint16_t* end = values + diagram.node_first_edge[node + 1];
  const std::uint16_t* found = std::lower_bound(begin, end, value);
  if (found == end || *found != value) return UINT32_MAX;
  return static_cast<std::uint32_t>(found - values);
}

}  // namespace idletune::space
