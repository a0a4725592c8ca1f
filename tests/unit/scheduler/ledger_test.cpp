#include "agent/scheduler/ledger.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "models/core/random.hpp"

using namespace idletune;

namespace {

constexpr std::int64_t kMillisecond = 1000000;

constexpr LedgerOptions kTwoPercent{0.02, 0.05, 0.01};

Nanoseconds ms(std::int64_t value) { return Nanoseconds(value * kMillisecond); }

}  // namespace

TEST_CASE("an empty ledger allows nothing but what is free") {
  const Ledger ledger;
  CHECK(ledger.allows(Nanoseconds(0)));
  CHECK_FALSE(ledger.allows(Nanoseconds(1)));
  CHECK(ledger.allowance() == Nanoseconds(0));
}

TEST_CASE("two percent of the kernel time plus the savings may be charged") {
  Ledger ledger(kTwoPercent);
  ledger.credit(ms(1000));
  CHECK(ledger.allowance() == ms(20));
  ledger.credit(ms(0), ms(7));
  CHECK(ledger.allowance() == ms(27));
  ledger.charge_busy(ms(5));
  CHECK(ledger.allowance() == ms(22));
  CHECK(ledger.allows(ms(22)));
  CHECK_FALSE(ledger.allows(ms(22) + Nanoseconds(1)));
}

TEST_CASE("idle and processor time are weighted, interference and busy time are not") {
  Ledger ledger(kTwoPercent);
  ledger.charge_idle(ms(100), ms(3));
  CHECK(ledger.state().charged_ns == 5 * kMillisecond + 3 * kMillisecond);
  ledger.charge_cpu(ms(100));
  CHECK(ledger.state().charged_ns == 9 * kMillisecond);
  ledger.charge_busy(ms(1));
  CHECK(ledger.state().charged_ns == 10 * kMillisecond);
}

TEST_CASE("charges are rounded up") {
  Ledger ledger(kTwoPercent);
  CHECK(ledger.idle_charge(Nanoseconds(1)) == Nanoseconds(1));
  CHECK(ledger.idle_charge(Nanoseconds(21)) == Nanoseconds(2));
  CHECK(ledger.cpu_charge(Nanoseconds(101)) == Nanoseconds(2));
  CHECK(ledger.cpu_charge(Nanoseconds(0)) == Nanoseconds(0));
}

TEST_CASE("a step that outlived its estimate is booked in full and blocks the next") {
  Ledger ledger(kTwoPercent);
  ledger.credit(ms(1000));
  REQUIRE(ledger.allows(ms(10)));
  ledger.charge_busy(ms(50));
  CHECK(ledger.debt() > Nanoseconds{0});
  CHECK(ledger.allowance() == Nanoseconds(0));
  ledger.credit(ms(1500));  // now 2500 ms: 50 ms
  CHECK(ledger.debt() == Nanoseconds{0});
  CHECK_FALSE(ledger.allows(Nanoseconds(1)));
  ledger.credit(ms(50));
  CHECK(ledger.allows(ms(1)));
}

TEST_CASE("a loss lowers the bound") {
  Ledger ledger(kTwoPercent);
  ledger.credit(ms(1000), ms(-15));
  CHECK(ledger.allowance() == ms(5));
  ledger.credit(ms(0), ms(-500));
  CHECK(ledger.bound_ns() == 0);
  CHECK(ledger.allowance() == Nanoseconds(0));
}

TEST_CASE("what is charged never exceeds the bound when every charge was allowed before") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Ledger ledger(
        LedgerOptions{0.001 + 0.1 * random.uniform(), random.uniform(), random.uniform()});
    std::uint64_t made = 0;
    for (int i = 0; i < 4000; ++i) {
      const Nanoseconds amount(static_cast<std::int64_t>(random.below(5 * kMillisecond)));
      switch (random.below(4)) {
        case 0:
          ledger.credit(amount * 10, Nanoseconds(static_cast<std::int64_t>(random.below(50000))));
          break;
        case 1: {
          const Nanoseconds late(static_cast<std::int64_t>(random.below(1000)));
          if (!ledger.allows(ledger.idle_charge(amount) + late)) break;
          ledger.charge_idle(amount, late);
          ++made;
          break;
        }
        case 2:
          if (!ledger.allows(ledger.cpu_charge(amount))) break;
          ledger.charge_cpu(amount);
          ++made;
          break;
        default:
          if (!ledger.allows(amount)) break;
          ledger.charge_busy(amount);
          ++made;
          break;
      }
      REQUIRE(ledger.state().charged_ns <= ledger.bound_ns());
      REQUIRE(ledger.debt() == Nanoseconds{0});
    }
    CHECK(made > 100);
  }
}

TEST_CASE("a ledger continues from its stored state") {
  Ledger first(kTwoPercent);
  first.credit(ms(5000), ms(3));
  first.charge_idle(ms(100));
  const Ledger second(kTwoPercent, first.state());
  CHECK(second.allowance() == first.allowance());
}

TEST_CASE("hostile states and options are tamed") {
  LedgerState state;
  state.kernel_ns = -5;
  state.charged_ns = std::numeric_limits<std::int64_t>::min();
  LedgerOptions options;
  options.share = std::nan("");
  options.kappa_idle = -3;
  const Ledger ledger(options, state);
  CHECK(ledger.state().charged_ns == 0);
  CHECK(ledger.bound_ns() == 0);
  CHECK(ledger.idle_charge(ms(10)) == Nanoseconds(0));
}

TEST_CASE("sums saturate instead of wrapping") {
  Ledger ledger(LedgerOptions{1.0, 1.0, 1.0});
  ledger.credit(Nanoseconds::max(), Nanoseconds::max());
  ledger.credit(Nanoseconds::max(), Nanoseconds::max());
  CHECK(ledger.bound_ns() == std::numeric_limits<std::int64_t>::max());
  ledger.charge_busy(Nanoseconds::max());
  ledger.charge_idle(Nanoseconds::max(), Nanoseconds::max());
  CHECK(ledger.allowance() == Nanoseconds(0));
  CHECK(ledger.state().charged_ns == std::numeric_limits<std::int64_t>::max());
}
