// The kernel of these tests: y[i] = a * x[i], z[i] += x[i]; with seeded faults.
#pragma once

#include <doctest/doctest.h>

#include <limits>
#include <memory>

#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/fake_device.hpp"

namespace idletune::fake {

// Values of the parameter FAULT.
enum Fault : std::int64_t {
  kNoFault = 0,
  kOneWrongElement,  // y[N / 2] differs
  kNanElement,
  kInfiniteElement,
  kForgottenElement,  // y[N / 3] is not written
  kForgottenOutput,   // nothing is written
  kBehindTheEnd,      // writes y[N]
  kBeforeTheStart,    // writes x[-1]
  kChangesInput,
  kWrongForSeedTwo,   // wrong where the inputs are those of seed 2 (x[0] tells)
  kSlightlyOff,       // within the tolerance
  kAccumulatesTwice,  // z is wrong, y is right
  kHangs,
  kFailsToRun,
  kBehindTheEndWhenWarm,  // from its second run on
  kFarBehindTheEnd,       // writes y[2 N - 1]
  kFarBeforeTheStart,     // writes x[-N]
  kFaultCount
};

inline KernelDescription scale_description() {
  KernelDescription description = test::made_kernel("scale", "source of scale");
  DescribedParameter fault{"FAULT", ParameterKind::other, {}, 0};
  for (std::int64_t i = 0; i < kFaultCount; ++i) fault.values.push_back(i);
  DescribedParameter local{"LOCAL", ParameterKind::work_group, {16, 64, 2048}, 16};
  DescribedParameter shared{"SHARED", ParameterKind::local_caching, {0, 1024, 65536}, 0};
  description.parameters = {fault, local, shared};
  description.launch.global = {"ceil_div(N, LOCAL) * LOCAL"};
  description.launch.local = {"LOCAL"};
  description.launch.local_memory_bytes = "SHARED";
  const auto argument = [](const char* name, ArgumentKind kind, ScalarType type, Access access,
                           const char* size) {
    DescribedArgument result;
    result.name = name;
    result.kind = kind;
    result.type = type;
    result.access = access;
    result.fill = Fill::uniform;
    result.fill_low = 1;
    result.fill_high = 2;
    result.size = size;
    return result;
  };
  description.arguments = {
      argument("x", ArgumentKind::buffer, ScalarType::f32, Access::in, "N"),
      argument("y", ArgumentKind::buffer, ScalarType::f32, Access::out, "N"),
      argument("z", ArgumentKind::buffer, ScalarType::f32, Access::inout, "N"),
      argument("a", ArgumentKind::scalar, ScalarType::f32, Access::in, ""),
      argument("n", ArgumentKind::dimension, ScalarType::i32, Access::in, "N")};
  description.reference.entry = "scale_reference";
  description.reference.launch.global = {"N"};
  description.reference.launch.local = {"1"};
  description.tolerance.relative = 1e-5;
  return description;
}

inline std::shared_ptr<const KernelPackage> package_of(const KernelDescription& description) {
  return required(KernelPackage::open(required(pack(description)), "test"));
}

inline void scale_reference(const Launch& launch) {
  const float* x = launch.buffer<float>(0);
  float* y = launch.buffer<float>(1);
  float* z = launch.buffer<float>(2);
  const float a = launch.scalar<float>(3);
  const std::int32_t n = launch.scalar<std::int32_t>(4);
  for (std::int32_t i = 0; i < n; ++i) {
    y[i] = a * x[i];
    z[i] += x[i];
  }
}

// `x0_of_seed_two` is what element 0 of x is for seed 2.
inline Status scale(const Launch& launch, float x0_of_seed_two, std::size_t earlier_runs) {
  float* x = launch.buffer<float>(0);
  float* y = launch.buffer<float>(1);
  float* z = launch.buffer<float>(2);
  const std::int32_t n = launch.scalar<std::int32_t>(4);
  const auto fault = static_cast<Fault>(launch.parameter("FAULT"));
  const std::uint32_t poison = [&] {
    std::uint32_t word;
    std::memcpy(&word, y + n / 3, sizeof word);
    return word;
  }();
  if (fault == kHangs) return Status(StatusCode::timeout, "scripted");
  if (fault == kFailsToRun) return Status(StatusCode::device_error, "scripted failure");
  if (fault == kForgottenOutput) return {};
  const bool seed_two = x[0] == x0_of_seed_two;
  scale_reference(launch);
  switch (fault) {
    case kOneWrongElement: y[n / 2] *= 1.001f; break;
    case kNanElement: y[n - 1] = std::numeric_limits<float>::quiet_NaN(); break;
    case kInfiniteElement: y[0] = std::numeric_limits<float>::infinity(); break;
    case kForgottenElement: std::memcpy(y + n / 3, &poison, sizeof poison); break;
    case kBehindTheEnd: y[n] = 1; break;
    case kBeforeTheStart: x[-1] = 1; break;
    case kChangesInput: x[n / 2] += 1; break;
    case kWrongForSeedTwo:
      if (seed_two) y[1] += 1;
      break;
    case kSlightlyOff: y[2] *= 1.000005f; break;
    case kAccumulatesTwice: z[3] += x[3]; break;
    case kFarBehindTheEnd: y[2 * n - 1] = 1; break;
    case kFarBeforeTheStart: x[-n] = 1; break;
    case kBehindTheEndWhenWarm:
      if (earlier_runs > 0) z[n] = 1;
      break;
    default: break;
  }
  return {};
}

}  // namespace idletune::fake
