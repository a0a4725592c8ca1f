// Time that passes only where somebody says so, and threads that live in it: each runs alone until
// it waits, so that every interleaving follows from the seed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/tuning/surroundings.hpp"
#include "platform/os/clock.hpp"

namespace idletune::lives {

class PlayedThread;

inline double in_seconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

class PlayedTime final : public MonotonicClock {
 public:
  PlayedTime();
  ~PlayedTime();
  Nanoseconds now() const override { return now_; }
  // On the main thread: the others run when their time has come, and it is `duration` later when
  // this returns. On another one: it sleeps for so long.
  void pass(Nanoseconds duration);
  // Main thread: until `ended`, at most for `timeout`. Whether it ended.
  bool pass_until(const std::function<bool()>& ended, Nanoseconds timeout);
  // For all at once: a container that is frozen, and goes on.
  void freeze(Nanoseconds duration);
  bool on_main_thread() const { return running_ == nullptr; }
  // A thread that begins as soon as time passes. `ended` may be asked until it is dropped.
  std::shared_ptr<PlayedThread> begin(std::function<void()> work);
  std::size_t threads() const { return threads_.size(); }
  static bool ended(const PlayedThread& thread);
  // Main thread: all threads run to their end.
  void drain();

 private:
  friend class PlayedThread;
  void run_next();  // whoever wakes first
  PlayedThread* next() const;

  Nanoseconds now_;
  std::vector<std::shared_ptr<PlayedThread>> threads_;
  PlayedThread* running_ = nullptr;  // null: the main thread
};

// The agent's worker in played time.
class PlayedWorker final : public detail::PlayedJobs {
 public:
  explicit PlayedWorker(PlayedTime& time) : time_(time) {}
  void start(std::function<void()> job) override { thread_ = time_.begin(std::move(job)); }
  bool wait(Nanoseconds timeout) override {
    return time_.pass_until([this] { return PlayedTime::ended(*thread_); }, timeout);
  }

 private:
  PlayedTime& time_;
  std::shared_ptr<PlayedThread> thread_;
};

}  // namespace idletune::lives
