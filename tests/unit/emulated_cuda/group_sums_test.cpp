// GROUP_SUM of the portable dialect, which adds up within warps, where a group is no whole warp.
#include <doctest/doctest.h>

#include "tests/unit/emulated_cuda/package_run.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace emulated_cuda;

TEST_CASE("sums of a group that is no whole warp only hear from threads that are there" *
          doctest::test_suite("NVRTC")) {
  const auto package = package_with("krylov/vectors/dot", nullptr);
  for (const std::int64_t group : {16, 32, 64}) {
    CAPTURE(group);
    const EmulatedDriver emulated;
    auto device = cuda::open(0, emulated.options());
    REQUIRE_MESSAGE(device.ok(), device.status().to_string());
    if (!(*device)->info().has_compiler) return idletune::test::skip("no NVRTC");
    const Status status =
        run_package(**device, *package, {200}, configuration_with(*package, {{"WG", group}}));
    CHECK_MESSAGE(status.ok(), status.to_string());
    CHECK(emulated.found() == "");
  }
}
