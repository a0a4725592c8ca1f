#include "agent/scheduler/stage_estimates.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "models/core/random.hpp"

using namespace idletune;
using doctest::Approx;

namespace {

Nanoseconds us(std::int64_t value) { return Nanoseconds(value * 1000); }

TrialRequest request_of(TrialStage stage) {
  TrialRequest request;
  request.stage = stage;
  return request;
}

TrialOutcome outcome_of(TrialStage stage, Nanoseconds wall, Nanoseconds device = Nanoseconds(0)) {
  TrialOutcome outcome;
  outcome.stage = stage;
  outcome.wall = wall;
  outcome.device = device;
  return outcome;
}

StageContext context_of(Nanoseconds incumbent) {
  StageContext context;
  context.incumbent_run = incumbent;
  return context;
}

}  // namespace

TEST_CASE("a percentile without observations is its prior") {
  CHECK(HighPercentile(42).predict() == 42);
}

TEST_CASE("few observations are topped by a shrinking share") {
  HighPercentile value(42);
  value.observe(10);
  CHECK(value.predict() == Approx(20));
  value.observe(8);
  CHECK(value.predict() == Approx(15));
  value.observe(12);
  value.observe(11);
  CHECK(value.predict() == Approx(15));  // 12 (1 + 1/4)
  value.observe(std::nan(""));
  value.observe(-1);
  CHECK(value.count() == 4);
}

TEST_CASE("enough observations give the order statistic") {
  HighPercentile value;
  for (int i = 1; i <= 9; ++i) value.observe(i);
  CHECK(value.predict() == 9);  // rank ceil(0.9 x 10) = 9
  for (int i = 10; i <= 19; ++i) value.observe(i);
  CHECK(value.predict() == 18);  // rank 0.9 x 20 = 18 of 19
}

TEST_CASE("old observations are forgotten") {
  HighPercentile value;
  value.observe(1e9);
  for (std::size_t i = 0; i < HighPercentile::kCapacity; ++i) value.observe(5);
  CHECK(value.predict() == 5);
}

TEST_CASE("the next observation rarely exceeds the prediction") {
  // Exponentially distributed durations; the promise is at most 10 %, over 4000 predictions the
  // standard error is 0.5 %.
  Random random(21);
  int exceeded = 0;
  for (int repeat = 0; repeat < 100; ++repeat) {
    HighPercentile value(1);
    for (int i = 0; i < 50; ++i) {
      const double next = -std::log(1.0 - random.uniform());
      if (i >= 10 && next > value.predict()) ++exceeded;
      value.observe(next);
    }
  }
  CHECK(exceeded < 4000 * 0.12);
  CHECK(exceeded > 4000 * 0.04);
}

TEST_CASE("a compile is predicted from compiles, first from the prior") {
  StageEstimates estimates;
  const TrialRequest compile = request_of(TrialStage::compile);
  CHECK(estimates.predict(compile, {}) == StagePriors().compile);
  estimates.observe(compile, outcome_of(TrialStage::compile, us(1000)), {});
  CHECK(estimates.predict(compile, {}) == us(2000));
  CHECK(estimates.fits(compile, {}, us(2000)));
  CHECK_FALSE(estimates.fits(compile, {}, us(1999)));
}

TEST_CASE("a compilation that waited for a processor counts with the processor time it had") {
  StageEstimates estimates;
  TrialOutcome starved = outcome_of(TrialStage::compile, us(9000));
  starved.processor = us(1000);
  CHECK(compile_work(starved) == us(1000));
  estimates.observe(request_of(TrialStage::compile), starved, {});
  CHECK(estimates.typical_step({}).cpu == us(1000));
  CHECK(compile_work(outcome_of(TrialStage::compile, us(9000))) == us(9000));  // nobody knows
}

TEST_CASE("one disturbed stage does not rule out all that follow") {
  StageEstimates estimates;
  const TrialRequest check = request_of(TrialStage::check);
  const auto relaxed = [&](std::uint32_t missed_gaps) {
    return estimates.relaxed(TrialStage::check, us(1000), missed_gaps);
  };
  CHECK(relaxed(9) == us(1000));
  CHECK(relaxed(10) == us(500));  // the prior
  estimates.observe(check, outcome_of(TrialStage::check, us(1000)), {});
  CHECK(relaxed(10) == us(900));
  CHECK(relaxed(5000) <= us(16));
  CHECK(relaxed(5000) > us(15));
  for (int i = 0; i < 8; ++i) {
    estimates.observe(check, outcome_of(TrialStage::check, us(1000)), {});
  }
  CHECK(relaxed(5000) == us(125));  // nine observations are no accident
}

TEST_CASE("compile times are handed on to another shape, run times are not") {
  StageEstimates first;
  for (int i = 0; i < 9; ++i) {
    first.observe(request_of(TrialStage::compile), outcome_of(TrialStage::compile, us(700)), {});
    first.observe(request_of(TrialStage::check), outcome_of(TrialStage::check, us(90)), {});
  }
  StageEstimates second;
  second.adopt_compile(first);
  CHECK(second.predict(request_of(TrialStage::compile), {}) == us(700));
  CHECK(second.predict(request_of(TrialStage::check), {}) ==
        StageEstimates().predict(request_of(TrialStage::check), {}));
}

TEST_CASE("a measurement that stops early is bounded by one slow run") {
  StagePriors priors;
  priors.slowdown = 4;
  StageEstimates estimates(priors);
  TrialRequest measure = request_of(TrialStage::measure);
  measure.repeats = 3;
  const StageContext context = context_of(us(100));
  const Nanoseconds overhead = priors.overhead;
  CHECK(estimates.predict(measure, context) == overhead + us(3 * 400));
  measure.stop_above = us(125);
  CHECK(estimates.predict(measure, context) == overhead + us(2 * 125 + 400));
  measure.deadline = us(200);
  CHECK(estimates.predict(measure, context) == overhead + us(2 * 125 + 200));
}

TEST_CASE("a configuration that was timed is predicted from its own time") {
  StageEstimates estimates;
  TrialRequest measure = request_of(TrialStage::measure);
  StageContext context = context_of(us(100));
  context.own_run = us(50);
  CHECK(estimates.predict(measure, context) == StagePriors().overhead + us(60));
}

TEST_CASE("how slow candidates are is learned from them and not from the incumbent") {
  StageEstimates estimates;
  const StageContext context = context_of(us(100));
  const TrialRequest measure = request_of(TrialStage::measure);
  StageContext incumbent = context;
  incumbent.own_run = us(100);
  for (int i = 0; i < 20; ++i) {
    TrialOutcome outcome = outcome_of(TrialStage::measure, us(100), us(100));
    outcome.samples = {us(100)};
    estimates.observe(measure, outcome, incumbent);
  }
  CHECK(estimates.predict(measure, context) == us(500));  // the prior slow-down, no overhead seen
  for (int i = 0; i < 20; ++i) {
    TrialOutcome outcome = outcome_of(TrialStage::measure, us(190), us(180));
    outcome.samples = {us(180)};
    estimates.observe(measure, outcome, context);
  }
  CHECK(estimates.predict(measure, context) == us(190));
}

TEST_CASE("scratch buffers count until the stage was seen") {
  StageEstimates estimates;
  StageContext context = context_of(us(100));
  const TrialRequest prepare = request_of(TrialStage::prepare);
  const Nanoseconds without = estimates.predict(prepare, context);
  context.scratch_bytes = 1000000;
  CHECK(estimates.predict(prepare, context) == without + us(2000));  // 0.5 bytes per ns
  estimates.observe(prepare, outcome_of(TrialStage::prepare, us(700), us(100)), context);
  // Twice the 600 us besides the device, and the reference's run with some slack.
  CHECK(estimates.predict(prepare, context) == us(2 * 600 + 120));
}

TEST_CASE("a failed prepare and an outcome of another stage teach nothing") {
  StageEstimates estimates;
  const TrialRequest prepare = request_of(TrialStage::prepare);
  const Nanoseconds before = estimates.predict(prepare, {});
  TrialOutcome failed = outcome_of(TrialStage::prepare, us(1));
  failed.status = TrialStatus::runtime;
  estimates.observe(prepare, failed, {});
  estimates.observe(prepare, outcome_of(TrialStage::check, us(1)), {});
  CHECK(estimates.predict(prepare, {}) == before);
}

TEST_CASE("a typical step costs means and keeps processor and device apart") {
  StageEstimates estimates;
  const StageContext context = context_of(us(100));
  for (std::int64_t wall : {1000, 3000}) {
    estimates.observe(request_of(TrialStage::compile), outcome_of(TrialStage::compile, us(wall)),
                      context);
    estimates.observe(request_of(TrialStage::check), outcome_of(TrialStage::check, us(wall / 10)),
                      context);
    estimates.observe(request_of(TrialStage::measure),
                      outcome_of(TrialStage::measure, us(wall / 5)), context);
  }
  const StageEstimates::StepCost cost = estimates.typical_step(context);
  CHECK(cost.cpu == us(2000));
  CHECK(cost.device == us(750));  // (200 + 400) x 1.25 for those that reach the finals
}

TEST_CASE("the longest device stage is what a gap must offer") {
  StageEstimates estimates;
  const StageContext context = context_of(us(100));
  const Nanoseconds longest = estimates.longest_device_stage(context);
  for (TrialStage stage : {TrialStage::prepare, TrialStage::check, TrialStage::measure}) {
    CHECK(estimates.predict(request_of(stage), context) <= longest);
  }
}

TEST_CASE("the high figure of a step covers a finalist and a compilation that takes longer") {
  StageEstimates estimates;
  StageContext context;
  context.incumbent_run = std::chrono::milliseconds(2);
  const auto observe = [&](TrialStage stage, Nanoseconds wall) {
    TrialRequest request;
    request.stage = stage;
    TrialOutcome outcome;
    outcome.stage = stage;
    outcome.wall = wall;
    estimates.observe(request, outcome, context);
  };
  observe(TrialStage::compile, std::chrono::milliseconds(100));
  // One observation: the next one may well be twice as long.
  CHECK(estimates.high_step(context).cpu >= std::chrono::milliseconds(200));
  for (int i = 0; i < 30; ++i) {
    observe(TrialStage::compile, std::chrono::milliseconds(i % 5 == 0 ? 400 : 100));
    observe(TrialStage::check, std::chrono::milliseconds(3));
    observe(TrialStage::measure, std::chrono::milliseconds(7));
  }
  const StageEstimates::StepCost typical = estimates.typical_step(context);
  const StageEstimates::StepCost high = estimates.high_step(context);
  CHECK(high.cpu >= std::chrono::milliseconds(400));
  CHECK(typical.cpu < std::chrono::milliseconds(200));
  CHECK(high.device >= typical.device + 12 * context.incumbent_run);
}
