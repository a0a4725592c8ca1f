#include "models/space/space.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <utility>

#include "models/core/digest.hpp"
#include "models/core/shared.hpp"
#include "models/space/space_data.hpp"

namespace idletune {
namespace {

using space::Data;

constexpr const char* kKindNames[kParameterKindCount] = {
    "other", "work_group", "coarsening", "local_caching", "private_caching",
    "tile",  "unrolling",  "padding",    "vectorization", "atomics"};

std::int64_t value_at(const Data& data, std::size_t level, std::size_t position) {
  return data.parameters[level].values[position];
}

// Moves `positions` to the first valid configuration at or after the partial one that ends at
// `level`, in lexicographic order. False at the end or when `budget` partial configurations have
// been tried.
bool search_forward(const Data& data, std::uint16_t* positions, std::size_t level,
                    std::uint64_t budget) {
  const std::size_t levels = data.levels();
  std::int64_t values[kMaxParameters] = {};
  for (std::size_t i = 0; i < level; ++i) values[i] = value_at(data, i, positions[i]);
  // 32 bits, because a parameter may have 65535 values and the position past the last is needed.
  std::uint32_t position = positions[level];
  while (budget-- > 0) {
    if (position >= data.parameters[level].values.size()) {
      if (level == 0) return false;
      position = std::uint32_t{positions[--level]} + 1;
      continue;
    }
    positions[level] = static_cast<std::uint16_t>(position);
    values[level] = value_at(data, level, position);
    if (!data.satisfied_at(level, values)) {
      ++position;
    } else if (level + 1 == levels) {
      return true;
    } else {
      ++level;
      position = 0;
    }
  }
  return false;
}

Configuration configuration_of(const Data& data, const std::uint16_t* positions) {
  Configuration configuration;
  for (std::size_t i = 0; i < data.levels(); ++i) {
    configuration.push_back(value_at(data, i, positions[i]));
  }
  return configuration;
}

// --- rows ---

std::optional<std::uint64_t> row_index(const Data& data, const std::uint16_t* positions) {
  const std::uint32_t entry = data.row_table[space::find_slot(data, positions)];
  if (entry == 0) return std::nullopt;
  return std::uint64_t{entry} - 1;
}

// --- diagram ---
Configuration diagram_at(const Data& data, std::uint64_t index) {
  Configuration configuration;
  std::uint32_t first_node = 0, node = 0;
  for (std::size_t level = 0; level < data.levels(); ++level) {
    const std::uint32_t edge = space::edge_at(data.diagram, first_node + node, index);
    configuration.push_back(value_at(data, level, data.diagram.edge_value[edge]));
    index -= data.diagram.edge_before[edge];
    first_node += data.diagram.level_nodes[level];
    node = data.diagram.edge_child[edge];
  }
  return configuration;
}

std::optional<std::uint64_t> diagram_index(const Data& data, const std::uint16_t* positions) {
  std::uint64_t index = 0;
  std::uint32_t first_node = 0, node = 0;
  for (std::size_t level = 0; level < data.levels(); ++level) {
    const std::uint32_t edge = space::edge_for(data.diagram, first_node + node, positions[level]);
    if (edge == UINT32_MAX) return std::nullopt;
    index += data.diagram.edge_before[edge];
    first_node += data.diagram.level_nodes[level];
    node = data.diagram.edge_child[edge];
  }
  return index;
}

// --- constraints ---
bool satisfies_constraints(const Data& data, const Configuration& configuration) {
  for (std::size_t level = 0; level < data.levels(); ++level) {
    if (!data.satisfied_at(level, configuration.values().data())) return false;
  }
  return true;
}

std::uint16_t random_position(const Data& data, std::size_t level, Random& random) {
  return static_cast<std::uint16_t>(random.below(data.parameters[level].values.size()));
}

// One draw, parameter by parameter; false at the first violated constraint.
bool draw(const Data& data, Random& random, std::uint16_t* positions) {
  std::int64_t values[kMaxParameters] = {};
  for (std::size_t level = 0; level < data.levels(); ++level) {
    positions[level] = random_position(data, level, random);
    values[level] = value_at(data, level, positions[level]);
    if (!data.satisfied_at(level, values)) return false;
  }
  return true;
}

// The first valid configuration at or after `positions`, else the first one of all.
bool next_after(const Data& data, std::uint16_t* positions) {
  std::int64_t values[kMaxParameters] = {};
  std::size_t level = 0;
  for (; level + 1 < data.levels(); ++level) {
    values[level] = value_at(data, level, positions[level]);
    if (!data.satisfied_at(level, values)) break;
  }
  if (search_forward(data, positions, level, Space::kSampleWalk / 2)) return true;
  std::fill(positions, positions + data.levels(), std::uint16_t{0});
  return search_forward(data, positions, 0, Space::kSampleWalk / 2);
}

Configuration sample_by_constraints(const Data& data, Random& random) {
  std::uint16_t positions[kMaxParameters] = {};
  if (data.levels() == 0) return Configuration();
  for (std::uint32_t attempt = 0; attempt < Space::kSampleAttempts; ++attempt) {
    if (draw(data, random, positions)) return configuration_of(data, positions);
  }
  for (std::size_t i = 0; i < data.levels(); ++i) positions[i] = random_position(data, i, random);
  return next_after(data, positions) ? configuration_of(data, positions) : Configuration();
}

}  // namespace

const char* parameter_kind_name(ParameterKind kind) {
  const std::uint8_t number = static_cast<std::uint8_t>(kind);
  return kKindNames[number < kParameterKindCount ? number : 0];
}

std::optional<ParameterKind> parameter_kind_from_name(std::string_view name) {
  for (std::uint8_t i = 0; i < kParameterKindCount; ++i) {
    if (name == kKindNames[i]) return static_cast<ParameterKind>(i);
  }
  return std::nullopt;
}

Space::Space() {
  auto data = new_shared<Data>();
  data->backing = SpaceBacking::rows;
  data->row_table.assign(2, 0);
  data_ = std::move(data);
}

std::size_t Space::parameter_count() const { return data_->levels(); }

std::string_view Space::parameter_name(std::size_t parameter) const {
  return data_->parameters[parameter].name;
}

ParameterKind Space::parameter_kind(std::size_t parameter) const {
  return data_->parameters[parameter].kind;
}

Span<const std::int64_t> Space::parameter_values(std::size_t parameter) const {
  return data_->parameters[parameter].values;
}

std::optional<std::size_t> Space::value_position(std::size_t parameter, std::int64_t value) const {
  const std::uint32_t position = space::position_of(data_->parameters[parameter], value);
  if (position == UINT32_MAX) return std::nullopt;
  return position;
}

std::optional<std::size_t> Space::parameter_index(std::string_view name) const {
  for (std::size_t i = 0; i < data_->levels(); ++i) {
    if (data_->parameters[i].name == name) return i;
  }
  return std::nullopt;
}

Span<const Expression> Space::constraints() const {
  return {data_->constraints.data(), data_->constraints.size()};
}

std::uint64_t Space::combinations() const { return data_->combinations; }
bool Space::combinations_saturated() const { return data_->saturated; }
SpaceBacking Space::backing() const { return data_->backing; }
std::uint64_t Space::valid_count() const { return data_->valid_count; }
std::uint64_t Space::digest() const { return data_->digest; }

Configuration Space::at(std::uint64_t index) const {
  if (index >= valid_count()) return Configuration();
  if (backing() == SpaceBacking::diagram) return diagram_at(*data_, index);
  const std::size_t row = static_cast<std::size_t>(index) * data_->levels();
  return configuration_of(*data_, &data_->rows[row]);
}

std::optional<std::uint64_t> Space::index_of(const Configuration& configuration) const {
  std::uint16_t positions[kMaxParameters] = {};
  if (valid_count() == 0 || !space::positions_of(*data_, configuration, positions))
    return std::nullopt;
  if (backing() == SpaceBacking::diagram) return diagram_index(*data_, positions);
  return row_index(*data_, positions);
}

bool Space::contains(const Configuration& configuration) const {
  if (indexed()) return index_of(configuration).has_value();
  std::uint16_t positions[kMaxParameters] = {};
  return space::positions_of(*data_, configuration, positions) &&
         satisfies_constraints(*data_, configuration);
}

Configuration Space::sample(Random& random) const {
  if (!indexed()) return sample_by_constraints(*data_, random);
  if (valid_count() == 0) return Configuration();
  return at(random.below(valid_count()));
}

std::uint64_t Space::key(const Configuration& configuration) const {
  return Digest().add(data_->names_digest).add(digest_of(configuration)).value();
}

Space::Cursor Space::cursor(std::uint64_t first) const {
  Cursor cursor;
  cursor.data_ = data_;
  cursor.begin_at(first);
  return cursor;
}

void Space::Cursor::begin_at(std::uint64_t first) {
  const Data& data = *data_;
  if (data.backing == SpaceBacking::constraints) {
    done_ = data.levels() == 0;
    Configuration skipped;
    while (first > 0 && next(skipped)) --first;
    return;
  }
  done_ = first >= data.valid_count;
  row_ = first;
  if (done_ || data.backing == SpaceBacking::rows) return;
  std::uint32_t node = 0, first_node = 0;
  for (std::size_t level = 0; level < data.levels(); ++level) {
    node_[level] = first_node + node;
    edge_[level] = space::edge_at(data.diagram, node_[level], first);
    first -= data.diagram.edge_before[edge_[level]];
    first_node += data.diagram.level_nodes[level];
    first_of_level_[level] = first_node;
    node = data.diagram.edge_child[edge_[level]];
  }
}

bool Space::Cursor::next(Configuration& out) {
  if (done_) return false;
  switch (data_->backing) {
    case SpaceBacking::diagram: done_ = started_ && !next_path(); break;
    case SpaceBacking::rows: done_ = row_ >= data_->valid_count; break;
    case SpaceBacking::constraints: done_ = !next_valid(); break;
  }
  started_ = true;
  if (done_) return false;
  const std::size_t levels = data_->levels();
  if (data_->backing == SpaceBacking::rows) {
    out = configuration_of(*data_, &data_->rows[static_cast<std::size_t>(row_++) * levels]);
  } else if (data_->backing == SpaceBacking::constraints) {
    out = configuration_of(*data_, position_);
  } else {
    for (std::size_t i = 0; i < levels; ++i) position_[i] = data_->diagram.edge_value[edge_[i]];
    out = configuration_of(*data_, position_);
  }
  return true;
}

// The next path through the diagram: the deepest edge that has a sibling, then first edges below
// it.
bool Space::Cursor::next_path() {
  const space::Diagram& diagram = data_->diagram;
  const std::size_t levels = data_->levels();
  std::size_t level = levels;
  do {
    if (level == 0) return false;
    --level;
  } while (edge_[level] + 1 == diagram.node_first_edge[node_[level] + 1]);
  ++edge_[level];
  for (++level; level < levels; ++level) {
    node_[level] = first_of_level_[level - 1] + diagram.edge_child[edge_[level - 1]];
    edge_[level] = diagram.node_first_edge[node_[level]];
  }
  return true;
}

bool Space::Cursor::next_valid() {
  const std::size_t last = data_->levels() - 1;
  if (!started_) return search_forward(*data_, position_, 0, UINT64_MAX);
  // Continues behind the current configuration; past the last value means one level up.
  std::size_t level = last;
  while (position_[level] + 1u == data_->parameters[level].values.size()) {
    if (level == 0) return false;
    --level;
  }
  ++position_[level];
  return search_forward(*data_, position_, level, UINT64_MAX);
}

std::string to_text(const Space& space, const Configuration& configuration) {
  std::string text;
  for (std::size_t i = 0; i < configuration.size() && i < space.parameter_count(); ++i) {
    if (i > 0) text += ' ';
    text += joined("%=%", space.parameter_name(i), configuration[i]);
  }
  return text;
}

}  // namespace idletune
