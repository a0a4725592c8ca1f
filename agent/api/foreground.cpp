#include "agent/api/foreground.hpp"

#include <algorithm>

namespace idletune::detail {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kSlice = std::chrono::milliseconds(250);
constexpr int kStageTries = 4;  // of a stage that takes longer than it was thought to

}  // namespace

Ending tune_within(Agent& agent, nanoseconds budget,
                   const std::function<bool(std::uint64_t steps)>& go_on) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto left = [&] { return nanoseconds(budget - (Clock::now() - start)); };
  std::uint64_t steps = 0;
  for (;;) {
    if (!go_on(steps)) return Ending::interrupted;
    if (left().count() <= 0) return Ending::budget;
    IdleReport report = agent.tune_now(std::min(left(), kSlice));
    steps += report.steps;
    // Stages of the foreground may be as long as they like: what does not fit a slice gets what it
    // needs, and no more, so that an interrupt is heard after it.
    for (int tries = 1; report.needs.count() > 0 && tries <= kStageTries && go_on(steps); ++tries) {
      report = agent.tune_now(std::min<nanoseconds>(left(), tries * (report.needs + kSlice)));
      steps += report.steps;
    }
    if (report.stages == 0 && !report.waiting)
      return left().count() <= 0 ? Ending::budget : Ending::nothing_left;
  }
}

}  // namespace idletune::detail
