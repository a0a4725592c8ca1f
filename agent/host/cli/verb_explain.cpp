// `idletune explain`: what the agent of a state folder decided and why; it may be running.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/explore/journal_history.hpp"
#include "agent/journal/codec.hpp"
#include "agent/journal/journal.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/slots/slot_record.hpp"
#include "models/host/insight/chosen_member.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kMaxExplanationBytes = std::size_t{16} << 20;

json adoption_object(const journal::State& state, const journal::Adoption& adoption) {
  const std::size_t measured = state.measurement_count(adoption.trial.shape_key());
  const explore::KernelNames names = explore::kernel_names(state, adoption.trial.kernel);
  const std::string text = explore::configuration_text(names, adoption.trial.configuration);
  return {{"kernel", names.name},
          {"member", member_or_null(text)},
          {"kernel_digest", hexadecimal(adoption.trial.kernel)},
          {"device", explore::device_names(state, adoption.trial.device).name},
          {"shape", report::shape_text(adoption.trial.shape)},
          {"problem", explore::problem_text(names, adoption.trial.shape)},
          {"configuration", text},
          {"default_ms", milliseconds(adoption.default_time)},
          {"running_ms", milliseconds(adoption.expected)},
          {"measured", measured}};
}

// The last explanation the agent wrote, once a minute and at its end; null if there is none.
json last_explanation(const std::string& file) {
  Result<std::vector<std::uint8_t>> bytes = read_file(file, kMaxExplanationBytes);
  if (!bytes.ok()) return nullptr;
  json parsed = json::parse(bytes->begin(), bytes->end(), nullptr, false);
  return parsed.is_discarded() ? json(nullptr) : parsed;
}

Nanoseconds age_of(const std::string& file) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (error) return Nanoseconds{0};
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return std::max(Nanoseconds{0}, std::chrono::duration_cast<Nanoseconds>(age));
}

json described(const slots::KnownModel& model) {
  if (!model.is_there()) return nullptr;
  return {{"generation", model.generation},
          {"digest", hexadecimal(model.digest)},
          {"place", slots::place_name(model.place)}};
}

// Null: nothing was pushed to this board, or a later version says it in another way.
json models_in(Bytes record) {
  slots::SlotRecord models;
  if (record.empty() || !slots::SlotRecord::decode(record, models)) return nullptr;
  return {{"confirmed", described(models.confirmed)},
          {"trial", described(models.trial)},
          {"young_starts", models.young_starts},
          {"lowest_generation", models.lowest_generation},
          {"refuted", list_of(models.refuted, hexadecimal)},
          {"reason", models.reason}};
}

json describe(const journal::Journal& journal) {
  const journal::State& state = journal.state();
  json adoptions = json::array();
  state.for_each_adoption([&](const journal::Adoption& adoption) {
    adoptions.push_back(adoption_object(state, adoption));
  });
  json quarantines = json::array();
  state.dangers().for_each_quarantine([&](const journal::Quarantine& quarantine) {
    const explore::KernelNames names = explore::kernel_names(state, quarantine.key.kernel);
    const std::string text = explore::configuration_text(names, quarantine.trial.configuration);
    quarantines.push_back({{"kernel", names.name},
                           {"member", member_or_null(text)},
                           {"configuration", text},
                           {"reason", journal::quarantine_reason_name(quarantine.reason)},
                           {"detail", quarantine.detail}});
  });
  json notes = json::array();
  state.for_each_live_record([&](std::uint8_t type, std::uint8_t, Bytes payload) {
    journal::Name name;
    if (type == static_cast<std::uint8_t>(journal::RecordType::name) &&
        journal::decode(payload, name) && name.kind == journal::NameKind::note)
      notes.push_back({{"digest", hexadecimal(name.digest)}, {"text", name.text}});
  });
  return {{"journal", journal.damage().to_string()},
          {"journal_dropped_bytes", journal.recovery().dropped_bytes},
          {"adopted", adoptions},
          {"quarantined", quarantines},
          {"notes", notes},
          {"models", models_in(state.models())},
          {"suspects", state.dangers().suspect_count()},
          {"open_trials", state.dangers().open_trials().size()},
          {"measurements", state.measurement_count()},
          {"ledger",
           {{"charged_ms", milliseconds(state.ledger().charged)},
            {"kernel_ms", milliseconds(state.ledger().kernel_time)},
            {"saved_ms", milliseconds(state.ledger().savings)}}},
          {"forecasts", {{"stages", state.ledger().forecasts}, {"held", state.ledger().held}}}};
}

// `get` with a default where the file of another version lacks the key or has another type.
template <class T>
T member(const json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<T>() : otherwise;
  } else {
    return found->is_number() ? found->get<T>() : otherwise;
  }
}

void print_decisions(const json& last, CliContext& context) {
  if (!last.is_object() || !last.contains("kernels") || !last["kernels"].is_array()) return;
  for (const json& entry : last["kernels"]) {
    if (!entry.is_object()) continue;
    std::string shape = member<std::string>(entry, "problem", "");
    for (const json& d : entry.value("shape", json::array())) {
      if (!shape.empty() && shape.back() != 'x') break;
      if (d.is_number()) shape += std::to_string(d.get<std::int64_t>()) + "x";
    }
    if (!shape.empty() && shape.back() == 'x') shape.pop_back();
    const bool captured = entry.contains("captured") && entry["captured"] == true;
    context.print("");
    context.print_paragraph(member<std::string>(entry, "kernel", "?") + " " + shape + "  " +
                            format_number(member(entry, "speed_up", 1.0), 2) + "x  " +
                            member<std::string>(entry, "verdict", "?"));
    context.print_paragraph("  runs ",
                            with_chosen_member(member<std::string>(entry, "running", "?")) +
                                (captured ? "  (tuned on captured data)" : ""));
    const std::string reason = member<std::string>(entry, "reason", "");
    context.print_paragraph("  ", reason);
    const std::string trying = member<std::string>(entry, "trying", "");
    if (!trying.empty()) context.print_paragraph("  tries ", with_chosen_member(trying));
    const std::string advice = member<std::string>(entry, "advice", "");
    if (!advice.empty() && advice != reason) context.print_paragraph("  waits: ", advice);
  }
}

void print_damage(const json& facts, CliContext& context) {
  if (facts["journal"] != "ok") context.print(facts["journal"].get<std::string>() + "\n");
  if (facts["set_aside"].get<bool>()) {
    context.print(std::string(journal::kSetAsideName) +
                  ": an earlier journal that could not be read; what it knew is not used\n");
  }
}

std::string open_trials_text(std::size_t count) {
  return count == 0 ? std::string()
                    : ", " + std::to_string(count) +
                          " begun and not ended (under way, or what the last process died in)";
}

// What keeps the tuner from going on, and what it cost the processor.
void print_status(const json& last, CliContext& context) {
  if (!last.is_object() || !last.contains("status") || !last["status"].is_object()) return;
  const json& status = last["status"];
  const double helper = member(status, "helper_processor_seconds", 0.0);
  const double builds = member(status, "build_processor_seconds", 0.0);
  context.print_paragraph("processor: " + format_number(helper, 1) + " s by the helper, " +
                          format_number(builds, 1) + " s by compiling for launches");
  const std::string trials = member<std::string>(status, "trials", "ok");
  if (trials != "ok") return context.print_paragraph("no trials: ", trials);
  const std::string advice = member<std::string>(status, "advice", "");
  if (!advice.empty()) context.print_paragraph("waits: ", advice);
}

void print_models(const json& models, CliContext& context) {
  if (models.is_null()) return;
  const auto one = [](const json& model) {
    return "generation " + std::to_string(model["generation"].get<std::uint64_t>()) + " (" +
           model["place"].get<std::string>() + ")";
  };
  std::string text = models["confirmed"].is_null() ? "none is confirmed"
                                                   : one(models["confirmed"]) + " is confirmed";
  if (!models["trial"].is_null()) text += ", " + one(models["trial"]) + " is on trial";
  const auto lowest = models["lowest_generation"].get<std::uint64_t>();
  if (lowest > 0) text += "; refused: generations below " + std::to_string(lowest);
  if (!models["refuted"].empty()) {
    text += (lowest > 0 ? ", and " : "; refused: ") +
            report::counted(models["refuted"].size(), "refuted model", "refuted models") +
            ", the last one since \"" + models["reason"].get<std::string>() + "\"";
  }
  context.print_paragraph("models: ", text);
}

// How far the agent's own forecasts can be believed.
void print_forecasts(const json& forecasts, CliContext& context) {
  const auto stages = forecasts["stages"].get<double>();
  if (stages <= 0) return;
  context.print_paragraph("forecasts: ",
                          report::percent_text(forecasts["held"].get<double>() / stages) +
                              " of the last " + format_number(stages, 0) +
                              " stages that were foreseen ended within their 90th percentile");
}

// What was saved may be less than nothing.
std::string time_text(const json& ms) {
  const Nanoseconds time = from_ns(1e6 * std::fabs(ms.get<double>()));
  return (ms.get<double>() < 0 ? "-" : "") + readable(time);
}

void print_text(const json& facts, CliContext& context) {
  TextTable table({"kernel", "shape", ">default ms", ">now ms", ">measured", "configuration"});
  for (const json& a : facts["adopted"]) {
    table.add_row({a["kernel"], a["shape"], measured_ms(a["default_ms"]),
                   measured_ms(a["running_ms"]), std::to_string(a["measured"].get<std::size_t>()),
                   with_chosen_member(a["configuration"])});
  }
  if (facts["adopted"].empty()) {
    context.print("nothing is adopted yet\n");
  } else {
    context.print(table);
  }
  context.print("");
  context.print_paragraph(
      report::counted(facts["measurements"].get<std::size_t>(), "measurement", "measurements") +
      ", " + std::to_string(facts["quarantined"].size()) + " quarantined, " +
      report::counted(facts["suspects"].get<std::size_t>(), "suspect", "suspects") +
      open_trials_text(facts["open_trials"].get<std::size_t>()));
  const json& ledger = facts["ledger"];
  context.print_paragraph("ledger: ", time_text(ledger["charged_ms"]) + " charged to " +
                                          time_text(ledger["kernel_ms"]) +
                                          " of kernel time, at least " +
                                          time_text(ledger["saved_ms"]) + " saved");
  print_models(facts["models"], context);
  for (const json& q : facts["quarantined"]) {
    context.print_paragraph("quarantined: ", q["kernel"].get<std::string>() + " " +
                                                 with_chosen_member(q["configuration"]) + " (" +
                                                 q["reason"].get<std::string>() + ") " +
                                                 q["detail"].get<std::string>());
  }
  for (const json& note : facts["notes"]) {
    context.print_paragraph("noted: ", note["text"].get<std::string>());
  }
}

void explain(const std::string& folder, CliContext& context) {
  // Reading makes no folder: one that is not there is the user's mistake.
  Result<std::vector<std::uint8_t>> bytes =
      read_file(folder + "/" + journal::kJournalName, std::size_t{16} << 20);
  must(bytes.status());
  journal::JournalOptions options;
  options.read_only = true;
  const std::unique_ptr<journal::Journal> journal =
      journal::Journal::open(open_posix_storage(folder), options);
  json facts = describe(*journal);
  facts["set_aside"] = file_stamp(folder + "/" + journal::kSetAsideName) != 0;
  const std::string file = folder + "/explain.json";
  const json last = last_explanation(file);
  const Nanoseconds age = age_of(file);
  if (context.json()) {
    facts["last_explanation"] = last;
    facts["last_explanation_age_s"] =
        last.is_null() ? json(nullptr) : json(std::chrono::duration<double>(age).count());
    context.print_json(facts);
    return;
  }
  print_damage(facts, context);
  print_text(facts, context);
  print_forecasts(facts["forecasts"], context);
  if (!last.is_null()) context.print("\nas the agent said " + readable(age) + " ago:\n");
  print_status(last, context);
  print_decisions(last, context);
}

}  // namespace

void add_explain_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("explain", "tells what an agent decided, and why; it may be running");
  auto folder = std::make_shared<std::string>();
  verb.required("state", *folder, "The agent's state folder");
  verb.example("explain /data/idletune");
  verb.runs([folder, &context] { explain(*folder, context); });
}

}  // namespace idletune::cli
