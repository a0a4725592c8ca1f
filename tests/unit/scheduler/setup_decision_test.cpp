// When something is prepared once, played over problems of 1 to a million launches.
#include "agent/scheduler/setup_decision.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "agent/scheduler/ledger.hpp"
#include "models/core/random.hpp"

using namespace idletune;

namespace {

constexpr double kLaunch = 100000;  // ns, without the setup

Nanoseconds ns(double value) { return Nanoseconds(std::llround(value)); }

struct Conversion {
  double setup = 1;   // in launches without it
  double saving = 0;  // of each launch after it, as a share
};

// Of a problem of `launches` launches, in launches of the default.
struct Totals {
  double never = 0;
  double clairvoyant = 0;
  double ours = 0;
};

SetupPrice measured(const Conversion& conversion, Random& random) {
  const auto off = [&] { return 0.9 + 0.2 * random.uniform(); };
  const double saving = std::min(0.99, conversion.saving * off());
  return {ns(conversion.setup * kLaunch * off()), ns(kLaunch), ns(kLaunch * (1 - saving))};
}

// The launch before which the setup is made; `launches` where it never is.
std::int64_t decided_at(const SetupPrice& price, std::int64_t launches, bool said) {
  LedgerOptions options;
  options.share = 0.02;
  const auto pays = [&](std::int64_t past) {
    Ledger ledger(options);
    ledger.credit(ns(kLaunch * static_cast<double>(past)));
    SetupSituation situation;
    situation.said = said;
    situation.launches = static_cast<double>(said ? launches - past : past);
    situation.allowance = ledger.allowance();
    return setup_pays(price, situation);
  };
  if (said) return pays(0) ? 0 : launches;
  if (!pays(launches)) return launches;
  std::int64_t low = 0, high = launches;  // what is known, and what is allowed, only grow
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (pays(middle) ? high : low) = pays(middle) ? middle : middle + 1;
  }
  return low;
}

Totals play(const Conversion& conversion, std::int64_t launches, bool said, Random& random) {
  const double count = static_cast<double>(launches);
  const double after = 1 - conversion.saving;
  const std::int64_t at = decided_at(measured(conversion, random), launches, said);
  Totals totals;
  totals.never = count;
  totals.clairvoyant = std::min(count, conversion.setup + count * after);
  totals.ours = at == launches ? count
                               : static_cast<double>(at) + conversion.setup +
                                     static_cast<double>(launches - at) * after;
  return totals;
}

struct Outcome {
  double worst = 0;    // over never converting
  double average = 0;  // over a clairvoyant, problems of all lengths alike
};

Outcome play_all(const Conversion& conversion, bool said) {
  Random random(20261122);
  Outcome outcome;
  int problems = 0;
  for (int tenth = 0; tenth <= 60; ++tenth) {
    const auto launches = std::llround(std::pow(10.0, tenth / 10.0));
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Totals totals = play(conversion, launches, said, random);
      outcome.worst = std::max(outcome.worst, totals.ours / totals.never - 1);
      outcome.average += totals.ours / totals.clairvoyant - 1;
      ++problems;
    }
  }
  outcome.average /= problems;
  return outcome;
}

std::string percent(double share) {
  const auto tenths = std::llround(share * 1000);
  return (tenths < 0 ? "-" : "") + std::to_string(std::llabs(tenths) / 10) + "." +
         std::to_string(std::llabs(tenths) % 10) + " %";
}

}  // namespace

TEST_CASE("a setup pays from its cost over what a launch saves on") {
  CHECK(break_even_launches({Nanoseconds(1000), Nanoseconds(100), Nanoseconds(80)}) == 50);
  CHECK(std::isinf(break_even_launches({Nanoseconds(1000), Nanoseconds(100), Nanoseconds(100)})));
  CHECK(std::isinf(break_even_launches({Nanoseconds(1000), Nanoseconds(0), Nanoseconds(100)})));
}

TEST_CASE("a setup is made where the launches said are worth it, or the ledger has its cost") {
  const SetupPrice price{Nanoseconds(1000), Nanoseconds(100), Nanoseconds(80)};
  SetupSituation situation;
  situation.launches = 62;  // a quarter more than the 50 it takes
  situation.said = true;
  CHECK_FALSE(setup_pays(price, situation));
  situation.launches = 63;
  CHECK(setup_pays(price, situation));
  situation.said = false;
  CHECK_FALSE(setup_pays(price, situation));
  situation.allowance = Nanoseconds(999);
  CHECK_FALSE(setup_pays(price, situation));
  situation.allowance = Nanoseconds(1000);
  CHECK(setup_pays(price, situation));
  situation.launches = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(setup_pays(price, situation));
}

TEST_CASE("contents that come in turns do not cost a setup each") {
  const SetupPrice price{Nanoseconds(1000), Nanoseconds(100), Nanoseconds(80)};
  SetupSituation situation;
  situation.launches = 1e6;
  situation.said = true;
  situation.again = true;
  situation.missed = 1;
  CHECK_FALSE(setup_pays(price, situation));
  situation.missed = 63;
  CHECK(setup_pays(price, situation));
}

// `idletune_unit --source-file='*setup_decision_test.cpp' --success` prints the table of
// agent/scheduler/results.md.
TEST_CASE("preparing costs at most 2 % over never preparing, and little over knowing all") {
  double average = 0;
  int conversions = 0;
  for (const double setup : {0.5, 2.0, 10.0, 100.0, 1000.0, 10000.0}) {
    std::string row = "setup of " + std::to_string(setup) + " launches:";
    for (const double saving : {0.02, 0.1, 0.3, 0.5, 0.8}) {
      const Outcome said = play_all({setup, saving}, true);
      const Outcome guessed = play_all({setup, saving}, false);
      CAPTURE(setup);
      CAPTURE(saving);
      CHECK(said.worst <= 0.02);
      CHECK(guessed.worst <= 0.02);
      CHECK(said.average <= 0.1);
      average += said.average;
      ++conversions;
      row += " | " + percent(said.worst) + ", " + percent(said.average) + "; " +
             percent(guessed.worst) + ", " + percent(guessed.average);
    }
    INFO(row);
    CHECK(true);
  }
  CHECK(average / conversions <= 0.1);
}

TEST_CASE("a setup that saves nothing never pays, even for nothing") {
  for (const double with : {kLaunch, 2 * kLaunch}) {
    CHECK(break_even_launches({ns(0), ns(kLaunch), ns(with)}) == HUGE_VAL);
    CHECK(break_even_launches({ns(kLaunch), ns(kLaunch), ns(with)}) == HUGE_VAL);
  }
  CHECK(break_even_launches({ns(3 * kLaunch), ns(kLaunch), ns(kLaunch / 2)}) == 6);
}
