#include <doctest/doctest.h>

#include "models/devices/device_kind.hpp"

using namespace idletune;

TEST_CASE("a name tells a processor from a GPU") {
  for (const char* name :
       {"pthread-AMD EPYC 7B13", "pthread-skylake-avx512-AMD EPYC", "cpu-cortex-a72",
        "Intel(R) Xeon(R) Platinum 8481C", "AMD Ryzen 7 5800X 8-Core Processor",
        "Intel(R) Core(TM) i7-12700", "ARM Neoverse-N1"}) {
    INFO(name);
    CHECK(device_kind(name) == DeviceKind::processor);
  }
  for (const char* name : {"Mali-G610 r0p0", "QUALCOMM Adreno(TM) 740", "NVIDIA A100-PCIE-40GB",
                           "Orin", "AMD Radeon PRO W6600", "gfx1030", "RTX_2080_Ti", "MI250X",
                           "Intel(R) Iris(R) Xe Graphics", "Tesla K20m"}) {
    INFO(name);
    CHECK(device_kind(name) == DeviceKind::gpu);
  }
  CHECK(device_kind("") == DeviceKind::unknown);
}

TEST_CASE("only kinds that are known are different") {
  CHECK(of_other_kind(DeviceKind::gpu, DeviceKind::processor));
  CHECK_FALSE(of_other_kind(DeviceKind::gpu, DeviceKind::gpu));
  CHECK_FALSE(of_other_kind(DeviceKind::unknown, DeviceKind::processor));
}
