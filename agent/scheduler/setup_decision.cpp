#include "agent/scheduler/setup_decision.hpp"

#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"

namespace idletune {
namespace {

constexpr double kReserve = 1.25;  // on what the setup takes

}  // namespace

double break_even_launches(const SetupPrice& price) {
  if (price.with >= price.without) return HUGE_VAL;
  return real_ns(price.setup) / real_ns(price.without - price.with);
}

bool setup_pays(const SetupPrice& price, const SetupSituation& situation) {
  const double needed = kReserve * break_even_launches(price);
  if (!(situation.launches > needed)) return false;
  if (situation.again && situation.missed < needed) return false;
  return situation.said || price.setup <= situation.allowance;
}

}  // namespace idletune
