// Plays threads one step after the other, in every order up to a bound: a step ends at
// IDLETUNE_YIELD. What one thread wrote all others see at once: orders of memory are not played.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace idletune::test {

// Thrown out of a step whose promise was broken.
struct Broken {
  std::string what;
};

// While it lives, nobody else's step comes in between: under a lock.
class Undivided {
 public:
  Undivided();
  ~Undivided();
};

class Schedules {
 public:
  static constexpr std::size_t kThreads = 3;
  // What each thread does in one round. A new set of them for each, and its end.
  struct Round {
    std::array<std::function<void()>, kThreads> threads;
    std::function<void()> end;
  };
  explicit Schedules(std::size_t preemptions);
  ~Schedules();
  // Every order in which at most so many steps end though their thread could go on. Empty: no
  // promise was broken; else which one, and after which steps.
  std::string play(const std::function<Round()>& make);
  std::size_t rounds() const { return rounds_; }

  // --- the threads ---
  void step_ends(const char* point);

 private:
  struct Choice {
    std::size_t taken;
    std::size_t options;
  };
  void run(std::size_t self);
  void round(Round& round);
  bool next_schedule();
  // Who goes on; kThreads: nobody is left.
  std::size_t choose(std::size_t running);
  void hand_over(std::size_t to);
  void wait_for(std::size_t self);

  const std::size_t preemptions_;
  std::vector<Choice> choices_;  // of this round, those to be repeated first
  std::size_t decided_ = 0;
  std::size_t preempted_ = 0;
  std::size_t rounds_ = 0;
  std::string steps_, broken_;
  Round* playing_ = nullptr;
  std::array<bool, kThreads> over_{};
  bool ending_ = false;

  std::mutex mutex_;
  std::array<std::condition_variable, kThreads + 1> their_turn_;
  std::size_t turn_ = kThreads;  // that is the caller of play()
  std::vector<std::thread> threads_;
};

}  // namespace idletune::test
