#include "agent/trial/compiled_variants.hpp"

#include <algorithm>
#include <utility>

#include "agent/trial/limits.hpp"
#include "agent/trial/trial_failure.hpp"
#include "agent/trial/warm_up.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::trial {

CompiledVariants::CompiledVariants(Device& device, const KernelPackage& package,
                                   const TrialExecutorOptions& options, QuirkTable quirks)
    : device_(device), package_(package), options_(options), quirks_(std::move(quirks)) {}

CompiledVariant* CompiledVariants::get(const TrialRequest& request, LaunchPlan& plan,
                                       TrialOutcome& outcome) {
  const TrialStage asked = outcome.stage;
  outcome.stage = TrialStage::compile;
  const Result<LaunchPlan> admitted =
      admitted_plan(device_.info(), package_, quirks_, request.shape, request.configuration,
                    request.ignore_device_limits);
  if (!admitted) {
    fail(outcome, TrialStatus::constraints, admitted.status().message());
    return nullptr;
  }
  CompiledVariant* found = find(request.configuration);
  if (found == nullptr) found = compile(request.configuration, outcome);
  if (found == nullptr) return nullptr;
  if (!request.ignore_device_limits) {
    const Status fits = admit_programs(device_.info(), found->programs, *admitted);
    if (!fits.ok()) {
      fail(outcome, TrialStatus::constraints, fits.message());
      return nullptr;
    }
  }
  if (!found->ran && asked == TrialStage::compile && !generate_code(request, *found, outcome)) {
    return nullptr;
  }
  found->last_use = ++clock_;
  plan = *admitted;
  outcome.stage = asked;
  return found;
}

// The first launch, on a small shape: drivers generate code there, which belongs to the
// compilation and must not wait for a gap.
bool CompiledVariants::generate_code(const TrialRequest& request, CompiledVariant& variant,
                                     TrialOutcome& outcome) {
  Nanoseconds deadline = request.deadline.count() > 0 ? request.deadline : kNoDeadline;
  deadline += options_.first_run_allowance;
  const Shape small = small_shape(package_, request.shape, &variant.configuration);
  const Status warm = warm_up(device_, package_, variant.programs, small,
                              package_.plan(small, variant.configuration), variant.configuration,
                              deadline, kSmallScratchBytes, &outcome.device);
  if (warm.ok()) return true;
  const bool timeout = warm.code() == StatusCode::timeout;
  return fail(outcome, timeout ? TrialStatus::timeout : TrialStatus::runtime,
              Status(warm.code(), "first launch: %", warm.message()));
}

CompiledVariant* CompiledVariants::find(const Configuration& configuration) {
  for (CompiledVariant& variant : variants_) {
    if (variant.configuration == configuration) return &variant;
  }
  return nullptr;
}

CompiledVariant* CompiledVariants::compile(const Configuration& configuration,
                                           TrialOutcome& outcome) {
  // Few candidates are compiled twice, and the flash wears: those that win are kept when they are
  // compiled for launches.
  const bool keep = configuration == package_.default_configuration();
  Result<StepPrograms> programs = compile_steps(device_, package_, configuration, 1, keep);
  if (!programs) {
    fail(outcome, status_of_compile(programs.status()), programs.status());
    return nullptr;
  }
  if (variants_.size() >= options_.compiled_variants) {
    variants_.erase(std::min_element(variants_.begin(), variants_.end(),
                                     [](const CompiledVariant& a, const CompiledVariant& b) {
                                       return a.last_use < b.last_use;
                                     }));
  }
  CompiledVariant variant;
  variant.configuration = configuration;
  variant.programs = std::move(*programs);
  variants_.push_back(std::move(variant));
  return &variants_.back();
}

}  // namespace idletune::trial
