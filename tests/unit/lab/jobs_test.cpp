#include "agent/host/lab/jobs.hpp"

#include <vector>

#include <doctest/doctest.h>

using idletune::Jobs;
using idletune::Status;
using idletune::StatusCode;

namespace {
bool always() { return true; }
}  // namespace

TEST_CASE("every job is done once") {
  std::vector<int> calls(1000);
  Jobs jobs(10, 1000, 3, [&](std::size_t i) {
    ++calls[i];
    return Status();
  });
  CHECK(jobs.wait().ok());
  CHECK_FALSE(jobs.running());
  CHECK(jobs.done() == 990);
  for (std::size_t i = 0; i < calls.size(); ++i) CHECK(calls[i] == (i < 10 ? 0 : 1));
}

TEST_CASE("the first failure ends the work and is what waiting answers") {
  Jobs jobs(0, 1000000, 1, [](std::size_t i) {
    return i == 3 ? Status(StatusCode::io_error, "the fourth") : Status();
  });
  const Status status = jobs.wait();
  CHECK(status.code() == StatusCode::io_error);
  CHECK(status.message() == "the fourth");
  CHECK(jobs.done() == 3);
}

TEST_CASE("a stop leaves the rest undone, which is no failure") {
  Jobs jobs(
      0, 5, 2, [](std::size_t) { return Status(); }, always);
  CHECK(jobs.wait().ok());
  CHECK(jobs.done() == 0);
}
