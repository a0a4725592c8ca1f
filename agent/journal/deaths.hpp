// Who is to blame when a helper, the application or the board died. README.md has the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/journal/entries.hpp"

namespace idletune::journal {

// Something that was announced and came to no outcome.
struct Open {
  Trial trial;
  Where place = Where::helper;
  IntentStage stage = IntentStage::run;
  bool begun = true;     // it was handed over, or launched, as far as the witness knows
  std::uint64_t at = 0;  // digest of the shape where that is not the trial's; 0: it is
};

// Who a dead process had handed to somebody, told by what outlived it.
struct Begun {
  std::uint64_t who = 0;    // Trial::who()
  std::uint64_t shape = 0;  // its digest
  Where place = Where::launches;
};

enum class Ending : std::uint8_t {
  helper_crashed,
  hung,           // past its deadline in awake time; the helper's stage, or a call in this process
  helper_killed,  // by somebody else
  helper_vanished,   // nobody knows how, and it said no farewell
  machine_cut,       // another boot, or an unknown one
  application_died,  // within the boot, without a clean end
  clean_end,
  thawed  // stopped for longer than a deadline, and goes on
};
inline constexpr std::size_t kEndingCount = 8;

// Who tells what was in hand. Without supervisor or trace all that is open counts as begun.
enum class Witness : std::uint8_t { supervisor, trace, next_start };

enum class Conclusion : std::uint8_t { nothing, suspect, quarantine };

// Of one configuration under a plain driver, at all the shapes where it was under way: one death.
struct Verdict {
  Trial trial;  // at one of the shapes
  Conclusion conclusion = Conclusion::suspect;
  SuspicionCause cause = SuspicionCause::unknown;
  std::vector<Suspect::Place> at;
  std::string detail;  // one line for people
};

// Pure; in the order of the first open entry. Nobody is accused who is not in the result. `Open`
// holds neither the default nor the reference: they accuse nobody.
std::vector<Verdict> judge(const std::vector<Open>& open, Ending ending, Witness witness);

}  // namespace idletune::journal
