#include "agent/cli/explanation_output.hpp"

#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "agent/cli/report/numbers.hpp"
#include "agent/cli/text_layout.hpp"
#include "models/insight/chosen_member.hpp"

namespace idletune::cli {

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string format_percent(double share) { return format_number(100 * share, 1) + " %"; }

std::string format_milliseconds(double milliseconds) {
  if (!(milliseconds > 0)) return "-";
  return format_number(milliseconds, milliseconds < 1 ? 3 : milliseconds < 100 ? 2 : 0);
}

nlohmann::json member_or_null(const std::string& configuration) {
  const auto member = chosen_member(configuration);
  return member ? nlohmann::json(member->name) : nlohmann::json(nullptr);
}

nlohmann::json explanation_object(const Explanation& e) {
  nlohmann::json shape = nlohmann::json::array();
  for (std::int64_t dimension : e.shape.values()) shape.push_back(dimension);
  nlohmann::json resembles = nlohmann::json::array();
  for (const Explanation::Resemblance& one : e.resembles) {
    resembles.push_back({{"device", one.device}, {"weight", one.weight}});
  }
  const auto finite = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  return {{"kernel", e.kernel},
          {"member", member_or_null(e.running_text)},
          {"shape", shape},
          {"problem", e.problem},
          {"model_refused", e.model_refused},
          {"selection", selection_name(e.selection)},
          {"running", e.running_text},
          {"verdict", verdict_name(e.verdict)},
          {"reason", e.reason},
          {"blocker", blocker_name(e.blocker)},
          {"advice", e.advice},
          {"trying", e.trying},
          {"captured", e.captured},
          {"default_ms", e.default_ms},
          {"first_pick_ms", e.first_pick_ms},
          {"running_ms", e.running_ms},
          {"speed_up", e.speed_up},
          {"expected_launches", finite(e.expected_launches)},
          {"expected_steps", finite(e.expected_steps)},
          {"cost_ms", finite(e.cost_ms)},
          {"gain_ms", finite(e.gain_ms)},
          {"break_even_launches", finite(e.break_even_launches)},
          {"tuning_ms", e.tuning_ms},
          {"charged_ms", e.charged_ms},
          {"launches", e.launches},
          {"evaluated", e.evaluated},
          {"rejected", e.rejected},
          {"quarantined", e.quarantined},
          {"production_watch", e.production_watch},
          {"fraction", e.fraction},
          {"fraction_interval", {e.fraction_low, e.fraction_high}},
          {"fraction_origin", e.fraction_origin},
          {"best_estimate_ms", e.best_estimate_ms},
          {"pessimistic_net_ms", finite(e.pessimistic_net_ms)},
          {"step_ms", e.step_ms},
          {"launches_said", e.launches_said},
          {"resembles", resembles}};
}

std::string explanation_text(const Explanation& e) {
  std::string text =
      e.kernel + " " + (e.problem.empty() ? report::shape_text(e.shape) : e.problem) + "\n";
  if (!e.model_refused.empty()) text += paragraph("  model     ", e.model_refused);
  text += paragraph("  runs      ", with_chosen_member(e.running_text) + " (" +
                                        selection_name(e.selection) +
                                        (e.captured ? ", on captured data)" : ")"));
  text += "  time      default " + format_milliseconds(e.default_ms) + " ms, now " +
          format_milliseconds(e.running_ms) + " ms: " + format_number(e.speed_up, 2) + "x\n";
  text += "  tried     " + std::to_string(e.evaluated) + " configurations, " +
          std::to_string(e.rejected) + " failed, " + std::to_string(e.quarantined) +
          " quarantined, in " + format_number(e.tuning_ms / 1000, 1) + " s\n";
  return text;
}

}  // namespace idletune::cli
