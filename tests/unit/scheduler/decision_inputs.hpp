// What the tests of the decision decide about.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "agent/scheduler/amortization.hpp"
#include "models/core/random.hpp"
#include "tests/unit/scheduler/two_source_model.hpp"

namespace idletune::test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline Nanoseconds from_ms(double ms) { return Nanoseconds(static_cast<std::int64_t>(ms * 1e6)); }

// 1 ms per launch, 50 ms per step, nothing known.
inline DecisionInput plain(double launches) {
  DecisionInput input;
  input.current = from_ms(1);
  input.step_cost = from_ms(50);
  input.expected_launches = launches;
  return input;
}

inline bool complete_sentence(const Decision& decision) {
  const std::string text(decision.reason());
  return text.size() > 20 && text.back() == '.' && text.size() + 1 < sizeof decision.reason_text &&
         text.find("nan") == std::string::npos;
}

// A draw from a space like the recorded ones: t_best is 1 ms, q above 0.9 has half a percent.
inline Nanoseconds drawn_time(Random& random) {
  return from_ms(1 / std::max(0.03, 1 - std::pow(random.uniform(), 1 / 2.3)));
}

struct Believed {
  explicit Believed(std::size_t entries = 24, const std::function<void(ModelContent&)>& edit = {})
      : model(two_source_model(entries, edit)), beliefs(model->kernels()[0]) {
    for (std::size_t i = 0; i < entries; ++i) upcoming.push_back({i, 0});
  }
  void tell(std::size_t entry, double time_ns) {
    beliefs.tell_entry(entry, time_ns);
    for (std::size_t i = upcoming.size(); i-- > 0;) {
      if (upcoming[i].entry == entry) upcoming.erase(upcoming.begin() + static_cast<long>(i));
    }
  }
  // 2 ms per launch, 50 ms per step.
  DecisionInput input(double launches) const {
    DecisionInput input = plain(launches);
    input.current = from_ms(2);
    input.outlook = {&beliefs, 0.25, {upcoming.data(), upcoming.size()}};
    input.tried = beliefs.measured();
    return input;
  }
  std::shared_ptr<const Model> model;
  DevicePosterior beliefs;
  std::vector<DevicePosterior::Forecast> upcoming;
};

}  // namespace idletune::test
