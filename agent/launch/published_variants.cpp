#include "agent/launch/published_variants.hpp"

#include <utility>

namespace idletune::detail {

void PublishedVariants::retire(std::unique_ptr<Variant> variant) {
  if (variant) {
    variant->retired_before = std::move(retired_);
    retired_ = std::move(variant);
  }
  quiescence_.emplace(lanes_);
}

void PublishedVariants::publish(std::unique_ptr<Variant> variant) {
  const Variant* next = variant ? variant.get() : &slot_.fallback;
  slot_.current.store(next, std::memory_order_seq_cst);
  slot_.time_launches();
  retire(std::move(adopted_));
  adopted_ = std::move(variant);
}

void PublishedVariants::offer(std::unique_ptr<Variant> candidate) {
  candidates_[racers_] = std::move(candidate);
  slot_.racers[racers_].store(candidates_[racers_].get(), std::memory_order_seq_cst);
  ++racers_;
}

std::unique_ptr<Variant> PublishedVariants::withdraw(std::size_t racer) {
  std::unique_ptr<Variant> variant = std::move(candidates_[racer]);
  if (racer != --racers_) candidates_[racer] = std::move(candidates_[racers_]);
  slot_.racers[racer].store(candidates_[racer].get(), std::memory_order_seq_cst);
  slot_.racers[racers_].store(nullptr, std::memory_order_seq_cst);
  return variant;
}

std::size_t PublishedVariants::place_of(const Variant* variant) const {
  std::size_t i = 0;
  while (i < racers_ && candidates_[i].get() != variant) ++i;
  return i;
}

void PublishedVariants::look_at_retired(Nanoseconds now) const {
  const Variant* variant = retired_.get();
  for (; variant != nullptr; variant = variant->retired_before.get()) variant->proof.look(now);
}

void PublishedVariants::reclaim() {
  if (!retired_ || !quiescence_ || !quiescence_->reached(lanes_)) return;
  // Tickets name the variant they were drawn for.
  if (!slot_.tickets.none_out()) return;
  retired_.reset();
  quiescence_.reset();
}

}  // namespace idletune::detail
