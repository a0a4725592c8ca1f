#include "agent/trial/reference_outputs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "agent/trial/compiled_variants.hpp"
#include "agent/trial/trial_failure.hpp"
#include "agent/trial/warm_up.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::trial {

ReferenceOutputs::ReferenceOutputs(Device& device, const KernelPackage& package,
                                   const TrialExecutorOptions& options, ScratchRuns& runs)
    : device_(device), package_(package), options_(options), runs_(runs) {}

void ReferenceOutputs::release() {
  forget();
  programs_.clear();
  ran_ = false;
}

const Reference* ReferenceOutputs::get(const TrialRequest& request, TrialOutcome& outcome) {
  for (Reference& reference : references_) {
    if (reference.seed != request.seed) continue;
    reference.last_use = ++clock_;
    return &reference;
  }
  Reference made;
  made.seed = request.seed;
  made.last_use = ++clock_;
  if (!make(request, outcome, made)) return nullptr;
  if (references_.size() >= kCachedReferences) {
    references_.erase(std::min_element(
        references_.begin(), references_.end(),
        [](const Reference& a, const Reference& b) { return a.last_use < b.last_use; }));
  }
  references_.push_back(std::move(made));
  return &references_.back();
}

bool ReferenceOutputs::make(const TrialRequest& request, TrialOutcome& outcome, Reference& made) {
  const Configuration& configuration = package_.reference().configuration();
  if (!runs_.fit(request.shape, configuration, outcome)) return false;
  const Status filled = runs_.scratch().fill(request.seed);
  if (!filled.ok()) return fail_prepare(outcome, TrialStatus::runtime, filled.message());
  if (!run(request, outcome)) return false;
  return keep(request.seed, outcome, made);
}

bool ReferenceOutputs::run(const TrialRequest& request, TrialOutcome& outcome) {
  const Result<LaunchPlan> plan = package_.reference().plan(request.shape);
  if (!plan) return fail_prepare(outcome, TrialStatus::constraints, plan.status().message());
  if (!compile(request.shape, outcome)) return false;
  if (!launch(request, *plan, outcome)) {
    outcome.stage = TrialStage::prepare;
    return false;
  }
  std::string damage;
  const Status status = runs_.scratch().find_damage(request.seed, damage);
  if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, status.message());
  if (damage.empty()) return true;
  return fail_prepare(outcome, TrialStatus::correctness, joined("the reference %", damage));
}

bool ReferenceOutputs::compile(const Shape& shape, TrialOutcome& outcome) {
  if (!programs_.empty()) return true;
  Result<StepPrograms> programs = compile_reference(device_, package_);
  Status status = programs.status();
  if (status.ok()) {
    const Shape small = small_shape(package_, shape, nullptr);
    status = warm_up(device_, package_, *programs, small, package_.reference().plan(small),
                     package_.reference().configuration(), options_.reference_deadline);
  }
  if (!status.ok()) {
    const bool timeout = status.code() == StatusCode::timeout;
    return fail_prepare(outcome, timeout ? TrialStatus::timeout : status_of_compile(status),
                        joined("the reference: %", status.message()));
  }
  programs_ = std::move(*programs);
  return true;
}

bool ReferenceOutputs::launch(const TrialRequest& request, const LaunchPlan& plan,
                              TrialOutcome& outcome) {
  const Nanoseconds deadline =
      std::max(options_.reference_deadline,
               request.deadline + (ran_ ? Nanoseconds(0) : options_.first_run_allowance));
  Nanoseconds unused{0};
  for (const Span<const PlannedStep> steps : {plan.setup(), plan.steps()}) {
    if (!runs_.launch(programs_, steps, request, package_.reference().configuration(), deadline,
                      outcome, unused)) {
      return false;
    }
  }
  ran_ = true;
  return true;
}

bool ReferenceOutputs::keep(std::uint32_t seed, TrialOutcome& outcome, Reference& made) {
  bool wrote_something = false;
  std::size_t outputs = 0;
  const Scratch& scratch = runs_.scratch();
  for (std::size_t i = 0; i < scratch.count(); ++i) {
    made.outputs.emplace_back();
    if (scratch.spec(i).access == Access::in || scratch.spec(i).kind != ArgumentKind::buffer) {
      continue;
    }
    ++outputs;
    Result<HostBytes> bytes = allocate_host(scratch.data_bytes(i));
    if (!bytes) return fail_prepare(outcome, TrialStatus::runtime, bytes.status().message());
    Status status = read(i, seed, *bytes, wrote_something);
    if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, status.message());
    made.outputs.back() = std::move(*bytes);
  }
  if (outputs == 0) {
    return fail_prepare(outcome, TrialStatus::correctness,
                        "the package declares no output: nothing could be checked");
  }
  if (!wrote_something) {
    return fail_prepare(outcome, TrialStatus::correctness,
                        "the reference changed no output: nothing could be checked");
  }
  return true;
}

Status ReferenceOutputs::read(std::size_t buffer, std::uint32_t seed, HostBytes& bytes,
                              bool& changed) {
  Result<HostBytes> initial = allocate_host(Scratch::kChunkBytes);
  if (!initial) return initial.status();
  for (std::size_t offset = 0; offset < bytes.size; offset += Scratch::kChunkBytes) {
    const MutableBytes part = bytes.view().subspan(offset, Scratch::kChunkBytes);
    Status status = runs_.scratch().read(buffer, offset, part);
    if (!status.ok()) return status;
    if (changed) continue;
    const MutableBytes before = initial->view().subspan(0, part.size());
    runs_.scratch().initial_content(buffer, seed, offset, before);
    changed = !std::equal(part.begin(), part.end(), before.begin());
  }
  return {};
}

}  // namespace idletune::trial
