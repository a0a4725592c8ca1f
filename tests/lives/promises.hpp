// The promises of the project's first page as invariants, one function each. Each violation has a
// code: number of the invariant, what is wrong, who ran and how.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/lives/process.hpp"
#include "tests/lives/reference.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

struct Violation {
  std::string code;
  std::string detail;
  std::size_t event = 0;
};

// Violations of one run, the first of each code.
class Report {
 public:
  explicit Report(bool print) : print_(print) {}
  std::size_t event = 0;
  bool without_bills = false;  // the quiet end pays for what it finds
  void say(const std::string& code, const std::string& detail);
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  const bool print_;
  std::vector<Violation> violations_;
};

// What launches took, and what the default would have taken, in seconds. All lives together.
struct Bill {
  double actual = 0, standard = 0;
  double forgiven = 0;  // slower ones that nobody could know of yet
  double saved = 0;     // by what was adopted
  double raced = 0;     // of one life, until the last look: lost by racers, beside what runs
  double classes = 0;   // lost by what ran by class
  double waited = 0;    // likewise: for stages on the device that have ended
  double credited = 0;  // of one life, at most: by launches of what has a slot
  std::map<std::string, double> loss;  // by how it ran
  double longest_stage = 0, longest_launch = 0;
  bool slowed = false;             // the board changed its speed
  bool untimed = false;            // launches told no times for a while
  bool noisy = false;              // trials told other times than launches take
  double captured = 0;             // lending data took so long
  double solved = 0, solving = 0;  // work of solvers, and what these say they lost
  double frozen = 0;               // stages in the process, which count that as their own time
  bool odd = false;                // something ran that is slower in production than in trials
};

// Something of the tuner's is about to run.
struct Handed {
  int c = 0, s = 0;
  std::string as;        // "candidate", "racer", "warm-up", ...
  bool executes = true;  // it runs the configuration at its shape
  bool here = false;     // in the application's process
};

class Promises {
 public:
  Promises(const World& world, Reference& reference, Report& report)
      : world_(world), reference_(reference), report_(report) {}

  // I1. A launch of the application runs nothing that is known to be wrong, or that nobody checked.
  void never_wrong(int c, int s, const std::string& as);
  // I1. What was adopted on these data was checked on them.
  void checked_on(std::uint64_t data, int c, int s, const std::string& as);
  // I1. One check that fails where another passed ends what rests on classes. `end`: it did.
  void refuted_classes_end(bool end);
  // I1. What was prepared is of the constants that the launch was given.
  void prepared_of_these(int c, int s, bool same);
  // I2. What crashed or hung runs never again under this driver, anywhere.
  void never_twice_bitten(const Handed& handed);
  // I2. What the quirk table names is refused before it gets anywhere.
  void quirks_rest(int c, bool named, const std::string& as);
  // I2. It runs, though the application said that a call failed, and nobody has looked since.
  void failed_rest(int c, int s, const std::string& as);
  // I3. Suspects run in the helper only, once more, in another session; of calls, which have none,
  // those that the board went down with run there.
  void suspects_rest(const Handed& handed, bool suspect, bool adopted);
  // I3. What a power cut would accuse is under way.
  void nothing_rests_announced(const std::set<int>& announced);
  // I3. Once the reference failed in a new helper nothing is tried, and the status says why.
  void lost_device_rests(bool tries, bool said);
  // I3. Beside a stage nothing is announced of other shapes.
  void announced_alone(const Handed& handed, bool beside);
  // I3. After an end: who is accused was under way, and who was under way is accused.
  void suspicion_is_just(const Ending& ending, const Verdicts& verdicts, const Snapshot& dying,
                         const Snapshot& now);
  // I3. While it lives: nobody is quarantined without two deaths, or acquitted without an outcome.
  // `operation` of the disk: the last one by now.
  void suspicion_is_kept(const Snapshot& before, const Snapshot& now, std::size_t operation);
  // I4. What was acknowledged or flushed is there after the next start.
  void nothing_is_lost(const Ending& ending, const Snapshot& acknowledged, const Snapshot& dying,
                       const Snapshot& now, bool same_driver);
  void flushed_is_kept(const Ending& ending, const Snapshot& flushed, const Snapshot& now);
  // I5. What is charged and credited is what it was, within a stage.
  void account_is_true(const Bill& bill, const Bill& life, const Snapshot& now,
                       const Snapshot& before);
  // I5. Who is known to take longer does not race while the account is in debt, or launches come
  // back without times; so many did.
  void debts_rest(int c, int s, int launches);
  // I6. What launches show to be slower than the default gives way. `looks`: with launches of it;
  // after so many, of eight launches each, the watch has learned and the default has run beside it.
  static constexpr int kLooksToNotice = 24;
  void what_loses_is_noticed(int c, int s, int looks);
  // I6. The application is never slower than 2 %, all in all.
  void no_slower(const Bill& bill);
  // I6, I7. What was adopted for a shape goes for something faster, or for a reason.
  void taken_back_for_a_reason(const Process& process, int s, int was, int is);
  // I4. What is recorded as adopted runs, or why it is not is recorded. `looks`: since it could.
  void records_are_run(const Process& process, int c, int s, int looks);
  // I7. The best sound configuration runs in the end. Empty: it does; else "what|why".
  std::string best_runs(const Process& process, int s, bool noisy) const;
  // I7. What could not be prepared once is tried again in the same session. Empty: it is.
  std::string put_aside(const Process& process, int shapes) const;
  // I9. What is handed over is announced, on the medium.
  void announced_first(const Handed& handed, bool announced, bool synced);
  // I10. Callers neither sync nor wait for the medium.
  void callers_do_not_sync(bool on_main_thread, const char* where);
  // I10. An idle step that does not fit the gap is not started. `late`: after its end.
  void gaps_are_kept(Nanoseconds late);
  // I10. Launches neither compile nor write.
  void launches_only_launch(bool launching, const char* what);
  // I10. Syncs wear the medium: of a minute's that announced a trial few led to none.
  void announcements_are_used(int unused);
  // I11. What launches run is what the agent says is published.
  void launches_run_what_is_published(int c, int s, Runs runs);
  // I11. Whatever is refused, the default runs.
  void launches_run(int s, const Status& status);
  // I12. The application is told what is recorded, and nothing else. Empty: so it is.
  void told(const char* wrongly, int c, int s);
  // I13. One model is used, the one on trial or the confirmed one, and none that was gone back from.
  // Empty: so it is.
  void one_model(const char* wrongly, std::uint64_t used);

 private:
  std::string where(int c, int s) const;
  static std::string later(const Fact& fact, int life) {
    return fact.life == life ? "" : "-later-life";
  }
  void accused_wrongly(const Ending& ending, const Verdicts& verdicts, const Snapshot& dying,
                       const Snapshot& now, int c);

  const World& world_;
  Reference& reference_;
  Report& report_;
};

}  // namespace idletune::lives
