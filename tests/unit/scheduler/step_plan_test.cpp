#include "agent/scheduler/step_plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "models/core/random.hpp"

using namespace idletune;
using doctest::Approx;

namespace {

Nanoseconds microseconds(double value) {
  return Nanoseconds(static_cast<std::int64_t>(value * 1000));
}

const Configuration kCandidate{8, 1};
const Configuration kIncumbent{4, 0};

CandidateContext trial_context(double incumbent_us) {
  CandidateContext context;
  context.shape = Shape{64, 64};
  context.candidate = kCandidate;
  context.incumbent = kIncumbent;
  context.incumbent_time = microseconds(incumbent_us);
  return context;
}

// A device whose speed is a function of the number of runs made on it so far.
struct ScriptedRunner {
  double candidate_us = 50;
  double incumbent_us = 100;
  double candidate_setup_us = 0;
  double incumbent_setup_us = 0;
  std::function<double(int)> drift = [](int) { return 1.0; };
  TrialStatus check_status[2] = {TrialStatus::correct, TrialStatus::correct};
  std::string log;  // one letter per stage: C P K (check) c (candidate runs) i (incumbent runs)
  int runs = 0;
  int checks = 0;

  TrialOutcome make(const TrialRequest& request) {
    TrialOutcome outcome;
    outcome.stage = request.stage;
    outcome.wall = microseconds(10);
    const bool incumbent = request.configuration == kIncumbent;
    switch (request.stage) {
      case TrialStage::compile: log += incumbent ? 'I' : 'C'; break;
      case TrialStage::prepare: log += request.seed == 1 ? 'P' : 'Q'; break;
      case TrialStage::check:
        log += request.seed == 1 ? 'K' : 'L';
        outcome.status = check_status[checks++ % 2];
        break;
      case TrialStage::measure:
        log += incumbent ? 'i' : 'c';
        outcome.setup = microseconds(incumbent ? incumbent_setup_us : candidate_setup_us);
        for (std::uint32_t i = 0; i < request.repeats; ++i) {
          const double time = (incumbent ? incumbent_us : candidate_us) * drift(runs++);
          outcome.samples.push_back(microseconds(time));
          if (request.stop_above.count() > 0 && microseconds(time) > request.stop_above) break;
        }
        break;
    }
    return outcome;
  }

  void finish(CandidateTrial& trial) {
    for (int i = 0; i < 200 && !trial.done(); ++i) {
      const auto request = trial.next();
      REQUIRE(request.has_value());
      trial.on_outcome(make(*request));
    }
    REQUIRE(trial.done());
    CHECK_FALSE(trial.next().has_value());
  }
};

CandidateTrial play_trial(ScriptedRunner& runner, const CandidateContext& context,
                          const StepOptions& options = {}) {
  CandidateTrial trial(options, context);
  runner.finish(trial);
  return trial;
}

}  // namespace

TEST_CASE("a faster candidate passes all stages in order and is adopted") {
  ScriptedRunner runner;
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(runner.log == "CPKcQLciicciicci");
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.status() == TrialStatus::correct);
  CHECK(trial.checked_all_seeds());
  CHECK(trial.pairs() == 5);
  CHECK(trial.ratio() == Approx(0.5));
  CHECK(trial.candidate_time() == microseconds(50));
  CHECK(trial.raw_candidate_median() == microseconds(50));
  CHECK(trial.raw_incumbent_median() == microseconds(100));
  CHECK(trial.compile_time() == microseconds(10));
}

TEST_CASE("a candidate that was checked for its class is checked with one seed only") {
  ScriptedRunner runner;
  CandidateContext context = trial_context(100);
  context.checked_for_class = true;
  const CandidateTrial trial = play_trial(runner, context);
  CHECK(runner.log == "CPKcciicciicci");
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.checked_all_seeds());
  runner.check_status[1] = TrialStatus::correctness;
  CHECK(play_trial(runner, context).status() == TrialStatus::correctness);
}

TEST_CASE("a hopeless candidate is dropped after one run and one check") {
  ScriptedRunner runner;
  runner.candidate_us = 401;
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(runner.log == "CPKc");
  CHECK(runner.runs == 1);
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
  CHECK(trial.status() == TrialStatus::correct);
  CHECK(trial.candidate_time() == microseconds(401));
  CHECK_FALSE(trial.checked_all_seeds());
}

TEST_CASE("a slow candidate is judged beside the incumbent before it is dropped") {
  ScriptedRunner runner;
  runner.candidate_us = 200;
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(runner.log == "CPKci");
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
  CHECK(trial.ratio() == Approx(2.0));
}

TEST_CASE("screening that looks slow because the whole device slowed down goes on to the finals") {
  ScriptedRunner runner;
  runner.candidate_us = 80;
  runner.drift = [](int) { return 2.0; };  // since the incumbent was measured
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.ratio() == Approx(0.8));
  CHECK(trial.candidate_time() ==
        microseconds(80));  // as it would have been beside the incumbent's 100
  CHECK(trial.raw_incumbent_median() == microseconds(200));
}

TEST_CASE("a device that got faster does not make a slower candidate win") {
  ScriptedRunner runner;
  runner.candidate_us = 120;
  runner.drift = [](int) { return 0.5; };
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(trial.verdict() == TrialVerdict::reject_slow);
  CHECK(trial.ratio() == Approx(1.2));
}

TEST_CASE("both slowing down in the middle of the finals does not change the verdict") {
  for (int at = 2; at < 14; ++at) {
    CAPTURE(at);
    ScriptedRunner better;
    better.candidate_us = 80;
    better.drift = [at](int run) { return run < at ? 1.0 : 2.0; };
    CHECK(play_trial(better, trial_context(100)).verdict() == TrialVerdict::adopt);
    ScriptedRunner worse;
    worse.candidate_us = 110;
    worse.drift = better.drift;
    CHECK(play_trial(worse, trial_context(100)).verdict() == TrialVerdict::reject_slow);
    ScriptedRunner faster_clock;
    faster_clock.candidate_us = 110;
    faster_clock.drift = [at](int run) { return run < at ? 2.0 : 1.0; };
    CHECK(play_trial(faster_clock, trial_context(100)).verdict() == TrialVerdict::reject_slow);
  }
}

TEST_CASE("a steady drift does not favour the candidate or the incumbent") {
  // 3 % faster with every run: always measuring A before B would let the equal B win every pair.
  for (double step : {0.97, 1.03}) {
    ScriptedRunner runner;
    runner.candidate_us = 100;
    runner.drift = [step](int run) { return std::pow(step, run); };
    CHECK(play_trial(runner, trial_context(100)).verdict() == TrialVerdict::reject_slow);
  }
}

TEST_CASE("an improvement below the margin is not adopted") {
  ScriptedRunner runner;
  runner.candidate_us = 98;
  CHECK(play_trial(runner, trial_context(100)).verdict() == TrialVerdict::reject_slow);
  ScriptedRunner enough;
  enough.candidate_us = 96.9;
  CHECK(play_trial(enough, trial_context(100)).verdict() == TrialVerdict::adopt);
}

TEST_CASE("one lost pair needs more pairs, two are one too many") {
  for (int lost : {1, 2}) {
    ScriptedRunner runner;
    runner.candidate_us = 80;
    CandidateTrial trial(StepOptions{}, trial_context(100));
    int disturbed = 0;
    while (!trial.done()) {
      const auto request = trial.next();
      TrialOutcome outcome = runner.make(*request);
      const bool finals = trial.checked_all_seeds() && request->stage == TrialStage::measure;
      if (finals && !trial.next_is_incumbent() && disturbed < lost) {
        outcome.samples = {microseconds(300)};
        ++disturbed;
      }
      trial.on_outcome(outcome);
    }
    CHECK(trial.verdict() == (lost == 1 ? TrialVerdict::adopt : TrialVerdict::reject_slow));
    CHECK(trial.pairs() == (lost == 1 ? 8 : 2));
  }
}

TEST_CASE("in noise an equal candidate is rarely adopted and a clearly better one mostly") {
  // Each run is disturbed by up to +-10 % and one in twenty takes twice as long.
  Random random(99);
  const auto noise = [&random](int) {
    const double jitter = 0.9 + 0.2 * random.uniform();
    return random.uniform() < 0.05 ? 2.0 * jitter : jitter;
  };
  int equal_adopted = 0;
  int better_adopted = 0;
  for (int i = 0; i < 500; ++i) {
    ScriptedRunner equal;
    equal.candidate_us = 100;
    equal.drift = noise;
    equal_adopted += play_trial(equal, trial_context(100)).verdict() == TrialVerdict::adopt ? 1 : 0;
    ScriptedRunner better;
    better.candidate_us = 75;
    better.drift = noise;
    better_adopted +=
        play_trial(better, trial_context(100)).verdict() == TrialVerdict::adopt ? 1 : 0;
  }
  CHECK(equal_adopted <= 35);  // 7 %: two looks at the 5 % level
  CHECK(better_adopted >= 425);
}

TEST_CASE("a candidate that fails any stage is rejected with that status") {
  const std::vector<std::pair<std::size_t, TrialStatus>> failures{{0, TrialStatus::compile},
                                                                  {2, TrialStatus::correctness},
                                                                  {3, TrialStatus::timeout},
                                                                  {5, TrialStatus::correctness},
                                                                  {6, TrialStatus::crash}};
  for (const auto& [at, status] : failures) {
    CAPTURE(at);
    ScriptedRunner runner;
    CandidateTrial trial(StepOptions{}, trial_context(100));
    for (std::size_t i = 0; !trial.done(); ++i) {
      TrialOutcome outcome = runner.make(*trial.next());
      if (i == at) {
        outcome.status = status;
        outcome.message = "as scripted";
      }
      trial.on_outcome(outcome);
    }
    CHECK(trial.verdict() == TrialVerdict::reject_failed);
    CHECK(trial.status() == status);
    CHECK(trial.message() == "as scripted");
  }
}

TEST_CASE("a wrong result for the second seed alone prevents adoption") {
  ScriptedRunner runner;
  runner.check_status[1] = TrialStatus::correctness;
  const CandidateTrial trial = play_trial(runner, trial_context(100));
  CHECK(runner.log == "CPKcQL");
  CHECK(trial.verdict() == TrialVerdict::reject_failed);
  CHECK(trial.status() == TrialStatus::correctness);
}

TEST_CASE("a failing incumbent or prepare says nothing about the candidate") {
  for (char failing : {'i', 'P', 'I'}) {
    ScriptedRunner runner;
    CandidateContext context = trial_context(100);
    context.incumbent_compiled = false;
    CandidateTrial trial(StepOptions{}, context);
    while (!trial.done()) {
      TrialOutcome outcome = runner.make(*trial.next());
      if (runner.log.back() == failing) outcome.status = TrialStatus::runtime;
      trial.on_outcome(outcome);
    }
    CAPTURE(failing);
    CHECK(trial.verdict() == TrialVerdict::inconclusive);
    CHECK(trial.status() == TrialStatus::correct);
  }
}

TEST_CASE("a check that had to make up for a failed prepare does not blame the candidate") {
  ScriptedRunner runner;
  CandidateTrial trial(StepOptions{}, trial_context(100));
  trial.on_outcome(runner.make(*trial.next()));
  trial.on_outcome(runner.make(*trial.next()));
  REQUIRE(trial.next()->stage == TrialStage::check);
  TrialOutcome outcome;
  outcome.stage = TrialStage::prepare;
  outcome.status = TrialStatus::runtime;
  trial.on_outcome(outcome);
  CHECK(trial.verdict() == TrialVerdict::inconclusive);
}

TEST_CASE("what is already compiled and prepared is not done again") {
  CandidateContext context = trial_context(100);
  context.candidate_compiled = true;
  context.prepared = {false, true};
  ScriptedRunner runner;
  play_trial(runner, context);
  CHECK(runner.log.substr(0, 4) == "LcPK");  // the prepared seed first
}

TEST_CASE("an incumbent that is not compiled in the runner is compiled before it runs") {
  CandidateContext context = trial_context(100);
  context.incumbent_compiled = false;
  ScriptedRunner runner;
  play_trial(runner, context);
  CHECK(runner.log == "CPKcQLIciicciicci");
  ScriptedRunner slow;
  slow.candidate_us = 150;
  play_trial(slow, context);
  CHECK(slow.log == "CPKcIi");
}

TEST_CASE("without a time of the incumbent there is no screening") {
  ScriptedRunner runner;
  const CandidateTrial trial = play_trial(runner, trial_context(0));
  CHECK(runner.log == "CPKQLciicciicci");
  CHECK(trial.verdict() == TrialVerdict::adopt);
  CHECK(trial.candidate_time() == microseconds(50));
}

TEST_CASE("requests carry deadline, early stop, seed and configuration") {
  StepOptions options;
  options.shortest_deadline = microseconds(500);
  CandidateTrial trial(options, trial_context(100));
  ScriptedRunner runner;
  CHECK(trial.next()->deadline == Nanoseconds(0));
  trial.on_outcome(runner.make(*trial.next()));
  CHECK(trial.next()->stage == TrialStage::prepare);
  CHECK(trial.next()->seed == 1);
  trial.on_outcome(runner.make(*trial.next()));
  CHECK(trial.next()->stage == TrialStage::check);
  CHECK(trial.next()->deadline == microseconds(2000));  // 20 x the incumbent
  trial.on_outcome(runner.make(*trial.next()));
  const TrialRequest screening = *trial.next();
  CHECK(screening.stage == TrialStage::measure);
  CHECK(screening.repeats == 2);
  CHECK(screening.stop_above == microseconds(125));
  CHECK(screening.configuration == kCandidate);
  CHECK(screening.shape == Shape{64, 64});
  CHECK_FALSE(trial.next_is_incumbent());
}

TEST_CASE("outcomes of another stage and outcomes after the end are ignored") {
  CandidateTrial trial(StepOptions{}, trial_context(100));
  TrialOutcome stray;
  stray.stage = TrialStage::measure;
  stray.samples = {microseconds(1)};
  trial.on_outcome(stray);
  CHECK(trial.next()->stage == TrialStage::compile);
  stray.stage = TrialStage::compile;
  stray.status = TrialStatus::compile;
  trial.on_outcome(stray);
  REQUIRE(trial.done());
  trial.on_outcome(stray);
  CHECK(trial.verdict() == TrialVerdict::reject_failed);
}

TEST_CASE("a run without a time decides nothing") {
  CandidateTrial trial(StepOptions{}, trial_context(100));
  ScriptedRunner runner;
  while (!trial.done()) {
    TrialOutcome outcome = runner.make(*trial.next());
    if (outcome.stage == TrialStage::measure) outcome.samples = {Nanoseconds(0)};
    trial.on_outcome(outcome);
  }
  CHECK(trial.verdict() == TrialVerdict::inconclusive);
}

TEST_CASE("the sign test counts the heads of a fair coin") {
  CHECK(sign_test_p_value(5, 5) == Approx(1.0 / 32));
  CHECK(sign_test_p_value(8, 9) == Approx(10.0 / 512));
  CHECK(sign_test_p_value(7, 8) == Approx(9.0 / 256));
  CHECK(sign_test_p_value(0, 9) == Approx(1.0));
  CHECK(sign_test_p_value(3, 2) == 0);
  CHECK(sign_test_p_value(0, 0) == Approx(1.0));
}

TEST_CASE("a baseline is compiled, prepared, checked and timed") {
  ReferenceBaseline baseline(Shape{8}, kIncumbent, false, false);
  ScriptedRunner runner;
  std::vector<TrialStage> stages;
  while (const auto request = baseline.next()) {
    stages.push_back(request->stage);
    TrialOutcome outcome = runner.make(*request);
    if (request->stage == TrialStage::measure) {
      CHECK(request->repeats == 5);
      CHECK(request->deadline.count() > 0);
      outcome.samples = {microseconds(100), microseconds(90), microseconds(300), microseconds(110),
                         microseconds(105)};
    }
    baseline.on_outcome(outcome);
  }
  CHECK(stages == std::vector<TrialStage>{TrialStage::compile, TrialStage::prepare,
                                          TrialStage::check, TrialStage::measure});
  CHECK(baseline.done());
  CHECK(baseline.status() == TrialStatus::correct);
  CHECK(baseline.time() == microseconds(105));
  CHECK(baseline.compile_time() == microseconds(10));
}

TEST_CASE("a baseline that fails says why and has no time") {
  ReferenceBaseline baseline(Shape{8}, kIncumbent, true, true);
  CHECK(baseline.next()->stage == TrialStage::check);
  TrialOutcome outcome;
  outcome.stage = TrialStage::check;
  outcome.status = TrialStatus::correctness;
  outcome.message = "element 3";
  baseline.on_outcome(outcome);
  CHECK(baseline.done());
  CHECK_FALSE(baseline.next().has_value());
  CHECK(baseline.status() == TrialStatus::correctness);
  CHECK(baseline.message() == "element 3");
  CHECK(baseline.time() == Nanoseconds(0));
}

TEST_CASE("a helper that somebody kills says nothing of the baseline") {
  ReferenceBaseline baseline(Shape{8}, kIncumbent, true, true);
  TrialOutcome outcome;
  outcome.stage = TrialStage::check;
  outcome.status = TrialStatus::crash;
  outcome.ambiguous = true;
  baseline.on_outcome(outcome);
  CHECK(baseline.done());
  CHECK(baseline.status() == TrialStatus::runtime);  // is timed again
}

TEST_CASE("a candidate's setup counts over the launches that are left") {
  const auto verdict = [](double launches_left) {
    CandidateContext context = trial_context(100);
    context.launches_left = launches_left;
    ScriptedRunner runner;  // 50 against 100 us
    runner.candidate_setup_us = 1000;
    CandidateTrial trial({}, context);
    while (const auto request = trial.next()) trial.on_outcome(runner.make(*request));
    CHECK(trial.setup_time() == microseconds(1000));
    CHECK(trial.candidate_time() == microseconds(50));  // of a launch
    return trial.verdict();
  };
  CHECK(verdict(10) == TrialVerdict::reject_slow);  // 150 us each
  CHECK(verdict(100) == TrialVerdict::adopt);       // 60 us
  CHECK(verdict(0) == TrialVerdict::adopt);         // whether it pays is asked elsewhere
}

TEST_CASE("an incumbent whose setup is still to be made counts it as well") {
  const auto verdict = [](bool was_set_up) {
    CandidateContext context = trial_context(100);
    context.launches_left = 10;
    context.incumbent_was_set_up = was_set_up;
    ScriptedRunner runner;
    runner.candidate_us = 120;
    runner.incumbent_setup_us = 1000;
    CandidateTrial trial({}, context);
    while (const auto request = trial.next()) trial.on_outcome(runner.make(*request));
    return trial.verdict();
  };
  CHECK(verdict(true) == TrialVerdict::reject_slow);
  CHECK(verdict(false) == TrialVerdict::adopt);  // 120 against 200 us
}
