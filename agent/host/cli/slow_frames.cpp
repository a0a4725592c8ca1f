#include "agent/host/cli/slow_frames.hpp"

#include "models/core/median.hpp"

namespace idletune::cli {

bool SlowFrames::ended(Clock::time_point now, Nanoseconds frame) {
  if (last_.size() == kWindow) last_.erase(last_.begin());
  last_.push_back(frame);
  if (last_.size() < kWindow) return false;
  const Nanoseconds median = median_of(last_);
  usual_ = std::min(usual_, median);
  const bool was_slow = slow_;
  slow_ = static_cast<double>(median.count()) > kSlower * static_cast<double>(usual_.count());
  if (!slow_) return false;
  if (!was_slow) since_ = now;
  if (now - since_ < kLong) return false;
  since_ = now;
  return true;
}

}  // namespace idletune::cli
