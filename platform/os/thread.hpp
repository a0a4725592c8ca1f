// Threads that do not get in the application's way.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <idletune/result.hpp>

namespace idletune {

enum class ThreadPriority : std::uint8_t {
  normal = 0,
  // Nice 10: yields to the application, yet keeps running under load. For threads that call into a
  // driver, whose locks the application's threads may wait for.
  low = 1,
  // SCHED_IDLE, and nice 19 where that cannot be had: runs only when nothing else wants the
  // processor, and gives it up at once. For whole processes of ours; never for code that may hold a
  // lock which the application waits for (priority inversion).
  idle = 2
};

// Lowers the calling thread's priority (threads it starts later inherit it). Best effort: false
// where the system does not allow it, which changes nothing. Priorities are never raised.
bool lower_thread_priority(ThreadPriority priority);

// Names the calling thread for debuggers and top(1); cut to 15 bytes.
void name_thread(const char* name);

// Processor time that the calling thread has had; 0 where the system does not tell.
std::chrono::nanoseconds thread_cpu_time();

// A running thread. The destructor joins. (std::thread reports failure by exception; this does
// not.)
class Thread {
 public:
  Thread();
  // Starts `body` on a new thread with every signal but faults blocked (the application's handlers
  // run on its own threads). A priority that cannot be had is no error. Error: out_of_memory (no
  // more threads).
  static Result<Thread> start(const char* name, ThreadPriority priority,
                              std::function<void()> body);
  Thread(Thread&&) noexcept;
  Thread& operator=(Thread&&) noexcept;  // joins what it held
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread();

  bool joinable() const { return state_ != nullptr; }
  // Waits for the body to return; no effect if not joinable. Not from the thread itself.
  void join();

 private:
  struct State;
  explicit Thread(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune
