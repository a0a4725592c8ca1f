// Which operations of a run are traced: bursts with gaps between them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/host/offload/analysis/analysis.hpp"

namespace idletune::offload {

// All of a short run is traced; then short bursts, every other one of which is as long as the
// largest window, with gaps of random length between them. The gaps grow with what has run: there
// are so many bursts for each time that the run doubles.
class Bursts {
 public:
  void begin_run() { bursts_ = passed_ = 0; }

  // How many operations the next one has.
  std::uint64_t begin() {
    length_ = bursts_ == 0 ? kFirst : bursts_ % kLongEvery == 0 ? kLong : kShort;
    gap_ = std::min(std::max(passed_ / kGapsPerRun, kShortestGap), kLongestGap);
    ++bursts_;
    passed_ += length_;
    return length_;
  }
  std::uint64_t length() const { return length_; }  // of the last one
  // Tells the analysis what the operations of the last one stand for.
  void weigh(Analysis& analysis) const {
    if (bursts_ == 1) return analysis.set_weight(1, 1);
    // For the gap behind it, too; a long one for those of the short ones, where only long ones see
    // anything.
    const std::uint64_t round = kLongEvery * gap_ + (kLongEvery - 1) * kShort + kLong;
    analysis.set_weight(static_cast<double>(gap_ + length_) / static_cast<double>(length_),
                        static_cast<double>(round) / static_cast<double>(kLong));
  }

  // How many operations pass until the next one.
  std::uint64_t gap() {
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const std::uint64_t gap = gap_ / 2 + random_ % gap_;
    passed_ += gap;
    return gap;
  }

 private:
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 20U;
  static constexpr std::uint64_t kShort = std::uint64_t{1} << 13U;
  static constexpr std::uint64_t kLong = std::uint64_t{1} << 16U;
  static constexpr std::uint64_t kLongEvery = 2;
  static constexpr std::uint64_t kShortestGap = std::uint64_t{1} << 17U;
  static constexpr std::uint64_t kLongestGap = std::uint64_t{1} << 25U;
  static constexpr std::uint64_t kGapsPerRun = 128;  // a gap is a 128th of what has run

  std::uint64_t random_ = 0x2545F4914F6CDD1DULL;
  std::uint64_t length_ = 0;
  std::uint64_t bursts_ = 0;  // so far
  std::uint64_t gap_ = 0;     // mean length of the one behind the burst
  std::uint64_t passed_ = 0;  // operations so far, about
};

}  // namespace idletune::offload
