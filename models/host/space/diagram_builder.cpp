#include "models/host/space/diagram_builder.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace idletune::space {
namespace {

constexpr std::uint32_t kDead = UINT32_MAX;  // no valid completion

struct Edge {
  std::uint16_t value = 0;
  std::uint32_t child = 0;
};

// One level while it grows: nodes in order of creation, identical ones merged.
struct Level {
  std::vector<std::uint32_t> needed;  // earlier parameters that are read from this level on
  std::unordered_map<std::string, std::uint32_t> node_by_state;  // kDead for hopeless states
  std::unordered_map<std::string, std::uint32_t> node_by_edges;
  std::vector<std::vector<Edge>> nodes;
  std::vector<std::uint64_t> counts;  // configurations under each node
};

// Depth-first over partial configurations. Two that agree in all values that later constraints will
// read have the same completions, so each such *state* is expanded once.
class Builder {
 public:
  Builder(const Data& data, const BuilderLimits& limits)
      : data_(data), limits_(limits), levels_(data.levels()) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      std::uint32_t mask = 0;
      for (const Expression& constraint : data.constraints) {
        if (deciding_level(constraint) >= level) mask |= constraint.parameter_mask();
      }
      for (std::uint32_t p = 0; p < level; ++p) {
        if ((mask >> p) & 1u) levels_[level].needed.push_back(p);
      }
    }
  }

  std::optional<DiagramArrays> build() {
    const std::uint32_t root = node_for(0);
    if (exceeded_) return std::nullopt;
    return root == kDead ? empty_arrays() : flatten();
  }

 private:
  // The node of `level` for the current values of the parameters before it.
  std::uint32_t node_for(std::size_t level) {
    Level& here = levels_[level];
    std::string state;
    for (std::uint32_t parameter : here.needed) append(state, positions_[parameter]);
    const auto known = here.node_by_state.find(state);
    if (known != here.node_by_state.end()) return known->second;
    if (++states_ > limits_.max_states) exceeded_ = true;
    const std::uint32_t node = exceeded_ ? kDead : merged(level, edges_at(level));
    here.node_by_state.emplace(std::move(state), node);
    return node;
  }

  std::vector<Edge> edges_at(std::size_t level) {
    std::vector<Edge> edges;
    const Span<const std::int64_t> values = data_.parameters[level].values;
    for (std::size_t i = 0; i < values.size() && !exceeded_; ++i) {
      values_[level] = values[i];
      positions_[level] = static_cast<std::uint16_t>(i);
      if (!data_.satisfied_at(level, values_)) continue;
      const bool last = level + 1 == levels_.size();
      const std::uint32_t child = last ? 0 : node_for(level + 1);
      if (child != kDead) edges.push_back({static_cast<std::uint16_t>(i), child});
    }
    return edges;
  }

  // The node with these edges, an existing one if there is one.
  std::uint32_t merged(std::size_t level, std::vector<Edge> edges) {
    if (edges.empty()) return kDead;
    Level& here = levels_[level];
    std::string signature;
    for (const Edge& edge : edges) {
      append(signature, edge.value);
      append(signature, edge.child);
    }
    const auto inserted = here.node_by_edges.emplace(std::move(signature),
                                                     static_cast<std::uint32_t>(here.nodes.size()));
    if (!inserted.second) return inserted.first->second;
    std::uint64_t count = 0;
    for (const Edge& edge : edges) {
      const bool last = level + 1 == levels_.size();
      const std::uint64_t under = last ? 1 : levels_[level + 1].counts[edge.child];
      if (__builtin_add_overflow(count, under, &count)) exceeded_ = true;
    }
    edges_ += edges.size();
    if (edges_ > limits_.max_edges) exceeded_ = true;
    here.counts.push_back(count);
    here.nodes.push_back(std::move(edges));
    return inserted.first->second;
  }

  DiagramArrays empty_arrays() const {
    DiagramArrays arrays;
    arrays.level_nodes.assign(levels_.size(), 0);
    arrays.node_first_edge.assign(1, 0);
    return arrays;
  }

  DiagramArrays flatten() const {
    DiagramArrays arrays;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      arrays.level_nodes.push_back(static_cast<std::uint32_t>(levels_[level].nodes.size()));
      for (const std::vector<Edge>& edges : levels_[level].nodes) {
        arrays.node_first_edge.push_back(static_cast<std::uint32_t>(arrays.edge_value.size()));
        std::uint64_t before = 0;
        for (const Edge& edge : edges) {
          const bool last = level + 1 == levels_.size();
          arrays.edge_value.push_back(edge.value);
          arrays.edge_child.push_back(edge.child);
          arrays.edge_before.push_back(before);
          before += last ? 1 : levels_[level + 1].counts[edge.child];
        }
      }
    }
    arrays.node_first_edge.push_back(static_cast<std::uint32_t>(arrays.edge_value.size()));
    return arrays;
  }

  template <class T>
  static void append(std::string& bytes, T number) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes.push_back(static_cast<char>((number >> (8 * i)) & 0xffu));
    }
  }

  const Data& data_;
  const BuilderLimits limits_;
  std::vector<Level> levels_;
  std::int64_t values_[kMaxParameters] = {};
  std::uint16_t positions_[kMaxParameters] = {};
  std::uint64_t states_ = 0;
  std::uint64_t edges_ = 0;
  bool exceeded_ = false;
};

}  // namespace

Diagram DiagramArrays::view() const {
  Diagram diagram;
  diagram.level_nodes = {level_nodes.data(), level_nodes.size()};
  diagram.node_first_edge = {node_first_edge.data(), node_first_edge.size()};
  diagram.edge_value = {edge_value.data(), edge_value.size()};
  diagram.edge_child = {edge_child.data(), edge_child.size()};
  diagram.edge_before = {edge_before.data(), edge_before.size()};
  return diagram;
}

std::optional<DiagramArrays> build_diagram(const Data& data, const BuilderLimits& limits) {
  return Builder(data, limits).build();
}

}  // namespace idletune::space
