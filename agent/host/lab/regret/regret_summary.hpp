// Averages over seeds, targets and numbers of launches of what `regret` plays. Host side.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/lab/regret/regret.hpp"

namespace idletune::regret {

struct Spread {
  double mean = 0;
  double min = 0;
  double max = 0;
  double deviation = 0;  // standard deviation of a sample; 0 for one value
};
// Of at least one value; all NaN if one is.
Spread spread_of(const std::vector<double>& values);

// One target and one number of launches, over seeds: a point of a regret curve.
struct RegretPoint {
  double launches = 0;
  std::size_t seeds = 0;
  PerPolicy<Spread> total_ms;

  // Mean total of `idletune` over that of never tuning, minus 1. Positive: tuning cost more.
  double loss = 0;
  // Mean total over the clairvoyant's (the one with the same ledger rule), minus 1.
  double excess = 0;
  double excess_no_ledger = 0;  // idletune_no_ledger over clairvoyant
  double excess_absolute = 0;   // idletune over clairvoyant (which needs no ledger)
  // (T_never - T) / (T_never - T_clairvoyant) of mean totals, T of `idletune`; nothing before the
  // break-even, that is where the clairvoyant saves less than 1 % of T_never.
  std::optional<double> captured_gain;            // against Policy::clairvoyant
  std::optional<double> captured_gain_ledger;     // against Policy::clairvoyant_ledger
  std::optional<double> captured_gain_no_ledger;  // T of idletune_no_ledger, against clairvoyant

  // Means over seeds.
  double steps = 0;
  double steps_no_ledger = 0;
  double clairvoyant_steps = 0;
  double clairvoyant_ledger_steps = 0;
  double tuning_ms = 0;
  double final_relative = 0;
  double overdrawn_ms = 0;  // the largest

  // Of the seed that lost most against never tuning (or gained least).
  Verdict verdict = Verdict::stop;
  std::string reason;
  double worst_loss = 0;
};
// At least one application, all with the same number of launches.
RegretPoint point_of(const std::vector<Application>& applications);

// One target: its points in the order of the numbers of launches.
struct RegretCurve {
  std::string target;  // as the user called it
  std::string kernel;
  std::string device;
  std::string shape;  // as people read it
  bool has_model = false;
  bool seen = false;          // the model learned from this very target
  std::string no_first_pick;  // why the model has none; then that start is a random one
  Start start = Start::first_pick;
  std::vector<RegretPoint> points;
};

// Everything together; every target and number of launches weighs the same.
struct RegretSummary {
  std::size_t targets = 0;
  std::size_t points = 0;
  double mean_excess = 0;  // the 10 % goal: averaged RegretPoint::excess
  double mean_excess_no_ledger = 0;
  double mean_excess_absolute = 0;
  std::optional<double> mean_captured_gain;
  std::optional<double> mean_captured_gain_ledger;
  std::optional<double> mean_captured_gain_no_ledger;
  // The 2 % goal: largest RegretPoint::loss, and where it is. Indices into curves and points.
  double worst_loss = 0;
  std::size_t worst_curve = 0;
  std::size_t worst_point = 0;
  double worst_excess = 0;
  std::size_t worst_excess_curve = 0;
  std::size_t worst_excess_point = 0;
};
// At least one curve with at least one point.
RegretSummary summary_of(const std::vector<RegretCurve>& curves);

}  // namespace idletune::regret
