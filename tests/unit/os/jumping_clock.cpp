#include "tests/unit/os/jumping_clock.hpp"

#include <dlfcn.h>

#include <atomic>

namespace {

std::atomic<std::int64_t> system_ahead{0};
std::atomic<std::int64_t> steady_ahead{0};

using GetTime = int (*)(clockid_t, timespec*);

}  // namespace

void idletune::test::set_clock_ahead(clockid_t clock, std::int64_t seconds) {
  (clock == CLOCK_REALTIME ? system_ahead : steady_ahead).store(seconds);
}

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = reinterpret_cast<GetTime>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int failed = real(clock, time);
  if (failed != 0) return failed;
  if (clock == CLOCK_REALTIME) time->tv_sec += static_cast<time_t>(system_ahead.load());
  if (clock == CLOCK_MONOTONIC) time->tv_sec += static_cast<time_t>(steady_ahead.load());
  return 0;
}
