#include "agent/trial/in_process_trials.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/unit/trial/fake_device.hpp"
#include "tests/unit/trial/scale_kernel.hpp"

using namespace idletune;
using namespace idletune::fake;

namespace {

TrialRequest check_request(std::int64_t fault) {
  TrialRequest request;
  request.stage = TrialStage::check;
  request.shape = {100};
  request.configuration = {fault, 16, 0};
  return request;
}

void add_kernels(fake::Device& device) {
  device.kernels["scale_reference"] = [](const Launch& launch) {
    scale_reference(launch);
    return Status();
  };
  device.kernels["scale"] = [](const Launch& launch) { return scale(launch, 0, 0); };
}

std::unique_ptr<InProcessTrials> trials_on(fake::Device& device) {
  auto trials = InProcessTrials::create(
      std::make_unique<TrialExecutor>(device, package_of(scale_description())));
  REQUIRE(trials.ok());
  return std::move(*trials);
}

}  // namespace

TEST_CASE("on its own thread a stage runs on while the caller does something else") {
  fake::Device device;
  add_kernels(device);
  std::atomic<bool> go{false};
  device.compile_script = [&](const CompileRequest&) {
    while (!go.load()) std::this_thread::yield();
    return Status();
  };
  auto trials = trials_on(device);
  REQUIRE(trials->start(check_request(kNoFault)).ok());
  TrialOutcome outcome;
  CHECK_FALSE(trials->poll(Nanoseconds(0), outcome));
  CHECK_FALSE(trials->poll(std::chrono::milliseconds(5), outcome));
  CHECK(trials->start(check_request(kNoFault)).code() == StatusCode::busy);
  go.store(true);
  REQUIRE(trials->poll(std::chrono::minutes(5), outcome));
  CHECK(outcome.status == TrialStatus::correct);
}

TEST_CASE("after a hang no further trial starts in this process") {
  auto device = std::make_unique<fake::Device>();
  add_kernels(*device);
  {
    auto trials = trials_on(*device);
    CHECK_FALSE(trials->isolated());
    REQUIRE(trials->start(check_request(kHangs)).ok());
    TrialOutcome outcome;
    REQUIRE(trials->poll(std::chrono::minutes(5), outcome));
    CHECK(outcome.status == TrialStatus::timeout);
    CHECK(trials->poisoned());
    CHECK(trials->start(check_request(kNoFault)).code() == StatusCode::device_error);
  }
  (void)device.release();  // what was not freed refers to it, for good
}

TEST_CASE("destruction waits for a running stage") {
  fake::Device device;
  add_kernels(device);
  std::atomic<bool> ended{false};
  device.kernels["scale"] = [&](const Launch& launch) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended.store(true);
    return scale(launch, 0, 0);
  };
  {
    auto trials = trials_on(device);
    REQUIRE(trials->start(check_request(kNoFault)).ok());
  }
  // It either never began or has ended: nothing runs on the device now.
  CHECK((device.count("scale") == 0 || ended.load()));
}
