// The hot path's data: which variant runs for which shape. Launching threads read it without locks;
// the tuning thread alone changes it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <idletune/agent.hpp>
#include <idletune/device.hpp>

#include "agent/launch/launch_trace.hpp"
#include "agent/launch/variant_scratch.hpp"
#include "agent/trial/step_programs.hpp"
#include "models/package/launch_plan.hpp"

namespace idletune::detail {

// A compiled configuration, ready to be launched for one shape. Immutable once published, but for
// what launches find out.
struct Variant {
  // Shared by the shapes that run the same configuration.
  std::shared_ptr<const trial::StepPrograms> programs;
  LaunchPlan plan;
  // One launch of a kernel function that takes all arguments in order, as most variants are.
  bool simple = true;
  VariantScratch* scratch = nullptr;            // null: it needs none; never null with a setup
  std::unique_ptr<VariantScratch> own_scratch;  // that one, where it is not shared
  Configuration configuration;
  Selection selection = Selection::fallback;
  // Those that the application does not pass, at their places.
  std::array<Argument, kMaxArguments> derived{};
  // Whether a launch brought buffers that are large enough. They are not looked at again.
  mutable std::atomic<bool> buffers_fit{false};
  mutable std::atomic<bool> refused{false};  // a launch of it failed
  bool was_refused() const { return refused.load(std::memory_order_relaxed); }
  // How many launches ran it to be compared: as a racer, or for the class before it is kept there.
  mutable std::atomic<std::uint64_t> trial_launches{0};
  LaunchProof proof;                        // that launches of it end well, in this process
  std::unique_ptr<Variant> retired_before;  // of its slot (PublishedVariants)

  // While nobody else sees it.
  void take_over(Variant&& other) {
    programs = std::move(other.programs);
    plan = other.plan;
    simple = other.simple;
    scratch = other.scratch;
    own_scratch = std::move(other.own_scratch);
    configuration = other.configuration;
    selection = other.selection;
    derived = other.derived;
    buffers_fit.store(false, std::memory_order_relaxed);
    refused.store(false, std::memory_order_relaxed);
    trial_launches.store(0, std::memory_order_relaxed);
    proof.take_over(std::move(other.proof));
  }
};

// A profile per step of a launch that was asked for one and whose queue gives any.
using Profiles = std::array<void*, LaunchPlan::kMaxSteps>;
void discard(Device& device, const Profiles& profiles);

// One sampled production launch whose device time the tuner will ask for.
struct WatchTicket {
  Profiles profiles{};  // null once they were read
  const Variant* variant = nullptr;
  Nanoseconds time{0};  // of the steps that were read
};

// Those that await the tuner.
class WatchTickets {
 public:
  // Whether there was a free one.
  bool post(const Profiles& profiles, const Variant* variant);
  bool has_free() const { return in_state(free) > 0; }
  bool none_out() const { return in_state(free) == kCount; }

  // --- the tuner ---
  void discard(Device& device);
  // `each`: of a WatchTicket; whether it may go.
  template <typename Each>
  void take(const Each& each) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (states_[i].load(std::memory_order_acquire) != ready) continue;
      if (each(tickets_[i])) states_[i].store(free, std::memory_order_release);
    }
  }

 private:
  static constexpr std::size_t kCount = 4;
  enum State : std::uint32_t { free = 0, filling = 1, ready = 2 };
  std::size_t in_state(State state) const;

  std::array<std::atomic<std::uint32_t>, kCount> states_{};
  std::array<WatchTicket, kCount> tickets_{};
};

// Whose turn it is while candidates race with what runs (`current`), in one word: 0: there is no
// race. Of every `cycle` launches the first ones are the racers', the others nobody's.
struct LaunchTurns {
  static constexpr std::uint32_t kCandidates = 3;
  static constexpr std::uint32_t kNobody = kCandidates + 1;

  static std::uint32_t pack(std::uint32_t cycle, std::uint32_t candidates) {
    return cycle << 2 | candidates;
  }
  // The candidate whose turn the launch of that number is, kCandidates for `current`, or kNobody.
  // In which order the racers come changes from cycle to cycle by the sum of the digits of its
  // number, so that whatever rhythm the launches have (the first of a frame finds cold caches)
  // favours none of them.
  static std::uint32_t at(std::uint32_t turns, std::uint64_t launch) {
    const std::uint32_t cycle = turns >> 2, candidates = turns & 3;
    const std::uint32_t racers = candidates + 1;
    const std::uint64_t place = launch % cycle;
    if (place >= racers) return kNobody;
    const std::uint64_t number = launch / cycle;
    const std::uint64_t digits = number + number / racers + number / racers / racers;
    const auto racer = static_cast<std::uint32_t>((place + digits) % racers);
    return racer < candidates ? racer : kCandidates;
  }
};

// One slot per shape that the application launches: claimed by the first launch, taken back by the
// tuner when others need it more.
struct alignas(64) ShapeSlot {
  enum State : std::uint32_t { empty = 0, claimed = 1, ready = 2, leaving = 3 };
  std::atomic<std::uint32_t> state{empty};
  std::atomic<std::uint64_t> launches{0};
  std::atomic<const Variant*> current{nullptr};  // never null once ready
  // Checked candidates that launches time in turn with it.
  std::array<std::atomic<const Variant*>, LaunchTurns::kCandidates> racers{};
  std::atomic<std::uint32_t> race_turns{0};
  // Launches still to be timed one after another: a few after each change of `current`, and when
  // those before say nothing any more. Threads that race here time some too many, nothing else.
  static constexpr std::int32_t kEagerSamples = 16;
  std::atomic<std::int32_t> eager_samples{kEagerSamples};
  // Raised when the application says that what constant buffers hold has changed.
  std::atomic<std::uint32_t> constants_version{0};
  // The number of launches in all that the application said to expect; below 0: nothing new.
  std::atomic<double> said_launches{-1};
  std::uint64_t hash = 0;
  Shape shape;
  Variant fallback;  // the default configuration for this shape
  // What was checked for the shape's class, planned for it. A launching thread fills it once, and
  // changes `current` from the fallback to it.
  Variant of_class;
  enum ClassState : std::uint32_t { none = 0, filling = 1, there = 2 };
  std::atomic<std::uint32_t> class_state{none};
  // The number of the offer under which it runs, times 2; + 1: without being compared (any more).
  std::atomic<std::uint32_t> class_stamp{0};
  std::atomic<std::uint32_t> class_tried{0};  // the last offer that was looked at
  // Digests of configurations that lost here.
  std::array<std::atomic<std::uint64_t>, 4> lost{};
  // Launches of racers, and of a class variant that is not kept, that may still come before the
  // tuner looks.
  std::atomic<std::int32_t> granted{kGrant};
  bool noticed = false;  // by the tuner

  // --- the tuner ---
  // Few more can be timed until then, but not always the same launch of a frame.
  static constexpr std::int32_t kGrant = 6;
  void grant(std::int32_t launches_until_next_look) {
    granted.store(launches_until_next_look, std::memory_order_relaxed);
  }
  // What was compared with the default here, or is again.
  void keep_class(bool kept) {
    kept ? class_stamp.fetch_or(1, std::memory_order_relaxed)
         : class_stamp.fetch_and(~1u, std::memory_order_relaxed);
  }
  bool class_is_kept() const { return (class_stamp.load(std::memory_order_relaxed) & 1) != 0; }

  void time_launches() { eager_samples.store(kEagerSamples, std::memory_order_relaxed); }

  // --- launches ---
  // What races with `current` takes none of its samples.
  void took_sample(const Variant& of) {
    if (&of == current.load(std::memory_order_relaxed) &&
        eager_samples.load(std::memory_order_relaxed) > 0) {
      eager_samples.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  // Whether one of those launches was left.
  bool take_grant() {
    return granted.load(std::memory_order_relaxed) > 0 &&
           granted.fetch_sub(1, std::memory_order_relaxed) > 0;
  }
  bool has_lost(std::uint64_t configuration) const {
    for (const std::atomic<std::uint64_t>& one : lost) {
      const std::uint64_t digest = one.load(std::memory_order_relaxed);
      if (digest == configuration || digest == kAllLost) return true;
    }
    return false;
  }
  static constexpr std::uint64_t kAllLost = UINT64_MAX;  // more than there is room for

  WatchTickets tickets;  // of sampled launches
};

class LaneGuard;

// The lock that the tuner works under.
class TunerLock {
 public:
  explicit TunerLock(const MutexLock&) {}
  // For those who are called under it.
  static TunerLock held() { return TunerLock(); }

 private:
  TunerLock() = default;
};

// What keeps the slots that were looked up with it from being given back.
struct SlotAccess {
  SlotAccess(const LaneGuard&) {}  // NOLINT: either will do
  SlotAccess(const TunerLock&) {}  // NOLINT
};

// A shape's slot, or none. To be used while the lane or the lock is held that it was looked up
// with.
class [[nodiscard]] SlotRef {
 public:
  SlotRef() = default;  // none
  SlotRef(SlotRef&&) = default;
  SlotRef& operator=(SlotRef&&) = default;

  explicit operator bool() const { return slot_ != nullptr; }
  ShapeSlot& operator*() const { return *slot_; }
  ShapeSlot* operator->() const { return slot_; }
  bool is(const ShapeSlot& slot) const { return slot_ == &slot; }

 private:
  friend class LaunchTable;
  explicit SlotRef(ShapeSlot* slot) : slot_(slot) {}

  ShapeSlot* slot_ = nullptr;
};

// Fixed-capacity table. Lookup and claim are lock-free and allocate nothing.
class LaunchTable {
 public:
  explicit LaunchTable(std::size_t max_shapes);
  static std::uint64_t hash(const Shape& shape) {
    std::uint64_t h = 0x9e3779b97f4a7c15ull + shape.input_count();
    for (const std::int64_t word : shape.words()) {
      h = (h ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccdull;
      h ^= h >> 32;
    }
    return h;
  }
  // The listed slot of the shape.
  SlotRef find(SlotAccess, const Shape& shape, std::uint64_t hash) const {
    const std::size_t reach = reach_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < reach; ++i) {
      ShapeSlot* slot = entry(hash, i).load(std::memory_order_seq_cst);
      if (slot != nullptr && slot->hash == hash && slot->shape == shape) return SlotRef(slot);
    }
    return SlotRef();
  }
  // A slot in state `claimed` that the caller fills and then publishes; null when there is none.
  // Two threads may claim two slots for the same shape; publish() settles which one counts.
  ShapeSlot* claim(std::uint64_t hash);
  // Whether claim() finds no slot.
  bool full() const { return claimed_.load(std::memory_order_relaxed) >= max_shapes_; }
  // Makes a claimed slot visible. The lowest probe position of equal shapes wins lookups.
  void publish(ShapeSlot& slot);
  // The tuner's view: slots that are ready, the others null. [0, capacity()).
  std::size_t capacity() const { return max_shapes_; }
  ShapeSlot* at(std::size_t i) const {
    ShapeSlot& slot = slots_[i];
    return slot.state.load(std::memory_order_acquire) == ShapeSlot::ready ? &slot : nullptr;
  }
  // Of all shapes that ever had a slot. The tuner's thread.
  std::uint64_t launches() const;
  // How many were ever published.
  std::size_t published() const { return published_.load(std::memory_order_acquire); }
  // The tuner: no lookup that begins from now on finds it. Once all lanes were free, and none of
  // its tickets is left: it may be claimed again.
  void unlist(ShapeSlot& slot);
  void give_back(ShapeSlot& slot);

 private:
  // The i-th place that a shape of this hash may have.
  std::atomic<ShapeSlot*>& entry(std::uint64_t hash, std::size_t i) const {
    return entries_[static_cast<std::size_t>(hash + i) & mask_];
  }

  std::unique_ptr<ShapeSlot[]> slots_;
  std::unique_ptr<std::atomic<ShapeSlot*>[]> entries_;
  std::size_t mask_;
  std::size_t max_shapes_;
  std::atomic<std::size_t> reach_{0};  // no entry is farther from where its hash says
  std::atomic<std::size_t> claimed_{0};
  std::atomic<std::size_t> published_{0};
  std::uint64_t launches_of_others_ = 0;  // whose slots were given back
};

// Which of a program's kernel objects a launching thread uses (their arguments are not shared), and
// at the same time the tuner's means to know that no launch still uses an unpublished variant.
class Lanes {
 public:
  static constexpr std::uint32_t kMax = 8;
  explicit Lanes(std::uint32_t count) : lanes_(new Lane[count]), count_(count) {}  // up to kMax
  // Takes a free lane, beginning at this thread's usual one; spins only while more threads than
  // lanes are inside an enqueue.
  std::uint32_t take();
  void give(std::uint32_t lane) { lanes_[lane].taken.store(false, std::memory_order_release); }
  std::uint32_t count() const { return count_; }
  // Called after the tuner has replaced a published variant: true once every launch that may still
  // have read the old one is over. A lane that was free in between counts as over.
  class Quiescence {
   public:
    explicit Quiescence(const Lanes& lanes);
    bool reached(const Lanes& lanes);

   private:
    std::array<std::uint64_t, kMax> busy_since_;  // entry counts of lanes that were taken; or done
  };

 private:
  struct alignas(64) Lane {
    std::atomic<bool> taken{false};
    std::atomic<std::uint64_t> entries{0};
  };
  std::unique_ptr<Lane[]> lanes_;
  std::uint32_t count_;
};

// Gives the lane back on every way out.
class LaneGuard {
 public:
  explicit LaneGuard(Lanes& lanes) : lanes_(lanes), lane_(lanes.take()) {}
  ~LaneGuard() { lanes_.give(lane_); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;
  std::uint32_t lane() const { return lane_; }

 private:
  Lanes& lanes_;
  std::uint32_t lane_;
};

}  // namespace idletune::detail
