// Which way of CG's steps is taken, by the times that it is told.
#include <doctest/doctest.h>

#include "kernels/krylov/step_race.hpp"

namespace {

using namespace idletune::krylov;

void run_steps(StepRace& race, int steps, double microseconds) {
  for (int i = 0; i < steps; ++i) race.took(microseconds);
}

}  // namespace

TEST_CASE("fused steps are tried once they pay, and kept where they are faster") {
  for (const double fused_us : {60.0, 140.0}) {
    StepRace race{SolverOptions()};
    CHECK(!race.fused());
    race.look_ahead(1e6, 1);
    CHECK(!race.fused());  // nothing was measured
    run_steps(race, 5, 100);
    race.look_ahead(100, 1e5);
    CHECK(!race.fused());  // 100 iterations save no tenth of a second
    race.look_ahead(1e5, 1e5);
    CHECK(race.fused());
    race.took(1e5);  // the first generates code and does not count
    run_steps(race, 3, fused_us);
    CHECK(race.running());
    race.took(fused_us);
    CHECK(!race.running());
    CHECK(race.fused() == (fused_us < 100));
  }
}

TEST_CASE("a given way of the steps stays, but for fused ones that cannot be had") {
  SolverOptions options;
  options.choosing = Choosing::none;
  CHECK(!StepRace(options).running());
  CHECK(!StepRace(options).fused());
  options.steps = Steps::fused;
  StepRace race(options);
  CHECK(race.fused());
  run_steps(race, 100, 1e6);
  CHECK(race.fused());
  race.refuse();
  CHECK(!race.fused());
  CHECK(!race.running());
}
