// Conversions on another thread give what those of the calling one give.
#include <doctest/doctest.h>

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "kernels/krylov/background_conversion.hpp"
#include "tests/unit/skip.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;

SparsityPattern uneven_rows(std::int32_t rows) {
  SparsityPattern pattern;
  pattern.rows = pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column <= row; column += 1 + row / 7)
      pattern.column.push_back(column);
    pattern.row_start.push_back(static_cast<std::int32_t>(pattern.column.size()));
  }
  return pattern;
}

}  // namespace

TEST_CASE("a conversion on another thread is that of the calling one, time after time") {
  const SparsityPattern pattern = uneven_rows(300);
  BackgroundConversion background;
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    CAPTURE(sparse_format_name(format));
    REQUIRE(background.start(pattern, format, 8, UINT64_MAX));
    CHECK(background.started());
    while (!background.done()) {
    }
    const auto stored = background.take();
    CHECK(!background.started());
    CHECK(background.seconds() > 0);
    const auto expected = convert(pattern, format, 8, UINT64_MAX);
    REQUIRE(stored.ok());
    REQUIRE(expected.ok());
    CHECK(stored->format == format);
    CHECK(stored->slots == expected->slots);
    CHECK(stored->row_start == expected->row_start);
    CHECK(stored->row == expected->row);
    CHECK(stored->column == expected->column);
    CHECK(stored->offset == expected->offset);
    CHECK(stored->slot == expected->slot);
  }
}

TEST_CASE("a conversion without room says so on another thread, too") {
  const SparsityPattern pattern = uneven_rows(100);
  BackgroundConversion background;
  REQUIRE(background.start(pattern, SparseFormat::dia, 8, 1000));
  CHECK(background.take().status().code() == StatusCode::out_of_memory);
}

TEST_CASE("a conversion that nobody takes ends before what started it") {
  const SparsityPattern pattern = uneven_rows(2000);
  {
    BackgroundConversion background;
    REQUIRE(background.start(pattern, SparseFormat::sell, 8, UINT64_MAX));
  }
  BackgroundConversion idle;
  CHECK(!idle.started());
}

namespace {

std::vector<pid_t> threads_here() {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc/self/task");
  while (const dirent* each = folder != nullptr ? ::readdir(folder) : nullptr) {
    if (each->d_name[0] != '.') found.push_back(std::atoi(each->d_name));
  }
  if (folder != nullptr) ::closedir(folder);
  return found;
}

struct Priority {
  int nice, policy;
};

// Of a conversion's thread, as it was seen last; of several, since one may end unseen.
Priority seen_while_converting(const Priority& expected) {
  const SparsityPattern pattern = uneven_rows(50000);
  const std::vector<pid_t> before = threads_here();
  Priority seen = {0, -1};
  const auto as_expected = [&] {
    return seen.nice == expected.nice && seen.policy == expected.policy;
  };
  for (int conversion = 0; conversion < 20 && !as_expected(); ++conversion) {
    BackgroundConversion background;
    if (!background.start(pattern, SparseFormat::sell, 8, UINT64_MAX)) break;
    while (!background.done()) {
      for (const pid_t each : threads_here()) {
        if (std::find(before.begin(), before.end(), each) != before.end()) continue;
        const int policy = ::sched_getscheduler(each);
        if (policy >= 0) seen = {::getpriority(PRIO_PROCESS, static_cast<id_t>(each)), policy};
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    (void)background.take();
  }
  return seen;
}

}  // namespace

TEST_CASE("a conversion's thread is at least as nice as the one that starts it") {
  for (const int more : {0, 19}) {
    CAPTURE(more);
    Priority expected{}, seen{};
    std::thread application([&] {
      const int nice = ::getpriority(PRIO_PROCESS, 0) + more;
      (void)::setpriority(PRIO_PROCESS, 0, nice);
      expected = {std::max(::getpriority(PRIO_PROCESS, 0), 10), SCHED_OTHER};
      seen = seen_while_converting(expected);
    });
    application.join();
    CHECK(seen.nice == expected.nice);
    CHECK(seen.policy == expected.policy);
  }
}

TEST_CASE("a conversion's thread of a real-time one is none" * doctest::test_suite("real time")) {
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  bool real_time = false;
  Priority seen{};
  std::thread application([&] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    real_time = ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
    if (real_time) seen = seen_while_converting({std::max(nice, 10), SCHED_OTHER});
  });
  application.join();
  if (!real_time) return test::skip("there is no right to real-time priorities");
  CHECK(seen.nice == std::max(nice, 10));
  CHECK(seen.policy == SCHED_OTHER);
}
