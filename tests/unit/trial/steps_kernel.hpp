// A kernel of three steps: t = x * x (scratch), u = t + 1 (scratch), y += 2 * u; with seeded faults
// in each of them. Small problems (N below 8) are done by one step.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "agent/trial/trial.hpp"
#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/fake_device.hpp"

namespace idletune::fake {

enum StepFault : std::int64_t {
  kNoStepFault = 0,
  kFirstStepWrong,
  kSecondStepWrong,
  kLastStepWrong,
  kFirstStepForgets,   // leaves an element of scratch as it was
  kFirstStepOverruns,  // writes behind the scratch
  kSecondStepFails,    // the driver's error
  kSecondStepWritesInput,
  kStepFaultCount
};

inline DescribedArgument steps_argument(const char* name, ArgumentKind kind, Access access,
                                        const char* size) {
  DescribedArgument argument;
  argument.name = name;
  argument.kind = kind;
  argument.type = kind == ArgumentKind::dimension ? ScalarType::i32 : ScalarType::f32;
  argument.access = access;
  argument.fill = Fill::uniform;
  argument.fill_high = 1;
  argument.size = size;
  return argument;
}

inline DescribedStep step_of(const char* entry, std::vector<std::string> arguments,
                             const char* condition) {
  DescribedStep step;
  step.entry = entry;
  step.arguments = std::move(arguments);
  step.condition = condition;
  step.launch.global = {"round_up(N, LOCAL)"};
  step.launch.local = {"LOCAL"};
  return step;
}

inline KernelDescription steps_description() {
  KernelDescription description;
  description.name = "steps";
  description.source = "source of steps";
  description.dimensions = {"N"};
  DescribedParameter fault{"FAULT", ParameterKind::other, {}, 0};
  for (std::int64_t i = 0; i < kStepFaultCount; ++i) fault.values.push_back(i);
  description.parameters = {fault, {"LOCAL", ParameterKind::work_group, {4, 16}, 4}};
  description.arguments = {steps_argument("x", ArgumentKind::buffer, Access::in, "N"),
                           steps_argument("y", ArgumentKind::buffer, Access::inout, "N"),
                           steps_argument("t", ArgumentKind::scratch, Access::out, "N < 8 ? 0 : N"),
                           steps_argument("u", ArgumentKind::scratch, Access::out, "N < 8 ? 0 : N"),
                           steps_argument("n", ArgumentKind::dimension, Access::in, "N")};
  description.steps = {step_of("square", {"x", "t", "n"}, "N >= 8"),
                       step_of("increment", {"t", "u", "n", "x"}, "N >= 8"),
                       step_of("add", {"u", "y", "n"}, "N >= 8"),
                       step_of("all", {"x", "y", "n"}, "N < 8")};
  description.reference.entry = "reference";
  description.reference.launch.global = {"N"};
  description.reference.launch.local = {"1"};
  description.tolerance.relative = 1e-5;
  return description;
}

struct FaultFinding {
  std::int64_t fault;
  TrialStatus status;
  const char* message;  // a part of it
};

// Each is found by a check of the bench, which is right again where there is no fault (0).
template <class Bench>
void expect_found(Bench& bench, std::initializer_list<FaultFinding> findings) {
  for (const FaultFinding& expected : findings) {
    CAPTURE(expected.message);
    const TrialOutcome outcome = bench.check(expected.fault);
    CHECK(outcome.status == expected.status);
    CHECK_MESSAGE(outcome.message.find(expected.message) != std::string::npos, outcome.message);
    const TrialOutcome next = bench.check(0);
    CHECK_MESSAGE(next.status == TrialStatus::correct, next.message);
  }
}

inline std::shared_ptr<const KernelPackage> steps_package() {
  return required(KernelPackage::open(required(pack(steps_description())), "steps"));
}

inline Status all_at_once(const Launch& launch) {
  const float* x = launch.buffer<float>(0);
  float* y = launch.buffer<float>(1);
  const auto n = launch.scalar<std::int32_t>(2);
  for (std::int32_t i = 0; i < n; ++i) y[i] += 2 * (x[i] * x[i] + 1);
  return {};
}

inline Status square(const Launch& launch) {
  const std::int64_t fault = launch.parameter("FAULT");
  const float* x = launch.buffer<float>(0);
  float* t = launch.buffer<float>(1);
  const auto n = launch.scalar<std::int32_t>(2);
  for (std::int32_t i = 0; i < n; ++i) {
    if (fault == kFirstStepForgets && i == n / 2) continue;
    t[i] = x[i] * x[i];
  }
  if (fault == kFirstStepWrong) t[n - 1] += 1;
  if (fault == kFirstStepOverruns) t[n] = 0;
  return {};
}

inline Status increment(const Launch& launch) {
  const std::int64_t fault = launch.parameter("FAULT");
  const float* t = launch.buffer<float>(0);
  float* u = launch.buffer<float>(1);
  const auto n = launch.scalar<std::int32_t>(2);
  if (fault == kSecondStepFails) return Status(StatusCode::device_error, "the second step broke");
  for (std::int32_t i = 0; i < n; ++i) u[i] = t[i] + (fault == kSecondStepWrong ? 2.0f : 1.0f);
  if (fault == kSecondStepWritesInput) launch.buffer<float>(3)[0] += 1;
  return {};
}

inline Status add(const Launch& launch) {
  const float* u = launch.buffer<float>(0);
  float* y = launch.buffer<float>(1);
  const auto n = launch.scalar<std::int32_t>(2);
  const bool wrong = launch.parameter("FAULT") == kLastStepWrong;
  for (std::int32_t i = 0; i < n; ++i) y[i] += wrong && i == 0 ? u[i] : 2 * u[i];
  return {};
}

inline void give_steps_kernels(Device& device) {
  device.kernels["reference"] = all_at_once;
  device.kernels["all"] = all_at_once;
  device.kernels["square"] = square;
  device.kernels["increment"] = increment;
  device.kernels["add"] = add;
}

}  // namespace idletune::fake
