// The engine's choices, its accounts, adoption and demotion, with replayed trials.
#include <set>

#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/tuning/played_engine.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::model_saying;
using idletune::test::played;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Configuration kEngineDefault{1, 1};
const Shape kEngineShape{64};
const Shape kEngineOther{128};

// The shapes whose candidates were tried, in order of their steps.
std::vector<Shape> steps_by_shape(const PlayedBoard& board) {
  std::vector<Shape> steps;
  Configuration last;
  for (const TrialRequest& request : board.requested) {
    if (request.configuration == kEngineDefault || request.stage != TrialStage::compile) continue;
    if (!steps.empty() && request.configuration == last && request.shape == steps.back()) continue;
    last = request.configuration;
    steps.push_back(request.shape);
  }
  return steps;
}

}  // namespace

// --- choosing ---

TEST_CASE("the shape with the most kernel time is searched first") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kEngineOther, 10).ok());
  REQUIRE(engine.launch(kEngineShape, 1000).ok());
  while (steps_by_shape(*board).empty()) engine.tune(100ms);
  CHECK(steps_by_shape(*board).front() == kEngineShape);
}

TEST_CASE("without a compiler what is not prebuilt is not tried, and no evidence") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  board->device.device_info.has_compiler = false;
  REQUIRE(engine.launch(kEngineShape, 1000).ok());
  for (int i = 0; i < 20; ++i) engine.tune(100ms);
  CHECK(steps_by_shape(*board).empty());
  CHECK(engine.task().search.evidence().draws.count() == 0);
}

TEST_CASE("no shape starves while another is searched") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kEngineShape, 300).ok());
  REQUIRE(engine.launch(kEngineOther, 100).ok());
  while (steps_by_shape(*board).size() < 100) engine.tune(100ms);
  std::size_t others = 0;
  for (const Shape& shape : steps_by_shape(*board)) others += shape == kEngineOther;
  CHECK(others >= 10);
  CHECK(others <= 50);
}

TEST_CASE("nothing is tried for a shape that is not launched any more") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kEngineOther).ok());
  engine.task(kEngineOther).said_launches = 0;
  engine.play(100, 50, 1s);
  for (const Shape& shape : steps_by_shape(*board)) CHECK(shape == kEngineShape);
  CHECK(engine.explain(kEngineShape).evaluated > 0);
  CHECK(engine.explain(kEngineOther).evaluated == 0);
}

// --- the promise ---

TEST_CASE("a stage that fits no gap is named with the gap that it needs, also in the status") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kEngineShape, 2000).ok());
  engine.engine->set_longest_gap(1us);
  for (int i = 0; i < 3; ++i) {
    (void)engine.idle(1us);
    board->clock.advance(1s);
  }
  const Explanation waiting = engine.explain();
  CHECK(waiting.blocker == Blocker::gap);
  CHECK(waiting.advice.find("needs a gap of ") != std::string::npos);
  CHECK(engine.engine->status().blocker == Blocker::gap);
  CHECK(engine.engine->status().advice == waiting.advice);
  engine.engine->set_longest_gap(1s);
  (void)engine.idle(1s);
  CHECK(engine.explain().evaluated + engine.explain().launches > 0);
  CHECK(engine.explain().blocker != Blocker::gap);
}

TEST_CASE("what the overhead limit does not allow is said to wait for it") {
  const auto board = board_that();
  AgentOptions options;
  options.overhead_limit = 0;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  REQUIRE(engine.launch().ok());
  const IdleReport report = engine.idle(1s);
  CHECK(std::string(report.why) == "the overhead limit does not allow the next step yet");
  CHECK(engine.explain().blocker == Blocker::ledger);
  CHECK(engine.explain().advice.find(" ms, the overhead limit allows 0 ms: ") != std::string::npos);
}

TEST_CASE("a used-up limit of tuning is said to be one, and holds for what users grant, too") {
  const auto board = board_that();
  AgentOptions options;
  options.max_tuning = 1ns;
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  REQUIRE(engine.launch().ok());
  CHECK(engine.tune(1h).stages > 0);
  CHECK(engine.tune(1h).stages == 0);
  CHECK(engine.explain().blocker == Blocker::limit);
}

TEST_CASE("a shape for which nothing is wanted waits for nothing") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(engine.explain().blocker == Blocker::none);
  CHECK(engine.explain().advice.empty());
  CHECK(engine.engine->status().blocker == Blocker::none);
}

// --- adoption and demotion ---

TEST_CASE("what wins is launched, and the journal knows it with the default's time") {
  const auto board = board_that();
  const std::int64_t begin = board->clock.unix_seconds();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  const Configuration running = engine.task().running();
  REQUIRE(running != kEngineDefault);
  const auto adoption =
      required(engine.journal->state().adoption(engine.task().identity.shape_key()));
  CHECK(adoption.trial.configuration == running);
  CHECK(adoption.default_time == played(kEngineDefault).run);
  CHECK(adoption.expected == played(running).run);
  const auto measured = required(engine.journal->state().measurement(adoption.trial.key()));
  CHECK(measured.unix_seconds >= begin);
  CHECK(measured.unix_seconds <= board->clock.unix_seconds());
  const Nanoseconds before = board->clock.now();
  REQUIRE(engine.launch().ok());
  CHECK(board->clock.now() - before == played(running).run + PlayedBoard::kLaunchOverhead);
}

TEST_CASE("what wins by less than the margin is not adopted") {
  const auto board = board_that([](const Configuration& configuration) {
    return RecordedTrial{TrialStatus::correct, configuration == kEngineDefault ? 4000us : 3900us,
                         1ms};
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(engine.explain().evaluated == 255);
  CHECK(engine.task().running() == kEngineDefault);
}

TEST_CASE("a rejection names the pairs that decided it") {
  const auto board = board_that([](const Configuration& configuration) {
    return RecordedTrial{TrialStatus::correct, configuration == kEngineDefault ? 4000us : 3950us,
                         1ms};
  });
  idletune::test::Messages said;
  AgentOptions options;
  said.collect(options);
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(said.text().find(
            "reject_slow (correct, 3950 us beside 4000 us of what runs, median of 5 pairs "
            "98.8 %, adopted up to 97.0 %)") != std::string::npos);
}

TEST_CASE("what fails at any stage is counted and not adopted") {
  for (const TrialStatus failure : {TrialStatus::compile, TrialStatus::constraints,
                                    TrialStatus::runtime, TrialStatus::correctness}) {
    const auto board = board_that([&](const Configuration& configuration) {
      RecordedTrial trial = played(configuration);
      if (configuration != kEngineDefault) trial.status = failure;
      return trial;
    });
    PlayedEngine engine(*board);
    REQUIRE(engine.launch().ok());
    engine.tune(10h);
    CHECK(engine.explain().rejected == 255);
    CHECK(engine.task().running() == kEngineDefault);
    CHECK(engine.journal->state().adoption_count() == 0);
    CHECK(engine.journal->state().dangers().quarantine_count() == 0);
  }
}

TEST_CASE("where the default itself fails nothing is compared with it, and that is why") {
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    if (configuration == kEngineDefault) trial.status = TrialStatus::constraints;
    return trial;
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(engine.explain().evaluated == 0);
  CHECK(engine.explain().reason.find("The default configuration failed (constraints)") == 0);
}

TEST_CASE("what does not build for launches leaves the default in place, and tuning goes on") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  board->device.compile_script = [](const CompileRequest&) {
    return Status(StatusCode::compile_error, "scripted");
  };
  engine.tune(10h);
  CHECK(engine.explain().evaluated == 255);
  CHECK(engine.task().running() == kEngineDefault);
  CHECK(engine.journal->state().adoption_count() == 0);
}

TEST_CASE("what becomes slower than the default is measured again and demoted") {
  bool throttled = false;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    if (throttled && configuration != kEngineDefault) trial.run *= 10;
    return trial;
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  REQUIRE(engine.task().running() != kEngineDefault);
  throttled = true;
  engine.play(10, 100, 1s);
  CHECK(engine.task().running() == kEngineDefault);
  CHECK(engine.journal->state().adoption_count() == 0);
  const Nanoseconds before = board->clock.now();
  REQUIRE(engine.launch().ok());
  CHECK(board->clock.now() - before == played(kEngineDefault).run + PlayedBoard::kLaunchOverhead);
}

TEST_CASE("a clock that slows everything down demotes nothing") {
  int factor = 1;
  const auto board = board_that([&](const Configuration& configuration) {
    RecordedTrial trial = played(configuration);
    trial.run *= factor;
    return trial;
  });
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  const Configuration adopted = engine.task().running();
  REQUIRE(adopted != kEngineDefault);
  factor = 5;
  engine.play(10, 100, 1s);
  CHECK(engine.task().running() == adopted);
  CHECK(engine.journal->state().adoption_count() == 1);
  // Both were measured anew, side by side.
  CHECK(engine.task().default_time == 5 * played(kEngineDefault).run);
}

TEST_CASE("what the driver refuses to launch is demoted, and the default was launched instead") {
  bool refuses = false;
  const auto board = board_that();
  const auto launches = board->device.launch_script;
  board->device.launch_script = [&](const std::string& options) -> Result<Nanoseconds> {
    if (refuses && fake::option(options, "A") != 1) {
      return Status(StatusCode::device_error, "scripted");
    }
    return launches(options);
  };
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  REQUIRE(engine.task().running() != kEngineDefault);
  refuses = true;
  CHECK(engine.launch().ok());
  engine.idle(1ms);
  CHECK(engine.task().running() == kEngineDefault);
  CHECK(engine.journal->state().adoption_count() == 0);
}

// --- the ledger ---

TEST_CASE("a stage that was frozen is charged for no longer than its runs may take") {
  AgentOptions options;
  options.idle_cost = 1;
  options.compile_cost = 0;
  options.overhead_limit = 1;
  options.run_deadline = 2s;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  double allowed = 0;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (!runs_configuration(request.stage) || allowed > 0) return;
    outcome.wall += 4000s;
    const auto runs = static_cast<double>(3 + request.repeats);
    allowed = runs * std::chrono::duration<double>(request.deadline).count();
  };
  REQUIRE(engine.launch({64}, 5000).ok());
  for (int i = 0; i < 50 && allowed == 0; ++i) engine.idle_through(100ms);
  REQUIRE(allowed > 0);
  engine.idle_through(5000s);
  const double charged = engine.engine->status().charged_seconds;
  CHECK(charged >= 0.99 * allowed);
  CHECK(charged < allowed + 1);
}

TEST_CASE("every stage of idle time is charged when it ends, compiling and running each as said") {
  AgentOptions options;
  options.idle_cost = 0.5;
  options.compile_cost = 0.25;
  options.overhead_limit = 1;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), options);
  double expected = 0;
  double due = 0;
  double walls = 0;
  std::set<TrialStage> seen;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    expected += due;
    CAPTURE(static_cast<int>(request.stage));
    CHECK(engine.engine->status().charged_seconds == doctest::Approx(expected));
    const double wall = static_cast<double>(outcome.wall.count()) * 1e-9;
    walls += wall;
    due = wall * (request.stage == TrialStage::compile ? 0.25 : 0.5);
    seen.insert(request.stage);
  };
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e6;
  for (int i = 0; i < 20; ++i) engine.idle(1s);
  const Explanation text = engine.explain();
  CHECK(text.evaluated > 3);
  CHECK(seen.size() == 4);
  CHECK(expected > 0);
  CHECK(text.tuning_ms == doctest::Approx(1e3 * walls));
  CHECK(text.charged_ms == doctest::Approx(1e3 * (expected + due)));
  CHECK(text.launches == 5000);
  CHECK(text.speed_up == doctest::Approx(text.default_ms / text.running_ms));
}

TEST_CASE("what the user grants is not charged") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch().ok());
  engine.tune(10h);
  CHECK(engine.engine->status().tuning_seconds > 1);
  CHECK(engine.engine->status().charged_seconds == 0);
}

TEST_CASE("a first launch in a compilation that holds the device up is charged as one that does") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  engine.kernel->state->log_launches(&board->clock);
  REQUIRE(engine.launch({64}, 50000).ok());
  engine.task().said_launches = 1e6;
  bool prolonged = false;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (prolonged || request.stage != TrialStage::compile) return;
    prolonged = true;
    outcome.status = TrialStatus::timeout;
    outcome.wall = outcome.device = 25s;
  };
  const double before = engine.engine->status().charged_seconds;
  while (!prolonged) engine.idle_through(100ms);
  // It goes on behind the application's back, which launches meanwhile.
  REQUIRE(engine.launch({64}, 1).ok());
  while (engine.idle(100ms).stages == 0) board->clock.advance(100ms);
  CHECK(engine.engine->status().charged_seconds - before > 24);
}

TEST_CASE(
    "a runner that is handed nothing for a minute ends, and another begins where one is needed") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch({64}, 5000).ok());
  SUBCASE("of its own process") {}
  SUBCASE("in this process it stays") { board->isolated = false; }
  engine.tune(1h);
  const std::weak_ptr<TrialRunner> first = board->last_runner;
  CHECK_FALSE(first.expired());
  board->clock.advance(59s);
  (void)engine.idle(1ms);
  CHECK_FALSE(first.expired());
  board->clock.advance(1s);
  (void)engine.idle(1ms);
  CHECK(first.expired() == board->isolated);
  REQUIRE(engine.launch({128}, 5000).ok());
  engine.tune(1h);
  CHECK(engine.explain({128}).evaluated > 3);
  CHECK_FALSE(board->last_runner.expired());
}

TEST_CASE("nothing more is spent than kernel time and savings allow, in any gap") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  for (int i = 0; i < 300; ++i) {
    engine.play(1, 3, 200ms);
    const AgentStatus status = engine.engine->status();
    CHECK(status.charged_seconds <= 0.02 * status.kernel_seconds + status.saved_seconds + 0.005);
  }
  CHECK(engine.explain().evaluated > 0);
}

// --- another model ---

TEST_CASE("a model that comes amid a trial waits for its end, then its pick is tried") {
  // At whichever stage of the first step it comes.
  for (std::size_t stage = 3; stage < 12; ++stage) {
    CAPTURE(stage);
    const auto board = board_that();
    PlayedEngine engine(*board);
    REQUIRE(engine.launch().ok());
    while (board->requested.size() < stage) engine.tune(1ms);
    const Configuration under_trial = board->requested.back().configuration;
    const std::uint64_t evaluated = engine.explain().evaluated;
    engine.engine->use_model(model_saying(8, 8));
    while (engine.explain().evaluated == evaluated) engine.tune(1ms);
    // The step that was under way ended as itself.
    bool concluded = under_trial == kEngineDefault;
    engine.journal->state().for_each_measurement([&](const journal::Measurement& measurement) {
      concluded = concluded || measurement.trial.configuration == under_trial;
    });
    CHECK(concluded);
    while (engine.explain().evaluated < evaluated + 3) engine.tune(10ms);
    CHECK(engine.task().running() == Configuration{8, 8});
    CHECK(engine.explain().selection == Selection::first_pick);
  }
}

TEST_CASE("a model that goes takes nothing away that was measured") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  engine.engine->use_model(model_saying(8, 8));
  REQUIRE(engine.launch().ok());
  while (engine.explain().evaluated < 5) engine.tune(10ms);
  const Configuration running = engine.task().running();
  engine.engine->use_model(nullptr);
  engine.tune(10h);
  engine.tune(10h);
  CHECK(engine.explain().evaluated == 255);
  CHECK(running == Configuration{8, 8});
  CHECK(engine.task().running() == running);
}

TEST_CASE("a default that could not be tried is tried again after pauses, and never given up") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  int tries = 0;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::compile || ++tries > 8) return;
    outcome.status = TrialStatus::runtime;
    outcome.message = "out of memory";
  };
  REQUIRE(engine.launch().ok());
  engine.tune(500ms);
  CHECK(tries == 3);
  CHECK(engine.explain().verdict == Verdict::wait);
  CHECK(engine.explain().reason.find("after a pause") != std::string::npos);
  for (int i = 0; i < 100; ++i) {  // 1 s, 2 s, 4 s ... 32 s
    engine.tune(10h);
    board->clock.advance(1s);
  }
  CHECK(engine.explain().evaluated == 255);
}

TEST_CASE("a default that is wrong is not tried again") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  int runs = 0;
  board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.stage != TrialStage::measure) return;
    ++runs;
    outcome.status = TrialStatus::correctness;
  };
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  engine.play(20, 50, 1s);
  CHECK(runs == 1);
}
