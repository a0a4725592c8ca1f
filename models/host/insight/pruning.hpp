// Pruning a tuning space: parameters that matter little are pinned to their median (Olha et al.
// 2020, section 4). Host side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/aims.hpp>
#include <idletune/result.hpp>

#include "models/host/history/history.hpp"

namespace idletune {

enum class PruningMethod : std::uint8_t {
  naive,        // every parameter whose information is below a share of the highest
  aggressive,   // from the least informative on, as long as the best that is left is good enough
  conservative  // those that both of them prune
};
// "naive", "aggressive", "conservative".
const char* pruning_method_name(PruningMethod method);
std::optional<PruningMethod> pruning_method_from_name(std::string_view name);

struct PruningOptions {
  // Of the highest information: below it a parameter matters little.
  double information_share = 0.2;
  // Of the best performance, that the pruned space has to keep.
  double retention = kWellPerforming;
};

struct PrunedParameter {
  std::string name;
  std::string value;       // what it is pinned to, for people
  std::int64_t code = 0;   // the same as CellColumn::code
  double information = 0;  // bits
  bool at_median =
      true;  // false: the median left no configuration, the value is the nearest that does
};

struct Pruning {
  std::string kernel;
  std::string device;  // whose history it was computed from
  PruningMethod method = PruningMethod::conservative;
  std::vector<std::string> kept;        // in the history's order
  std::vector<PrunedParameter> pruned;  // in the order of pruning, least informative first
  std::vector<std::string> constant;    // parameters with a single value: neither kept nor pruned
  std::uint64_t configurations =
      0;                        // of the full space: all rows but those of status `constraints`
  std::uint64_t remaining = 0;  // of the pruned space; at least 1

  // State space reduction (their SSR).
  double reduction() const {
    return remaining == 0 ? 1
                          : static_cast<double>(configurations) / static_cast<double>(remaining);
  }
};
// Errors: invalid_argument if nothing in the history ran correctly.
Result<Pruning> prune(const History& history, PruningMethod method,
                      const PruningOptions& options = {});

// What a pruned space keeps on a device.
struct Retention {
  std::string device;
  double value = 0;  // best performance in the pruned space / in the full one; 0: nothing runs
  std::uint64_t configurations = 0;  // of the full space there
  std::uint64_t remaining = 0;       // with the pinned values
};
// Errors: invalid_argument if `other` lacks a pruned parameter, or nothing in it ran correctly.
Result<Retention> retention_on(const Pruning& pruning, const History& other);

// The rows of `history` that have the pinned values. Notes and warnings are not copied. Errors as
// above.
Result<History> pruned_history(const Pruning& pruning, const History& history);

}  // namespace idletune
