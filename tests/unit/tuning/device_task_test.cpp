#include <chrono>

#include <doctest/doctest.h>

#include "agent/tuning/device_task.hpp"
#include "tests/unit/trial/fake_device.hpp"

using namespace std::chrono_literals;
using idletune::Nanoseconds;
using idletune::detail::DeviceTask;

TEST_CASE("the third fault is one too many, and the first reason stays") {
  idletune::fake::Device device;
  DeviceTask task(device, Nanoseconds(0));
  task.count_fault();
  task.count_fault();
  CHECK_FALSE(task.faulty());
  CHECK_FALSE(task.ended());
  task.count_fault();
  CHECK(task.faulty());
  task.end("it hung");
  CHECK_FALSE(task.lost());
  task.lose();
  task.end("it was lost");
  CHECK(task.lost());
  CHECK(task.ended());
  CHECK(task.ended_why() == "it hung");
}

TEST_CASE("the pause after a killed helper doubles with each one in a row, up to four minutes") {
  idletune::fake::Device device;
  DeviceTask task(device, Nanoseconds(0));
  CHECK_FALSE(task.rests(0s));
  CHECK(task.helper_was_killed(10s) == 1);
  CHECK(task.rests(10s));
  CHECK_FALSE(task.rests(11s));
  CHECK(task.helper_was_killed(20s) == 2);
  CHECK(task.rests(21s));
  CHECK_FALSE(task.rests(22s));
  for (int i = 0; i < 40; ++i) task.helper_was_killed(100s);
  CHECK(task.rests(355s));
  CHECK_FALSE(task.rests(356s));
  task.helper_answered();
  CHECK(task.helper_was_killed(1000s) == 1);
  CHECK_FALSE(task.rests(1001s));
}

TEST_CASE("kernel time that nobody measured never exceeds the clock, whoever asks") {
  idletune::fake::Device device;
  const Nanoseconds start = 7s;
  DeviceTask task(device, start);
  CHECK(task.at_most_the_clock(5s, start + 2s) == 2s);
  CHECK(task.at_most_the_clock(1s, start + 2s) == 0s);
  CHECK(task.at_most_the_clock(1s, start + 5s) == 1s);
  CHECK(task.at_most_the_clock(9s, start + 5s) == 2s);
  // A clock that runs backwards gives nothing, and its way back up is not counted twice.
  CHECK(task.at_most_the_clock(1s, start + 1s) == 0s);
  CHECK(task.at_most_the_clock(1s, start + 5s) == 0s);
}
