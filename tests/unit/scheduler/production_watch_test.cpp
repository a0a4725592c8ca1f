#include "agent/scheduler/production_watch.hpp"

#include <doctest/doctest.h>

#include <string>

#include "models/core/random.hpp"

using namespace idletune;

namespace {

void feed(ProductionWatch& watch, std::int64_t time, int count) {
  for (int i = 0; i < count; ++i) watch.sample(Nanoseconds(time));
}

}  // namespace

TEST_CASE("a watch learns before it judges") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 5000, 14);
  CHECK(watch.status() == WatchStatus::learning);
  CHECK(watch.median() == Nanoseconds(0));
  feed(watch, 5000, 1);
  CHECK(watch.status() == WatchStatus::demote);
}

TEST_CASE("losses count before the window is full, gains and single disturbed launches do not") {
  ProductionWatch slow(Nanoseconds(1000), Nanoseconds(500));
  feed(slow, 2000, 2);
  CHECK(slow.saving_per_launch() == Nanoseconds(0));
  feed(slow, 2000, 1);
  CHECK(slow.status() == WatchStatus::learning);
  CHECK(slow.saving_per_launch() == Nanoseconds(-1000));
  ProductionWatch fast(Nanoseconds(1000), Nanoseconds(500));
  fast.sample(Nanoseconds(90000));
  feed(fast, 500, 13);
  CHECK(fast.status() == WatchStatus::learning);
  CHECK(fast.saving_per_launch() == Nanoseconds(0));
}

TEST_CASE("a configuration that keeps its promise is fine and its saving is careful") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  for (int i = 0; i < 15; ++i) watch.sample(Nanoseconds(500 + 10 * i));
  CHECK(watch.status() == WatchStatus::fine);
  CHECK(watch.median() == Nanoseconds(570));
  // The upper quartile of 500, 510, ..., 640 is the sample of rank 11: 610.
  CHECK(watch.saving_per_launch() == Nanoseconds(390));
}

TEST_CASE("the same launches are compared with other times") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 1200, 15);
  CHECK(watch.status() == WatchStatus::demote);
  watch.expect(Nanoseconds(2000), Nanoseconds(1200));
  CHECK(watch.status() == WatchStatus::fine);
  CHECK(watch.saving_per_launch() == Nanoseconds(800));
}

TEST_CASE("launches that are disturbed are no loss where the others win") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 600, 10);
  feed(watch, 3000, 5);
  CHECK(watch.median() == Nanoseconds(600));
  CHECK(watch.saving_per_launch() == Nanoseconds(0));
  feed(watch, 3000, 3);
  CHECK(watch.saving_per_launch() == Nanoseconds(-2000));
}

TEST_CASE("what runs faster than it was timed has not saved more for that") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 250, 15);  // the clock is twice as fast: the default would take 500
  CHECK(watch.saving_per_launch() == Nanoseconds(250));
}

TEST_CASE("a single disturbed launch does not matter") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 500, 15);
  feed(watch, 1000000, 7);
  CHECK(watch.status() == WatchStatus::fine);
  feed(watch, 1000000, 1);  // now 8 of 15
  CHECK(watch.status() == WatchStatus::demote);
}

TEST_CASE("a little over the default is within the margin, clearly over it is a demotion") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(950));
  feed(watch, 1050, 15);
  CHECK(watch.status() == WatchStatus::fine);
  feed(watch, 1051, 15);
  CHECK(watch.status() == WatchStatus::demote);
  CHECK(watch.saving_per_launch() == Nanoseconds(-51));
}

TEST_CASE("slower than expected but faster than the default asks for a new measurement") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  feed(watch, 700, 15);
  CHECK(watch.status() == WatchStatus::recheck);
  feed(watch, 600, 15);
  CHECK(watch.status() == WatchStatus::fine);
}

TEST_CASE("without profiling the watch says so") {
  ProductionWatch watch(Nanoseconds(1000), Nanoseconds(500));
  watch.profiling_unavailable();
  CHECK(watch.status() == WatchStatus::unavailable);
  CHECK(watch.saving_per_launch() == Nanoseconds(0));
  feed(watch, 500, 15);
  CHECK(watch.status() == WatchStatus::fine);
}

TEST_CASE("unknown times are not compared with") {
  ProductionWatch watch;
  feed(watch, 12345, 15);
  CHECK(watch.status() == WatchStatus::fine);
  CHECK(watch.saving_per_launch() == Nanoseconds(0));
  watch.sample(Nanoseconds(0));
  watch.sample(Nanoseconds(-7));
  CHECK(watch.samples() == 15);
}

TEST_CASE("a faster configuration in noise is not demoted, a slower one is") {
  // 20 % noise around 0.9 and 1.2 of the default: 200 windows each, seeded.
  Random random(3);
  int wrongly_demoted = 0;
  int missed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    ProductionWatch good(Nanoseconds(1000000), Nanoseconds(900000));
    ProductionWatch bad(Nanoseconds(1000000), Nanoseconds(900000));
    for (int i = 0; i < 15; ++i) {
      const double noise = 0.8 + 0.4 * random.uniform();
      good.sample(Nanoseconds(static_cast<std::int64_t>(900000 * noise)));
      bad.sample(Nanoseconds(static_cast<std::int64_t>(1200000 * noise)));
    }
    wrongly_demoted += good.status() == WatchStatus::demote ? 1 : 0;
    missed += bad.status() == WatchStatus::demote ? 0 : 1;
  }
  CHECK(wrongly_demoted <= 2);
  CHECK(missed <= 6);
}

TEST_CASE("names of watch statuses are stable") {
  CHECK(std::string(watch_status_name(WatchStatus::unavailable)) == "unavailable");
  CHECK(std::string(watch_status_name(WatchStatus::demote)) == "demote");
}
