// Launches of problems with features, and of those with a dimension of 0.
#include <doctest/doctest.h>

#include <limits>

#include "agent/launch/kernel_state.hpp"
#include "tests/unit/launch/launch_only_device.hpp"
#include "tests/unit/launch/problem_kernel.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::detail::KernelState;
using idletune::detail::LaunchTable;
using idletune::test::LaunchOnlyDevice;
using idletune::test::LaunchOnlyProgram;
using idletune::test::problem_package;

namespace {

class CountingDevice final : public LaunchOnlyDevice {
 public:
  CountingDevice() { info_.backend = "opencl"; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest&) override {
    return std::unique_ptr<Program>(new Counter(*this));
  }
  Result<Nanoseconds> elapsed(void*) override { return Nanoseconds(1); }
  void discard(void*) override {}
  int launches = 0;

 private:
  struct Counter final : LaunchOnlyProgram {
    explicit Counter(CountingDevice& d) : device(d) {}
    Status enqueue(std::uint32_t, const Range&, Span<const Argument>, const LaunchOptions&,
                   void**) override {
      ++device.launches;
      return {};
    }
    CountingDevice& device;
  };
};

}  // namespace

TEST_CASE("problems that differ in a feature alone have slots of their own") {
  CHECK(LaunchTable::hash({{8, 8}, {1, 0}}) != LaunchTable::hash({{8, 8}, {2, 0}}));
  CHECK(LaunchTable::hash({{8, 8}, {0.0}}) == LaunchTable::hash({{8, 8}, {-0.0}}));
  CountingDevice device;
  auto kernel = required(KernelState::create(device, problem_package(), 16, 0));
  int data = 0;
  const Argument buffer(&data);
  for (const double mean : {1.0, 2.0, 1.0}) {
    CHECK(kernel->launch({}, {{8, 8}, {mean, 0}}, {&buffer, 1}).ok());
  }
  CHECK(device.launches == 3);
  CHECK(kernel->table().published() == 2);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(kernel->launch({}, {{8, 8}, {no_number, 0}}, {&buffer, 1}).code() ==
        StatusCode::invalid_argument);
  CHECK(kernel->launch({}, {8, 8}, {&buffer, 1}).code() == StatusCode::invalid_argument);
  CHECK(kernel->table().published() == 2);
}

TEST_CASE("a launch of no work succeeds, does nothing and takes no slot") {
  CountingDevice device;
  for (const std::size_t slots : {std::size_t{1}, std::size_t{16}}) {
    auto kernel = required(KernelState::create(device, problem_package(), slots, 0));
    int data = 0;
    const Argument buffer(&data);
    CHECK(kernel->launch({}, {{8, 8}, {1, 0}}, {&buffer, 1}).ok());
    device.launches = 0;
    CHECK(kernel->launch({}, {{8, 0}, {1, 0}}, {&buffer, 1}).ok());
    CHECK(device.launches == 0);
    CHECK(kernel->table().published() == 1);
    CHECK(kernel->launch({}, {{0, 8}, {1, 0}}, {&buffer, 1}).code() ==
          StatusCode::invalid_argument);
  }
}
