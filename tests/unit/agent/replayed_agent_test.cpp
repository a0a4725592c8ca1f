// The agent on a played board: no code runs, a scripted clock counts, and everything is repeatable.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::Behaviour;
using idletune::test::played;
using idletune::test::played_package;
using idletune::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

// An application with one shape on a played board.
struct ReplayedApplication {
  explicit ReplayedApplication(const AgentOptions& options = {},
                               const Behaviour& behaviour = played, const std::string& driver = "1")
      : board(test::board_that(behaviour)), clock(board->clock), device(board->device) {
    board->device.device_info.driver = driver;
    agent.emplace(test::agent_on(*board, options));
    kernel = required(agent->kernel(device, played_package()));
    x = required(device.allocate(64 * sizeof(float)));
  }
  void launch(int times = 1) {
    for (int i = 0; i < times; ++i) REQUIRE(kernel->launch(shape, {x->argument()}).ok());
  }
  // `frames` times: `launches` launches, then an idle gap. Returns the tuner's time.
  Nanoseconds play(int frames, int launches, Nanoseconds gap) {
    Nanoseconds used{0};
    for (int i = 0; i < frames; ++i) {
      launch(launches);
      const IdleReport report = agent->idle(gap);
      CHECK(report.used <= gap);
      used += report.used;
      clock.advance(gap - report.used);
    }
    return used;
  }
  Explanation explain() const { return required(kernel->explain(shape)); }

  const Shape shape{64};
  const std::unique_ptr<test::PlayedBoard> board;
  ScriptedClock& clock;
  Device& device;
  std::unique_ptr<Buffer> x;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

}  // namespace

TEST_CASE("an application with idle time ends up with a faster configuration") {
  ReplayedApplication application;
  application.launch();
  CHECK(application.explain().speed_up == doctest::Approx(1));
  application.play(600, 20, 1s);
  const Explanation after = application.explain();
  CHECK(after.selection == Selection::tuned);
  CHECK(after.default_ms == doctest::Approx(4.0).epsilon(0.01));
  CHECK(after.speed_up > 2.0);
  CHECK(after.evaluated > 5);
  CHECK(after.reason.size() > 20);
  CHECK(after.production_watch != "unavailable");
}

TEST_CASE("the charged tuning time never exceeds the promise") {
  ReplayedApplication application;
  for (int i = 0; i < 300; ++i) {
    application.play(1, 5, 1s);
    const AgentStatus status = application.agent->status();
    CHECK(status.charged_seconds <=
          0.02 * status.kernel_seconds + status.saved_seconds + 0.005);  // one stage's misjudgement
  }
  CHECK(application.agent->status().tuning_seconds > 0);
}

TEST_CASE("nothing is tuned before the application has launched anything") {
  ReplayedApplication application;
  const IdleReport report = application.agent->idle(10s);
  CHECK(report.stages == 0);
  CHECK(report.used == 0ns);
}

TEST_CASE("a gap that is too short starts nothing on the device and says what it would need") {
  ReplayedApplication application;
  application.launch(2000);
  CHECK(application.agent->idle(1us).waiting);  // for a compilation, which needs no device
  application.clock.advance(1s);
  const Nanoseconds before = application.clock.now();
  const IdleReport report = application.agent->idle(1us);
  CHECK(report.needs > 1us);
  CHECK(application.clock.now() - before <= 1us);
  REQUIRE(application.board->requested.size() == 1);
  CHECK(application.board->requested[0].stage == TrialStage::compile);
}

TEST_CASE("search stops when an end of the launches is near") {
  ReplayedApplication application;
  application.kernel->expect_launches(application.shape, 30);
  application.play(30, 1, 500ms);
  const Explanation after = application.explain();
  CHECK(after.expected_launches == doctest::Approx(0));
  CHECK(after.verdict != Verdict::tune);
  CHECK(application.agent->status().charged_seconds <=
        0.02 * application.agent->status().kernel_seconds + 0.005);
}

TEST_CASE("a wrong configuration is never adopted, however fast it looks") {
  const auto in_wrong_corner = [](const Configuration& c) {
    return c[0] >= 6 && c[0] <= 10 && c[1] >= 6 && c[1] <= 10;
  };
  ReplayedApplication application({}, [&](const Configuration& configuration) {
    if (!in_wrong_corner(configuration)) return played(configuration);
    return RecordedTrial{TrialStatus::correctness, 100us, 20ms};
  });
  application.launch();
  application.agent->tune_now(10h);
  const Explanation after = application.explain();
  CHECK(after.rejected >= 25);
  CHECK_FALSE(in_wrong_corner(after.running));
  CHECK(after.speed_up > 1.5);
}

TEST_CASE("a foreground run finds the optimum of a small space") {
  ReplayedApplication application;
  application.launch();
  application.agent->tune_now(10h);
  const Explanation after = application.explain();
  // Adoption is by a margin, so the last few percent may be left.
  CHECK(after.running_ms < 1.05);
  CHECK(after.evaluated == 255);
  CHECK(after.verdict == Verdict::stop);
}

TEST_CASE("the second start begins with what the first adopted") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path() + "/state");
  Configuration adopted;
  {
    ReplayedApplication first(options);
    first.launch();
    first.agent->tune_now(10h);
    adopted = first.explain().running;
    CHECK(first.agent->status().storage.ok());
  }
  ReplayedApplication second(options);
  const Explanation known = second.explain();  // before the first launch
  CHECK(known.selection == Selection::tuned);
  CHECK(known.running == adopted);
  CHECK(known.evaluated == 255);
  const Nanoseconds before = second.clock.now();
  second.launch();
  CHECK(second.clock.now() - before < 1200us);
}

TEST_CASE("another driver version makes the adoption a hint that is tried first") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path() + "/state");
  Configuration adopted;
  {
    ReplayedApplication first(options);
    first.launch();
    first.agent->tune_now(10h);
    adopted = first.explain().running;
  }
  ReplayedApplication second(options, played, "2");
  second.launch();
  CHECK(second.explain().selection == Selection::fallback);
  for (int i = 0; i < 100 && second.explain().evaluated < 1; ++i) second.agent->tune_now(1s);
  CHECK(second.explain().running == adopted);
}

TEST_CASE("mode off neither tunes nor touches the state folder") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path() + "/state");
  options.mode = Mode::off;
  {
    ReplayedApplication application(options);
    application.launch(100);
    CHECK(application.agent->idle(10s).stages == 0);
    CHECK(application.agent->tune_now(10s).stages == 0);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/state"));
}

TEST_CASE("the application's device keeps its programs in the state folder, as the helper does") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  ReplayedApplication application(options);
  CHECK(application.board->device.program_folder == options.state + "/programs");
  options.mode = Mode::off;
  ReplayedApplication untouched(options);
  CHECK(untouched.board->device.program_folder.empty());
  CHECK(ReplayedApplication().board->device.program_folder.empty());
}

TEST_CASE("a running agent's explanation lies in the state folder, with names and what is tried") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  ReplayedApplication application(options);
  const std::string file = options.state + "/explain.json";
  application.board->on_stage = [](const TrialRequest&, TrialOutcome& outcome) {
    outcome.processor = 7ms;
  };
  application.play(1, 20, 1s);
  CHECK_FALSE(std::filesystem::exists(file));
  std::string text;
  for (int minute = 0; minute < 60 && text.find("\"trying\": \"A=") == std::string::npos;
       ++minute) {
    application.launch(1000);
    application.agent->idle(22ms);  // amid a trial
    application.clock.advance(61s);
    std::ifstream stream(file);
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  CHECK(text.find("\"trying\": \"A=") != std::string::npos);
  CHECK(text.find("\"kernel\": \"play\"") != std::string::npos);
  CHECK(text.find("\"running\": \"A=") != std::string::npos);
  CHECK(application.agent->status().helper_processor_seconds >= 0.007);
}

TEST_CASE("mode cached uses what was adopted and searches no further") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path() + "/state");
  {
    ReplayedApplication first(options);
    first.launch();
    first.agent->tune_now(2s);
    REQUIRE(first.explain().selection == Selection::tuned);
  }
  options.mode = Mode::cached;
  ReplayedApplication second(options);
  CHECK(second.explain().selection == Selection::tuned);
  second.launch(1000);
  CHECK(second.agent->idle(10s).stages == 0);
}

TEST_CASE("an unusable state folder degrades to memory and says so") {
  AgentOptions options = test::options_in("/proc/no-such-place/state");
  ReplayedApplication application(options);
  CHECK_FALSE(application.agent->status().storage.ok());
  application.launch();
  application.agent->tune_now(10h);
  CHECK(application.explain().selection == Selection::tuned);
}

TEST_CASE("launches with wrong arguments or shapes are refused by name") {
  ReplayedApplication application;
  const Status few = application.kernel->launch(application.shape, {});
  CHECK(few.code() == StatusCode::invalid_argument);
  CHECK(few.message().find("expected 1") != std::string::npos);
  const Status scalar = application.kernel->launch(application.shape, 1.0f);
  CHECK(scalar.message().find("'x'") != std::string::npos);
  CHECK_FALSE(application.kernel->launch({0}, {application.x->argument()}).ok());
  CHECK_FALSE(application.kernel->launch({1, 2}, {application.x->argument()}).ok());
}

TEST_CASE("shapes beyond the capacity run the default") {
  AgentOptions options;
  options.max_shapes = 2;
  ReplayedApplication application(options);
  for (std::int64_t n = 1; n <= 5; ++n) {
    REQUIRE(application.kernel->launch({n}, {application.x->argument()}).ok());
  }
  CHECK(application.kernel->shapes().size() == 2);
  CHECK(application.agent->status().unslotted_launches == 3);
}

TEST_CASE("launches themselves time checked candidates where the application allows it") {
  ReplayedApplication application;
  application.kernel->allow_in_place({true, 0.05});
  application.play(20, 20, 1s);
  // They gain while others are still to be tried.
  CHECK(application.explain().selection == Selection::tuned);
  CHECK(application.explain().evaluated < 100);
  application.play(1980, 20, 1s);
  const Explanation after = application.explain();
  CHECK(after.selection == Selection::tuned);
  CHECK(after.speed_up == doctest::Approx(4).epsilon(0.1));
  CHECK(after.evaluated == 255);  // each once
}

TEST_CASE("options out of range are refused by name") {
  AgentOptions options;
  options.read_environment = false;
  options.overhead_limit = std::nan("");
  const auto agent = Agent::open(options);
  CHECK(agent.status().message().find("overhead_limit") != std::string::npos);
}

TEST_CASE("a broken model is reported and costs nothing else") {
  const TemporaryFolder folder;
  AgentOptions options;
  options.model = folder.path() + "/none.itmodel";
  ReplayedApplication application(options);
  CHECK(application.agent->status().model.code() == StatusCode::not_found);
  application.launch();
}

namespace {

double weight_of(const Explanation& explanation, const std::string& device) {
  for (const Explanation::Resemblance& one : explanation.resembles) {
    if (one.device == device) return one.weight;
  }
  return -1;
}

}  // namespace

TEST_CASE("the model's first pick is adopted, and searching on ends when it no longer pays") {
  const TemporaryFolder folder;
  test::write_played_model(folder.path() + "/play.itmodel");
  AgentOptions options;
  options.model = folder.path() + "/play.itmodel";
  ReplayedApplication application(options);
  REQUIRE(application.agent->status().model.ok());
  application.launch();
  application.kernel->expect_launches(application.shape, 20000);
  for (int i = 0; i < 100 && application.explain().evaluated == 0; ++i) {
    application.play(1, 3, 1s);  // earns less than a step is charged
  }
  const Explanation early = application.explain();
  REQUIRE(early.evaluated >= 1);
  CHECK(early.selection == Selection::first_pick);
  CHECK(early.running == Configuration{8, 8});
  CHECK(early.first_pick_ms == doctest::Approx(1.0).epsilon(0.01));
  CHECK(early.speed_up > 2.5);
  CHECK(early.launches_said);
  CHECK(early.fraction > 0);
  CHECK(early.fraction_low <= early.fraction);
  CHECK(early.fraction_high >= early.fraction);
  CHECK(early.fraction_origin == "model");
  CHECK(early.step_ms > 0);
  application.kernel->expect_launches(application.shape, 300);
  application.play(40, 5, 1s);
  const Explanation late = application.explain();
  CHECK((late.verdict == Verdict::use_history || late.verdict == Verdict::stop));
  CHECK(late.reason.size() > 20);
  CHECK(late.evaluated < 100);  // of 255: idle time was left, it did not pay
  CHECK(late.speed_up >= early.speed_up * 0.99);
}

TEST_CASE("a few launches to come are not worth even the first pick") {
  const TemporaryFolder folder;
  test::write_played_model(folder.path() + "/play.itmodel");
  AgentOptions options;
  options.model = folder.path() + "/play.itmodel";
  ReplayedApplication application(options);
  application.launch();
  application.kernel->expect_launches(application.shape, 3);
  application.play(20, 0, 1s);
  const Explanation explanation = application.explain();
  CHECK(explanation.evaluated == 0);
  CHECK(explanation.selection == Selection::fallback);
}

TEST_CASE("what the device resembles is known again after a restart") {
  const TemporaryFolder folder;
  test::write_played_model(folder.path() + "/play.itmodel");
  AgentOptions options;
  options.model = folder.path() + "/play.itmodel";
  options.state = folder.path() + "/state";
  double twin = 0;
  double fraction = 0;
  std::uint64_t evaluated = 0;
  {
    ReplayedApplication application(options);
    application.play(150, 50, 1s);
    const Explanation before = application.explain();
    REQUIRE(before.evaluated > 4);
    twin = weight_of(before, "twin");
    fraction = before.fraction;
    evaluated = before.evaluated;
    CHECK(twin > 0.5);
  }
  ReplayedApplication application(options);
  application.launch();
  const Explanation after = application.explain();
  CHECK(after.evaluated == evaluated);
  // The journal keeps the order of measurements to the second only.
  CHECK(weight_of(after, "twin") == doctest::Approx(twin).epsilon(0.1));
  application.play(2, 50, 1s);
  CHECK(application.explain().fraction == doctest::Approx(fraction).epsilon(0.25));
}
