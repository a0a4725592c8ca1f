#include "models/space/space_data.hpp"

#include <algorithm>
#include <utility>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "models/core/order.hpp"
#include "models/core/shared.hpp"

namespace idletune::space {
namespace {

template <class... Pieces>
[[gnu::always_inline]] inline Status invalid(const char* form, const Pieces&... given) {
  return Status(StatusCode::invalid_argument, form, given...);
}

Status check_values(ParameterData& parameter) {
  const Span<const std::int64_t> values = parameter.values;
  if (values.empty() || values.size() > kMaxParameterValues) {
    return invalid("parameter '%': expected 1 to % values, got %", parameter.name,
                   kMaxParameterValues, values.size());
  }
  bool ascending = true;
  for (std::size_t i = 1; i < values.size(); ++i) ascending &= values[i - 1] < values[i];
  if (ascending) return Status();
  const std::vector<std::uint32_t> order = order_of(
      values.size(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  parameter.by_value.assign(order.begin(), order.end());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (values[order[i - 1]] != values[order[i]]) continue;
    return invalid("parameter '%': the value % occurs twice", parameter.name, values[order[i]]);
  }
  return Status();
}

Status check_parameters(std::vector<ParameterData>& parameters) {
  if (parameters.empty() || parameters.size() > kMaxParameters) {
    return invalid("expected 1 to % parameters, got %", kMaxParameters, parameters.size());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.empty()) return invalid("a parameter has no name");
    for (std::size_t j = 0; j < i; ++j) {
      if (parameters[j].name == parameters[i].name) {
        return invalid("parameter '%' occurs twice", parameters[i].name);
      }
    }
    if (Status status = check_values(parameters[i]); !status.ok()) return status;
  }
  return Status();
}

void count_combinations(Data& data) {
  data.combinations = 1;
  for (const ParameterData& parameter : data.parameters) {
    if (!__builtin_mul_overflow(data.combinations, std::uint64_t{parameter.values.size()},
                                &data.combinations)) {
      continue;
    }
    data.combinations = UINT64_MAX;
    data.saturated = true;
    return;
  }
}

void compute_digests(Data& data) {
  Digest names, all;
  for (const ParameterData& parameter : data.parameters) {
    names.add(parameter.name);
    all.add(parameter.name).add(parameter.values.size());
    for (std::int64_t value : parameter.values) all.add_signed(value);
  }
  std::vector<std::uint64_t> constraints;
  for (const Expression& constraint : data.constraints) push(constraints, constraint.digest());
  all.add(constraints.size());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return constraints[a] < constraints[b];
  };
  for (std::uint32_t i : order_of(constraints.size(), before)) all.add(constraints[i]);
  data.names_digest = names.value();
  data.digest = all.value();
}

}  // namespace

bool Data::satisfied_at(std::size_t level, const std::int64_t* values) const {
  for (const Expression& constraint : constraints) {
    if (deciding_level(constraint) != level) continue;
    const Evaluation result = constraint.evaluate({}, {values, levels()});
    if (!result.ok() || result.value == 0) return false;
  }
  return true;
}

Result<std::shared_ptr<Data>> make_data(std::vector<ParameterData> parameters,
                                        std::vector<Expression> constraints,
                                        std::shared_ptr<const void> owner) {
  if (Status status = check_parameters(parameters); !status.ok()) return status;
  auto data = new_shared<Data>();
  data->owner = std::move(owner);
  data->parameters = std::move(parameters);
  data->constraints = std::move(constraints);
  for (const Expression& constraint : data->constraints) {
    if (constraint.dimension_mask() != 0 || deciding_level(constraint) >= data->levels()) {
      return invalid("constraint '%' is not one over the parameters alone", constraint.text());
    }
  }
  count_combinations(*data);
  compute_digests(*data);
  return data;
}

Status adopt_diagram(Data& data, const Diagram& diagram) {
  std::uint32_t value_counts[kMaxParameters];
  for (std::size_t i = 0; i < data.levels(); ++i) {
    value_counts[i] = static_cast<std::uint32_t>(data.parameters[i].values.size());
  }
  Result<std::uint64_t> count = verify(diagram, {value_counts, data.levels()});
  if (!count.ok()) return count.status();
  data.diagram = diagram;
  data.valid_count = *count;
  data.backing = SpaceBacking::diagram;
  return Status();
}

std::uint32_t position_of(const ParameterData& parameter, std::int64_t value) {
  const Span<const std::int64_t> values = parameter.values;
  if (parameter.by_value.empty()) {
    const std::int64_t* found = std::lower_bound(values.begin(), values.end(), value);
    if (found == values.end() || *found != value) return UINT32_MAX;
    return static_cast<std::uint32_t>(found - values.begin());
  }
  const auto less = [&](std::uint16_t position, std::int64_t v) { return values[position] < v; };
  const auto found =
      std::lower_bound(parameter.by_value.begin(), parameter.by_value.end(), value, less);
  if (found == parameter.by_value.end() || values[*found] != value) return UINT32_MAX;
  return *found;
}

namespace {

std::uint64_t hash_row(const std::uint16_t* positions, std::size_t levels) {
  Digest digest;
  for (std::size_t i = 0; i < levels; ++i) digest.add(std::uint64_t{positions[i]});
  return digest.value();
}

}  // namespace

std::size_t find_slot(const Data& data, const std::uint16_t* positions) {
  const std::size_t levels = data.levels();
  const std::size_t mask = data.row_table.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hash_row(positions, levels)) & mask;
  while (data.row_table[slot] != 0) {
    const std::uint16_t* row = &data.rows[(std::size_t{data.row_table[slot]} - 1) * levels];
    if (std::equal(row, row + levels, positions)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

bool positions_of(const Data& data, const Configuration& configuration, std::uint16_t* positions) {
  if (configuration.size() != data.levels()) return false;
  for (std::size_t i = 0; i < data.levels(); ++i) {
    const std::uint32_t position = position_of(data.parameters[i], configuration[i]);
    if (position == UINT32_MAX) return false;
    positions[i] = static_cast<std::uint16_t>(position);
  }
  return true;
}

}  // namespace idletune::space
