#include "agent/calls/called_device.hpp"

#include <doctest/doctest.h>

using namespace idletune;
using namespace idletune::detail;

TEST_CASE("a call's time is told once, and only its own") {
  OpenCalls calls;
  const std::uint64_t first = calls.begin();
  CHECK(calls.time(first).code() == StatusCode::busy);
  const std::uint64_t second = calls.begin();
  CHECK(calls.end(second, Nanoseconds(5)));
  CHECK(calls.time(first).code() == StatusCode::busy);
  REQUIRE(calls.time(second).ok());
  CHECK(*calls.time(second) == Nanoseconds(5));
  CHECK_FALSE(calls.end(second, Nanoseconds(6)));
  CHECK(calls.end(first, Nanoseconds(0)));  // tells none
  CHECK(calls.time(first).code() == StatusCode::unsupported);
}

TEST_CASE("a call that never ends is forgotten once others have taken its place") {
  OpenCalls calls;
  const std::uint64_t lost = calls.begin();
  for (std::uint64_t i = 0; i < OpenCalls::kRoom; ++i) {
    const std::uint64_t call = calls.begin();
    REQUIRE(calls.end(call, Nanoseconds(1 + static_cast<std::int64_t>(i))));
  }
  CHECK(calls.time(lost).code() == StatusCode::unsupported);
  CHECK_FALSE(calls.end(lost, Nanoseconds(7)));
  // No number was ever given that it would take for another's.
  CHECK_FALSE(calls.end(0, Nanoseconds(7)));
  CHECK_FALSE(calls.end(lost + OpenCalls::kRoom, Nanoseconds(7)));
}

TEST_CASE("a time beyond what a call keeps is none") {
  OpenCalls calls;
  const std::uint64_t call = calls.begin();
  CHECK(calls.end(call, std::chrono::hours(24)));
  CHECK(calls.time(call).code() == StatusCode::unsupported);
}

TEST_CASE("a compiled call has the configuration of its options") {
  CalledDevice device("here");
  CompileRequest request;
  request.options = "-DLEVEL=6 -DSTRIDE=-3";
  request.lanes = 2;
  auto program = device.compile(request);
  REQUIRE(program.ok());
  CHECK((*program)->lanes() == 2);
  CallBegun begun;
  LaunchOptions options;
  options.event = &begun;
  void* ticket = nullptr;
  REQUIRE((*program)->enqueue(0, Range(), {}, options, &ticket).ok());
  CHECK(begun.configuration == Configuration{6, -3});
  CHECK(device.elapsed(ticket).code() == StatusCode::busy);
  CHECK(device.calls().end(begun.number, Nanoseconds(90)));
  CHECK(*device.elapsed(ticket) == Nanoseconds(90));
}
