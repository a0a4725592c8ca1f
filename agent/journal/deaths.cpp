#include "agent/journal/deaths.hpp"

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

enum class Cell : std::uint8_t { nobody, suspect, unless_compiling, quarantine };

struct Row {
  Cell helper;     // in a helper's hands
  Cell announced;  // and not begun
  Cell launches;
  Cell here;
  SuspicionCause cause;
};

Row row_of(Ending ending) {
  constexpr Cell kNone = Cell::nobody;
  constexpr Cell kSuspect = Cell::suspect;
  switch (ending) {
    case Ending::helper_crashed: return {kSuspect, kNone, kNone, kNone, SuspicionCause::crash};
    case Ending::hung: return {kSuspect, kNone, kNone, Cell::quarantine, SuspicionCause::hang};
    case Ending::helper_killed:
      return {kSuspect, kNone, kNone, kNone, SuspicionCause::helper_killed};
    case Ending::helper_vanished:
      return {kSuspect, kNone, kNone, kNone, SuspicionCause::helper_vanished};
    case Ending::machine_cut:
      return {kSuspect, kSuspect, kSuspect, kSuspect, SuspicionCause::machine_cut};
    case Ending::application_died:
      return {Cell::unless_compiling, kNone, kSuspect, kSuspect, SuspicionCause::application_died};
    case Ending::clean_end:
    case Ending::thawed: break;
  }
  return {kNone, kNone, kNone, kNone, SuspicionCause::unknown};
}

Conclusion conclusion_of(const Row& row, const Open& open, Witness witness) {
  Cell cell = row.announced;
  if (open.begun || witness == Witness::next_start) {
    cell = open.place == Where::helper     ? row.helper
           : open.place == Where::launches ? row.launches
                                           : row.here;
  }
  switch (cell) {
    case Cell::nobody: break;
    case Cell::suspect: return Conclusion::suspect;
    case Cell::unless_compiling:
      return open.stage == IntentStage::compile ? Conclusion::nothing : Conclusion::suspect;
    case Cell::quarantine: return Conclusion::quarantine;
  }
  return Conclusion::nothing;
}

bool same_danger(const Trial& a, const Trial& b) {
  return a.kernel == b.kernel && a.device == b.device && a.driver == b.driver &&
         a.configuration == b.configuration;
}

}  // namespace

std::vector<Verdict> judge(const std::vector<Open>& open, Ending ending, Witness witness) {
  const Row row = row_of(ending);
  std::vector<Verdict> verdicts;
  for (const Open& trial : open) {
    const Conclusion conclusion = conclusion_of(row, trial, witness);
    if (conclusion == Conclusion::nothing) continue;
    Verdict* verdict = nullptr;
    for (Verdict& other : verdicts) {
      if (same_danger(other.trial, trial.trial)) verdict = &other;
    }
    if (verdict == nullptr) {
      push(verdicts, Verdict());
      verdict = &verdicts.back();
      verdict->trial = trial.trial;
      verdict->cause = row.cause;
    }
    if (conclusion == Conclusion::quarantine) verdict->conclusion = conclusion;
    const std::uint64_t shape = trial.at != 0 ? trial.at : digest_of(trial.trial.shape);
    push(verdict->at, Suspect::Place{shape, trial.place});
  }
  return verdicts;
}

}  // namespace idletune::journal
