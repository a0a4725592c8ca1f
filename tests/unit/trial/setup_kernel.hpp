// A kernel with a setup: y = 3 * w * x, where w is constant. With CONVERT, p = 3 * w is prepared
// once and y = p * x is what each launch does; with seeded faults in either.
#pragma once

#include "tests/unit/required.hpp"
#include "tests/unit/trial/steps_kernel.hpp"

namespace idletune::fake {

enum SetupFault : std::int64_t {
  kNoSetupFault = 0,
  kSetupWrong,
  kSetupForgets,      // leaves an element of what it prepares as it was
  kSetupAdds,         // to what was there before
  kSetupOverruns,     // writes behind what it prepares
  kSetupFails,        // the driver's error
  kSetupWritesInput,  // the constant buffer
  kStepWrong,
  kStepSpoils,  // what was prepared: right once
  kSetupFaultCount
};

inline KernelDescription setup_description() {
  KernelDescription description;
  description.name = "scaled";
  description.source = "source of scaled";
  description.dimensions = {"N"};
  DescribedParameter fault{"FAULT", ParameterKind::other, {}, 0};
  for (std::int64_t i = 0; i < kSetupFaultCount; ++i) fault.values.push_back(i);
  description.parameters = {fault,
                            {"LOCAL", ParameterKind::work_group, {4, 16}, 4},
                            {"CONVERT", ParameterKind::other, {0, 1}, 0}};
  description.arguments = {
      steps_argument("w", ArgumentKind::buffer, Access::in, "N"),
      steps_argument("x", ArgumentKind::buffer, Access::in, "N"),
      steps_argument("y", ArgumentKind::buffer, Access::out, "N"),
      steps_argument("p", ArgumentKind::prepared, Access::out, "CONVERT ? N : 0"),
      steps_argument("n", ArgumentKind::dimension, Access::in, "N")};
  description.arguments[0].constant = true;
  description.steps = {step_of("direct", {"w", "x", "y", "n"}, "CONVERT == 0"),
                       step_of("scale", {"p", "x", "y", "n"}, "CONVERT")};
  description.setup = {step_of("convert", {"w", "p", "n"}, "CONVERT")};
  description.reference.entry = "reference";
  description.reference.launch.global = {"N"};
  description.reference.launch.local = {"1"};
  description.tolerance.relative = 1e-5;
  return description;
}

inline std::shared_ptr<const KernelPackage> setup_package() {
  return required(KernelPackage::open(required(pack(setup_description())), "scaled"));
}

inline Status scaled_at_once(const Launch& launch) {
  const float* w = launch.buffer<float>(0);
  const float* x = launch.buffer<float>(1);
  float* y = launch.buffer<float>(2);
  const auto n = launch.scalar<std::int32_t>(3);
  for (std::int32_t i = 0; i < n; ++i) y[i] = 3 * w[i] * x[i];
  return {};
}

inline Status convert(const Launch& launch) {
  const std::int64_t fault = launch.parameter("FAULT");
  float* w = launch.buffer<float>(0);
  float* p = launch.buffer<float>(1);
  const auto n = launch.scalar<std::int32_t>(2);
  if (fault == kSetupFails) return Status(StatusCode::device_error, "the setup broke");
  for (std::int32_t i = 0; i < n; ++i) {
    if (fault == kSetupForgets && i == n / 2) continue;
    p[i] = 3 * w[i] + (fault == kSetupAdds ? p[i] : 0);
  }
  if (fault == kSetupWrong) p[n - 1] += 1;
  if (fault == kSetupOverruns) p[n] = 0;
  if (fault == kSetupWritesInput) w[0] += 1;
  return {};
}

inline Status scale(const Launch& launch) {
  const std::int64_t fault = launch.parameter("FAULT");
  float* p = launch.buffer<float>(0);
  const float* x = launch.buffer<float>(1);
  float* y = launch.buffer<float>(2);
  const auto n = launch.scalar<std::int32_t>(3);
  for (std::int32_t i = 0; i < n; ++i) y[i] = p[i] * x[i];
  if (fault == kStepWrong) y[0] += 1;
  if (fault == kStepSpoils) p[n - 1] += 1;
  return {};
}

inline void give_setup_kernels(Device& device) {
  device.kernels["reference"] = scaled_at_once;
  device.kernels["direct"] = scaled_at_once;
  device.kernels["convert"] = convert;
  device.kernels["scale"] = scale;
}

}  // namespace idletune::fake
