// The clocks as this program sees them: jumping_clock.cpp takes the place of the C library's
// clock_gettime. The kernel's waits do not notice.
#pragma once

#include <time.h>

#include <cstdint>

namespace idletune::test {

// From now on CLOCK_REALTIME or CLOCK_MONOTONIC is so far ahead of the real one. Signal handlers
// may call it.
void set_clock_ahead(clockid_t clock, std::int64_t seconds);

}  // namespace idletune::test
