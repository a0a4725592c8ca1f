#include "agent/api/explain_json.hpp"

#include <idletune/text.hpp>

#include "models/core/object_writer.hpp"

namespace idletune::detail {
namespace {

std::string numbers(Span<const std::int64_t> values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, "%", values[i]);
  }
  return out + "]";
}

void tell(const char* name, const Status& status, ObjectWriter& object) {
  object.text(name, status.to_string());
}

std::string status_json(const AgentStatus& status) {
  ObjectWriter object;
  tell("storage", status.storage, object);
  tell("journal", status.journal, object);
  object.counts("journal_dropped_bytes new_suspects new_quarantines model_generation",
                {status.journal_dropped_bytes, status.new_suspects, status.new_quarantines,
                 status.model_generation});
  tell("model", status.model, object);
  object.text("model_digest", hexadecimal(status.model_digest));
  object.text("model_state", model_state_name(status.model_standing.state));
  if (const Status& gone_back = status.model_standing.gone_back; !gone_back.ok())
    object.text("model_refuted", gone_back.message());
  tell("trials", status.trials, object);
  object.flag("tuning_enabled", status.tuning_enabled);
  object.text("blocker", blocker_name(status.blocker));
  object.text("advice", status.advice);
  object.numbers(
      "kernel_seconds tuning_seconds charged_seconds saved_seconds helper_processor_seconds "
      "build_processor_seconds",
      {status.kernel_seconds, status.tuning_seconds, status.charged_seconds, status.saved_seconds,
       status.helper_processor_seconds, status.build_processor_seconds});
  object.counts("quarantined unslotted_launches class_launches ended_devices lost_devices",
                {status.quarantined, status.unslotted_launches, status.class_launches,
                 status.ended_devices, status.lost_devices});
  return object.finish();
}

std::string explanation_json(const Explanation& e) {
  ObjectWriter object;
  object.text("kernel", e.kernel);
  object.raw("shape", numbers(e.shape.values()));
  object.text("problem", e.problem);
  if (!e.model_refused.empty()) object.text("model_refused", e.model_refused);
  object.text("selection", selection_name(e.selection));
  object.text("first_pick_quality", e.first_pick_quality);
  object.text("running", e.running_text);
  object.text("verdict", verdict_name(e.verdict));
  object.text("reason", e.reason);
  object.text("blocker", blocker_name(e.blocker));
  object.text("advice", e.advice);
  object.text("trying", e.trying);
  object.numbers(
      "default_ms first_pick_ms running_ms speed_up expected_launches expected_steps cost_ms "
      "gain_ms "
      "break_even_launches setup_ms setup_break_even_launches tuning_ms charged_ms",
      {e.default_ms, e.first_pick_ms, e.running_ms, e.speed_up, e.expected_launches,
       e.expected_steps, e.cost_ms, e.gain_ms, e.break_even_launches, e.setup_ms,
       e.setup_break_even_launches, e.tuning_ms, e.charged_ms});
  object.counts("setups launches evaluated rejected quarantined",
                {e.setups, e.launches, e.evaluated, e.rejected, e.quarantined});
  object.text("production_watch", e.production_watch);
  object.numbers("fraction best_estimate_ms step_ms", {e.fraction, e.best_estimate_ms, e.step_ms});
  object.raw("fraction_interval",
             joined("[%, %]", number_text(e.fraction_low, 9), number_text(e.fraction_high, 9)));
  object.text("fraction_origin", e.fraction_origin);
  object.flag("launches_said", e.launches_said);
  object.flag("captured", e.captured);
  std::string resembles = "[";
  for (const Explanation::Resemblance& one : e.resembles) {
    if (resembles.size() > 1) resembles += ", ";
    ObjectWriter entry;
    entry.text("device", one.device);
    entry.numbers("weight", {one.weight});
    resembles += entry.finish();
  }
  object.raw("resembles", resembles + "]");
  return object.finish();
}

}  // namespace

void ExplanationText::add(const Explanation& explanation) {
  kernels_ += kernels_.empty() ? "\n  " : ",\n  ";
  kernels_ += explanation_json(explanation);
}

std::string ExplanationText::finish(const AgentStatus& status) const {
  return joined("{\"status\": %,\n \"kernels\": [%]}\n", status_json(status), kernels_);
}

}  // namespace idletune::detail
