#include "agent/trial/trial_executor.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "agent/trial/limits.hpp"
#include "agent/trial/output_check.hpp"
#include "agent/trial/scratch.hpp"
#include "agent/trial/tuning_data.hpp"
#include "agent/trial/warm_up.hpp"

namespace idletune {
namespace {

using trial::HostBytes;
using trial::Scratch;

constexpr Nanoseconds kNoDeadline = std::chrono::hours(24);
constexpr std::size_t kCachedReferences = 2;   // the two seeds of a check
constexpr std::uint64_t kSimulatedBytes = 64;  // per buffer of a device that computes nothing
constexpr std::uint32_t kTriesPerSample = 3;   // against events that report no time
constexpr std::uint32_t kMaxRepeats = 10000;

TrialStatus status_of_compile(const Status& status) {
  switch (status.code()) {
    case StatusCode::compile_error: return TrialStatus::compile;
    case StatusCode::invalid_argument: return TrialStatus::constraints;
    default: return TrialStatus::runtime;
  }
}

struct Variant {
  Configuration configuration;
  std::unique_ptr<Program> program;
  std::uint64_t last_use = 0;
  bool ran = false;  // at any shape: its first run's code generation is over
  Shape warm_shape;  // the shape it ran at last
};

// What the reference computed for one seed: one entry per buffer, empty for inputs.
struct Reference {
  std::uint32_t seed = 0;
  std::uint64_t last_use = 0;
  std::vector<HostBytes> outputs;
};

}  // namespace

class TrialExecutor::State {
 public:
  State(Device& device, std::shared_ptr<const KernelPackage> package, TrialExecutorOptions options,
        QuirkTable quirks)
      : device_(device),
        package_(std::move(package)),
        options_(options),
        quirks_(std::move(quirks)),
        scratch_(device, *package_, options.guard_bytes, options.simulated ? kSimulatedBytes : 0) {
    options_.compiled_variants = std::max<std::uint32_t>(options_.compiled_variants, 2);
  }

  void run(const TrialRequest& request, TrialOutcome& outcome) {
    const Nanoseconds start = device_.now();
    outcome.stage = request.stage;
    if (poisoned_) {
      const Status usable = device_.usable();
      fail(outcome, TrialStatus::runtime,
           {usable.ok() ? "an earlier run has not ended: the device is given up"
                        : usable.message()});
    } else {
      run_stage(request, outcome);
      // What an error has spoilt fails for every configuration, not for this one.
      poisoned_ = poisoned_ || !device_.usable().ok();
    }
    outcome.wall = device_.now() - start;
  }

  bool poisoned() const { return poisoned_; }

  void release() {
    if (poisoned_) return;
    forget_shape();
    variants_.clear();
    reference_program_.reset();
    reference_ran_ = false;
  }

 private:
  // Every step returns false after having described its failure in `outcome`.
  bool fail(TrialOutcome& outcome, TrialStatus status, TextPieces message) {
    outcome.status = status;
    outcome.message = joined(message);
    return false;
  }
  bool fail_prepare(TrialOutcome& outcome, TrialStatus status, TextPieces message) {
    outcome.stage = TrialStage::prepare;
    return fail(outcome, status, message);
  }

  void run_stage(const TrialRequest& request, TrialOutcome& outcome) {
    switch (request.stage) {
      case TrialStage::compile:
        if (variant(request, outcome) != nullptr && !reference_program_) (void)compile_reference();
        return;
      case TrialStage::prepare: (void)reference(request, outcome); return;
      case TrialStage::check: return check(request, outcome);
      case TrialStage::measure: return measure(request, outcome);
    }
    fail(outcome, TrialStatus::runtime, {"no such stage"});
  }

  // --- compile ---

  // The compiled variant of the request's configuration, and its launch at the request's shape in
  // plan_; null when it failed.
  Variant* variant(const TrialRequest& request, TrialOutcome& outcome) {
    const TrialStage asked = outcome.stage;
    outcome.stage = TrialStage::compile;
    Result<LaunchPlan> plan =
        trial::admitted_plan(device_.info(), *package_, quirks_, request.shape,
                             request.configuration, request.ignore_device_limits);
    if (!plan) {
      fail(outcome, TrialStatus::constraints, {plan.status().message()});
      return nullptr;
    }
    Variant* found = find_variant(request.configuration);
    if (found == nullptr) found = compile_variant(request.configuration, outcome);
    if (found == nullptr) return nullptr;
    if (!request.ignore_device_limits) {
      const Status admitted = trial::admit_program(device_.info(), *found->program, *plan);
      if (!admitted.ok()) {
        fail(outcome, TrialStatus::constraints, {admitted.message()});
        return nullptr;
      }
    }
    if (!found->ran && asked == TrialStage::compile && !generate_code(request, *found, outcome)) {
      return nullptr;
    }
    found->last_use = ++clock_;
    plan_ = *plan;
    outcome.stage = asked;
    return found;
  }

  // The first launch, on the smallest shape: drivers generate code there, which belongs to the
  // compilation and must not wait for a gap.
  bool generate_code(const TrialRequest& request, Variant& variant, TrialOutcome& outcome) {
    if (options_.simulated) return true;
    Nanoseconds deadline = request.deadline.count() > 0 ? request.deadline : kNoDeadline;
    deadline += options_.first_run_allowance;
    const Status warm = warm_up(device_, *package_, *variant.program,
                                package_->plan(smallest_shape(*package_), variant.configuration),
                                variant.configuration, deadline);
    if (warm.ok()) return true;
    poisoned_ = warm.code() == StatusCode::timeout;
    return fail(outcome, poisoned_ ? TrialStatus::timeout : TrialStatus::runtime,
                {"first launch: ", warm.message()});
  }

  Variant* find_variant(const Configuration& configuration) {
    for (Variant& variant : variants_) {
      if (variant.configuration == configuration) return &variant;
    }
    return nullptr;
  }

  Variant* compile_variant(const Configuration& configuration, TrialOutcome& outcome) {
    Result<std::unique_ptr<Program>> program =
        compile(package_->entry(), package_->compile_options(configuration));
    if (!program) {
      fail(outcome, status_of_compile(program.status()), {program.status().message()});
      return nullptr;
    }
    if (variants_.size() >= options_.compiled_variants) {
      variants_.erase(std::min_element(
          variants_.begin(), variants_.end(),
          [](const Variant& a, const Variant& b) { return a.last_use < b.last_use; }));
    }
    Variant variant;
    variant.configuration = configuration;
    variant.program = std::move(*program);
    variants_.push_back(std::move(variant));
    return &variants_.back();
  }

  Result<std::unique_ptr<Program>> compile(std::string_view entry, const std::string& options) {
    CompileRequest request;
    request.source = package_->source();
    request.entry = entry;
    request.options = options;
    return device_.compile(request);
  }

  // --- prepare ---

  // The reference's outputs for the request's shape and seed; null when they cannot be had.
  const Reference* reference(const TrialRequest& request, TrialOutcome& outcome) {
    if (shape_ != request.shape) forget_shape();
    shape_ = request.shape;
    for (Reference& reference : references_) {
      if (reference.seed != request.seed) continue;
      reference.last_use = ++clock_;
      return &reference;
    }
    Reference made;
    made.seed = request.seed;
    made.last_use = ++clock_;
    if (!make_reference(request, outcome, made)) return nullptr;
    if (references_.size() >= kCachedReferences) {
      references_.erase(std::min_element(
          references_.begin(), references_.end(),
          [](const Reference& a, const Reference& b) { return a.last_use < b.last_use; }));
    }
    references_.push_back(std::move(made));
    return &references_.back();
  }

  void forget_shape() {
    references_.clear();
    scratch_.release();
    shape_ = Shape();
  }

  bool make_reference(const TrialRequest& request, TrialOutcome& outcome, Reference& made) {
    const Configuration& configuration = package_->reference_configuration();
    if (!fit(request.shape, configuration, outcome)) return false;
    const Status filled = scratch_.fill(request.seed);
    if (!filled.ok()) return fail_prepare(outcome, TrialStatus::runtime, {filled.message()});
    if (!options_.simulated && !run_reference(request, outcome)) return false;
    return keep_outputs(request.seed, outcome, made);
  }

  // Scratch buffers for `configuration`, within the limit. A failure is one of `prepare`.
  bool fit(const Shape& shape, const Configuration& configuration, TrialOutcome& outcome) {
    const Result<std::uint64_t> device_bytes = scratch_.needed_bytes(shape, configuration);
    if (!device_bytes) {
      return fail_prepare(outcome, TrialStatus::runtime, {device_bytes.status().message()});
    }
    const std::uint64_t needed = *device_bytes + kCachedReferences * output_bytes(shape);
    if (needed > options_.scratch_limit_bytes) {
      return fail_prepare(outcome, TrialStatus::runtime,
                          {"the shape needs ", needed, " bytes of scratch memory, the limit is ",
                           options_.scratch_limit_bytes});
    }
    const Status status = scratch_.fit(shape, configuration);
    if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, {status.message()});
    return true;
  }

  // Host memory of one reference.
  std::uint64_t output_bytes(const Shape& shape) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < scratch_.count(); ++i) {
      if (scratch_.spec(i).access == Access::in) continue;
      const Result<std::uint64_t> elements = package_->buffer_elements(
          scratch_.argument(i), shape, package_->reference_configuration());
      if (elements) total += *elements * scalar_size_bytes(scratch_.spec(i).type);
    }
    return total;
  }

  bool run_reference(const TrialRequest& request, TrialOutcome& outcome) {
    const Result<LaunchPlan> plan = package_->reference_plan(request.shape);
    if (!plan) return fail_prepare(outcome, TrialStatus::constraints, {plan.status().message()});
    if (!reference_program_) {
      const Status status = compile_reference();
      if (!status.ok()) {
        return fail_prepare(outcome, status_of_compile(status),
                            {"the reference: ", status.message()});
      }
    }
    if (!launch_reference(request, plan->range, outcome)) {
      outcome.stage = TrialStage::prepare;
      return false;
    }
    std::string damage;
    const Status status = scratch_.find_damage(request.seed, damage);
    if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, {status.message()});
    if (damage.empty()) return true;
    return fail_prepare(outcome, TrialStatus::correctness, {"the reference ", damage});
  }

  // With its code generated. Done along with the first variant's compilation, so that `prepare`
  // finds it ready; a failure there is reported by `prepare`, which tries again.
  Status compile_reference() {
    Result<std::unique_ptr<Program>> program =
        compile(package_->reference_entry(), package_->reference_options());
    if (!program) return program.status();
    const Status warm =
        options_.simulated
            ? Status()
            : warm_up(device_, *package_, **program,
                      package_->reference_plan(smallest_shape(*package_)),
                      package_->reference_configuration(), options_.reference_deadline);
    if (warm.ok()) reference_program_ = std::move(*program);
    return warm;
  }

  bool launch_reference(const TrialRequest& request, const Range& range, TrialOutcome& outcome) {
    const Nanoseconds deadline = std::max(
        options_.reference_deadline,
        request.deadline + (reference_ran_ ? Nanoseconds(0) : options_.first_run_allowance));
    Nanoseconds unused{0};
    if (!launch(*reference_program_, range, request, deadline, outcome, unused)) return false;
    reference_ran_ = true;
    return true;
  }

  bool keep_outputs(std::uint32_t seed, TrialOutcome& outcome, Reference& made) {
    bool wrote_something = options_.simulated;
    std::size_t outputs = 0;
    for (std::size_t i = 0; i < scratch_.count(); ++i) {
      made.outputs.emplace_back();
      if (scratch_.spec(i).access == Access::in) continue;
      ++outputs;
      Result<HostBytes> bytes = trial::allocate_host(scratch_.data_bytes(i));
      if (!bytes) return fail_prepare(outcome, TrialStatus::runtime, {bytes.status().message()});
      const Status status = read_output(i, seed, *bytes, wrote_something);
      if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, {status.message()});
      made.outputs.back() = std::move(*bytes);
    }
    if (outputs == 0) {
      return fail_prepare(outcome, TrialStatus::correctness,
                          {"the package declares no output: nothing could be checked"});
    }
    if (!wrote_something) {
      return fail_prepare(outcome, TrialStatus::correctness,
                          {"the reference changed no output: nothing could be checked"});
    }
    return true;
  }

  Status read_output(std::size_t buffer, std::uint32_t seed, HostBytes& bytes, bool& changed) {
    Result<HostBytes> initial = trial::allocate_host(Scratch::kChunkBytes);
    if (!initial) return initial.status();
    for (std::size_t offset = 0; offset < bytes.size; offset += Scratch::kChunkBytes) {
      const MutableBytes part = bytes.view().subspan(offset, Scratch::kChunkBytes);
      const Status status = scratch_.read(buffer, offset, part);
      if (!status.ok()) return status;
      if (changed) continue;
      const MutableBytes before = initial->view().subspan(0, part.size());
      scratch_.initial_content(buffer, seed, offset, before);
      changed = !std::equal(part.begin(), part.end(), before.begin());
    }
    return {};
  }

  // --- check ---

  void check(const TrialRequest& request, TrialOutcome& outcome) {
    Variant* candidate = variant(request, outcome);
    if (candidate == nullptr) return;
    const Reference* truth = reference(request, outcome);
    if (truth == nullptr || !fit(request.shape, request.configuration, outcome)) return;
    const Status filled = scratch_.fill(request.seed);
    if (!filled.ok()) {
      fail_prepare(outcome, TrialStatus::runtime, {filled.message()});
      return;
    }
    Nanoseconds unused{0};
    if (!launch_variant(*candidate, request, outcome, unused)) return;
    std::string damage;
    const Status status = scratch_.find_damage(request.seed, damage);
    if (!status.ok()) {
      fail(outcome, TrialStatus::runtime, {status.message()});
    } else if (!damage.empty()) {
      outcome.max_error = std::numeric_limits<double>::infinity();
      fail(outcome, TrialStatus::correctness, {std::move(damage)});
    } else {
      compare(request, *truth, outcome);
    }
  }

  void compare(const TrialRequest& request, const Reference& truth, TrialOutcome& outcome) {
    const Result<Tolerance> tolerance = package_->tolerance(request.shape);
    if (!tolerance) {
      fail(outcome, TrialStatus::constraints, {tolerance.status().message()});
      return;
    }
    std::size_t compared = 0;
    for (std::size_t i = 0; i < scratch_.count(); ++i) {
      const HostBytes& expected = truth.outputs[i];
      // A size that depends on the configuration marks a workspace, which has no truth.
      if (expected.size == 0 || expected.size != scratch_.data_bytes(i)) continue;
      ++compared;
      if (!compare_buffer(i, request.seed, *tolerance, expected, outcome)) return;
    }
    if (compared == 0) {
      fail(outcome, TrialStatus::correctness,
           {"every output is a workspace: nothing was compared"});
    }
  }

  bool compare_buffer(std::size_t buffer, std::uint32_t seed, const Tolerance& tolerance,
                      const HostBytes& expected, TrialOutcome& outcome) {
    const ArgumentSpec& spec = scratch_.spec(buffer);
    const std::uint32_t poison = trial::poison_word(scratch_.argument(buffer), seed);
    trial::OutputCheck output(spec, tolerance, spec.access == Access::out ? &poison : nullptr);
    Result<HostBytes> got = trial::allocate_host(Scratch::kChunkBytes);
    if (!got) return fail(outcome, TrialStatus::runtime, {got.status().message()});
    for (std::size_t offset = 0; offset < expected.size; offset += Scratch::kChunkBytes) {
      const Bytes truth = expected.view().subspan(offset, Scratch::kChunkBytes);
      const MutableBytes part = got->view().subspan(0, truth.size());
      const Status status = scratch_.read(buffer, offset, part);
      if (!status.ok()) return fail(outcome, TrialStatus::runtime, {status.message()});
      output.add(Bytes(part), truth);
    }
    outcome.max_error = std::max(outcome.max_error, output.max_error());
    if (output.passed()) return true;
    return fail(outcome, TrialStatus::correctness, {output.message()});
  }

  // --- measure ---

  void measure(const TrialRequest& request, TrialOutcome& outcome) {
    Variant* candidate = variant(request, outcome);
    if (candidate == nullptr || !prepare_measuring(request, outcome)) return;
    if (!candidate->ran || candidate->warm_shape != request.shape) {
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
    const Status status = scratch_.find_guard_damage(damage);
    if (!status.ok()) {
      fail(outcome, TrialStatus::runtime, {status.message()});
    } else if (!damage.empty()) {
      fail(outcome, TrialStatus::correctness, {std::move(damage)});
    }
  }

  // Buffers with inputs in them; what earlier runs did to `inout` buffers is undone, so that values
  // do not grow from run to run of a session until arithmetic on them costs more.
  bool prepare_measuring(const TrialRequest& request, TrialOutcome& outcome) {
    const bool filled =
        shape_ == request.shape && scratch_.fits(request.shape, request.configuration);
    if (shape_ != request.shape) forget_shape();
    shape_ = request.shape;
    if (!filled && !fit(request.shape, request.configuration, outcome)) return false;
    const Status status = scratch_.fill(request.seed, /*only_inout=*/filled);
    if (!status.ok()) return fail_prepare(outcome, TrialStatus::runtime, {status.message()});
    return true;
  }

  bool take_sample(Variant& candidate, const TrialRequest& request, TrialOutcome& outcome,
                   Nanoseconds& sample) {
    for (std::uint32_t attempt = 0; attempt < kTriesPerSample; ++attempt) {
      if (!launch_variant(candidate, request, outcome, sample)) return false;
      if (sample.count() > 0) return true;
    }
    return fail(outcome, TrialStatus::runtime, {"the driver reported no time for a run"});
  }

  // --- runs ---

  bool launch_variant(Variant& candidate, const TrialRequest& request, TrialOutcome& outcome,
                      Nanoseconds& time) {
    Nanoseconds deadline = kNoDeadline;
    if (request.deadline.count() > 0) {
      deadline = request.deadline;
      // Code generation happens at the first launch, and again where the local size changes.
      const bool warm = candidate.ran && candidate.warm_shape == request.shape;
      if (!warm) deadline += options_.first_run_allowance;
    }
    if (!launch(*candidate.program, plan_.range, request, deadline, outcome, time)) return false;
    candidate.ran = true;
    candidate.warm_shape = request.shape;
    return true;
  }

  bool launch(Program& program, const Range& range, const TrialRequest& request,
              Nanoseconds deadline, TrialOutcome& outcome, Nanoseconds& time) {
    const Result<std::vector<Argument>> arguments = scratch_.arguments(request.shape, request.seed);
    if (!arguments) {
      return fail(outcome, TrialStatus::constraints, {arguments.status().message()});
    }
    const Result<RunTimes> times = device_.run(program, range, *arguments, deadline);
    if (!times) return fail_run(times.status(), deadline, outcome);
    outcome.device += times->device.count() > 0 ? times->device : times->wall;
    // Once the device has told a time, an event without one is a glitch, not a reason to use
    // another clock.
    if (times->device.count() > 0) device_tells_time_ = true;
    time = device_tells_time_ ? times->device : times->wall;
    return true;
  }

  bool fail_run(const Status& status, Nanoseconds deadline, TrialOutcome& outcome) {
    if (status.code() != StatusCode::timeout) {
      // A replayed device says so in its own way (agent/lab/replay_device.hpp).
      TrialStatus ended = TrialStatus::runtime;
      if (options_.simulated) {
        if (status.message() == "crash") ended = TrialStatus::crash;
        if (status.code() == StatusCode::corrupt) ended = TrialStatus::correctness;
      }
      return fail(outcome, ended, {status.message()});
    }
    outcome.device += deadline;
    poisoned_ = !options_.simulated;
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(deadline);
    return fail(outcome, TrialStatus::timeout,
                {"a run outlived its deadline of ", milliseconds.count(), " ms"});
  }

  Device& device_;
  std::shared_ptr<const KernelPackage> package_;
  TrialExecutorOptions options_;
  QuirkTable quirks_;
  Scratch scratch_;
  std::vector<Variant> variants_;
  std::unique_ptr<Program> reference_program_;
  bool reference_ran_ = false;
  Shape shape_;  // of scratch_ and references_
  std::vector<Reference> references_;
  LaunchPlan plan_;          // of the variant looked up last
  std::uint64_t clock_ = 0;  // counts uses
  bool device_tells_time_ = false;
  bool poisoned_ = false;
};

TrialExecutor::TrialExecutor(Device& device, std::shared_ptr<const KernelPackage> package,
                             TrialExecutorOptions options, QuirkTable quirks)
    : state_(std::make_unique<State>(device, std::move(package), options, std::move(quirks))) {}

// What a run that never ended may still be using is kept for good.
TrialExecutor::~TrialExecutor() {
  if (!state_->poisoned()) return;
  static std::mutex mutex;
  static auto* kept = new std::vector<std::unique_ptr<State>>;  // not destroyed at exit either
  const std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(state_));
}

TrialOutcome TrialExecutor::run(const TrialRequest& request) {
  TrialOutcome outcome;
  state_->run(request, outcome);
  return outcome;
}

bool TrialExecutor::poisoned() const { return state_->poisoned(); }
void TrialExecutor::release() { state_->release(); }

}  // namespace idletune
