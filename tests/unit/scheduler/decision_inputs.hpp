// What the tests of the decision decide about.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "agent/scheduler/amortization.hpp"
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

// Half of the space at q = 0.5 exactly, half at 1: every figure of the look-ahead has a closed form
// but for the knots' vanishing width.
inline const std::vector<float> kTwoValues{0.5f, 0.5f, 1.0f, 1.0f};
inline const std::vector<float> kTwoLevels{0.0f, 0.5f, 0.5f, 1.0f};

struct Believed {
  explicit Believed(std::size_t entries = 24, const std::function<void(ModelContent&)>& edit = {})
      : model(two_source_model(entries, edit)), beliefs(model->kernels()[0]) {
    const auto at = quantile_levels();
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      levels[i] = static_cast<float>(at[i]);
      values[i] = static_cast<float>(model->kernels()[0].relative_performance_quantile(at[i]));
    }
  }
  // 2 ms per launch, 50 ms per step.
  DecisionInput input(double launches) const {
    DecisionInput input = plain(launches);
    input.current = from_ms(2);
    input.outlook = {&beliefs, 0.25};
    input.quantiles = values;
    input.quantile_levels = levels;
    input.fraction = model->kernels()[0].cautious_fraction(0.9);
    return input;
  }
  std::shared_ptr<const Model> model;
  DevicePosterior beliefs;
  std::array<float, kQuantileCount> values{};
  std::array<float, kQuantileCount> levels{};
};

}  // namespace idletune::test
