#include "agent/search/rank_coding.hpp"

#include <optional>

#include "models/core/order.hpp"

namespace idletune {

RankCoding::RankCoding(const Space& space) : space_(space) {
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    const Span<const std::int64_t> values = space.parameter_values(p);
    if (values.size() < 2) continue;
    Column column;
    column.parameter = p;
    const std::vector<std::uint32_t> order = order_of(
        values.size(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    column.position_of_rank.assign(order.begin(), order.end());
    column.rank_of_position.resize(values.size());
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      column.rank_of_position[column.position_of_rank[rank]] = static_cast<std::uint16_t>(rank);
    }
    levels_.push_back(static_cast<std::uint32_t>(values.size()));
    columns_.push_back(std::move(column));
  }
  if (columns_.empty()) levels_.push_back(1);
}

bool RankCoding::code(const Configuration& configuration, Span<std::uint16_t> codes) const {
  if (configuration.size() != space_.parameter_count()) return false;
  if (columns_.empty()) codes[0] = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    const std::optional<std::size_t> position =
        space_.value_position(column.parameter, configuration[column.parameter]);
    if (!position) return false;
    codes[c] = column.rank_of_position[*position];
  }
  return true;
}

Configuration RankCoding::decode(Span<const std::uint16_t> codes) const {
  Configuration configuration;
  std::size_t c = 0;
  for (std::size_t p = 0; p < space_.parameter_count(); ++p) {
    const Span<const std::int64_t> values = space_.parameter_values(p);
    const bool varies = c < columns_.size() && columns_[c].parameter == p;
    configuration.push_back(values[varies ? columns_[c].position_of_rank[codes[c]] : 0]);
    if (varies) ++c;
  }
  return configuration;
}

}  // namespace idletune
