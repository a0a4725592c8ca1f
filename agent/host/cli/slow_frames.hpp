// Notices when an application's frames have been slower than before for a while.
#pragma once

#include "agent/host/report/common.hpp"

namespace idletune::cli {

// Used by one thread.
class SlowFrames {
 public:
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr std::chrono::seconds kLong{3};
  static constexpr std::size_t kWindow = 7;  // frames whose median counts
  static constexpr double kSlower = 1.15;    // times the usual

  // `usual` is what a frame took so far; faster ones become the usual.
  explicit SlowFrames(Nanoseconds usual) : usual_(usual) {}
  // A frame of that length has ended. True if frames have been slower than usual for kLong, or for
  // that much longer since it last was true.
  bool ended(Clock::time_point now, Nanoseconds frame);

 private:
  Nanoseconds usual_;
  std::vector<Nanoseconds> last_;
  bool slow_ = false;
  Clock::time_point since_;
};

}  // namespace idletune::cli
