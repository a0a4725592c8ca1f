// What hosts do with spaces and boards do not: make them of histories, as the list of their
// configurations, and count the valid configurations of those that have no diagram.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <idletune/text.hpp>

#include "models/core/digest.hpp"
#include "models/space/space.hpp"
#include "models/space/space_data.hpp"

namespace idletune {
namespace {

using space::Data;

Status add_rows(Data& data, Span<const std::int64_t> rows) {
  const std::size_t levels = data.levels();
  const std::size_t count = rows.size() / levels;
  if (rows.size() % levels != 0 || count >= UINT32_MAX / 2) {
    return Status(StatusCode::invalid_argument, "expected rows of % values, got % values in all",
                  levels, rows.size());
  }
  std::size_t slots = 2;
  while (slots < 2 * count) slots *= 2;
  data.row_table.assign(slots, 0);
  data.rows.resize(rows.size());
  Digest digest;
  digest.add(data.digest);
  for (std::size_t row = 0; row < count; ++row) {
    std::uint16_t* positions = &data.rows[row * levels];
    const Configuration configuration(rows.subspan(row * levels, levels));
    if (!space::positions_of(data, configuration, positions)) {
      return Status(StatusCode::invalid_argument,
                    "row %: a value is not among its parameter's values", row);
    }
    const std::size_t slot = space::find_slot(data, positions);
    if (data.row_table[slot] != 0) {
      return Status(StatusCode::invalid_argument, "row % repeats row %", row,
                    data.row_table[slot] - 1);
    }
    data.row_table[slot] = static_cast<std::uint32_t>(row + 1);
    digest.add(digest_of(configuration));
  }
  data.backing = SpaceBacking::rows;
  data.valid_count = count;
  data.digest = digest.value();
  return Status();
}

// What from_rows keeps alive: the values that the parameters view.
using ValueLists = std::vector<std::vector<std::int64_t>>;

ValueLists occurring_values(std::size_t parameters, Span<const std::int64_t> rows) {
  ValueLists lists(parameters);
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<std::int64_t>& list = lists[p];
    for (std::size_t i = p; i < rows.size(); i += parameters) list.push_back(rows[i]);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    list.shrink_to_fit();
  }
  return lists;
}

}  // namespace

Result<Space> Space::from_rows(Span<const std::string> names, Span<const ParameterKind> kinds,
                               Span<const std::vector<std::int64_t>> values,
                               Span<const std::int64_t> rows) {
  const auto fits = [&](std::size_t size) { return size == 0 || size == names.size(); };
  if (names.empty() || !fits(kinds.size()) || !fits(values.size())) {
    return Status(StatusCode::invalid_argument,
                  "expected a name for every parameter, and as many kinds and value lists or none");
  }
  auto lists = std::make_shared<ValueLists>(values.begin(), values.end());
  if (values.empty()) *lists = occurring_values(names.size(), rows);
  std::vector<space::ParameterData> parameters(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    parameters[i].name = names[i];
    if (!kinds.empty()) parameters[i].kind = kinds[i];
    parameters[i].values = {(*lists)[i].data(), (*lists)[i].size()};
  }
  Result<std::shared_ptr<Data>> data = space::make_data(std::move(parameters), {}, lists);
  if (!data.ok()) return data.status();
  if (Status status = add_rows(**data, rows); !status.ok()) return status;
  return Space(std::shared_ptr<const Data>(std::move(*data)));
}

std::optional<std::uint64_t> Space::count_valid(std::uint64_t limit) const {
  if (indexed()) {
    if (valid_count() > limit) return std::nullopt;
    return valid_count();
  }
  std::uint64_t count = 0;
  Configuration ignored;
  for (Cursor walk = cursor(); walk.next(ignored);) {
    if (++count > limit) return std::nullopt;
  }
  return count;
}

}  // namespace idletune
