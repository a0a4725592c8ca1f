// Whose kernel runs: one at a time, but none for long while others wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace emulated_cuda {

// First come, first served.
class Turn {
 public:
  void take();
  void give_back();
  // For who has it: lets those go first that wait. Problem: all kernels are to end.
  void let_others();
  // Kernels that run end at their next let_others(), those that wait run no more.
  void end_all();
  bool ended() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;    // number of who comes next
  std::uint64_t served_ = 0;  // whose turn it is
  bool ended_ = false;
};

}  // namespace emulated_cuda
