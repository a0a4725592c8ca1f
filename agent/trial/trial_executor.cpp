#include "agent/trial/trial_executor.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "agent/trial/compiled_variants.hpp"
#include "agent/trial/output_check.hpp"
#include "agent/trial/reference_outputs.hpp"
#include "agent/trial/scratch.hpp"
#include "agent/trial/scratch_runs.hpp"
#include "agent/trial/trial_failure.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/package/captured_arguments.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/mutex.hpp"
#include "platform/os/storage.hpp"

namespace idletune {
namespace {

using trial::CompiledVariant;
using trial::fail;
using trial::fail_prepare;
using trial::HostBytes;
using trial::Reference;
using trial::Scratch;

constexpr std::uint32_t kTriesPerSample = 3;  // against events that report no time
constexpr std::uint32_t kMaxRepeats = 10000;

}  // namespace

class TrialExecutor::State {
 public:
  State(Device& device, std::shared_ptr<const KernelPackage> package,
        const TrialExecutorOptions& options, QuirkTable quirks)
      : device_(device),
        package_(std::move(package)),
        options_(with_two_variants(options)),
        runs_(device, *package_, options_),
        variants_(device, *package_, options_, std::move(quirks)),
        references_(device, *package_, options_, runs_) {}

  void run(const TrialRequest& request, TrialOutcome& outcome) {
    const Nanoseconds start = device_.now();
    outcome.stage = request.stage;
    if (poisoned_) {
      const Status usable = device_.usable();
      fail(outcome, TrialStatus::runtime,
           joined("%", usable.ok() ? "an earlier run has not ended: the device is given up"
                                   : usable.message()));
    } else {
      run_stage(request, outcome);
      // A run that has not ended may still use the buffers; and what an error has spoilt fails for
      // every configuration, not for this one.
      const bool unfinished = outcome.status == TrialStatus::timeout;
      poisoned_ = unfinished || !device_.usable().ok();
    }
    outcome.wall = device_.now() - start;
  }

  bool poisoned() const { return poisoned_; }

 private:
  static TrialExecutorOptions with_two_variants(TrialExecutorOptions options) {
    options.compiled_variants = std::max<std::uint32_t>(options.compiled_variants, 2);
    return options;
  }

  // Every step returns false after having described its failure in `outcome`.
  void run_stage(const TrialRequest& request, TrialOutcome& outcome) {
    switch (request.stage) {
      case TrialStage::compile:
        if (variant(request, outcome) != nullptr) {
          TrialOutcome of_prepare;
          (void)references_.compile(request.shape, of_prepare);
        }
        return;
      case TrialStage::prepare:
        if (request.only_warm_up) {
          (void)references_.compile(request.shape, outcome);
        } else {
          (void)reference(request, outcome);
        }
        return;
      case TrialStage::check: return check(request, outcome);
      case TrialStage::measure: return measure(request, outcome);
    }
    fail(outcome, TrialStatus::runtime, "no such stage");
  }

  // The compiled variant, and its launch in plan_.
  CompiledVariant* variant(const TrialRequest& request, TrialOutcome& outcome) {
    return variants_.get(request, plan_, outcome);
  }

  const Reference* reference(const TrialRequest& request, TrialOutcome& outcome) {
    if (!enter_problem(request, outcome)) return nullptr;
    return references_.get(request, outcome);
  }

  // Takes over another shape, or other data that the application has lent of it.
  bool enter_problem(const TrialRequest& request, TrialOutcome& outcome) {
    if (shape_ == request.shape && captured_name_ == request.captured &&
        captured_.digest() == request.captured_digest) {
      return true;
    }
    forget_problem();
    if (!request.captured.empty()) {
      const Status read = read_captured(request);
      if (!read.ok()) return fail_prepare(outcome, TrialStatus::constraints, read.message());
      runs_.scratch().use(&captured_);
    }
    shape_ = request.shape;
    captured_name_ = request.captured;
    return true;
  }

  Status read_captured(const TrialRequest& request) {
    Result<std::vector<std::uint8_t>> bytes =
        read_file(request.captured, CapturedArguments::kMaxBytes);
    if (!bytes.ok()) return bytes.status();
    Result<CapturedArguments> opened = CapturedArguments::open(std::move(*bytes), request.captured);
    if (!opened.ok()) return opened.status();
    captured_ = std::move(*opened);
    if (captured_.digest() != request.captured_digest) {
      return Status(StatusCode::invalid_argument, "captured arguments '%' were replaced by others",
                    request.captured);
    }
    if (captured_.shape() == request.shape) return captured_.check(*package_);
    return Status(StatusCode::invalid_argument, "captured arguments '%' are of another problem",
                  request.captured);
  }

  void forget_problem() {
    references_.forget();
    runs_.scratch().release();
    runs_.scratch().use(nullptr);
    captured_ = CapturedArguments();
    shape_ = Shape();
  }

  // --- check ---

  void check(const TrialRequest& request, TrialOutcome& outcome) {
    CompiledVariant* candidate = variant(request, outcome);
    if (candidate == nullptr) return;
    const Reference* truth = reference(request, outcome);
    if (truth == nullptr || !runs_.fit(request.shape, request.configuration, outcome)) return;
    const Status filled = runs_.scratch().fill(request.seed);
    if (!filled.ok()) {
      fail_prepare(outcome, TrialStatus::runtime, filled.message());
      return;
    }
    if (!set_up(*candidate, request, outcome)) return;
    if (!run_and_compare(*candidate, request, *truth, outcome) || plan_.setup().empty()) return;
    // What a setup left must serve every launch, not the first one alone.
    const Status refilled = runs_.scratch().fill(request.seed, Scratch::Refill::launches);
    if (!refilled.ok()) {
      fail_prepare(outcome, TrialStatus::runtime, refilled.message());
      return;
    }
    run_and_compare(*candidate, request, *truth, outcome);
  }

  bool run_and_compare(CompiledVariant& candidate, const TrialRequest& request,
                       const Reference& truth, TrialOutcome& outcome) {
    Nanoseconds unused{0};
    if (!launch_variant(candidate, request, outcome, unused)) return false;
    std::string damage;
    const Status status = runs_.scratch().find_damage(request.seed, damage);
    if (!status.ok()) return fail(outcome, TrialStatus::runtime, status);
    if (damage.empty()) return compare(request, truth, outcome);
    outcome.max_error = std::numeric_limits<double>::infinity();
    return fail(outcome, TrialStatus::correctness, damage);
  }

  bool compare(const TrialRequest& request, const Reference& truth, TrialOutcome& outcome) {
    const Result<Tolerance> tolerance = package_->reference().tolerance(request.shape);
    if (!tolerance) {
      return fail(outcome, TrialStatus::constraints, tolerance.status().message());
    }
    std::size_t compared = 0;
    for (std::size_t i = 0; i < runs_.scratch().count(); ++i) {
      const HostBytes& expected = truth.outputs[i];
      // A size that depends on the configuration marks a workspace, which has no truth.
      if (expected.size == 0 || expected.size != runs_.scratch().data_bytes(i)) continue;
      ++compared;
      if (!compare_buffer(i, request.seed, *tolerance, expected, outcome)) return false;
    }
    if (compared > 0) return true;
    return fail(outcome, TrialStatus::correctness,
                "every output is a workspace: nothing was compared");
  }

  bool compare_buffer(std::size_t buffer, std::uint32_t seed, const Tolerance& tolerance,
                      const HostBytes& expected, TrialOutcome& outcome) {
    const ArgumentSpec& spec = runs_.scratch().spec(buffer);
    const std::uint32_t poison =
        trial::poison_word(spec.type, runs_.scratch().argument(buffer), seed);
    trial::OutputCheck output(spec, tolerance, spec.access == Access::out ? &poison : nullptr);
    Result<HostBytes> got = trial::allocate_host(Scratch::kChunkBytes);
    if (!got) return fail(outcome, TrialStatus::runtime, got.status());
    for (std::size_t offset = 0; offset < expected.size; offset += Scratch::kChunkBytes) {
      const Bytes truth = expected.view().subspan(offset, Scratch::kChunkBytes);
      const MutableBytes part = got->view().subspan(0, truth.size());
      const Status status = runs_.scratch().read(buffer, offset, part);
      if (!status.ok()) return fail(outcome, TrialStatus::runtime, status);
      output.add(Bytes(part), truth);
    }
    outcome.max_error = std::max(outcome.max_error, output.max_error());
    if (output.passed()) return true;
    return fail(outcome, TrialStatus::correctness, output.message());
  }

  // --- measure ---

  void measure(const TrialRequest& request, TrialOutcome& outcome) {
    CompiledVariant* candidate = variant(request, outcome);
    if (candidate == nullptr || !prepare_measuring(request, outcome)) return;
    // The buffers may hold what another configuration's setup left.
    if (!set_up(*candidate, request, outcome)) return;
    if (!request.cold && (!candidate->ran || candidate->warm_shape != request.shape)) {
      Nanoseconds unused{0};
      if (!launch_variant(*candidate, request, outcome, unused)) return;
    }
    const std::uint32_t repeats = std::min(std::max(request.repeats, 1u), kMaxRepeats);
    for (std::uint32_t i = 0; i < repeats; ++i) {
      Nanoseconds sample{0};
      if (!take_sample(*candidate, request, outcome, sample)) return;
      outcome.samples.push_back(sample);
      if (request.stop_above.count() > 0 && sample > request.stop_above) break;
    }
    std::string damage;
    const Status status = runs_.scratch().find_near_damage(damage);
    if (!status.ok()) {
      fail(outcome, TrialStatus::runtime, status);
    } else if (!damage.empty()) {
      fail(outcome, TrialStatus::correctness, damage);
    }
  }

  // Buffers with inputs in them; what earlier runs did to `inout` buffers is undone, so that values
  // do not grow from run to run of a session until arithmetic on them costs more.
  bool prepare_measuring(const TrialRequest& request, TrialOutcome& outcome) {
    if (!enter_problem(request, outcome)) return false;
    const bool filled = runs_.scratch().fits(request.shape, request.configuration);
    if (!filled && !runs_.fit(request.shape, request.configuration, outcome)) return false;
    const Status status = runs_.scratch().fill(
        request.seed, filled ? Scratch::Refill::inout : Scratch::Refill::everything);
    if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, status.message());
    return true;
  }

  bool take_sample(CompiledVariant& candidate, const TrialRequest& request, TrialOutcome& outcome,
                   Nanoseconds& sample) {
    for (std::uint32_t attempt = 0; attempt < kTriesPerSample; ++attempt) {
      if (!launch_variant(candidate, request, outcome, sample)) return false;
      if (sample.count() > 0) return true;
    }
    return fail(outcome, TrialStatus::runtime, "the driver reported no time for a run");
  }

  // --- runs ---

  bool set_up(CompiledVariant& candidate, const TrialRequest& request, TrialOutcome& outcome) {
    if (plan_.setup().empty()) return true;
    // It may take as long as many runs.
    const Nanoseconds deadline = deadline_of(candidate, request, kSetupDeadlines);
    return runs_.launch(candidate.programs, plan_.setup(), request, request.configuration, deadline,
                        outcome, outcome.setup);
  }

  bool launch_variant(CompiledVariant& candidate, const TrialRequest& request,
                      TrialOutcome& outcome, Nanoseconds& time) {
    if (!runs_.launch(candidate.programs, plan_.steps(), request, request.configuration,
                      deadline_of(candidate, request, 1), outcome, time)) {
      return false;
    }
    candidate.ran = true;
    candidate.warm_shape = request.shape;
    return true;
  }

  Nanoseconds deadline_of(const CompiledVariant& candidate, const TrialRequest& request,
                          int times) const {
    if (request.deadline.count() <= 0) return kNoDeadline;
    // Code generation happens at the first launch, and again where the local size changes.
    const bool warm = candidate.ran && candidate.warm_shape == request.shape;
    return times * request.deadline + (warm ? Nanoseconds(0) : options_.first_run_allowance);
  }

  Device& device_;
  std::shared_ptr<const KernelPackage> package_;
  const TrialExecutorOptions options_;
  trial::ScratchRuns runs_;
  trial::CompiledVariants variants_;
  trial::ReferenceOutputs references_;
  Shape shape_;  // of the scratch buffers and references_
  CapturedArguments captured_;
  std::string captured_name_;
  LaunchPlan plan_;  // of the variant looked up last
  bool poisoned_ = false;
};

TrialExecutor::TrialExecutor(Device& device, std::shared_ptr<const KernelPackage> package,
                             TrialExecutorOptions options, QuirkTable quirks)
    : state_(std::make_unique<State>(device, std::move(package), options, std::move(quirks))) {}

// What a run that never ended may still be using is kept for good.
TrialExecutor::~TrialExecutor() {
  if (!state_->poisoned()) return;
  static Mutex mutex;
  static auto* kept = new std::vector<std::unique_ptr<State>>;  // not destroyed at exit either
  const MutexLock lock(mutex);
  kept->push_back(std::move(state_));
}

TrialOutcome TrialExecutor::run(const TrialRequest& request) {
  TrialOutcome outcome;
  state_->run(request, outcome);
  return outcome;
}

bool TrialExecutor::poisoned() const { return state_->poisoned(); }

}  // namespace idletune
