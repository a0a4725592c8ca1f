#include "agent/slots/verdict.hpp"

#include <doctest/doctest.h>

#include <random>

#include "tests/unit/repeats.hpp"

using namespace idletune::slots;

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
