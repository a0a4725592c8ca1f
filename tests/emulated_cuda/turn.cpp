#include "tests/emulated_cuda/turn.hpp"

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/problem.hpp"

namespace emulated_cuda {

void Turn::take() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t mine = next_++;
  changed_.wait(lock, [&] { return served_ == mine; });
}

void Turn::give_back() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++served_;
  }
  changed_.notify_all();
}

void Turn::let_others() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) throw Problem{idletune::cuda::kLaunchFailed, "the device was reset"};
    if (next_ == served_ + 1) return;
  }
  give_back();
  take();
}

void Turn::end_all() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
}

bool Turn::ended() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ended_;
}

}  // namespace emulated_cuda
