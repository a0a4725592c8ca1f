// Mutexes that say what they guard, so that clang checks it (-Wthread-safety; the test
// integration.thread_safety). Elsewhere the annotations are nothing and the classes are
// std::mutex, std::lock_guard and std::condition_variable.
#pragma once

#include <chrono>
#include <condition_variable>
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

// What threads wait for under a mutex. Waits end without cause now and then: ask in a loop.
class Condition {
 public:
  void notify_all() { condition_.notify_all(); }
  void wait(Mutex& mutex) IDLETUNE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    (void)lock.release();
  }
  // False: `until` has come. The system clock's wait: the steady one's needs a newer glibc than
  // some boards have.
  bool wait_until(Mutex& mutex, std::chrono::system_clock::time_point until)
      IDLETUNE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, until) == std::cv_status::no_timeout;
    (void)lock.release();
    return in_time;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace idletune
