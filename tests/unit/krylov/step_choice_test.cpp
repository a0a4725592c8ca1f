// Which way of CG's steps is taken, by the times that it is told.
#include <doctest/doctest.h>

#include "kernels/krylov/step_choice.hpp"

namespace {

using namespace idletune::krylov;

constexpr Outlook outlook(double left) { return {left, left, left}; }
constexpr Outlook kMany = outlook(1e6);  // iterations

void run_steps(StepChoice& race, int steps, double microseconds) {
  for (int i = 0; i < steps; ++i) race.took(microseconds);
}

// Runs all that is tried, once CSR has been measured; by format and way.
void run_all(StepChoice& race, const double (&us)[2][2]) {
  for (int i = 0; i < 600 && !race.settled(true); ++i) {
    race.look_ahead(kMany, 1, true);
    race.took(us[race.converted() ? 1 : 0][race.fused() ? 1 : 0]);
  }
}

}  // namespace

TEST_CASE("fused steps are tried once they pay, and kept where they are faster") {
  for (const double fused_us : {60.0, 140.0}) {
    StepChoice race{SolverOptions()};
    CHECK(!race.fused());
    race.look_ahead(kMany, 1, false);
    CHECK(!race.fused());  // nothing was measured
    run_steps(race, 17, 100);
    race.look_ahead(outlook(100), 1e5, false);
    CHECK(!race.fused());  // 100 iterations save no tenth of a second
    CHECK(race.running());
    race.look_ahead(outlook(1e6), 1e5, false);
    CHECK(race.fused());
    race.took(1e5);  // the first generates code and does not count
    run_steps(race, 15, fused_us);
    race.look_ahead(outlook(1e6), 1e5, false);
    CHECK(race.fused());
    race.took(fused_us);
    for (int turn = 0; turn < 4; ++turn) {  // each way has three
      race.look_ahead(outlook(1e6), 1e5, false);
      CHECK(race.running());
      CHECK(race.fused() == (turn % 2 == 1));
      run_steps(race, 17, race.fused() ? fused_us : 100);
    }
    race.look_ahead(outlook(1e6), 1e5, false);
    CHECK(!race.running());
    CHECK(race.fused() == (fused_us < 100));
  }
}

TEST_CASE(
    "fused steps that are tried whatever they cost begin once it is known what they are beside") {
  SolverOptions options;
  options.choosing = Choosing::always;
  for (const bool converted : {false, true}) {
    StepChoice race{options};
    int apart = 0, fused = 0;  // steps apart in CSR, and fused ones
    for (int i = 0; i < 300; ++i) {
      race.look_ahead(kMany, 1, converted);
      if (race.fused()) ++fused;
      if (!race.converted() && !race.fused()) ++apart;
      CHECK((fused == 0 || apart >= 17));
      race.took(race.fused() ? 140 : 100);
    }
    CHECK(fused > 0);
    CHECK(race.behind_us() == doctest::Approx(40.0 * fused));
  }
}

TEST_CASE("a slow moment, as long as a turn, does not decide how steps go") {
  StepChoice race{SolverOptions()};
  int steps = 0;
  for (; race.running() && steps < 200; ++steps) {
    const double slow = steps >= 17 && steps < 34 ? 5 : 1;  // the first turn of fused steps
    race.took(slow * (race.fused() ? 40 : 100));
    race.look_ahead(kMany, 1, false);
  }
  CHECK(steps == 102);
  CHECK(race.fused());
  CHECK(race.best_us(false) == 40);
}

TEST_CASE("the format that was converted to is kept by whole iterations, not by its product") {
  // Apart the other format is faster; of both fused, CSR.
  const double rows_win[2][2] = {{100, 50}, {80, 70}};
  const double other_wins[2][2] = {{100, 50}, {80, 40}};
  const double other_wins_apart[2][2] = {{100, 60}, {50, 70}};
  for (const bool known : {false, true}) {
    CAPTURE(known);  // CSR was measured before the conversion
    for (const auto* us : {&rows_win, &other_wins, &other_wins_apart}) {
      StepChoice race{SolverOptions()};
      for (int i = 0; known && i < 103; ++i) {
        race.took((*us)[0][race.fused() ? 1 : 0]);
        race.look_ahead(kMany, 1, false);
      }
      CHECK(race.running() == !known);
      CHECK(race.fused() == known);
      run_all(race, *us);
      CHECK(!race.running());
      CHECK(race.converted() == (us != &rows_win));
      CHECK(race.fused() == (us != &other_wins_apart));
      CHECK(race.best_us(false) == (*us)[0][1]);
    }
  }
}

TEST_CASE("where the product leaves the format that was converted to, its steps do") {
  StepChoice race{SolverOptions()};
  const double us[2][2] = {{100, 50}, {80, 40}};
  run_all(race, us);
  CHECK(race.converted());
  race.look_ahead(kMany, 1, false);
  CHECK(!race.converted());
  CHECK(race.fused());
  CHECK(!race.running());
}

TEST_CASE("where the product gets another kernel steps are timed anew") {
  StepChoice race{SolverOptions()};
  for (const double fused_us : {40.0, 400.0}) {
    race.runs_with({fused_us < 100 ? 0 : 1, 64});
    CHECK(!race.fused());
    for (int i = 0; i < 200; ++i) {
      race.took(race.fused() ? fused_us : 100);
      race.look_ahead(kMany, 1, false);
      race.runs_with({fused_us < 100 ? 0 : 1, 64});
    }
    CHECK(!race.running());
    CHECK(race.fused() == (fused_us < 100));
  }
}

TEST_CASE("a given way of the steps stays, and formats are compared in it") {
  SolverOptions options;
  options.steps = Steps::apart;
  const double us[2][2] = {{100, 50}, {80, 40}};
  StepChoice apart(options);
  run_all(apart, us);
  CHECK(!apart.running());
  CHECK(!apart.fused());
  CHECK(apart.converted());
  options.steps = Steps::fused;
  const double slower[2][2] = {{100, 50}, {80, 60}};
  StepChoice fused(options);
  run_all(fused, slower);
  CHECK(fused.fused());
  CHECK(!fused.converted());
}

TEST_CASE("where nothing is to be tried the way stays, but for fused steps that cannot be had") {
  SolverOptions options;
  options.choosing = Choosing::none;
  CHECK(!StepChoice(options).running());
  CHECK(!StepChoice(options).fused());
  options.steps = Steps::fused;
  StepChoice race(options);
  CHECK(race.fused());
  run_steps(race, 100, 1e6);
  CHECK(race.fused());
  race.refuse();
  CHECK(!race.fused());
  CHECK(!race.running());
}

TEST_CASE("where nothing is tried any more, noise is no loss") {
  SolverOptions options;
  options.choosing = Choosing::none;
  StepChoice none(options);
  for (int i = 0; i < 1000; ++i) none.took(i % 2 != 0 ? 90 : 110);
  CHECK(none.behind_us() == 0);
  StepChoice race{SolverOptions()};
  for (int i = 0; i < 200; ++i) {
    race.took(race.fused() ? 40 : 100);
    race.look_ahead(kMany, 1, false);
  }
  REQUIRE(!race.running());
  const double before = race.behind_us();
  run_steps(race, 100, 400);  // the clock is slower
  CHECK(race.behind_us() == before - 100 * 60);
}
