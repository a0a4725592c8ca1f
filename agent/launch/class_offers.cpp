#include "agent/launch/class_offers.hpp"

#include <utility>

#include "agent/launch/yield.hpp"
#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {

ClassOffers::ClassOffers(Device& device, const KernelPackage& package, VariantBuilder& builder,
                         const Lanes& lanes)
    : device_(device), package_(package), builder_(builder), lanes_(lanes) {
  publish(std::make_unique<ClassVariants>(1, package, std::vector<ClassVariant>()));
}

void ClassOffers::publish(std::unique_ptr<ClassVariants> offer) {
  offer->before = std::move(offered_);
  offered_ = std::move(offer);
  IDLETUNE_YIELD("offering");
  offer_.store(offered_.get(), std::memory_order_seq_cst);
  since_offer_.emplace(lanes_);
}

void ClassOffers::offer(std::vector<ClassVariant> variants) {
  builder_.shared_scratch().enlarge(device_);
  publish(std::make_unique<ClassVariants>(offered_->number() + 1, package_, std::move(variants),
                                          offered_.get()));
}

void ClassOffers::lost(ShapeSlot& slot, const Configuration& configuration) {
  const std::uint64_t digest = digest_of(configuration);
  if (slot.has_lost(digest)) return;
  IDLETUNE_YIELD("losing");
  std::size_t i = 0;
  while (i + 1 < slot.lost.size() && slot.lost[i].load(std::memory_order_relaxed) != 0) ++i;
  const bool last = i + 1 == slot.lost.size();
  slot.lost[i].store(last ? ShapeSlot::kAllLost : digest, std::memory_order_relaxed);
  IDLETUNE_YIELD("lost");
  // Who launches under the next number sees it.
  publish(std::make_unique<ClassVariants>(offered_->number() + 1, *offered_));
}

void ClassOffers::reclaim() {
  builder_.shared_scratch().enlarge(device_);
  if (since_offer_->reached(lanes_)) offered_->before.reset();
}

const Variant* ClassOffers::look(ShapeSlot& slot, const Variant* current, std::uint64_t launches,
                                 bool timed) {
  // Compared at every use: whatever was taken back before this launch began does not run.
  const ClassVariants& offer = newest();
  IDLETUNE_YIELD("offer read");
  std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  const bool stale = stamp / 2 != offer.number() && !IDLETUNE_SEEDED(stamps_not_compared);
  if (current == &slot.fallback || stale) {
    const std::uint32_t looked = offer.number() + builder_.shared_scratch().enlarged();
    if (slot.class_tried.load(std::memory_order_relaxed) == looked) return &slot.fallback;
    slot.class_tried.store(looked, std::memory_order_relaxed);
    if (!install(slot, offer, compares(timed))) return &slot.fallback;
    current = slot.current.load(std::memory_order_seq_cst);
    if (current != &slot.of_class) return current;
    stamp = slot.class_stamp.load(std::memory_order_relaxed);
  }
  if ((stamp & 1) != 0) return current;
  const bool racing = slot.race_turns.load(std::memory_order_relaxed) != 0;
  // Else the default would find no ticket, and never be timed.
  const bool its_turn = LaunchTurns::at(LaunchTurns::pack(2, 1), launches) == 0;
  if (!compares(timed) || racing || !its_turn || !slot.take_grant()) return &slot.fallback;
  current->trial_launches.fetch_add(1, std::memory_order_relaxed);
  return current;
}

bool ClassOffers::install(ShapeSlot& slot, const ClassVariants& offer, bool compared) {
  IDLETUNE_YIELD("class looked up");
  const ClassVariant* found = offer.choose(slot.shape);
  if (found == nullptr || !(compared || found->elsewhere == ClassVariant::better)) return false;
  if (slot.has_lost(found->digest)) return false;
  std::uint32_t state = ShapeSlot::none;
  if (slot.class_state.compare_exchange_strong(state, ShapeSlot::filling,
                                               std::memory_order_acq_rel)) {
    IDLETUNE_YIELD("filling");
    const bool filled = builder_.plan_for_class(slot.shape, *found, slot.of_class);
    slot.class_state.store(filled ? ShapeSlot::there : ShapeSlot::none, std::memory_order_release);
    if (!filled) return false;
  } else if (state == ShapeSlot::filling) {
    slot.class_tried.store(0, std::memory_order_relaxed);  // once that has ended
    return false;
  } else if (slot.of_class.programs != found->programs) {
    return false;
  }
  // Numbers only rise: what comes late revives nothing.
  std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  while (stamp / 2 < offer.number()) {
    const std::uint32_t kept = compared ? stamp & 1 : 1;
    if (slot.class_stamp.compare_exchange_weak(stamp, offer.number() * 2 + kept,
                                               std::memory_order_relaxed)) {
      break;
    }
  }
  IDLETUNE_YIELD("stamped");
  const Variant* expected = &slot.fallback;
  if (slot.current.compare_exchange_strong(expected, &slot.of_class, std::memory_order_seq_cst)) {
    slot.time_launches();
  }
  IDLETUNE_YIELD("installed");
  // Planning takes long.
  return &newest() == &offer;
}

bool ClassOffers::run_at(const ShapeSlot& slot) const {
  if (slot.current.load(std::memory_order_acquire) != &slot.of_class) return false;
  const std::uint32_t stamp = slot.class_stamp.load(std::memory_order_relaxed);
  if (stamp / 2 == offered_->number()) return true;
  const ClassVariant* found = candidate(slot);
  return found != nullptr && found->programs == slot.of_class.programs;
}

const ClassVariant* ClassOffers::candidate(const ShapeSlot& slot) const {
  const ClassVariant* found = offered_->choose(slot.shape);
  return found != nullptr && !slot.has_lost(found->digest) ? found : nullptr;
}

}  // namespace idletune::detail
