#include "agent/host/cli/explanation_output.hpp"

#include "agent/host/cli/text_layout.hpp"
#include "models/host/insight/chosen_member.hpp"
#include "platform/os/environment.hpp"

namespace idletune::cli {

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string measured_time(double milliseconds) {
  return milliseconds > 0 ? report::time_text(milliseconds * 1e6) : "not measured";
}

std::string measured_ms(double milliseconds) {
  return milliseconds > 0 ? report::significant(milliseconds) : "-";
}

std::string why_never(const AgentOptions& options) {
  if (options.mode == Mode::tune) return {};
  const char* const said = environment("IDLETUNE_MODE");
  return (said != nullptr ? std::string("IDLETUNE_MODE=") + said : "IDLETUNE_MAX_TUNING_MS=0") +
         ": nothing is tuned";
}

json member_or_null(const std::string& configuration) {
  const auto member = chosen_member(configuration);
  return member ? json(member->name) : json();
}

json explanation_object(const Explanation& e) {
  const json resembles = list_of(e.resembles, [](const Explanation::Resemblance& one) {
    return IDLETUNE_FIELDS(one, device, weight);
  });
  return joined(
      IDLETUNE_FIELDS(e, kernel, problem, model_refused, reason, advice, trying, captured,
                      default_ms, first_pick_ms, running_ms, speed_up, tuning_ms, charged_ms,
                      launches, evaluated, rejected, quarantined, production_watch, fraction,
                      fraction_origin, best_estimate_ms, step_ms, launches_said),
      {{"member", member_or_null(e.running_text)},
       {"shape", report::shape_object(e.shape)},
       {"selection", selection_name(e.selection)},
       {"running", e.running_text},
       {"verdict", verdict_name(e.verdict)},
       {"blocker", blocker_name(e.blocker)},
       {"expected_launches", finite_or_null(e.expected_launches)},
       {"expected_steps", finite_or_null(e.expected_steps)},
       {"cost_ms", finite_or_null(e.cost_ms)},
       {"gain_ms", finite_or_null(e.gain_ms)},
       {"break_even_launches", finite_or_null(e.break_even_launches)},
       {"fraction_interval", {e.fraction_low, e.fraction_high}},
       {"resembles", resembles}});
}

std::string explanation_text(const Explanation& e) {
  std::string text =
      e.kernel + " " + (e.problem.empty() ? report::shape_text(e.shape) : e.problem) + "\n";
  if (!e.model_refused.empty()) text += paragraph("  model     ", e.model_refused);
  text += paragraph("  runs      ", with_chosen_member(e.running_text) + " (" +
                                        selection_name(e.selection) +
                                        (e.captured ? ", on captured data)" : ")"));
  text +=
      "  time      default " + measured_time(e.default_ms) + ", now " + measured_time(e.running_ms);
  text += (e.default_ms > 0 ? ": " + report::significant(e.speed_up) + "x\n" : "\n");
  text += "  tried     " + report::counted(e.evaluated, "configuration", "configurations") + ", " +
          std::to_string(e.rejected) + " failed, " + std::to_string(e.quarantined) +
          " quarantined" + (e.tuning_ms > 0 ? ", in " + report::time_text(e.tuning_ms * 1e6) : "") +
          "\n";
  return text;
}

}  // namespace idletune::cli
