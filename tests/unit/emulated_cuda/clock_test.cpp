// The clock that stands still while kernels are interpreted, as the emulated driver uses it.
#include "tests/emulated_cuda/clock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace {

using namespace std::chrono_literals;

// Beside the emulated driver, and in no test's process before everything else: other clocks stay.
const emulated_clock& opened_clock() {
  static const emulated_clock* const clock = [] {
    static const idletune::test::TemporaryFolder folder;
    ::setenv("IDLETUNE_EMULATED_CLOCK", (folder.path() + "/clock").c_str(), 1);
    const std::string driver = IDLETUNE_EMULATED_CUDA;
    const std::string path = driver.substr(0, driver.rfind('/')) + "/libidletune_emulated_clock.so";
    const idletune::test::LoadedLibrary library(path);
    const decltype(&emulated_cuda_clock) find = library["emulated_cuda_clock"];
    const emulated_clock* found = find();
    REQUIRE((found != nullptr));
    return found;
  }();
  return *clock;
}

}  // namespace

TEST_CASE("the clock goes with the host's, and stands still while somebody holds it") {
  const emulated_clock& clock = opened_clock();
  const std::int64_t first = clock.now();
  std::this_thread::sleep_for(2ms);
  CHECK(clock.now() - first >= 2000000);
  clock.hold();
  const std::int64_t held = clock.now();
  std::this_thread::sleep_for(30ms);
  CHECK(clock.now() == held);
  clock.go_on();
  const std::int64_t later = clock.now();
  CHECK(later >= held);
  clock.wait(later + 1000000);
  CHECK(clock.now() >= later + 1000000);
}

TEST_CASE("the device does one thing after another") {
  const emulated_clock& clock = opened_clock();
  clock.hold();
  const std::int64_t now = clock.now();
  const std::int64_t first = clock.occupy(now, 5000000);
  CHECK(first >= now + 5000000);
  CHECK(clock.occupy(now, 1000) == first + 1000);
  CHECK(clock.occupy(first + 2000, 1000) == first + 3000);
  clock.go_on();
}

TEST_CASE("what computes takes its processor time") {
  const emulated_clock& clock = opened_clock();
  const std::int64_t before = clock.now();
  clock.compute(
      [](void*) {
        timespec start{}, now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
        do {
          clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        } while (now.tv_sec == start.tv_sec && now.tv_nsec - start.tv_nsec < 3000000);
      },
      nullptr);
  CHECK(clock.now() - before > 0);
}

TEST_CASE("a process that ends while it holds the clock holds it no more") {
  const emulated_clock& clock = opened_clock();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    clock.hold();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const std::int64_t before = clock.now();
  clock.wait(before + 1000000);  // comes to an end
  CHECK(clock.now() > before);
}
