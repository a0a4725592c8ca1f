#include "agent/host/lab/steps/family_distance.hpp"

#include <doctest/doctest.h>

using namespace idletune;

TEST_CASE("devices for another market are further apart, and unknown markets between") {
  const DeviceFamily a100 = device_family("A100");
  const DeviceFamily mali = device_family("Mali-G71");
  CHECK(family_distance(a100, a100) == 0);
  CHECK(family_distance(a100, device_family("V100")) == doctest::Approx(0.75));
  CHECK(family_distance(a100, device_family("MI250X")) == doctest::Approx(2.25));
  CHECK(family_distance(a100, mali) == doctest::Approx(4));
  CHECK(family_distance(a100, device_family("?")) == doctest::Approx(1.5));
  CHECK(family_distance(mali, a100) == family_distance(a100, mali));
}
