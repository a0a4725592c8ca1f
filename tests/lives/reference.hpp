// What really ran, really crashed and was really told, kept beside the agent and without asking it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/trial/trial.hpp"
#include "tests/lives/process.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

// When something was told: in which life, and after how many operations of its disk.
struct Fact {
  static constexpr std::size_t kUnseen = SIZE_MAX;  // the tuner has not looked yet

  int life = -1;
  std::size_t operation = 0;  // on the disk, since which it may be recorded
  bool there() const { return life >= 0; }
};

// Of one configuration under one driver.
struct Known {
  Fact bitten;               // a confirmed crash or hang
  bool ever_bitten = false;  // the same, whatever became of its record
  std::string bitten_as;
  int bitten_shape = -1;
  std::map<int, Fact> wrong;  // checks that failed, by shape
  std::string wrong_as;
  // By shape: on which data checks passed, of which seeds.
  std::map<int, std::map<std::uint64_t, std::set<std::uint32_t>>> right;
  std::set<int> timed_slow;        // shapes at which it was timed last while the board was slow
  std::map<int, Fact> timed_anew;  // of these, since then while it was not
  int deaths = 0;                  // ambiguous ones in which it was or may have been under way
  std::set<int> app_deaths;        // lives that ended in a launch of it
  bool cut = false;  // the board went down with it, its first death: calls may run it again
  Fact acquitted;    // of so many deaths
  int acquitted_of = 0;
  // In this life:
  Fact ambiguous;  // its helper was killed by somebody while it ran
  int ambiguous_shape = -1;
  int kills = 0;             // of helpers in which it was under way
  bool blamed = false;       // its helper was killed by somebody, in whatever stage
  std::set<int> right_now;   // checks that passed in this life
  std::set<int> unprepared;  // shapes at which its data could not be prepared, the last time
  bool outcome = false;      // it came to one
  bool started = false;      // a stage of it
  bool built = false;        // for launches
  bool ran = false;          // a stage that runs it
  bool raced = false;
  bool adopted = false;  // somewhere, at some time
  Fact last_stage;       // the last stage of it, or launch as a racer
  bool open = false;     // the journal says that it is under way
  Fact closed;           // since then it does not any more

  void new_life();
  void timed(int s, bool slow, Fact now);
  void timed_in_vain(int s);
};

enum class Death : std::uint8_t { none, clean, kill, cut, launch };
const char* name_of(Death death);

// How a life ended, as the board knows it.
struct Ending {
  Death death = Death::none;
  std::optional<TrialRequest> flying;  // the stage in flight
  Role flying_role = Role::candidate;
  std::set<int> built;  // in the application's process, since the tuner's last look
  int candidate = -1;   // of the step whose stage is in flight
  std::set<int> racing;
  std::set<int> exposed;   // announced; without a trace nobody knows who had begun
  std::set<int> begun;     // in launches that nobody may have seen ending well
  std::set<int> survived;  // that came to an outcome in this life
  int fatal = -1;          // the launch that ended it, the first of its configuration and shape
  bool traced = false;     // a page in memory tells
  std::set<int> between;   // that just began or ended where it died at a write: nobody can tell
  bool storage_ok = true;
  bool faults = false;  // the storage failed at some time of this life
  std::size_t operations = 0;
  bool same_boot = true;
};

// Who may, must and must not be accused of it.
struct Verdicts {
  std::set<int> may, must;
  std::set<int> stale;  // that a storage which lost records may make look guilty
  std::set<int> started;
  std::map<int, int> deaths;  // in all, this one included
  std::set<int> bitten;
};

// A class was found right here and wrong there, in this life.
class Classes {
 public:
  void passed(int c, std::uint64_t key) { note(c, key, 1); }
  void failed(int c, std::uint64_t key) { note(c, key, 2); }
  bool refuted() const { return refuted_; }

 private:
  void note(int c, std::uint64_t key, int what) {
    int& says = says_[{c, key}];
    says |= what;
    refuted_ = refuted_ || says == 3;
  }
  std::map<std::pair<int, std::uint64_t>, int> says_;
  bool refuted_ = false;
};

class Reference {
 public:
  explicit Reference(const World& world);

  void new_life(int driver);
  int life() const { return life_; }
  int driver() const { return driver_; }
  Known& of(int c);
  const Known& of(int c) const { return const_cast<Reference*>(this)->of(c); }
  // Deaths under other drivers that make it a suspect under this one.
  int deaths_elsewhere(int c) const;
  Classes& classes() { return classes_; }
  const Classes& classes() const { return classes_; }

  void stage_began(const TrialRequest& request, std::size_t operation);
  // Before stage_ended, also of the default.
  void helper_told(const TrialOutcome& outcome, std::size_t operation);
  void died_of_the_device(int c, bool in_the_reference);
  // `remembered`: a journal keeps what is told now.
  void stage_ended(const TrialRequest& request, const TrialOutcome& outcome, Role role,
                   std::size_t operation, bool remembered);
  // The application said so of a call.
  void call_failed(int c, int s, TrialStatus status, std::size_t operation);
  // The tuner has looked at what a thread of its own came to.
  void was_seen(std::size_t operation);
  // Who the journal says is under way.
  void are_open(const std::set<int>& open, std::size_t operation);
  // What the storage may have lost counts as never told.
  void forget_unsynced(const Ending& ending, const test::Disk& disk);
  Verdicts judge(const Ending& ending, const test::Disk& disk);

 private:
  void helper_was_killed(Known& known, int s, bool ran, bool by_candidate, Fact now);
  bool exposed(int c, const Ending& ending, const test::Disk& disk) const;

  void forget_unconfirmed();

  const World& world_;
  std::vector<std::vector<Known>> known_;  // by driver, by configuration
  Classes classes_;
  // Crashed or hung, and the reference has not run since: by themselves; since the device was lost.
  std::vector<int> unconfirmed_, lost_with_;
  int life_ = -1;
  int driver_ = 0;
};

// Whether there was a sync between two of the disk's operations, or several: the first may be of
// what was being written when something was told.
bool synced_between(const test::Disk& disk, std::size_t from, std::size_t until, int times = 1);

}  // namespace idletune::lives
