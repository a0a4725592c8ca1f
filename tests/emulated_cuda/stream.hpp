// Streams and events: what is to be done in order, and when it was done in modelled time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "tests/emulated_cuda/clock.h"

namespace emulated_cuda {

struct Context;
struct Graph;

// The place in a stream that was recorded last. Any thread may call.
class Event {
 public:
  Event(Context* of, bool is_timed) : context(of), timed(is_timed) {}
  // A new record; its number is what reach() is told.
  std::uint64_t record();
  // `at`: by the clock of clock.h, where there is one.
  void reach(std::uint64_t record, double nanoseconds, std::int64_t at);
  bool reached() const;
  std::int64_t at() const;
  // Until the record that is the last one now is reached; its time.
  std::uint64_t last_record() const;
  double wait_for(std::uint64_t record) const;
  double nanoseconds() const;

  Context* const context;
  const bool timed;
  std::atomic<bool> captured{false};  // recorded into a graph

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  std::uint64_t reached_ = 0;
  double nanoseconds_ = 0;
  std::int64_t at_ = 0;
};

// Null: time is the host's.
const emulated_clock* shared_clock();
// Calls the function, which takes what it takes of the processor.
template <class Function>
void computed(Function function) {
  const emulated_clock* clock = shared_clock();
  if (clock == nullptr) return function();
  clock->compute([](void* work) { (*static_cast<Function*>(work))(); }, &function);
}

// Does what is added one after another, on a thread of its own; with the clock of clock.h at once,
// and it has been done when the clock says so.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Context* of, int its_priority) : context(of), priority(its_priority) {}
  void add(std::function<void(Stream&)> work);
  // Until all that was added is done.
  void wait();
  // From now on what is added goes to `graph`, or runs again (null). Gives the graph until now.
  std::shared_ptr<Graph> capture(std::shared_ptr<Graph> graph);
  std::shared_ptr<Graph> captured() const;
  // The thread ends when all is done.
  void close();
  // Only for work of this stream: its modelled time.
  double nanoseconds = 0;
  // And when it will have done what was added, by the clock of clock.h.
  std::int64_t ends_at = 0;

  Context* const context;
  const int priority;

 private:
  void run();

  std::mutex doing_;  // with the clock of clock.h
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Graph> captured_;
  std::deque<std::function<void(Stream&)>> waiting_;
  bool busy_ = false;
  bool closed_ = false;
  bool has_thread_ = false;
};

}  // namespace emulated_cuda
