#include "tests/unit/interleavings/schedules.hpp"

#include "agent/launch/yield.hpp"

namespace idletune::test {
namespace {

thread_local Schedules* schedules = nullptr;
thread_local std::size_t self_number = 0;
thread_local bool undivided = false;

}  // namespace

Undivided::Undivided() { undivided = true; }
Undivided::~Undivided() { undivided = false; }

Schedules::Schedules(std::size_t preemptions) : preemptions_(preemptions) {
  for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { run(i); });
}

Schedules::~Schedules() {
  ending_ = true;
  for (std::size_t i = 0; i < kThreads; ++i) {
    hand_over(i);
    threads_[i].join();
  }
}

void Schedules::hand_over(std::size_t to) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    turn_ = to;
  }
  their_turn_[to].notify_one();
}

void Schedules::wait_for(std::size_t self) {
  std::unique_lock<std::mutex> lock(mutex_);
  their_turn_[self].wait(lock, [&] { return turn_ == self; });
}

void Schedules::run(std::size_t self) {
  schedules = this;
  self_number = self;
  for (;;) {
    wait_for(self);
    if (ending_) return;
    try {
      playing_->threads[self]();
    } catch (const Broken& broken) {
      if (broken_.empty()) broken_ = broken.what;
    }
    over_[self] = true;
    hand_over(choose(kThreads));
  }
}

std::size_t Schedules::choose(std::size_t running) {
  std::array<std::size_t, kThreads> able{};
  std::size_t count = 0;
  if (running < kThreads) able[count++] = running;
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (!over_[i] && i != running) able[count++] = i;
  }
  if (count == 0) return kThreads;
  if (running < kThreads && preempted_ == preemptions_) count = 1;
  if (count == 1) return able[0];
  if (decided_ == choices_.size()) choices_.push_back({0, count});
  const std::size_t taken = choices_[decided_++].taken;
  if (running < kThreads && taken > 0) ++preempted_;
  return able[taken];
}

void Schedules::step_ends(const char* point) {
  const std::size_t self = self_number;
  steps_ += std::to_string(self) + ":" + point + " ";
  const std::size_t next = choose(self);
  if (next == self) return;
  hand_over(next);
  wait_for(self);
}

void Schedules::round(Round& round) {
  playing_ = &round;
  over_.fill(false);
  decided_ = preempted_ = 0;
  steps_.clear();
  ++rounds_;
  hand_over(choose(kThreads));
  wait_for(kThreads);
}

// The last decision that may be another.
bool Schedules::next_schedule() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options) {
    choices_.pop_back();
  }
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

std::string Schedules::play(const std::function<Round()>& make) {
  choices_.clear();
  broken_.clear();
  rounds_ = 0;
  do {
    Round made = make();
    round(made);
    try {
      if (broken_.empty()) made.end();
    } catch (const Broken& broken) {
      broken_ = broken.what;
    }
    if (!broken_.empty()) return broken_ + " after " + steps_;
  } while (next_schedule());
  return {};
}

}  // namespace idletune::test

namespace idletune::detail {

void yield_at(const char* point) {
  if (test::schedules != nullptr && !test::undivided) test::schedules->step_ends(point);
}

void require_that(bool holds, const char* what) {
  if (!holds) throw test::Broken{what};
}

}  // namespace idletune::detail
