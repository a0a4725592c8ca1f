#include "tests/lives/played_time.hpp"

#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace idletune::lives {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

using Stack = std::unique_ptr<char[]>;

// Stacks are used again: making one costs more than most jobs.
std::vector<Stack>& free_stacks() {
  static std::vector<Stack> stacks;
  return stacks;
}

Stack take_stack() {
  if (free_stacks().empty()) return Stack(new char[kStackBytes]);
  Stack stack = std::move(free_stacks().back());
  free_stacks().pop_back();
  return stack;
}

}  // namespace

class PlayedThread {
 public:
  PlayedThread(PlayedTime& time, std::function<void()> work)
      : wakes_at_(time.now()), time_(time), work_(std::move(work)), stack_(take_stack()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&PlayedThread::enter), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
  }
  ~PlayedThread() { free_stacks().push_back(std::move(stack_)); }
  PlayedThread(const PlayedThread&) = delete;
  PlayedThread& operator=(const PlayedThread&) = delete;

  // Main thread: until it sleeps or ends.
  void resume() {
    time_.running_ = this;
#if defined(__SANITIZE_ADDRESS__)
    void* mine = nullptr;
    __sanitizer_start_switch_fiber(&mine, stack_.get(), kStackBytes);
#endif
    swapcontext(&main_, &context_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(mine, nullptr, nullptr);
#endif
    time_.running_ = nullptr;
  }
  // On it.
  void sleep(Nanoseconds duration) {
    wakes_at_ = time_.now() + duration;
    leave();
  }

  Nanoseconds wakes_at_;
  bool ended_ = false;

 private:
  static void enter(unsigned low, unsigned high) {
    const std::uintptr_t self = static_cast<std::uintptr_t>(high) << 32 | low;
    reinterpret_cast<PlayedThread*>(self)->run();
  }
  void run() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &main_stack_, &main_bytes_);
#endif
    work_();
    work_ = nullptr;
    ended_ = true;
    leave();
  }
  void leave() {
#if defined(__SANITIZE_ADDRESS__)
    void* mine = nullptr;
    __sanitizer_start_switch_fiber(ended_ ? nullptr : &mine, main_stack_, main_bytes_);
#endif
    swapcontext(&context_, &main_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(mine, &main_stack_, &main_bytes_);
#endif
  }

  PlayedTime& time_;
  std::function<void()> work_;
  Stack stack_;
  ucontext_t context_;
  ucontext_t main_;
#if defined(__SANITIZE_ADDRESS__)
  const void* main_stack_ = nullptr;
  std::size_t main_bytes_ = 0;
#endif
};

PlayedTime::PlayedTime() : now_(std::chrono::hours(1)) {}
PlayedTime::~PlayedTime() = default;

bool PlayedTime::ended(const PlayedThread& thread) { return thread.ended_; }

std::shared_ptr<PlayedThread> PlayedTime::begin(std::function<void()> work) {
  threads_.push_back(std::make_shared<PlayedThread>(*this, std::move(work)));
  return threads_.back();
}

PlayedThread* PlayedTime::next() const {
  PlayedThread* first = nullptr;
  for (const auto& thread : threads_)
    if (first == nullptr || thread->wakes_at_ < first->wakes_at_) first = thread.get();
  return first;
}

void PlayedTime::run_next() {
  PlayedThread* thread = next();
  now_ = std::max(now_, thread->wakes_at_);
  thread->resume();
  if (!thread->ended_) return;
  threads_.erase(std::find_if(threads_.begin(), threads_.end(),
                              [&](const auto& other) { return other.get() == thread; }));
}

void PlayedTime::pass(Nanoseconds duration) {
  duration = std::max(duration, Nanoseconds{0});
  if (running_ != nullptr) return running_->sleep(duration);
  if (threads_.empty()) {
    now_ += duration;
    return;
  }
  (void)pass_until([] { return false; }, duration);
}

void PlayedTime::freeze(Nanoseconds duration) {
  now_ += duration;
  for (const auto& thread : threads_) thread->wakes_at_ += duration;
}

bool PlayedTime::pass_until(const std::function<bool()>& ended, Nanoseconds timeout) {
  const Nanoseconds end = now_ + std::max(timeout, Nanoseconds{0});
  while (!ended()) {
    const PlayedThread* first = next();
    if (first == nullptr || first->wakes_at_ > end) {
      now_ = std::max(now_, end);
      return false;
    }
    run_next();
  }
  return true;
}

void PlayedTime::drain() {
  while (!threads_.empty()) run_next();
}

}  // namespace idletune::lives
