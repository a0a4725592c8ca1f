#include "agent/slots/verdict.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <random>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/journal/small_journal.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::slots;
using namespace std::chrono_literals;

namespace {

constexpr int kRuns = 4000;

// How often a test that looks after every problem comes to that verdict within so many.
int picks_end(ModelVerdict verdict, double worse, std::uint32_t most) {
  std::mt19937 random(1);
  std::bernoulli_distribution is_worse(worse);
  int ended = 0;
  for (int run = 0; run < kRuns; ++run) {
    PickCount picks;
    Judgement judgement;
    while (judgement.verdict == ModelVerdict::open && picks.problems < most) {
      ++picks.problems;
      picks.worse += is_worse(random) ? 1 : 0;
      judgement = judge(picks, {}, {});
    }
    ended += judgement.verdict == verdict ? 1 : 0;
  }
  return ended;
}

int trials_end(double deadly, std::uint64_t most) {
  std::mt19937 random(1);
  std::bernoulli_distribution dies(deadly);
  int ended = 0;
  for (int run = 0; run < kRuns; ++run) {
    const TrialCount before{300, 3};
    TrialCount now = before;
    while (now.trials < before.trials + most) {
      ++now.trials;
      now.deaths += dies(random) ? 1 : 0;
      if (judge({}, before, now).verdict != ModelVerdict::goes_back) continue;
      ++ended;
      break;
    }
  }
  return ended;
}

}  // namespace

TEST_CASE("verdicts on models are wrong in one case of a hundred at most" *
          doctest::skip(idletune::test::fewer_repeats())) {
  CHECK(picks_end(ModelVerdict::goes_back, 0.4, 500) <= kRuns / 100);
  CHECK(picks_end(ModelVerdict::goes_back, 0.1, 500) == 0);
  CHECK(picks_end(ModelVerdict::stays, 0.8, 500) <= kRuns / 100);
  CHECK(picks_end(ModelVerdict::goes_back, 0.8, 500) >= kRuns * 99 / 100);
  CHECK(picks_end(ModelVerdict::stays, 0.1, 500) >= kRuns * 99 / 100);
  CHECK(trials_end(0.01, 1000) <= kRuns / 100);
  CHECK(trials_end(0.1, 1000) >= kRuns * 99 / 100);
}

TEST_CASE("no verdict comes of nothing, and few problems are enough where they agree") {
  CHECK(judge({}, {}, {}).verdict == ModelVerdict::open);
  CHECK(judge({4, 0}, {}, {}).verdict == ModelVerdict::open);
  CHECK(judge({5, 0}, {}, {}).verdict == ModelVerdict::stays);
  CHECK(judge({6, 6}, {}, {}).verdict == ModelVerdict::open);
  const Judgement back = judge({7, 7}, {}, {});
  CHECK(back.verdict == ModelVerdict::goes_back);
  CHECK(back.why == "its first picks were slower at 7 of 7 problems");
  // A journal that forgot some of what was there before.
  CHECK(judge({}, {300, 3}, {200, 1}).verdict == ModelVerdict::open);
  // It crashes: its picks do not make up for that.
  CHECK(judge({5, 0}, {300, 0}, {304, 1}).verdict == ModelVerdict::open);
  CHECK(judge({9, 0}, {300, 0}, {304, 3}).verdict == ModelVerdict::goes_back);
}

TEST_CASE(
    "where only the pick on trial was measured, what the confirmed ones took is its measure") {
  test::ModelContent content;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.picks.push_back({-1, {64}, {4, 4}});
  const auto model = required(Model::open(test::build_model(content), "trial"));
  const auto package = required(KernelPackage::open(test::played_package(), "play"));
  DeviceInfo device;
  device.name = "board";
  const auto journal = journal::test::open_on(std::make_shared<test::Disk>());
  const auto measured = [&](std::int64_t size, std::int64_t value, Nanoseconds time,
                            TrialStatus status = TrialStatus::correct) {
    journal::Measurement measurement;
    measurement.trial = {package->digest(), device.device_key(), device.driver_key(), Shape{size},
                         Configuration{value, value}};
    measurement.status = status;
    measurement.median = time;
    measurement.default_time = time.count() == 0 ? time : Nanoseconds(100us);
    journal->measured(measurement);
  };
  const auto counted = [&] {
    PickCount count;
    count.add(journal->state(), *package, device, nullptr, *model);
    return count;
  };
  measured(1, 4, 200us);
  measured(2, 4, 100us);
  measured(3, 4, Nanoseconds(0));  // by no clock
  measured(4, 4, Nanoseconds(0), TrialStatus::correctness);
  for (std::int64_t size = 101; size <= 104; ++size) measured(size, 1, 100us);
  CHECK(counted().problems == 0);  // four are too few to tell
  measured(105, 1, 100us);
  CHECK(counted().problems == 3);
  CHECK(counted().worse == 2);
  // Where both were measured they are compared, by this board's clock.
  measured(2, 1, 50us);
  CHECK(counted().problems == 3);
  CHECK(counted().worse == 3);
}

TEST_CASE("only what models named and was seen to crash speaks against a model") {
  const auto journal = journal::test::open_on(std::make_shared<test::Disk>());
  const auto crash = [&](std::int64_t number, journal::Origin origin) {
    journal::Measurement crashed = journal::test::measurement_of(number);
    crashed.status = TrialStatus::crash;
    crashed.origin = origin;
    journal->measured(crashed);
    journal->quarantine(crashed.trial, journal::QuarantineReason::crash, "");
  };
  for (std::int64_t i = 0; i < 5; ++i) {
    journal::test::suspected(*journal, journal::test::trial_of(i), journal::Where::helper,
                             journal::SuspicionCause::machine_cut, "");
    crash(10 + i, journal::Origin::random);
  }
  CHECK(judge({}, {}, count_trials(journal->state())).verdict == ModelVerdict::open);
  for (std::int64_t i = 0; i < 5; ++i) crash(20 + i, journal::Origin::portfolio);
  const Judgement back = judge({}, {}, count_trials(journal->state()));
  CHECK(back.verdict == ModelVerdict::goes_back);
  CHECK(back.why == "5 of 5 trials crashed or hung, where 0 of 0 had before");
}
