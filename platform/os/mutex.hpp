// Mutexes that say what they guard, so that clang checks it (-Wthread-safety; the test
// integration.thread_safety). Elsewhere the annotations are nothing, and the first classes are
// std::mutex and std::lock_guard.
#pragma once

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <mutex>

#if defined(__clang__)
#define IDLETUNE_ANNOTATION(x) __attribute__((x))
#else
#define IDLETUNE_ANNOTATION(x)
#endif
// Of a member: it is read and written under this mutex only (the thing pointed to, with PT_).
#define IDLETUNE_GUARDED_BY(mutex) IDLETUNE_ANNOTATION(guarded_by(mutex))
#define IDLETUNE_PT_GUARDED_BY(mutex) IDLETUNE_ANNOTATION(pt_guarded_by(mutex))
// Of a mutex: where both are held, it is taken first.
#define IDLETUNE_ACQUIRED_BEFORE(mutex) IDLETUNE_ANNOTATION(acquired_before(mutex))
// Of a function: it is called with this mutex held; it must not be.
#define IDLETUNE_REQUIRES(...) IDLETUNE_ANNOTATION(requires_capability(__VA_ARGS__))
#define IDLETUNE_EXCLUDES(...) IDLETUNE_ANNOTATION(locks_excluded(__VA_ARGS__))
// Of a function that no other thread can be beside: before or after all of them.
#define IDLETUNE_NO_THREAD_SAFETY_ANALYSIS IDLETUNE_ANNOTATION(no_thread_safety_analysis)

namespace idletune {

class IDLETUNE_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() IDLETUNE_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() IDLETUNE_ANNOTATION(release_capability()) { mutex_.unlock(); }
  bool try_lock() IDLETUNE_ANNOTATION(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex as long as it lives.
class IDLETUNE_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) IDLETUNE_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() IDLETUNE_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// The other end of a successful Mutex::try_lock().
class IDLETUNE_ANNOTATION(scoped_lockable) AdoptedLock {
 public:
  explicit AdoptedLock(Mutex& mutex) IDLETUNE_ANNOTATION(requires_capability(mutex))
      : mutex_(mutex) {}
  ~AdoptedLock() IDLETUNE_ANNOTATION(release_capability()) { mutex_.unlock(); }
  AdoptedLock(const AdoptedLock&) = delete;
  AdoptedLock& operator=(const AdoptedLock&) = delete;

 private:
  Mutex& mutex_;
};

// What threads wait for under a mutex. Waits end without cause now and then: ask in a loop. Not
// std::condition_variable: with the library of older boards that waits by the system's clock, which
// people set.
class Condition {
 public:
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

  Condition() {
    pthread_condattr_t attributes;
    ::pthread_condattr_init(&attributes);
    ::pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    ::pthread_cond_init(&condition_, &attributes);
    ::pthread_condattr_destroy(&attributes);
  }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() { ::pthread_cond_destroy(&condition_); }

  void notify_all() { ::pthread_cond_broadcast(&condition_); }
  void wait(Mutex& mutex) IDLETUNE_REQUIRES(mutex) {
    ::pthread_cond_wait(&condition_, mutex.mutex_.native_handle());
  }
  // False: `until` has come.
  bool wait_until(Mutex& mutex, Clock::time_point until) IDLETUNE_REQUIRES(mutex) {
    const std::chrono::nanoseconds time = until.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    timespec at{};
    at.tv_sec = static_cast<time_t>(seconds.count());
    at.tv_nsec = static_cast<long>((time - seconds).count());
    return ::pthread_cond_timedwait(&condition_, mutex.mutex_.native_handle(), &at) == 0;
  }

 private:
  pthread_cond_t condition_;
};

}  // namespace idletune
