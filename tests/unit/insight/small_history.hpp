// Histories made by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune::test {

struct SmallParameter {
  std::string name;
  std::vector<std::int64_t> values;
};

// Every combination of the values, the last parameter fastest; time_ms gives the run time of one: 0
// failed, below 0 violates a constraint.
inline History product_history(
    const std::vector<SmallParameter>& parameters,
    const std::function<double(const std::vector<std::int64_t>&)>& time_ms) {
  History history;
  history.kernel = "k";
  history.device = "d";
  history.nanoseconds_per_unit = 1e6;
  std::size_t combinations = 1;
  for (const SmallParameter& p : parameters) {
    history.parameters.emplace_back(p.name);
    combinations *= p.values.size();
  }
  for (std::size_t i = 0; i < combinations; ++i) {
    std::vector<std::int64_t> values(parameters.size());
    std::size_t rest = i;
    for (std::size_t p = parameters.size(); p-- > 0; rest /= parameters[p].values.size()) {
      values[p] = parameters[p].values[rest % parameters[p].values.size()];
    }
    const double time = time_ms(values);
    for (std::size_t p = 0; p < values.size(); ++p) history.parameters[p].push_integer(values[p]);
    history.status.push_back(time > 0    ? TrialStatus::correct
                             : time == 0 ? TrialStatus::runtime
                                         : TrialStatus::constraints);
    history.run_time.push_back(time > 0 ? time : std::numeric_limits<double>::quiet_NaN());
    history.compile_time.push_back(std::numeric_limits<double>::quiet_NaN());
    history.sample_count.push_back(0);
  }
  return history;
}

}  // namespace idletune::test
