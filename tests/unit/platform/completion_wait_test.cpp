#include "platform/completion_wait.hpp"

#include <chrono>

#include <doctest/doctest.h>

using idletune::CompletionWait;
using idletune::Nanoseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Time = CompletionWait::Clock::time_point;

Nanoseconds processor_time{0};
Nanoseconds scripted_processor_time() { return processor_time; }

// Begun `ago`, with a deadline of two seconds, and `had` of processor time since then.
bool goes_on(Nanoseconds ago, Nanoseconds had, CompletionWait::ProcessorTime source) {
  processor_time = Nanoseconds(0);
  CompletionWait wait(Time(), seconds(2), source);
  processor_time = had;
  for (Nanoseconds at{0}; at < ago; at += milliseconds(20)) (void)wait.has_time(Time(at));
  return wait.has_time(Time(ago));
}

}  // namespace

TEST_CASE("a run ends at its deadline") {
  CHECK(goes_on(seconds(1), Nanoseconds(0), nullptr));
  CHECK_FALSE(goes_on(milliseconds(2001), Nanoseconds(0), nullptr));
}

TEST_CASE("a run on the processor that had too little of it gets up to ten deadlines") {
  CHECK(goes_on(seconds(3), milliseconds(900), scripted_processor_time));
  CHECK_FALSE(goes_on(seconds(3), milliseconds(1100), scripted_processor_time));
  CHECK_FALSE(goes_on(seconds(21), Nanoseconds(0), scripted_processor_time));
}

TEST_CASE("a run is not charged for time in which whoever waits for it was stopped as well") {
  CompletionWait wait(Time(), seconds(2));
  CHECK(wait.has_time(Time(milliseconds(1000))));  // 60 ms of it count
  CHECK(wait.has_time(Time(std::chrono::hours(1))));
  CHECK(wait.has_time(Time(std::chrono::hours(2))));
  for (int slice = 1; slice <= 91; ++slice) {
    CAPTURE(slice);
    CHECK(wait.has_time(Time(std::chrono::hours(2) + slice * milliseconds(20))) == (slice < 91));
  }
}

TEST_CASE("without a deadline a run is waited for as long as it takes") {
  CompletionWait wait(CompletionWait::Clock::now() - seconds(1000), Nanoseconds(0));
  CHECK(wait.again());
}
