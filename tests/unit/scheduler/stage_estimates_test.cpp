#include "agent/scheduler/stage_estimates.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "agent/scheduler/step_plan.hpp"
#include "models/core/random.hpp"

using namespace idletune;
using doctest::Approx;

namespace {

Nanoseconds in_us(std::int64_t value) { return Nanoseconds(value * 1000); }

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

TEST_CASE("few observations are those of a log-normal quantity, and at least the largest") {
  HighPercentile value(42);
  CHECK(value.mean() == 42);
  value.observe(10);
  CHECK(value.predict() == Approx(10 * std::exp(1.28 * 0.4 * std::sqrt(2.0))));
  value.observe(10);
  CHECK(value.predict() == Approx(10 * std::exp(1.28 * 0.4 * std::sqrt(3.0 / 4 * (1 + 1.0 / 2)))));
  CHECK(value.mean() == 10);
  for (int i = 0; i < 5; ++i) value.observe(10);
  value.observe(100);  // the largest, however unlikely
  CHECK(value.predict() >= 100);
  value.observe(std::nan(""));
  value.observe(-1);
  CHECK(value.count() == 8);
}

TEST_CASE("enough observations give the order statistic, between two of them in part") {
  HighPercentile value;
  for (int i = 1; i <= 9; ++i) value.observe(i);
  CHECK(value.predict() == 9);  // rank 0.9 x 10
  for (int i = 10; i <= 19; ++i) value.observe(i);
  CHECK(value.predict() == 18);  // 0.9 x 20 of 19
  value.observe(20);
  CHECK(value.predict() == Approx(18.9));  // 0.9 x 21
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
  estimates.observe(compile, outcome_of(TrialStage::compile, in_us(1000)), {});
  const Nanoseconds high = estimates.predict(compile, {});
  CHECK(high > in_us(2000));
  CHECK(high < in_us(3000));
}

TEST_CASE("a compilation that waited for a processor counts with the processor time it had") {
  StageEstimates estimates;
  TrialOutcome starved = outcome_of(TrialStage::compile, in_us(9000));
  starved.processor = in_us(1000);
  CHECK(compile_work(starved) == in_us(1000));
  estimates.observe(request_of(TrialStage::compile), starved, {});
  CHECK(estimates.typical_step({}).cpu == in_us(1000));
  CHECK(compile_work(outcome_of(TrialStage::compile, in_us(9000))) == in_us(9000));  // nobody knows
}

TEST_CASE("one disturbed stage does not rule out all that follow") {
  StageEstimates estimates;
  const TrialRequest check = request_of(TrialStage::check);
  const auto relaxed = [&](std::uint32_t missed_gaps) {
    return estimates.relaxed(TrialStage::check, in_us(1000), missed_gaps);
  };
  CHECK(relaxed(9) == in_us(1000));
  CHECK(relaxed(10) == in_us(500));  // the prior
  estimates.observe(check, outcome_of(TrialStage::check, in_us(1000), in_us(100)),
                    context_of(in_us(100)));
  CHECK(relaxed(10) == in_us(800));
  CHECK(relaxed(5000) <= in_us(16));
  CHECK(relaxed(5000) > in_us(15));
  for (int i = 0; i < 18; ++i) {
    estimates.observe(check, outcome_of(TrialStage::check, in_us(1000), in_us(100)),
                      context_of(in_us(100)));
  }
  CHECK(relaxed(10) == in_us(900));
  CHECK(relaxed(5000) == in_us(125));  // nineteen observations are no accident
}

TEST_CASE("after a check that hung, or was disturbed, checks still fit the gaps that come") {
  for (const TrialStatus status : {TrialStatus::timeout, TrialStatus::correct}) {
    StageEstimates estimates;
    const TrialRequest check = request_of(TrialStage::check);
    for (int i = 0; i < 9; ++i) {
      const Nanoseconds took = in_us(i < 8 ? 1000 : 2000000);
      TrialOutcome outcome = outcome_of(TrialStage::check, took, took);
      if (i == 8) outcome.status = status;
      estimates.observe(check, outcome, context_of(in_us(1000)));
    }
    const Nanoseconds predicted = estimates.predict(check, context_of(in_us(1000)));
    CHECK(estimates.relaxed(TrialStage::check, predicted, 5000) <= in_us(100000));
    if (status == TrialStatus::timeout) CHECK(predicted <= in_us(3000));
  }
}

TEST_CASE("compile times are handed on to another shape, run times are not") {
  StageEstimates first;
  for (int i = 0; i < 9; ++i) {
    first.observe(request_of(TrialStage::compile), outcome_of(TrialStage::compile, in_us(700)), {});
    first.observe(request_of(TrialStage::check), outcome_of(TrialStage::check, in_us(90)), {});
  }
  StageEstimates second;
  second.adopt_compile(first);
  CHECK(second.predict(request_of(TrialStage::compile), {}) == in_us(700));
  CHECK(second.predict(request_of(TrialStage::check), {}) ==
        StageEstimates().predict(request_of(TrialStage::check), {}));
  // The latest, not the first.
  for (int i = 0; i < 60; ++i) {
    first.observe(request_of(TrialStage::compile), outcome_of(TrialStage::compile, in_us(2800)),
                  {});
    second.adopt_compile(first);
  }
  CHECK(second.predict(request_of(TrialStage::compile), {}) == in_us(2800));
  second.adopt_compile(StageEstimates());
  CHECK(second.predict(request_of(TrialStage::compile), {}) == in_us(2800));
}

TEST_CASE("a measurement that stops early is one slow run, or all of them below the limit") {
  StagePriors priors;
  priors.slowdown = 4;
  StageEstimates estimates(priors);
  TrialRequest measure = request_of(TrialStage::measure);
  measure.repeats = 3;
  const StageContext context = context_of(in_us(100));
  const Nanoseconds overhead = priors.overhead;
  CHECK(estimates.predict(measure, context) == overhead + in_us(3 * 400));
  measure.stop_above = in_us(125);
  CHECK(estimates.predict(measure, context) == overhead + in_us(400));  // the first run is the last
  measure.deadline = in_us(200);
  CHECK(estimates.predict(measure, context) == overhead + in_us(3 * 125));  // three just below
}

TEST_CASE("a configuration that was timed is predicted from its own time") {
  StageEstimates estimates;
  TrialRequest measure = request_of(TrialStage::measure);
  StageContext context = context_of(in_us(100));
  context.own_run = in_us(50);
  CHECK(estimates.predict(measure, context) == StagePriors().overhead + in_us(60));
}

TEST_CASE("how slow candidates are is learned from their first checks and from nothing else") {
  StageEstimates estimates;
  const StageContext context = context_of(in_us(100));
  const TrialRequest check = request_of(TrialStage::check);
  const TrialRequest measure = request_of(TrialStage::measure);
  StageContext timed = context;
  timed.own_run = in_us(100);
  for (int i = 0; i < 20; ++i) {
    TrialOutcome outcome = outcome_of(TrialStage::measure, in_us(100), in_us(100));
    outcome.samples = {in_us(100)};
    estimates.observe(measure, outcome, timed);  // finals
    estimates.observe(check, outcome_of(TrialStage::check, in_us(100), in_us(100)),
                      timed);                      // second
    estimates.observe(measure, outcome, context);  // screening
  }
  CHECK(estimates.predict(measure, context) ==
        in_us(500));  // the prior slow-down, no overhead seen
  for (int i = 0; i < 20; ++i) {
    estimates.observe(check, outcome_of(TrialStage::check, in_us(180), in_us(180)), context);
  }
  CHECK(estimates.predict(measure, context) == in_us(180));
}

TEST_CASE("scratch buffers count until the stage was seen") {
  StageEstimates estimates;
  StageContext context = context_of(in_us(100));
  const TrialRequest prepare = request_of(TrialStage::prepare);
  const Nanoseconds without = estimates.predict(prepare, context);
  context.scratch_bytes = 1000000;
  CHECK(estimates.predict(prepare, context) == without + in_us(2000));  // 0.5 bytes per ns
  estimates.observe(prepare, outcome_of(TrialStage::prepare, in_us(700), in_us(100)), context);
  // The 600 us besides the device, and the reference's run with some slack.
  CHECK(estimates.predict(prepare, context) > in_us(600 + 120));
  CHECK(estimates.predict(prepare, context) < in_us(3 * 600 + 120));
}

TEST_CASE("a failed prepare and an outcome of another stage teach nothing") {
  StageEstimates estimates;
  const TrialRequest prepare = request_of(TrialStage::prepare);
  const Nanoseconds before = estimates.predict(prepare, {});
  TrialOutcome failed = outcome_of(TrialStage::prepare, in_us(1));
  failed.status = TrialStatus::runtime;
  estimates.observe(prepare, failed, {});
  estimates.observe(prepare, outcome_of(TrialStage::check, in_us(1)), {});
  CHECK(estimates.predict(prepare, {}) == before);
}

TEST_CASE("a step costs the mean of what steps took in all, processor and device apart") {
  StageEstimates estimates;
  const StageContext context = context_of(in_us(100));
  const auto stage = [&](TrialStage which, std::int64_t wall) {
    estimates.observe(request_of(which), outcome_of(which, in_us(wall)), context);
  };
  stage(TrialStage::check, 7000);  // of a baseline
  estimates.no_step();
  CHECK(estimates.typical_step(context).cpu == StagePriors().compile);
  CHECK(estimates.typical_step(context).device >= 6 * in_us(100));
  // One that fails in its check, and a finalist: two checks and eleven runs.
  stage(TrialStage::compile, 1000);
  stage(TrialStage::check, 200);
  estimates.step_ended();
  stage(TrialStage::compile, 3000);
  stage(TrialStage::check, 200);
  stage(TrialStage::check, 200);
  for (int i = 0; i < 11; ++i) stage(TrialStage::measure, 100);
  estimates.step_ended();
  CHECK(estimates.typical_step(context).cpu == in_us(2000));
  CHECK(estimates.typical_step(context).device == in_us((200 + 400 + 1100) / 2));
  // What is past weighs less and less.
  for (int i = 0; i < 200; ++i) {
    stage(TrialStage::compile, 500);
    estimates.step_ended();
  }
  CHECK(estimates.typical_step(context).cpu < in_us(501));
  CHECK(estimates.typical_step(context).device < in_us(1));
}

TEST_CASE("what runs faster is tried against faster, but for what the host takes") {
  StageEstimates estimates;
  for (int i = 0; i < 3; ++i) {
    for (int run = 0; run < 6; ++run) {
      estimates.observe(request_of(TrialStage::measure),
                        outcome_of(TrialStage::measure, in_us(3050), in_us(3000)),
                        context_of(in_us(3000)));
    }
    estimates.step_ended();
  }
  CHECK(estimates.typical_step(context_of(in_us(3000))).device == in_us(6 * 3050));
  CHECK(estimates.typical_step(context_of(in_us(100))).device == in_us(6 * 150));
}

TEST_CASE("the longest device stage is what a gap must offer") {
  StageEstimates estimates;
  const StageContext context = context_of(in_us(100));
  const Nanoseconds longest = estimates.longest_device_stage(context);
  for (TrialStage stage : {TrialStage::prepare, TrialStage::check, TrialStage::measure}) {
    CHECK(estimates.predict(request_of(stage), context) <= longest);
  }
  // As the agent's trial asks for it.
  CandidateContext candidate;
  candidate.incumbent_time = in_us(100);
  CandidateTrial trial(StepOptions(), candidate);
  while (const auto request = trial.next()) {
    CHECK(
        (request->stage == TrialStage::compile || estimates.predict(*request, context) <= longest));
    if (request->stage == TrialStage::measure) break;
    trial.on_outcome(outcome_of(request->stage, in_us(1)));
  }
}

TEST_CASE("a baseline is expected to take what each of its stages is") {
  StageEstimates estimates;
  const StageContext context = context_of(in_us(100));
  Nanoseconds sum{0};
  ReferenceBaseline baseline(Shape{64}, Configuration{1}, false, false);
  while (const auto request = baseline.next()) {
    if (request->stage != TrialStage::compile) sum += estimates.predict(*request, context);
    baseline.on_outcome(outcome_of(request->stage, in_us(100), in_us(100)));
  }
  CHECK(estimates.baseline(context) == sum);
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
  estimates.step_ended();
  for (int i = 0; i < 30; ++i) {
    observe(TrialStage::compile, std::chrono::milliseconds(i % 5 == 0 ? 400 : 100));
    observe(TrialStage::check, std::chrono::milliseconds(3));
    observe(TrialStage::measure, std::chrono::milliseconds(7));
    estimates.step_ended();
  }
  const StageEstimates::StepCost typical = estimates.typical_step(context);
  const StageEstimates::StepCost high = estimates.high_step(context);
  CHECK(high.cpu >= std::chrono::milliseconds(400));
  CHECK(typical.cpu < std::chrono::milliseconds(200));
  CHECK(high.device >= typical.device + 12 * context.incumbent_run);
}
