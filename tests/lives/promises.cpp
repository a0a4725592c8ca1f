#include "tests/lives/promises.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace idletune::lives {
namespace {

std::string beside(double is, double other, const char* text) {
  return std::to_string(is) + " s" + text + std::to_string(other) + " s";
}

// What says how much was charged, saved or lost in all.
bool is_bill(const std::string& code) {
  for (const char* bill : {"I5:charged", "I5:savings", "I5:kernel-time", "I5:solver",
                           "I6:application-slower", "I6:solver"})
    if (code.rfind(bill, 0) == 0) return true;
  return false;
}

constexpr double kRounding = 1e-6;
constexpr double kGranted = 7;  // launches of what may be slower, until the tuner looks; and one

}  // namespace

void Report::say(const std::string& code, const std::string& detail) {
  if (without_bills && is_bill(code)) return;
  for (const Violation& known : violations_)
    if (known.code == code) return;
  violations_.push_back({code, detail, event});
  if (print_) std::printf("    !! %s: %s\n", code.c_str(), detail.c_str());
}

std::string Promises::where(int c, int s) const {
  const std::string text = world_.text(reference_.driver(), c);
  if (s < 0) return text;
  return text + " at " + std::to_string(world_.sizes[static_cast<std::size_t>(s)]);
}

void Promises::never_wrong(int c, int s, const std::string& as) {
  const Known& known = reference_.of(c);
  const int life = reference_.life();
  const auto wrong = known.wrong.find(s);
  if (wrong != known.wrong.end()) {
    report_.say(
        "I1:wrong-here-as-" + known.wrong_as + "-runs-as-" + as + later(wrong->second, life),
        where(c, s));
    return;
  }
  if (world_.called) return;
  const std::uint64_t key = world_.class_of(c, s);
  const bool by_class = known.right.count(s) == 0;
  for (const auto& [other, fact] : known.wrong) {
    if (!by_class || world_.class_of(c, other) != key) continue;
    report_.say("I1:wrong-in-class-as-" + known.wrong_as + "-runs-as-" + as + later(fact, life),
                where(c, s));
  }
  bool passed = false;
  for (const auto& [other, checks] : known.right)
    for (const auto& [data, seeds] : checks)
      passed = passed || (seeds.size() == 2 && world_.class_of(c, other) == key);
  if (by_class && reference_.classes().refuted())
    report_.say("I1:refuted-class-runs-as-" + as, where(c, s));
  if (!passed) report_.say("I1:unchecked-runs-as-" + as, where(c, s));
}

void Promises::checked_on(std::uint64_t data, int c, int s, const std::string& as) {
  const auto here = reference_.of(c).right.find(s);
  if (here == reference_.of(c).right.end() || here->second.count(data) == 0)
    report_.say("I1:unchecked-on-its-data-runs-as-" + as, where(c, s));
}

void Promises::refuted_classes_end(bool end) {
  if (reference_.classes().refuted() && !end) report_.say("I1:refuted-class-is-believed", "");
}

void Promises::prepared_of_these(int c, int s, bool same) {
  if (!same) report_.say("I1:prepared-of-other-constants", where(c, s));
}

void Promises::never_twice_bitten(const Handed& handed) {
  if (handed.c <= 0) return;
  const Known& known = reference_.of(handed.c);
  if (!known.bitten.there()) return;
  const char* place = known.bitten_shape == handed.s ? "-same-shape" : "-other-shape";
  report_.say("I2:" + handed.as + "-after-" + known.bitten_as + place +
                  later(known.bitten, reference_.life()),
              where(handed.c, handed.s));
}

void Promises::failed_rest(int c, int s, const std::string& as) {
  report_.say("I2:runs-as-" + as + "-after-it-failed", where(c, s));
}

void Promises::quirks_rest(int c, bool named, const std::string& as) {
  if (named) report_.say("I2:quirk-runs-as-" + as, world_.text(reference_.driver(), c));
}

void Promises::suspects_rest(const Handed& handed, bool suspect, bool adopted) {
  if (handed.c <= 0 || !handed.executes) return;
  const Known& known = reference_.of(handed.c);
  if (known.ambiguous.there() && handed.as == "candidate" && !adopted) {
    const bool same = known.ambiguous_shape == handed.s;
    report_.say(std::string("I3:tried-again-in-the-session-of-its-death-") +
                    (same ? "same-shape" : "other-shape"),
                where(handed.c, handed.s));
  }
  if (suspect && handed.here)
    report_.say("I3:suspect-runs-as-" + handed.as, where(handed.c, handed.s));
}

void Promises::nothing_rests_announced(const std::set<int>& announced) {
  for (const int c : announced)
    report_.say("I3:announced-at-rest", world_.text(reference_.driver(), c));
}

void Promises::lost_device_rests(bool tries, bool said) {
  if (tries) report_.say("I3:tries-on-a-lost-device", "");
  if (!said) report_.say("I3:lost-device-not-told", "");
}

void Promises::announced_alone(const Handed& handed, bool beside) {
  if (beside) report_.say("I3:announced-beside-another-shape", where(handed.c, handed.s));
}

void Promises::accused_wrongly(const Ending& ending, const Verdicts& verdicts,
                               const Snapshot& dying, const Snapshot& now, int c) {
  const std::string text = world_.text(reference_.driver(), c);
  const std::string how = name_of(ending.death);
  const bool stale = verdicts.stale.count(c) > 0;
  const bool before = dying.suspect.count(c) || dying.quarantined.count(c);
  if (now.suspect.count(c) && !before && !verdicts.may.count(c) && !stale) {
    const char* started = verdicts.started.count(c) ? "" : "-never-started";
    report_.say("I3:suspect-that-was-not-under-way-" + how + started, text);
  }
  const int deaths = verdicts.deaths.at(c);
  if (now.quarantined.count(c) && !dying.quarantined.count(c) && !verdicts.bitten.count(c) &&
      deaths < 2) {
    report_.say(std::string("I3:quarantined-") + (stale ? "by-a-failing-disk-" : "") + "after-" +
                    std::to_string(deaths) + "-deaths-" + how,
                text);
  }
}

void Promises::suspicion_is_just(const Ending& ending, const Verdicts& verdicts,
                                 const Snapshot& dying, const Snapshot& now) {
  for (int c = 1; c < world_.count(); ++c) {
    accused_wrongly(ending, verdicts, dying, now, c);
    if (!verdicts.must.count(c) || now.suspect.count(c) || now.quarantined.count(c)) continue;
    const bool flew = ending.flying && world_.index_of(ending.flying->configuration) == c &&
                      ending.flying_role == Role::candidate && ending.death != Death::clean;
    const char* died = flew ? "flight" : "helper";
    report_.say(std::string("I3:not-suspect-after-death-in-") + died + "-" + name_of(ending.death),
                world_.text(reference_.driver(), c));
  }
}

void Promises::suspicion_is_kept(const Snapshot& before, const Snapshot& now,
                                 std::size_t operation) {
  for (const int c : now.quarantined) {
    const Known& known = reference_.of(c);
    const int deaths = known.deaths + known.kills + reference_.deaths_elsewhere(c);
    if (!before.quarantined.count(c) && !known.ever_bitten && deaths < 2)
      report_.say("I3:quarantined-while-it-lives", world_.text(reference_.driver(), c));
  }
  for (const int c : before.suspect) {
    if (now.suspect.count(c) || now.quarantined.count(c)) continue;
    Known& known = reference_.of(c);
    if (!known.outcome) {
      report_.say(std::string("I3:acquitted-without-") + (known.ran ? "an-outcome" : "a-run"),
                  world_.text(reference_.driver(), c));
    }
    known.acquitted = {reference_.life(), operation};
    known.acquitted_of = std::exchange(known.deaths, 0);
    known.app_deaths.clear();
  }
}

void Promises::nothing_is_lost(const Ending& ending, const Snapshot& acknowledged,
                               const Snapshot& dying, const Snapshot& now, bool same_driver) {
  const std::string how = std::string("-lost-") + name_of(ending.death);
  // A clean end takes the last times of a race, the outcome of what is in flight, and what was
  // built.
  const bool ends = ending.death == Death::clean;
  const int flew = ends && ending.flying ? world_.index_of(ending.flying->configuration) : -1;
  const bool rechecked = flew >= 0 && ending.flying_role == Role::recheck;
  const bool settles = ends && (ending.flying || !ending.built.empty() || !ending.racing.empty());
  const auto lost = [settles](const auto& known, const auto& last, const auto& kept) {
    const auto was = last.find(known.first), is = kept.find(known.first);
    const bool stood = was != last.end() && *was == known;
    return stood && (is == kept.end() || (!settles && *is != known));
  };
  for (const auto& known : acknowledged.measured)
    if (lost(known, dying.measured, now.measured)) report_.say("I4:measurement" + how, known.first);
  for (const auto& known : acknowledged.adopted) {
    if (rechecked || (ends && ending.racing.count(0) > 0)) break;
    if (lost(known, dying.adopted, now.adopted)) report_.say("I4:adoption" + how, known.first);
  }
  if (!same_driver) return;
  for (const int c : acknowledged.quarantined)
    if (!now.quarantined.count(c))
      report_.say("I4:quarantine" + how, world_.text(reference_.driver(), c));
  for (const int c : acknowledged.suspect)
    if (!(ends && ending.survived.count(c)) && c != flew && dying.suspect.count(c) &&
        !now.suspect.count(c) && !now.quarantined.count(c))
      report_.say("I4:suspicion" + how, world_.text(reference_.driver(), c));
}

void Promises::flushed_is_kept(const Ending& ending, const Snapshot& flushed, const Snapshot& now) {
  const std::string how = std::string("-lost-") + name_of(ending.death);
  if (now.charged + kRounding < flushed.charged)
    report_.say("I4:flushed-charges" + how, beside(flushed.charged, now.charged, " became "));
  if (now.kernel + kRounding < flushed.kernel)
    report_.say("I4:flushed-kernel-time" + how, beside(flushed.kernel, now.kernel, " became "));
  for (const auto& [shape, launches] : flushed.launches) {
    const auto kept = now.launches.find(shape);
    if (kept == now.launches.end() || kept->second < launches)
      report_.say("I4:flushed-launches" + how,
                  std::to_string(launches) + " at shape " + std::to_string(shape.second));
  }
}

void Promises::account_is_true(const Bill& bill, const Bill& life, const Snapshot& now,
                               const Snapshot& before) {
  // What was lost by waiting for stages is charged, and takes nothing from what was saved.
  const double saved = std::max({0.0, bill.standard - bill.actual, bill.saved});
  const double bound = 0.02 * bill.standard + saved + 1.02 * bill.longest_stage + 0.001 +
                       kGranted * bill.longest_launch + 1.02 * bill.captured + 0.021 * bill.frozen +
                       1.02 * bill.classes + 0.02 * bill.solved + bill.solving;
  const bool exact = !bill.slowed && !bill.odd && !bill.untimed && !bill.noisy && world_.profiling;
  if (!bill.slowed && now.charged > bound)
    report_.say("I5:charged-too-much", beside(now.charged, bound, " > "));
  const double most = std::max(0.0, bill.saved) * 1.02 + 0.05 + 16 * bill.longest_launch;
  if (exact && now.saved > most)
    report_.say("I5:savings-overclaimed", beside(now.saved, most, " > "));
  const double least = life.raced + life.waited - 3 * bill.longest_launch;
  if (exact && now.charged - before.charged < least)
    report_.say("I5:charged-too-little", beside(now.charged - before.charged, least, " < "));
  // A launch that fails counts as one of the default.
  const double run = 1.02 * life.credited + life.solved + 20 * life.longest_launch + 0.05;
  if (exact && now.kernel - before.kernel > run)
    report_.say("I5:kernel-time-overclaimed", beside(now.kernel - before.kernel, run, " > "));
}

// Whoever was timed in launches is known to take longer.
void Promises::debts_rest(int c, int s, int launches) {
  if (launches > kGranted) report_.say("I5:races-in-debt", where(c, s));
}

void Promises::what_loses_is_noticed(int c, int s, int looks) {
  if (looks >= kLooksToNotice && world_.nature(reference_.driver(), c) == Nature::slow_launch)
    report_.say("I6:slower-in-launches-and-runs-on", where(c, s));
}

void Promises::no_slower(const Bill& bill) {
  const double excess = bill.actual - 1.02 * bill.standard - bill.forgiven -
                        20 * bill.longest_launch - bill.longest_stage;
  if (excess <= 0) return;
  std::string worst;
  double most = 0;
  for (const auto& [how, loss] : bill.loss)
    if (loss > most) most = loss, worst = how;
  report_.say("I6:application-slower-by-" + worst,
              beside(bill.actual, bill.standard, " beside the default's "));
}

void Promises::taken_back_for_a_reason(const Process& process, int s, int was, int is) {
  const Known& known = reference_.of(was);
  const auto recorded = [&] { return process.is_recorded(was, s); };
  if (process.is_barred(was) || known.ever_bitten) return;
  // A setup may cost more than it saves.
  if (!world_.sound(reference_.driver(), was, s) || world_.has_setup(was)) return;
  if (known.timed_slow.count(s)) return;  // within a recheck, maybe
  if (is == 0 && process.is_suspect(was)) {
    if (!recorded()) report_.say("I7:suspect-is-no-longer-adopted", where(was, s));
    return;
  }
  if (known.blamed) return;
  if (is > 0 && world_.time(is, s) > 1.03 * world_.time(was, s))
    report_.say("I6:replaced-by-what-is-slower", where(was, s) + " by " + where(is, s));
  // Else what took its place meanwhile was taken back.
  const bool itself = is == 0 && !recorded() && process.is_demoted(was, s);
  if (itself && world_.time(was, s) < 0.9 * world_.time(0, s))
    report_.say("I7:taken-back-for-nothing", where(was, s));
}

void Promises::records_are_run(const Process& process, int c, int s, int looks) {
  constexpr int kSoon = 20;
  const Nature nature = world_.nature(reference_.driver(), c);
  const bool builds = nature != Nature::refused_build && nature != Nature::hang_warm_up;
  if (looks >= kSoon && builds && process.measured(c, s) == 0)
    report_.say("I4:adopted-on-record-and-never-run", where(c, s));
}

std::string Promises::best_runs(const Process& process, int s, bool noisy) const {
  if (!process.has_slot(s)) return std::string();  // others keep what was adopted for them
  const int driver = reference_.driver();
  const int running = process.running(s);
  int best = 0;
  for (int c = 1; c < world_.count(); ++c) {
    const Known& known = reference_.of(c);
    if (!world_.sound(driver, c, s) || known.bitten.there() || known.deaths >= 2) continue;
    if (process.is_barred(c)) continue;
    if (!world_.isolated && process.is_suspect(c)) continue;  // never tried in this process
    if (known.timed_slow.count(s)) continue;                  // beside what was timed before
    if (world_.time(c, s) < world_.time(best, s)) best = c;
  }
  // Without times nobody can know that it is slower in production.
  const double time = in_seconds(world_.profiling ? world_.launch_time(driver, running, s)
                                                  : world_.time(running, s));
  const double best_time = in_seconds(world_.in_launches(best, s));
  // Noise of a fifth in what ran, and in what was compared with it, add up.
  if (best_time >= (noisy ? 0.9 / 1.44 : 0.9) * time) return std::string();
  const int measured = process.measured(best, s);
  const char* why = process.is_suspect(best) ? "-best-is-suspect"
                    : measured < 0           ? "-best-never-measured"
                    : measured == 0          ? "-best-measured"
                                             : "-best-failed-once";
  return std::string(running == 0 ? "default" : "slower") + why + "|" + where(running, s) + " in " +
         std::to_string(time * 1e3) + " ms, best is " + where(best, s) + " in " +
         std::to_string(best_time * 1e3);
}

std::string Promises::put_aside(const Process& process, int shapes) const {
  for (int c = 1; c < world_.count(); ++c)
    for (const int s : reference_.of(c).unprepared)
      if (s < shapes && !process.is_suspect(c) && !process.is_barred(c) && process.has_slot(s) &&
          process.adopted_at(s) != c && process.measured(c, s) < 0 && !process.is_wrong(c, s))
        return where(c, s);
  return std::string();
}

void Promises::announced_first(const Handed& handed, bool announced, bool synced) {
  if (handed.c <= 0 || !handed.executes || (announced && synced)) return;
  report_.say("I9:" + handed.as + (announced ? "-before-it-was-synced" : "-not-announced"),
              where(handed.c, handed.s));
}

void Promises::callers_do_not_sync(bool on_main_thread, const char* where_called) {
  // Blocking is what those are for. What was pushed is still written where idle() looks for it.
  const std::string called = where_called;
  const bool may = called == "start" || called == "flush" || called == "prepare" || world_.slots;
  if (on_main_thread && world_.worker && !may)
    report_.say(std::string("I10:caller-syncs-in-") + where_called, where_called);
}

void Promises::gaps_are_kept(Nanoseconds late) {
  if (late > std::chrono::milliseconds(1))
    report_.say("I10:gap-overrun", std::to_string(in_seconds(late)));
}

void Promises::launches_only_launch(bool launching, const char* what) {
  if (launching) report_.say(std::string("I10:launch-") + what, "");
}

void Promises::announcements_are_used(int unused) {
  constexpr int kMost = 10;
  if (unused > kMost) report_.say("I10:announces-and-starts-nothing", std::to_string(unused));
}

void Promises::launches_run_what_is_published(int c, int s, Runs runs) {
  if (runs == Runs::unpublished) report_.say("I11:launch-of-what-is-not-published", where(c, s));
}

void Promises::launches_run(int s, const Status& status) {
  report_.say("I11:launch-fails", where(0, s) + ": " + status.to_string());
}

void Promises::one_model(const char* wrongly, std::uint64_t used) {
  if (*wrongly != '\0') report_.say(std::string("I13:") + wrongly, std::to_string(used));
}

void Promises::told(const char* wrongly, int c, int s) {
  if (*wrongly != '\0') report_.say(std::string("I12:") + wrongly, where(c, s));
}

}  // namespace idletune::lives
