#include "platform/os/clock.hpp"

namespace idletune {
namespace {

class SteadyClock final : public MonotonicClock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  std::int64_t unix_seconds() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
  }
};

}  // namespace

const MonotonicClock& real_clock() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace idletune
