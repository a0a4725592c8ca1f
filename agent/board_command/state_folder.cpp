#include "agent/board_command/state_folder.hpp"

#include <idletune/text.hpp>

#include <utility>

#include "agent/board_command/lock_holder.hpp"
#include "agent/board_command/verbs.hpp"
#include "agent/journal/journal.hpp"
#include "agent/journal/names.hpp"
#include "platform/os/storage.hpp"

namespace idletune::board {
namespace {

std::string path_of(const std::string& state) {
  return joined("%/%", state, journal::kJournalName);
}

double milliseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

void tell_model(const char* name, const slots::KnownModel& model, Facts& answer) {
  if (!model.is_there()) return answer.nothing(name);
  Facts facts(answer.json());
  facts.count("generation", model.generation);
  facts.text("digest", hexadecimal(model.digest));
  facts.text("place", slots::place_name(model.place));
  answer.object(name, std::move(facts));
}

void tell_adoptions(const journal::State& state, Facts& answer) {
  std::vector<Facts> all;
  state.for_each_adoption([&](const journal::Adoption& adoption) {
    const journal::Trial& trial = adoption.trial;
    const auto named = [&](journal::KernelLine line, Span<const std::int64_t> values) {
      return journal::named_values(state, trial.kernel, line, values);
    };
    Facts facts(answer.json());
    facts.text("kernel", journal::called(state, journal::NameKind::kernel, trial.kernel));
    facts.text("device", journal::called(state, journal::NameKind::device, trial.device));
    facts.text("shape", named(journal::KernelLine::dimensions, trial.shape.values()));
    facts.text("configuration",
               named(journal::KernelLine::parameters, trial.configuration.values()));
    facts.number("default_ms", milliseconds(adoption.default_time));
    facts.number("running_ms", milliseconds(adoption.expected));
    all.push_back(std::move(facts));
  });
  answer.list("adopted", std::move(all));
}

void tell_counts(const journal::JournalSummary& summary, Facts& answer) {
  answer.count("journal_bytes", summary.file_bytes);
  answer.count("dropped_bytes", summary.dropped_bytes());
  answer.count("records", summary.records);
  answer.count("unknown_records", summary.unknown_records);
  answer.count("malformed_records", summary.malformed_records);
  answer.count("measurements", summary.state.measurement_count());
}

}  // namespace

Result<std::vector<std::uint8_t>> journal_bytes(const std::string& state) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path_of(state), journal::kMaxFileBytes);
  if (bytes.ok() || bytes.code() != StatusCode::not_found) return bytes;
  return Status(StatusCode::not_found, "%: expected a state folder that an agent has run on",
                bytes.status().message());
}

Result<journal::JournalSummary> journal_in(const std::string& state, Bytes bytes) {
  Result<journal::JournalSummary> summary = journal::read_journal(bytes);
  if (summary.ok()) return summary;
  return Status(summary.code(), "'%': %", path_of(state), summary.status().message());
}

Result<KeptJournal> kept_journal(const std::string& state) {
  Result<std::vector<std::uint8_t>> bytes = journal_bytes(state);
  if (!bytes.ok()) return bytes.status();
  Result<journal::JournalSummary> summary = journal_in(state, *bytes);
  if (!summary.ok()) return summary.status();
  return KeptJournal{std::move(*bytes), std::move(*summary)};
}

Result<slots::SlotRecord> models_in(const std::string& state,
                                    const journal::JournalSummary& summary) {
  slots::SlotRecord models;
  const Bytes record = summary.state.models();
  if (!record.empty() && slots::SlotRecord::decode(record, models)) return models;
  return Status(StatusCode::not_found, "'%': no model was pushed to this board yet",
                path_of(state));
}

void tell_models(const slots::SlotRecord& models, Facts& answer) {
  tell_model("confirmed", models.confirmed, answer);
  tell_model("trial", models.trial, answer);
  if (models.trial.is_there()) {
    const std::uint32_t used = std::min(models.young_starts, slots::kYoungDeaths);
    answer.count("starts_left", slots::kYoungDeaths - used);
  }
  answer.count("lowest_generation", models.lowest_generation);
  std::vector<Facts> refuted;
  for (const std::uint64_t digest : models.refuted) {
    refuted.emplace_back(answer.json());
    refuted.back().text("digest", hexadecimal(digest));
  }
  answer.list("refuted", std::move(refuted));
  if (!models.reason.empty()) answer.text("reason", models.reason);
}

Status tell_status(const Call& call, Facts& answer) {
  const std::string state = call.word(0);
  const Result<KeptJournal> kept = kept_journal(state);
  if (!kept.ok()) return kept.status();
  const long agent = lock_holder(state);
  if (agent != 0) {
    answer.count("agent", static_cast<std::uint64_t>(agent));
  } else {
    answer.nothing("agent");
  }
  tell_counts(kept->summary, answer);
  tell_adoptions(kept->summary.state, answer);
  const Result<slots::SlotRecord> models = models_in(state, kept->summary);
  if (models.ok()) {
    Facts facts(answer.json());
    tell_models(*models, facts);
    answer.object("models", std::move(facts));
  } else {
    answer.nothing("models");
  }
  return {};
}

Status write_journal(const Call& call, Facts& answer) {
  const Result<KeptJournal> kept = kept_journal(call.word(0));
  if (!kept.ok()) return kept.status();
  if (!answer.json()) return write_to_standard_output(kept->bytes);
  tell_counts(kept->summary, answer);
  return {};
}

}  // namespace idletune::board
