#include "agent/journal/deaths.hpp"

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"

namespace idletune::journal {
namespace {

enum class Cell : std::uint8_t { nobody, suspect, unless_compiling, quarantine };

struct Row {
  Cell begun[kWhereCount];  // in a helper's hands, here, in launches
  Cell announced;           // and not begun
  SuspicionCause cause;
};

constexpr Cell kNone = Cell::nobody;
constexpr Cell kSuspect = Cell::suspect;
// By Ending.
constexpr Row kRows[kEndingCount] = {
    {{kSuspect, kNone, kNone}, kNone, SuspicionCause::crash},
    {{kSuspect, Cell::quarantine, kNone}, kNone, SuspicionCause::hang},
    {{kSuspect, kNone, kNone}, kNone, SuspicionCause::helper_killed},
    {{kSuspect, kNone, kNone}, kNone, SuspicionCause::helper_vanished},
    {{kSuspect, kSuspect, kSuspect}, kSuspect, SuspicionCause::machine_cut},
    {{Cell::unless_compiling, kSuspect, kSuspect}, kNone, SuspicionCause::application_died},
    {},   // clean_end
    {}};  // thawed

Conclusion conclusion_of(const Row& row, const Open& open, Witness witness) {
  const bool begun = open.begun || witness == Witness::next_start;
  switch (begun ? row.begun[static_cast<std::uint8_t>(open.place)] : row.announced) {
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
  const Row& row = kRows[static_cast<std::uint8_t>(ending)];
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
