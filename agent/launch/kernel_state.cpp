#include "agent/launch/kernel_state.hpp"

#include <algorithm>

#include <idletune/text.hpp>

#include "agent/launch/yield.hpp"
#include "agent/trial/limits.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

// Of what a launch passes. Not made ready before it is there.
struct ArgumentRoom {
  ArgumentRoom() {}  // NOLINT: as said
  union {
    Argument arguments[kMaxArguments];
  };
};

}  // namespace

bool LaunchLog::read(std::uint64_t& position, Entry& entry, bool& lost) const {
  const std::uint64_t next = next_.load(std::memory_order_acquire);
  if (next > position + kCapacity) {
    position = next - kCapacity;
    lost = true;
  }
  for (std::uint64_t i = position; i < next; ++i) {
    const Cell& cell = cells_[i % kCapacity];
    const std::uint64_t sequence = cell.sequence.load(std::memory_order_acquire);
    if (sequence > i + 1) lost = true;  // overwritten meanwhile
    if (sequence != i + 1) continue;    // or being written
    entry.at = Nanoseconds(cell.at.load(std::memory_order_relaxed));
    entry.slot = cell.slot.load(std::memory_order_relaxed);
    position = i + 1;
    return true;
  }
  return false;
}

KernelState::KernelState(Device& device, std::shared_ptr<const KernelPackage> package,
                         std::size_t max_shapes, std::uint64_t scratch_limit_bytes)
    : device_(device),
      package_(std::move(package)),
      name_(package_->name()),
      arguments_(device, *package_),
      default_package_(package_->where(package_->default_configuration())),
      builder_(device, *package_, arguments_, trace_, scratch_limit_bytes),
      lanes_(kLanes),
      classes_(device, *package_, builder_, lanes_),
      table_(max_shapes) {}

Result<std::unique_ptr<KernelState>> KernelState::create(
    Device& device, std::shared_ptr<const KernelPackage> package, std::size_t max_shapes,
    std::uint64_t scratch_limit_bytes) {
  if (Status fit = trial::admit_dialect(device.info(), *package); !fit.ok()) return fit;
  std::unique_ptr<KernelState> kernel(
      new KernelState(device, std::move(package), max_shapes, scratch_limit_bytes));
  if (Status compiled = kernel->builder_.compile_default(); !compiled.ok()) return compiled;
  return kernel;
}

KernelState::~KernelState() {
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    if (ShapeSlot* slot = table_.at(i)) slot->tickets.discard(device_);
  }
  classes_.audit.discard(device_);
}

Status KernelState::launch(const LaunchOptions& options, const Shape& shape,
                           Span<const Argument> arguments) {
  const LaneGuard guard(lanes_);
  SlotRef slot = table_.find(guard, shape, LaunchTable::hash(shape));
  IDLETUNE_YIELD("looked up");
  if (!slot && !table_.full()) {
    Result<SlotRef> made = slot_for(guard, shape);
    if (!made.ok() && made.code() != StatusCode::out_of_memory) {
      return unless_no_work(shape, made.status());
    }
    if (made.ok()) slot = std::move(*made);
  }
  ArgumentRoom room;
  Argument* const all = room.arguments;
  if (Status status = arguments_.take(arguments, all); !status.ok()) return status;
  if (const MonotonicClock* clock = log_clock_.load(std::memory_order_relaxed)) {
    log_.write(clock->now(), slot ? &*slot : nullptr);
  }
  if (!slot) return launch_unslotted(guard.lane(), options, shape, all);

  const std::uint64_t launches = slot->launches.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t turns = slot->race_turns.load(std::memory_order_relaxed);
  const std::uint32_t turn = turns == 0 ? LaunchTurns::kNobody : LaunchTurns::at(turns, launches);
  if (turn < LaunchTurns::kCandidates && profiling_available()) {
    const Variant* racer = slot->racers[turn].load(std::memory_order_seq_cst);
    if (racer != nullptr && slot->tickets.has_free() && slot->take_grant()) {
      racer->trial_launches.fetch_add(1, std::memory_order_relaxed);
      return enqueue(*slot, guard.lane(), *racer, all, options, true);
    }
  }
  const Variant* current = slot->current.load(std::memory_order_seq_cst);
  IDLETUNE_HOLDS(current != nullptr);
  if (current == &slot->of_class || (current == &slot->fallback && !classes_.looked_at(*slot))) {
    current = classes_.look(*slot, current, launches, profiling_available());
  }
  // While candidates race only those launches of it are timed that take turns with theirs.
  const bool watched = turns != 0 ? turn == LaunchTurns::kCandidates : is_sample(*slot, launches);
  IDLETUNE_YIELD("launching");
  IDLETUNE_HOLDS(slot->state.load() != ShapeSlot::empty && slot->shape == shape);
  return enqueue(*slot, guard.lane(), *current, all, options, watched);
}

// Those to be timed one after another wait where nobody has room for their times, or the queue
// tells none.
bool KernelState::is_sample(ShapeSlot& slot, std::uint64_t launches) const {
  const bool eager = slot.eager_samples.load(std::memory_order_relaxed) > 0;
  return launches % kWatchPeriod == 0 ||
         (eager && slot.tickets.has_free() && profiling_available());
}

Status KernelState::enqueue(ShapeSlot& slot, std::uint32_t lane, const Variant& variant,
                            Argument* arguments, const LaunchOptions& options, bool watched) {
  bool begins = false;  // its proof
  if (variant.was_refused() || (!variant.proof.proven() && !traced(slot, variant, begins))) {
    return enqueue(slot, lane, slot.fallback, arguments, options, false);
  }
  Profiles profiles{};
  bool begun = false;
  Status status = arguments_.complete(slot.shape, variant, arguments);
  if (status.ok()) {
    status = enqueue_variant(lane, variant, slot.constants_version.load(std::memory_order_acquire),
                             arguments, options, watched ? &profiles : nullptr, begun);
  }
  if (status.ok()) {
    if (watched && post(slot.tickets, profiles, &variant)) slot.took_sample(variant);
    return status;
  }
  if (watched) discard(device_, profiles);
  if (&variant == &slot.fallback) return status;
  // A tuned variant that the driver refuses (its resources may have shrunk), or that needs larger
  // buffers than the application has, must not cost the application its result: run the default,
  // and let the tuner demote the variant. Where some of its steps run already, the data may not be
  // what it was: then the application is told.
  // A setup that does not pay yet is no fault, nor is what the default is refused as well: that is
  // the application's own.
  if (!begun) {
    if (begins) variant.proof.withdraw();
    const bool waits = status.code() == StatusCode::busy;
    status = enqueue(slot, lane, slot.fallback, arguments, options, false);
    if (waits || !status.ok()) return status;
  }
  variant.refused.store(true, std::memory_order_relaxed);
  return status;
}

Status KernelState::enqueue_variant(std::uint32_t lane, const Variant& variant,
                                    std::uint32_t version, const Argument* arguments,
                                    LaunchOptions options, Profiles* profiles, bool& begun) const {
  if (variant.simple) {
    const PlannedStep& step = variant.plan.first();
    return (*variant.programs)[step.index]->enqueue(
        lane, step.range, {arguments, step.spec.arguments.size()}, options,
        profiles != nullptr ? profiles->data() : nullptr);
  }
  const Span<const PlannedStep> steps = variant.plan.steps();
  if (variant.scratch == nullptr) {
    return enqueue_steps(lane, *variant.programs, steps, arguments, options, profiles, begun);
  }
  if (device_.capturing(options.queue)) {
    return Status(StatusCode::busy,
                  "kernel '%' hands results on in memory that its launches share, which a graph "
                  "cannot capture",
                  name_);
  }
  VariantScratch& scratch = *variant.scratch;
  const MutexLock lock(scratch.enqueueing);
  const Span<const PlannedStep> setup = variant.plan.setup();
  auto prepared = VariantScratch::Prepared::yes;
  if (!setup.empty()) prepared = scratch.look(setup, arguments, version);
  if (prepared == VariantScratch::Prepared::no) return Status(StatusCode::busy, std::string());
  Status ready = scratch.begin_on(device_, options.queue);
  if (!ready.ok()) return ready;
  if (prepared == VariantScratch::Prepared::now) {
    // It writes nothing of the application's.
    scratch.forget_setup();
    bool unused = false;
    LaunchOptions first = options;
    first.event = nullptr;
    ready = enqueue_steps(lane, *variant.programs, setup, arguments, first, nullptr, unused);
    if (ready.ok()) {
      scratch.note_setup(setup, arguments, version);
      ready = device_.order(options.queue, options.queue);
    }
    options.wait_count = 0;
  }
  if (ready.ok()) {
    ready = enqueue_steps(lane, *variant.programs, steps, arguments, options, profiles, begun);
  }
  const Status over = scratch.end_on(device_, options.queue);
  return ready.ok() ? over : ready;
}

// The first step waits for what the application said, the last one gives its event.
Status KernelState::enqueue_steps(std::uint32_t lane, const trial::StepPrograms& programs,
                                  Span<const PlannedStep> steps, const Argument* arguments,
                                  const LaunchOptions& options, Profiles* profiles,
                                  bool& begun) const {
  Argument own[kMaxArguments];
  for (std::size_t i = 0; i < steps.size(); ++i) {
    LaunchOptions step = options;
    if (i > 0) {
      step.wait_list = nullptr;
      step.wait_count = 0;
      if (Status after = device_.order(options.queue, options.queue); !after.ok()) return after;
    }
    if (i + 1 < steps.size()) step.event = nullptr;
    Status status = programs[steps[i].index]->enqueue(
        lane, steps[i].range, trial::arguments_of_step(steps[i].spec, arguments, own), step,
        profiles != nullptr ? &(*profiles)[i] : nullptr);
    if (!status.ok()) return status;
    begun = true;
    if (profiles != nullptr && (*profiles)[i] == nullptr) {  // a part of its time says nothing
      discard(device_, *profiles);
      *profiles = {};
      profiles = nullptr;
    }
  }
  return {};
}

// Whether it will be timed: where the tuner has not come by for long the sample is dropped.
bool KernelState::post(WatchTickets& tickets, const Profiles& profiles, const Variant* variant) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  // One that was not timed (on another queue, into a graph, too many at once) says nothing of the
  // next.
  const bool timed = profiles[0] != nullptr;
  const std::uint32_t untimed = untimed_.load(kRelaxed);
  if (timed ? untimed != 0 : untimed < kUntimed) untimed_.store(timed ? 0 : untimed + 1, kRelaxed);
  if (!timed) return false;
  if (tickets.post(profiles, variant)) return true;
  discard(device_, profiles);
  return false;
}

Result<SlotRef> KernelState::slot_for(SlotAccess access, const Shape& shape) {
  const std::uint64_t hash = LaunchTable::hash(shape);
  if (SlotRef slot = table_.find(access, shape, hash)) return slot;
  // Everything that may fail comes before a slot is taken.
  Variant fallback;
  if (Status status = builder_.plan_default(shape, fallback); !status.ok()) return status;
  ShapeSlot* slot = table_.claim(hash);
  if (slot == nullptr) return SlotRef();
  slot->shape = shape;
  slot->fallback.take_over(std::move(fallback));
  slot->current.store(&slot->fallback, std::memory_order_seq_cst);
  IDLETUNE_YIELD("claimed");
  table_.publish(*slot);
  return table_.find(access, shape, hash);
}

Status KernelState::admits(const Shape& shape) const {
  LaunchPlan plan;
  return unless_no_work(shape, package_->plan(shape, package_->default_configuration(), plan));
}

void KernelState::expect_launches(const Shape& shape, double launches) {
  const LaneGuard guard(lanes_);
  const Result<SlotRef> slot = slot_for(guard, shape);
  if (!slot.ok() || !*slot) return;
  const auto past = static_cast<double>((*slot)->launches.load(std::memory_order_relaxed));
  (*slot)->said_launches.store(past + std::max(0.0, launches), std::memory_order_relaxed);
}

void KernelState::constants_changed(const Shape& shape) {
  const LaneGuard guard(lanes_);
  if (const SlotRef slot = table_.find(guard, shape, LaunchTable::hash(shape))) {
    slot->constants_version.fetch_add(1, std::memory_order_release);
  }
}

// Where a dimension of 0 leaves nothing to do, nothing is done.
Status KernelState::unless_no_work(const Shape& shape, Status status) const {
  return package_->has_no_work(shape) ? Status() : std::move(status);
}

}  // namespace idletune::detail
