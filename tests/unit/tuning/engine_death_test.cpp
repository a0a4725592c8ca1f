// What the next start makes of a death: at each stage the journal's medium is taken as it is then.
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "agent/journal/summary.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::Files;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kBoot = 1;

// What was on the disk when a stage had just been announced.
struct Moment {
  TrialRequest request;
  Configuration under_trial;  // the candidate of the step, or empty
  Configuration running;      // what the application's launches ran
  Files files;
};

// The moments of the first steps on a fresh disk.
std::vector<Moment> moments_of(bool isolated, std::size_t count) {
  std::vector<Moment> moments;
  const auto board = board_that();
  board->isolated = isolated;
  const auto disk = std::make_shared<Disk>();
  Configuration candidate;
  PlayedEngine* living = nullptr;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome&) {
    const bool is_default = request.configuration == Configuration{1, 1};
    if (request.stage == TrialStage::compile && !is_default) candidate = request.configuration;
    const bool runs = living != nullptr && !living->kernel->shapes.empty();
    const Configuration running = runs ? living->task().running() : Configuration();
    moments.push_back({request, candidate, running, disk->files()});
  };
  PlayedEngine engine(*board, disk, {}, kBoot);
  living = &engine;
  while (moments.size() < count) {
    REQUIRE(engine.launch().ok());
    engine.tune(50ms);
  }
  return moments;
}

// Whether the journal says that the candidate may run.
bool announced_run(const Moment& moment) {
  const auto summary = journal::read_journal(moment.files.at(journal::kJournalName));
  REQUIRE(summary.ok());
  const auto& open = summary->state.dangers().open_trials();
  for (const auto& trial : open) {
    if (trial.trial.configuration == moment.under_trial) {
      return trial.stage == journal::IntentStage::run;
    }
  }
  REQUIRE(false);
  return false;
}

// Beside the candidate only what it is compared with may have been under way.
void check_others(const journal::State& state, const Moment& moment) {
  state.dangers().for_each_suspect([&](const journal::Suspect& suspect) {
    const Configuration& configuration = suspect.trial.configuration;
    CHECK((configuration == moment.under_trial || configuration == moment.running));
    CHECK(configuration != Configuration{1, 1});
  });
}

// An engine that starts after a death at that moment.
struct Restart {
  Restart(const Moment& moment, std::uint64_t boot, bool isolated)
      : board(board_that()), disk(std::make_shared<Disk>(moment.files)) {
    board->isolated = isolated;
    engine.emplace(*board, disk, AgentOptions(), boot);
  }
  bool is_suspect(const Configuration& configuration) {
    return engine->journal->state().dangers().is_suspect(engine->key_of(configuration));
  }
  bool is_quarantined(const Configuration& configuration) {
    return engine->journal->state().dangers().is_quarantined(engine->key_of(configuration));
  }
  std::size_t stages_of(const Configuration& configuration) const {
    std::size_t count = 0;
    for (const TrialRequest& request : board->requested) {
      count += request.configuration == configuration;
    }
    return count;
  }

  const std::unique_ptr<PlayedBoard> board;
  const std::shared_ptr<Disk> disk;
  std::optional<PlayedEngine> engine;
};

}  // namespace

TEST_CASE("a death before the first candidate accuses nobody") {
  for (const bool isolated : {true, false}) {
    for (const Moment& moment : moments_of(isolated, 40)) {
      if (!moment.under_trial.empty()) break;
      Restart restart(moment, kBoot, isolated);
      CHECK(restart.engine->journal->state().dangers().suspect_count() == 0);
      CHECK(restart.engine->journal->state().dangers().quarantine_count() == 0);
    }
  }
}

TEST_CASE("a death at any stage of a candidate accuses that candidate alone, if it can have run") {
  struct Life {
    bool isolated;
    std::uint64_t boot;
  };
  for (const Life& expected :
       {Life{true, kBoot}, Life{true, kBoot + 1}, Life{false, kBoot}, Life{false, kBoot + 1}}) {
    CAPTURE(expected.isolated);
    CAPTURE(expected.boot);
    std::set<TrialStage> seen;
    for (const Moment& moment : moments_of(expected.isolated, 60)) {
      if (moment.under_trial.empty() || moment.request.configuration != moment.under_trial)
        continue;
      seen.insert(moment.request.stage);
      CAPTURE(static_cast<int>(moment.request.stage));
      Restart restart(moment, expected.boot, expected.isolated);
      const journal::State& state = restart.engine->journal->state();
      // What a helper only compiled when the application alone died did nobody any harm.
      const bool can_have_run = announced_run(moment);
      CHECK((can_have_run || !runs_configuration(moment.request.stage)));
      CHECK_FALSE((can_have_run && moment.request.stage == TrialStage::compile));
      const bool harmless = expected.isolated && expected.boot == kBoot && !can_have_run;
      check_others(state, moment);
      CHECK(state.dangers().quarantine_count() == 0);
      CHECK(restart.is_suspect(moment.under_trial) != harmless);
    }
    CHECK(seen.count(TrialStage::compile) == 1);
    CHECK(seen.count(TrialStage::check) == 1);
    CHECK(seen.count(TrialStage::measure) == 1);
  }
}

TEST_CASE("a death while the incumbent is measured accuses nobody but the step's candidate") {
  bool seen = false;
  for (const Moment& moment : moments_of(true, 200)) {
    if (moment.under_trial.empty() || moment.request.configuration == moment.under_trial) continue;
    seen = true;
    Restart restart(moment, kBoot, true);
    const journal::State& state = restart.engine->journal->state();
    CHECK(state.dangers().quarantine_count() == 0);
    check_others(state, moment);
  }
  CHECK(seen);
}

TEST_CASE("what killed the application's process is never tried again") {
  const std::vector<Moment> moments = moments_of(false, 20);
  const Moment& last = moments.back();
  REQUIRE_FALSE(last.under_trial.empty());
  Restart restart(last, kBoot, false);
  REQUIRE(restart.is_suspect(last.under_trial));
  REQUIRE(restart.engine->launch().ok());
  restart.engine->tune(10h);
  CHECK(restart.engine->explain().evaluated == 254);  // neither the default nor that one
  CHECK(restart.stages_of(last.under_trial) == 0);
}

TEST_CASE("a suspect is tried again in a helper only, after everything else") {
  const std::vector<Moment> moments = moments_of(true, 20);
  const Moment& last = moments.back();
  const Configuration suspect = last.under_trial;
  REQUIRE_FALSE(suspect.empty());

  Restart helper(last, kBoot + 1, true);
  REQUIRE(helper.engine->launch().ok());
  helper.engine->tune(10h);
  CHECK(helper.engine->explain().evaluated >= 255);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  bool suspects_turn = false;
  for (const TrialRequest& request : helper.board->requested) {
    const bool fresh = seen.insert({request.configuration[0], request.configuration[1]}).second;
    suspects_turn = suspects_turn || request.configuration == suspect;
    CHECK_FALSE((suspects_turn && fresh && request.configuration != suspect));
  }
  CHECK(suspects_turn);
  CHECK_FALSE(helper.is_suspect(suspect));  // it survived

  Restart in_process(last, kBoot + 1, false);
  REQUIRE(in_process.engine->launch().ok());
  in_process.engine->tune(10h);
  CHECK(in_process.stages_of(suspect) == 0);
  CHECK(in_process.is_suspect(suspect));
}

TEST_CASE("a second death of a suspect is one too many") {
  const std::vector<Moment> moments = moments_of(true, 20);
  const Configuration suspect = moments.back().under_trial;
  Restart second(moments.back(), kBoot + 1, true);
  REQUIRE(second.is_suspect(suspect));
  std::optional<Moment> death;
  second.board->on_stage = [&](const TrialRequest& request, TrialOutcome&) {
    if (request.configuration == suspect && !death) {
      death = Moment{request, suspect, {}, second.disk->files()};
    }
  };
  REQUIRE(second.engine->launch().ok());
  second.engine->tune(10h);
  REQUIRE(death.has_value());
  Restart third(*death, kBoot + 2, true);
  CHECK(third.is_quarantined(suspect));
  CHECK_FALSE(third.is_suspect(suspect));
}

TEST_CASE("an engine that is closed amid a trial accuses nobody") {
  for (int stages = 1; stages < 25; ++stages) {
    const auto disk = std::make_shared<Disk>();
    {
      const auto board = board_that();
      PlayedEngine engine(*board, disk, {}, kBoot);
      REQUIRE(engine.launch().ok());
      while (static_cast<int>(board->requested.size()) < stages) engine.tune(1ms);
      engine.engine.reset();
      CHECK(engine.journal->shutdown().ok());
    }
    const auto board = board_that();
    PlayedEngine engine(*board, disk, {}, kBoot);
    CHECK(engine.journal->state().dangers().suspect_count() == 0);
    CHECK(engine.journal->state().dangers().quarantine_count() == 0);
  }
}

TEST_CASE("a helper's crash is quarantined at once, and one that somebody caused is not") {
  for (const bool ambiguous : {false, true}) {
    const auto disk = std::make_shared<Disk>();
    Configuration victim;
    {
      const auto board = board_that();
      board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
        if (request.stage != TrialStage::check || !victim.empty()) return;
        if (request.configuration == Configuration{1, 1}) return;
        victim = request.configuration;
        outcome.status = TrialStatus::crash;
        outcome.ambiguous = ambiguous;
      };
      PlayedEngine engine(*board, disk, {}, kBoot);
      REQUIRE(engine.launch().ok());
      engine.tune(10h);
      REQUIRE_FALSE(victim.empty());
      CHECK(engine.journal->state().dangers().is_quarantined(engine.key_of(victim)) != ambiguous);
      std::size_t tries = 0;
      for (const TrialRequest& request : board->requested) {
        tries += request.configuration == victim && request.stage == TrialStage::check;
      }
      CHECK(tries == 1);
      engine.engine.reset();
    }
    const auto board = board_that();
    PlayedEngine next(*board, disk, {}, kBoot);
    CHECK(next.journal->state().dangers().is_quarantined(next.key_of(victim)) != ambiguous);
    CHECK(next.journal->state().dangers().is_suspect(next.key_of(victim)) == ambiguous);
  }
}

namespace {

// The helper is killed by somebody else in the middle of such stages.
void kill_helper_in(PlayedBoard& board, std::function<bool(const TrialRequest&)> when) {
  board.on_stage = [when = std::move(when)](const TrialRequest& request, TrialOutcome& outcome) {
    if (!when(request)) return;
    outcome.status = TrialStatus::crash;
    outcome.message = "the helper killed by signal 9 (SIGKILL)";
    outcome.ambiguous = true;
  };
}

}  // namespace

TEST_CASE("helpers killed by somebody else, again and again, never end tuning") {
  const auto board = board_that();
  int compilations = 0;
  int kills = 0;
  // Every second compilation.
  kill_helper_in(*board, [&](const TrialRequest& request) {
    const bool dies = request.stage == TrialStage::compile && ++compilations % 2 == 0;
    kills += dies;
    return dies;
  });
  PlayedEngine engine(*board, std::make_shared<Disk>(), {}, kBoot);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(kills > 100);
  CHECK(engine.engine->status().tuning_enabled);
  // All of them were tried in the end, and nobody is blamed.
  CHECK(engine.explain().evaluated == 255);
  CHECK(engine.explain().rejected == 0);
  CHECK(engine.journal->state().dangers().suspect_count() == 0);
  REQUIRE(engine.launch().ok());
  (void)engine.idle(0ns);
  CHECK(engine.journal->state().dangers().open_trials().empty());
}

TEST_CASE("what a helper was killed in three times in a row is left to the next start") {
  const auto board = board_that();
  const Configuration hungry{3, 3};
  kill_helper_in(*board, [&](const TrialRequest& request) {
    return request.configuration == hungry && request.stage == TrialStage::compile;
  });
  const auto disk = std::make_shared<Disk>();
  {
    PlayedEngine engine(*board, disk, {}, kBoot);
    REQUIRE(engine.launch().ok());
    engine.tune(10h);
    CHECK(engine.engine->status().tuning_enabled);
    std::size_t tries = 0;
    for (const TrialRequest& request : board->requested) tries += request.configuration == hungry;
    CHECK(tries == 3);
    CHECK_FALSE(engine.journal->state().measurement(engine.key_of(hungry)).has_value());
  }
  const auto again = board_that();
  PlayedEngine next(*again, disk, {}, kBoot);
  REQUIRE(next.launch().ok());
  next.tune(10h);
  CHECK(next.journal->state().measurement(next.key_of(hungry)).has_value());
}

TEST_CASE("after a helper was killed, idle time waits before the next one, longer each time") {
  const auto board = board_that();
  bool killing = true;
  kill_helper_in(*board, [&](const TrialRequest&) { return killing; });
  PlayedEngine engine(*board, std::make_shared<Disk>(), {}, kBoot);
  REQUIRE(engine.launch({64}, 5000).ok());
  IdleReport report = engine.idle(1h);
  CHECK(report.stages == 1);
  CHECK(std::string(report.why).find("somebody killed the helper") == 0);
  CHECK(engine.idle(1h).stages == 0);
  board->clock.advance(1s);
  CHECK(engine.idle(1h).stages == 1);
  board->clock.advance(1s);
  CHECK(engine.idle(1h).stages == 0);
  board->clock.advance(1s);
  CHECK(engine.idle(1h).stages == 1);
  killing = false;
  board->clock.advance(4s);
  CHECK(engine.idle(1h).stages > 3);
}

TEST_CASE("helpers that die while they run configurations still end tuning") {
  const auto board = board_that();
  kill_helper_in(*board, [&](const TrialRequest& request) {
    return request.stage == TrialStage::check && request.configuration != Configuration{1, 1};
  });
  PlayedEngine engine(*board, std::make_shared<Disk>(), {}, kBoot);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK_FALSE(engine.engine->status().tuning_enabled);
  CHECK(engine.engine->status().lost_devices == 0);
  const Explanation ended = engine.explain();
  CHECK(ended.blocker == Blocker::trials);
  CHECK(ended.advice.find("too many trials crashed or hung") != std::string::npos);
  CHECK(engine.engine->status().advice == ended.advice);
  CHECK(ended.trying.empty());
}

TEST_CASE("a device on which the default fails in a new helper is lost, and nobody is blamed") {
  const auto board = board_that();
  bool broken = false;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (!broken && request.stage == TrialStage::check &&
        request.configuration != Configuration{1, 1}) {
      outcome.status = TrialStatus::crash;
      outcome.ambiguous = true;
      broken = true;
    } else if (broken) {
      outcome.stage = TrialStage::prepare;
      outcome.status = TrialStatus::crash;
      outcome.reference = ReferenceRun::failed;
    }
  };
  PlayedEngine engine(*board, std::make_shared<Disk>(), {}, kBoot);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  const AgentStatus status = engine.engine->status();
  CHECK(status.lost_devices == 1);
  CHECK(status.ended_devices == 1);
  CHECK_FALSE(status.tuning_enabled);
  CHECK(status.quarantined == 0);
}

TEST_CASE(
    "no crash is confirmed by what came to an outcome without a helper, or without its start") {
  for (const bool refused : {false, true}) {
    const auto board = board_that();
    Configuration dead;
    bool next = false;
    board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
      const bool is_default = request.configuration == Configuration{1, 1};
      if (dead.empty() && request.stage == TrialStage::check && !is_default) {
        outcome.status = TrialStatus::crash;
        dead = request.configuration;
        next = true;
      } else if (next) {
        outcome = TrialOutcome();
        outcome.stage = refused ? request.stage : TrialStage::prepare;
        outcome.status = refused ? TrialStatus::constraints : TrialStatus::runtime;
        next = false;
      }
    };
    PlayedEngine engine(*board);
    REQUIRE(engine.launch().ok());
    while (dead.empty() || next) engine.tune(1ms);
    const journal::State& state = engine.journal->state();
    CHECK_FALSE(state.dangers().is_quarantined(engine.key_of(dead)));
    CHECK(state.dangers().is_suspect(engine.key_of(dead)));
    engine.tune(1h);
    CHECK(state.dangers().is_quarantined(engine.key_of(dead)));
  }
}

TEST_CASE("a helper takes its place from other helpers, not from trials in this process") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  auto package = required(KernelPackage::open(test::played_package(), "played"));
  auto state = required(detail::KernelState::create(board->device, package, 4));
  detail::KernelTask& other = engine.engine->add_kernel(std::move(state), nullptr);
  board->isolated = false;
  other.runner = required(board->surroundings().make_trial_runner(board->device, package));
  const TrialRunner* const kept = other.runner.get();
  board->isolated = true;
  REQUIRE(engine.launch({64}, 1000).ok());
  engine.tune(1s);
  REQUIRE(engine.kernel->runner != nullptr);
  CHECK(other.runner.get() == kept);
}
