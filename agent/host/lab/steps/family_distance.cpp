#include "agent/host/lab/steps/family_distance.hpp"

namespace idletune {
namespace {

constexpr double kOtherMarket = 1;

}  // namespace

double family_distance(const DeviceFamily& a, const DeviceFamily& b) {
  const double distance = origin_distance(a, b);
  if (a.market == Market::unknown || b.market == Market::unknown)
    return distance + kOtherMarket / 2;
  return a.market != b.market ? distance + kOtherMarket : distance;
}

}  // namespace idletune
