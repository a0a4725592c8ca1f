// What `idletune decide --journal` says of a state folder against what the board says that has it.
#include "agent/host/cli/recorded_board.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "agent/journal/summary.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using namespace std::chrono_literals;

namespace {

const Shape kProblem{64};

// One session of an application: `frames` times some launches and a gap. What the agent says then.
Explanation session(const AgentOptions& options, int frames, Nanoseconds gap,
                    std::optional<double> launches = {}) {
  const auto board = test::board_that([](const Configuration& c) {
    const bool fails = c[0] % 5 == 0;
    return fails ? RecordedTrial{TrialStatus::runtime, 0ns, 20ms} : test::played(c);
  });
  Agent agent = test::agent_on(*board, options);
  auto kernel = required(agent.kernel(board->device, test::played_package()));
  const auto x = board->device.allocate(64 * sizeof(float));
  for (int i = 0; i < frames; ++i) {
    for (int j = 0; j < 20; ++j) REQUIRE(kernel.launch(kProblem, {(*x)->argument()}).ok());
    board->clock.advance(gap - agent.idle(gap).used);
  }
  if (launches) {
    kernel.expect_launches(kProblem, *launches);
    (void)agent.idle(1us);
  }
  return required(kernel.explain(kProblem));
}

void check_equal(const Explanation& board, const Explanation& here) {
  CHECK(here.kernel == board.kernel);
  CHECK(here.problem == board.problem);
  CHECK(here.selection == board.selection);
  CHECK(here.running_text == board.running_text);
  CHECK(here.first_pick_quality == board.first_pick_quality);
  CHECK(here.verdict == board.verdict);
  CHECK(here.reason == board.reason);
  CHECK(here.default_ms == board.default_ms);
  CHECK(here.first_pick_ms == board.first_pick_ms);
  CHECK(here.running_ms == board.running_ms);
  CHECK(here.speed_up == board.speed_up);
  CHECK(here.expected_launches == board.expected_launches);
  CHECK(here.expected_steps == board.expected_steps);
  CHECK(here.cost_ms == board.cost_ms);
  CHECK(here.gain_ms == board.gain_ms);
  CHECK(here.break_even_launches == board.break_even_launches);
  CHECK(here.evaluated == board.evaluated);
  CHECK(here.rejected == board.rejected);
  CHECK(here.quarantined == board.quarantined);
  CHECK(here.fraction == board.fraction);
  CHECK(here.fraction_low == board.fraction_low);
  CHECK(here.fraction_high == board.fraction_high);
  CHECK(here.fraction_origin == board.fraction_origin);
  CHECK(here.best_estimate_ms == board.best_estimate_ms);
  CHECK(here.step_ms == board.step_ms);
  REQUIRE(here.resembles.size() == board.resembles.size());
  for (std::size_t i = 0; i < here.resembles.size(); ++i) {
    CHECK(here.resembles[i].device == board.resembles[i].device);
    CHECK(here.resembles[i].weight == board.resembles[i].weight);
  }
}

}  // namespace

TEST_CASE("what is said of a state folder is what the board says that has it, to the digit") {
  for (const bool with_model : {false, true}) {
    for (const int frames : {20, 60, 400}) {
      CAPTURE(with_model);
      CAPTURE(frames);
      const test::TemporaryFolder folder;
      AgentOptions options = test::options_in(folder.file("state"));
      options.model = kNoModel;
      if (with_model) {
        options.model = folder.file("play.itmodel");
        test::write_played_model(options.model);
      }
      (void)session(options, frames, 1s);
      for (const double launches : {300.0, 2e4, 1e7}) {
        const auto here = required(
            cli::explain_recorded(options.state, options, test::played_package(), launches));
        REQUIRE(here.size() == 1);
        CHECK(here.front().fraction > 0);
        check_equal(session(options, 0, 1s, launches), here.front());
      }
    }
  }
}

TEST_CASE("an agent keeps how often its forecasts of stages held, over restarts") {
  const test::TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.file("state"));
  options.model = kNoModel;
  const auto ledger = [&] {
    const auto bytes = required(read_file(options.state + "/journal", 1U << 20U));
    const auto summary = required(journal::read_journal(bytes));
    return summary.state.ledger();
  };
  (void)session(options, 4, 1s);
  const journal::Ledger first = ledger();
  CHECK(first.forecasts > 0);
  CHECK(first.held <= first.forecasts);
  (void)session(options, 0, 1s);
  CHECK(ledger() == first);
  (void)session(options, 60, 1s);
  const journal::Ledger more = ledger();
  CHECK(more.forecasts > first.forecasts);
  CHECK(more.held >= more.forecasts * 8 / 10);
}

TEST_CASE("a state folder is left as it was, and one that does not know the kernel is refused") {
  const test::TemporaryFolder folder;
  AgentOptions options;
  options.model = kNoModel;
  options.state = folder.file("state");
  CHECK_FALSE(cli::explain_recorded(options.state, options, test::played_package(), 1e5).ok());
  (void)session(options, 20, 1s);
  const std::string before = test::content_of(options.state + "/journal");
  CHECK(cli::explain_recorded(options.state, options, test::played_package(), -1).ok());
  CHECK(test::content_of(options.state + "/journal") == before);
  KernelDescription other = test::played_description();
  other.source = "nor this";
  other.arguments.resize(1);
  other.arguments[0].name = "x";
  other.arguments[0].access = Access::inout;
  other.arguments[0].size = "N";
  CHECK(cli::explain_recorded(options.state, options, test::packed(other), 1e5).status().code() ==
        StatusCode::not_found);
}
