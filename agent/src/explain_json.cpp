#include "agent/src/explain_json.hpp"

#include <idletune/text.hpp>

#include <cmath>
#include <cstdio>

namespace idletune::detail {
namespace {

// Builds one JSON object, member by member.
class ObjectWriter {
 public:
  void text(const char* name, const std::string& value) {
    key(name);
    quote(value);
  }
  void number(const char* name, double value) {
    key(name);
    // JSON has no infinity.
    if (!std::isfinite(value)) {
      out_ += "null";
      return;
    }
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    out_ += buffer;
  }
  void count(const char* name, std::uint64_t value) {
    key(name);
    append(out_, {value});
  }
  void flag(const char* name, bool value) { raw(name, value ? "true" : "false"); }
  void raw(const char* name, const std::string& json) {
    key(name);
    out_ += json;
  }
  std::string finish() { return out_ + "}"; }

 private:
  void key(const char* name) {
    out_ += first_ ? "{" : ", ";
    first_ = false;
    quote(name);
    out_ += ": ";
  }
  void quote(const std::string& value) {
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
        out_ += buffer;
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  std::string out_;
  bool first_ = true;
};

std::string numbers(Span<const std::int64_t> values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, {values[i]});
  }
  return out + "]";
}

std::string number_pair(double first, double second) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "[%.9g, %.9g]", first, second);
  return buffer;
}

std::string status_json(const AgentStatus& status) {
  ObjectWriter object;
  object.text("storage", status.storage.to_string());
  object.text("journal", status.journal.to_string());
  object.count("journal_dropped_bytes", status.journal_dropped_bytes);
  object.count("new_suspects", status.new_suspects);
  object.count("new_quarantines", status.new_quarantines);
  object.text("model", status.model.to_string());
  object.count("model_generation", status.model_generation);
  object.count("model_digest", status.model_digest);
  object.text("trials", status.trials.to_string());
  object.flag("tuning_enabled", status.tuning_enabled);
  object.text("blocker", blocker_name(status.blocker));
  object.text("advice", status.advice);
  object.count("ended_devices", status.ended_devices);
  object.number("kernel_seconds", status.kernel_seconds);
  object.number("tuning_seconds", status.tuning_seconds);
  object.number("charged_seconds", status.charged_seconds);
  object.number("saved_seconds", status.saved_seconds);
  object.number("helper_processor_seconds", status.helper_processor_seconds);
  object.number("build_processor_seconds", status.build_processor_seconds);
  object.count("quarantined", status.quarantined);
  object.count("unslotted_launches", status.unslotted_launches);
  object.count("class_launches", status.class_launches);
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
  object.number("default_ms", e.default_ms);
  object.number("first_pick_ms", e.first_pick_ms);
  object.number("running_ms", e.running_ms);
  object.number("speed_up", e.speed_up);
  object.number("expected_launches", e.expected_launches);
  object.number("expected_steps", e.expected_steps);
  object.number("cost_ms", e.cost_ms);
  object.number("gain_ms", e.gain_ms);
  object.number("break_even_launches", e.break_even_launches);
  object.number("setup_ms", e.setup_ms);
  object.number("setup_break_even_launches", e.setup_break_even_launches);
  object.count("setups", e.setups);
  object.number("tuning_ms", e.tuning_ms);
  object.number("charged_ms", e.charged_ms);
  object.count("launches", e.launches);
  object.count("evaluated", e.evaluated);
  object.count("rejected", e.rejected);
  object.count("quarantined", e.quarantined);
  object.text("production_watch", e.production_watch);
  object.number("fraction", e.fraction);
  object.raw("fraction_interval", number_pair(e.fraction_low, e.fraction_high));
  object.text("fraction_origin", e.fraction_origin);
  object.number("best_estimate_ms", e.best_estimate_ms);
  object.number("pessimistic_net_ms", e.pessimistic_net_ms);
  object.number("step_ms", e.step_ms);
  object.flag("launches_said", e.launches_said);
  if (e.captured) object.flag("captured", true);
  std::string resembles = "[";
  for (const Explanation::Resemblance& one : e.resembles) {
    if (resembles.size() > 1) resembles += ", ";
    ObjectWriter entry;
    entry.text("device", one.device);
    entry.number("weight", one.weight);
    resembles += entry.finish();
  }
  object.raw("resembles", resembles + "]");
  return object.finish();
}

}  // namespace

std::string to_json(const AgentStatus& status, const std::vector<Explanation>& explanations) {
  std::string kernels = "[";
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    kernels += i > 0 ? ",\n  " : "\n  ";
    kernels += explanation_json(explanations[i]);
  }
  return joined({"{\"status\": ", status_json(status), ",\n \"kernels\": ", kernels, "]}\n"});
}

}  // namespace idletune::detail
