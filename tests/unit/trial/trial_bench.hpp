// An executor on a device of lambdas, with the kernel of scale_kernel.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/trial/trial_executor.hpp"
#include "agent/trial/tuning_data.hpp"
#include "tests/unit/trial/fake_device.hpp"
#include "tests/unit/trial/scale_kernel.hpp"

namespace idletune::fake {

constexpr std::int64_t kElements = 1000;

struct Bench {
  Device device;
  std::shared_ptr<const KernelPackage> package;
  TrialExecutorOptions options;
  QuirkTable quirks;
  std::unique_ptr<TrialExecutor> executor;

  explicit Bench(const KernelDescription& description = scale_description())
      : package(package_of(description)) {
    float x0 = 0;
    trial::fill_elements(package->argument(0), 0, 2, 0,
                         MutableBytes(reinterpret_cast<std::uint8_t*>(&x0), sizeof x0));
    device.kernels["scale_reference"] = [](const Launch& launch) {
      scale_reference(launch);
      return Status();
    };
    device.kernels["scale"] = [this, x0](const Launch& launch) {
      return scale(launch, x0, device.count("scale") - 1);
    };
  }

  TrialExecutor& get() {
    if (!executor) {
      executor = std::make_unique<TrialExecutor>(device, package, options, quirks);
    }
    return *executor;
  }
  TrialRequest request(TrialStage stage, std::int64_t fault, std::uint32_t seed = 1) {
    TrialRequest result;
    result.stage = stage;
    result.shape = {kElements};
    result.configuration = {fault, 16, 0};
    result.seed = seed;
    result.deadline = std::chrono::milliseconds(100);
    return result;
  }
  TrialOutcome check(std::int64_t fault, std::uint32_t seed = 1) {
    return get().run(request(TrialStage::check, fault, seed));
  }
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace idletune::fake
