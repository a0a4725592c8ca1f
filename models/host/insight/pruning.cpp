#include "models/host/insight/pruning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "models/host/insight/importance.hpp"

namespace idletune {

namespace {

// One distinct value of a parameter, where it first occurs.
struct Value {
  std::int64_t code = 0;
  double number = 0;
  std::string text;
  std::size_t rows = 0;
};

// The distinct values in the order in which they are preferred for pinning: numbers by their
// distance in rank from the (lower) median, the lower one first; where any value is no number, the
// most frequent first.
std::vector<Value> by_preference(const CellColumn& column, const std::vector<std::size_t>& rows) {
  std::unordered_map<std::int64_t, std::size_t> index;
  std::vector<Value> values;
  bool numeric = true;
  for (const std::size_t row : rows) {
    const std::int64_t code = column.code(row);
    const auto [place, is_new] = index.emplace(code, values.size());
    if (is_new) {
      values.push_back({code, column.number(row), column.to_string(row), 0});
      numeric = numeric && !std::isnan(values.back().number);
    }
    ++values[place->second].rows;
  }
  if (!numeric) {
    std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
      return a.rows != b.rows ? a.rows > b.rows : a.text < b.text;
    });
    return values;
  }
  std::sort(values.begin(), values.end(),
            [](const Value& a, const Value& b) { return a.number < b.number; });
  std::vector<Value> preferred;
  const std::size_t median = (values.size() - 1) / 2;
  for (std::size_t distance = 0; distance < values.size(); ++distance) {
    if (distance <= median) preferred.push_back(values[median - distance]);
    if (distance > 0 && median + distance < values.size())
      preferred.push_back(values[median + distance]);
  }
  return preferred;
}

double best_of(const History& history, const std::vector<std::size_t>& rows) {
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t row : rows) {
    if (history.correct(row)) best = std::min(best, history.run_time[row]);
  }
  return best;
}

// t_best / t of the best that is left; 0 if nothing there runs.
double retained(double best, double best_left) {
  return std::isinf(best_left) ? 0 : best / best_left;
}

std::vector<std::size_t> rows_with(const CellColumn& column, const std::vector<std::size_t>& rows,
                                   std::int64_t code) {
  std::vector<std::size_t> left;
  for (const std::size_t row : rows) {
    if (column.code(row) == code) left.push_back(row);
  }
  return left;
}

struct Pin {
  PrunedParameter parameter;
  std::vector<std::size_t> left;  // rows that have the value; at least one
};

// Pins to the first preferred value that any of `rows` (at least one) has.
Pin pin(const CellColumn& column, const std::vector<Value>& preferred, double information,
        const std::vector<std::size_t>& rows) {
  Pin result;
  for (const Value& value : preferred) {
    result.left = rows_with(column, rows, value.code);
    if (result.left.empty()) continue;
    result.parameter = {column.name(), value.text, value.code, information,
                        &value == &preferred.front()};
    break;
  }
  return result;
}

Result<std::vector<std::size_t>> rows_left(const Pruning& pruning, const History& history) {
  std::vector<std::size_t> rows = history.valid_rows();
  for (const PrunedParameter& parameter : pruning.pruned) {
    const auto column = std::find_if(
        history.parameters.begin(), history.parameters.end(),
        [&](const CellColumn& candidate) { return candidate.name() == parameter.name; });
    if (column == history.parameters.end()) {
      return Status(StatusCode::invalid_argument, "history of " + history.kernel + " on " +
                                                      history.device + ": expected a parameter '" +
                                                      parameter.name + "' as in the pruned space");
    }
    rows = rows_with(*column, rows, parameter.code);
  }
  return rows;
}

std::vector<CellColumn> cells_of(const std::vector<CellColumn>& columns,
                                 const std::vector<std::size_t>& rows) {
  std::vector<CellColumn> result;
  for (const CellColumn& column : columns) {
    std::vector<CellKind> kinds;
    std::vector<std::uint64_t> bits;
    for (const std::size_t row : rows) {
      kinds.push_back(column.kind(row));
      bits.push_back(column.bits()[row]);
    }
    result.push_back(
        CellColumn::from_parts(column.name(), std::move(kinds), std::move(bits), column.texts()));
  }
  return result;
}

Status needs_correct(const History& history) {
  if (history.count(TrialStatus::correct) > 0) return Status();
  return Status(StatusCode::invalid_argument, "history of " + history.kernel + " on " +
                                                  history.device + ": nothing in it ran correctly");
}

}  // namespace

const char* pruning_method_name(PruningMethod method) {
  switch (method) {
    case PruningMethod::naive: return "naive";
    case PruningMethod::aggressive: return "aggressive";
    case PruningMethod::conservative: return "conservative";
  }
  return "unknown";
}

std::optional<PruningMethod> pruning_method_from_name(std::string_view name) {
  for (const PruningMethod method :
       {PruningMethod::naive, PruningMethod::aggressive, PruningMethod::conservative}) {
    if (name == pruning_method_name(method)) return method;
  }
  return std::nullopt;
}

Result<Pruning> prune(const History& history, PruningMethod method, const PruningOptions& options) {
  if (Status status = needs_correct(history); !status.ok()) return status;
  const Importance importance = importance_of(history);
  Pruning result;
  result.kernel = history.kernel;
  result.device = history.device;
  result.method = method;
  std::vector<std::size_t> rows = history.valid_rows();
  result.configurations = rows.size();
  const double best = best_of(history, rows);

  std::vector<std::vector<Value>> values;
  std::vector<std::size_t> order;
  double highest = 0;
  for (std::size_t p = 0; p < history.parameters.size(); ++p) {
    values.push_back(by_preference(history.parameters[p], rows));
    highest = std::max(highest, importance.parameters[p].information);
    if (values[p].size() > 1) {
      order.push_back(p);
    } else {
      result.constant.push_back(history.parameters[p].name());
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return importance.parameters[a].information < importance.parameters[b].information;
  });

  std::vector<bool> pruned(history.parameters.size(), false);
  for (const std::size_t p : order) {
    const double information = importance.parameters[p].information;
    if (method != PruningMethod::aggressive && !(information < options.information_share * highest))
      break;
    Pin pinned = pin(history.parameters[p], values[p], information, rows);
    const bool degrades = retained(best, best_of(history, pinned.left)) < options.retention;
    if (degrades && method != PruningMethod::naive) break;
    rows = std::move(pinned.left);
    result.pruned.push_back(std::move(pinned.parameter));
    pruned[p] = true;
  }
  result.remaining = rows.size();
  for (std::size_t p = 0; p < history.parameters.size(); ++p) {
    if (!pruned[p] && values[p].size() > 1) result.kept.push_back(history.parameters[p].name());
  }
  return result;
}

Result<Retention> retention_on(const Pruning& pruning, const History& other) {
  if (Status status = needs_correct(other); !status.ok()) return status;
  const Result<std::vector<std::size_t>> left = rows_left(pruning, other);
  if (!left.ok()) return left.status();
  const std::vector<std::size_t> all = other.valid_rows();
  Retention retention;
  retention.device = other.device;
  retention.configurations = all.size();
  retention.remaining = left->size();
  retention.value = retained(best_of(other, all), best_of(other, *left));
  return retention;
}

Result<History> pruned_history(const Pruning& pruning, const History& history) {
  const Result<std::vector<std::size_t>> left = rows_left(pruning, history);
  if (!left.ok()) return left.status();
  const std::vector<std::size_t> offsets = history.sample_offsets();
  History result;
  result.kernel = history.kernel;
  result.device = history.device;
  result.driver = history.driver;
  result.shape = history.shape;
  result.nanoseconds_per_unit = history.nanoseconds_per_unit;
  result.parameters = cells_of(history.parameters, *left);
  result.extras = cells_of(history.extras, *left);
  for (const std::size_t row : *left) {
    result.status.push_back(history.status[row]);
    result.run_time.push_back(history.run_time[row]);
    result.compile_time.push_back(history.compile_time[row]);
    result.sample_count.push_back(history.sample_count[row]);
    for (std::size_t i = offsets[row]; i < offsets[row + 1]; ++i)
      result.samples.push_back(history.samples[i]);
  }
  return result;
}

}  // namespace idletune
