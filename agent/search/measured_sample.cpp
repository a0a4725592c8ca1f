#include "agent/search/measured_sample.hpp"

#include <algorithm>
#include <cmath>

namespace idletune {

MeasuredSample::MeasuredSample(std::size_t columns, std::uint64_t seed)
    : columns_(columns), random_(seed) {}

void MeasuredSample::add(Span<const std::uint16_t> codes, double log_time, float prior) {
  if (std::isfinite(log_time)) ++correct_;
  const Entry added{log_time, prior, free_slot_};
  const std::size_t begin = free_slot_ * columns_;
  if (codes_.size() < begin + columns_) codes_.resize(begin + columns_);
  std::copy(codes.begin(), codes.end(), codes_.begin() + static_cast<std::ptrdiff_t>(begin));
  free_slot_ = static_cast<std::uint16_t>(size() + 1);  // unless one is dropped below
  if (best_.size() == kBest && !(log_time < best_.back().log_time)) return add_other(added);
  const auto at = std::upper_bound(best_.begin(), best_.end(), log_time,
                                   [](double t, const Entry& e) { return t < e.log_time; });
  best_.insert(at, added);
  if (best_.size() <= kBest) return;
  const Entry displaced = best_.back();
  best_.pop_back();
  add_other(displaced);
}

void MeasuredSample::add_other(const Entry& entry) {
  ++others_seen_;
  if (others_.size() < kOthers) {
    others_.push_back(entry);
    return;
  }
  const std::uint64_t place = random_.below(others_seen_);
  if (place >= kOthers) {
    free_slot_ = entry.slot;
    return;
  }
  free_slot_ = others_[static_cast<std::size_t>(place)].slot;
  others_[static_cast<std::size_t>(place)] = entry;
}

std::size_t MeasuredSample::bytes() const {
  return sizeof(MeasuredSample) + codes_.capacity() * sizeof(std::uint16_t) +
         (best_.capacity() + others_.capacity()) * sizeof(Entry);
}

}  // namespace idletune
