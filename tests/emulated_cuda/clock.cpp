// The clock of clock.h, and the C library's functions that it takes the place of. It is the host's,
// less the time in which somebody held it, and more by what the device was waited for.
#include "tests/emulated_cuda/clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kMostHeld = 60 * kSecond;
constexpr std::int64_t kSlice = 10000000;     // who sleeps looks this often
constexpr std::int64_t kSpun = 100000;        // sleeps end that late
constexpr std::int64_t kSuspicious = kSlice;  // held that long: does the holder live?
constexpr std::int64_t kMonotonicBelow = std::int64_t{1} << 59;  // 18 years; today is later

// What the processes share.
struct Shared {
  std::atomic<bool> is_made;
  pthread_mutex_t holder;
  std::atomic<std::uint32_t> changes;    // odd while the next two change
  std::atomic<std::int64_t> held_since;  // host's time; 0: it goes on
  std::atomic<std::int64_t> lost;
  std::atomic<std::int64_t> busy_until;
};

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::int64_t nanoseconds_of(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kSecond + time.tv_nsec;
}

timespec timespec_of(std::int64_t nanoseconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanoseconds / kSecond);
  time.tv_nsec = static_cast<long>(nanoseconds % kSecond);
  return time;
}

int real_gettime(clockid_t clock, timespec* time) {
  static auto* const function = real<int(clockid_t, timespec*)>("clock_gettime");
  return function(clock, time);
}

int real_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                   const timespec* until) {
  static auto* const function =
      real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
          "pthread_cond_clockwait");
  return function(condition, mutex, clock, until);
}

std::int64_t host_now() {
  timespec time{};
  real_gettime(CLOCK_MONOTONIC, &time);
  return nanoseconds_of(time);
}

void make(Shared& shared) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared.holder, &attributes);
  pthread_mutexattr_destroy(&attributes);
  shared.is_made = true;
}

Shared* open_shared() {
  const char* path = std::getenv("IDLETUNE_EMULATED_CLOCK");
  if (path == nullptr || *path == 0) return nullptr;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (flock(file, LOCK_EX) == 0 && ftruncate(file, sizeof(Shared)) == 0) {
    mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  auto* shared = mapped != MAP_FAILED ? static_cast<Shared*>(mapped) : nullptr;
  if (shared != nullptr && !shared->is_made) make(*shared);
  flock(file, LOCK_UN);  // what is mapped would keep it
  close(file);
  return shared;
}

Shared* shared() {
  static Shared* const opened = open_shared();
  return opened;
}

void end_hold(Shared& of) {
  const std::int64_t held = std::min(host_now() - of.held_since, kMostHeld);
  ++of.changes;
  of.lost += held;
  of.held_since = 0;
  ++of.changes;
}

// Who held the clock and has ended, holds it no more.
void free_from_the_dead(Shared& of) {
  const int error = pthread_mutex_trylock(&of.holder);
  if (error == EOWNERDEAD) {
    pthread_mutex_consistent(&of.holder);
    end_hold(of);
  }
  if (error == 0 || error == EOWNERDEAD) pthread_mutex_unlock(&of.holder);
}

std::int64_t now_of(Shared& of) {
  for (;;) {
    const std::uint32_t before = of.changes;
    const std::int64_t lost = of.lost;
    const std::int64_t held_since = of.held_since;
    const std::int64_t host = host_now();
    if (before % 2 != 0 || of.changes != before) continue;
    if (held_since == 0) return host - lost;
    if (host - held_since > kSuspicious) free_from_the_dead(of);
    return held_since - lost + std::max<std::int64_t>(host - held_since - kMostHeld, 0);
  }
}

std::int64_t now() { return now_of(*shared()); }

void lock_holder(Shared& of) {
  if (pthread_mutex_lock(&of.holder) != EOWNERDEAD) return;
  pthread_mutex_consistent(&of.holder);
  end_hold(of);
}

void hold() {
  Shared& of = *shared();
  lock_holder(of);
  ++of.changes;
  of.held_since = host_now();
  ++of.changes;
}

void go_on() {
  end_hold(*shared());
  pthread_mutex_unlock(&shared()->holder);
}

std::int64_t occupy(std::int64_t not_before, std::int64_t nanoseconds) {
  Shared& of = *shared();
  of.busy_until = std::max<std::int64_t>(of.busy_until, not_before) + nanoseconds;
  return of.busy_until;
}

void sleep_really(std::int64_t nanoseconds) {
  const timespec time = timespec_of(nanoseconds);
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr);
}

void wait(std::int64_t until) {
  Shared& of = *shared();
  if (now_of(of) >= until) return;
  lock_holder(of);
  const std::int64_t left = until - now_of(of);
  ++of.changes;
  of.lost -= std::max<std::int64_t>(left, 0);
  ++of.changes;
  pthread_mutex_unlock(&of.holder);
}

void sleep_until(std::int64_t until) {
  for (std::int64_t left = until - now(); left > 0; left = until - now()) {
    if (left > kSpun) {
      sleep_really(std::min(left - kSpun, kSlice));
    } else {
      sched_yield();
    }
  }
}

void compute(void (*work)(void*), void* argument) {
  timespec before{}, after{};
  hold();
  real_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  work(argument);
  real_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  go_on();
  sleep_until(now() + nanoseconds_of(after) - nanoseconds_of(before));
}

bool is_replaced(clockid_t clock) {
  return shared() != nullptr && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                                 clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME);
}

// At most a slice, and then wakes without cause, which every caller must expect.
int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t until) {
  const std::int64_t left = std::max<std::int64_t>(until - now(), 0);
  const timespec time = timespec_of(host_now() + std::min(left, kSlice));
  const int error = real_clockwait(condition, mutex, CLOCK_MONOTONIC, &time);
  return error == ETIMEDOUT && now() < until ? 0 : error;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

const emulated_clock* emulated_cuda_clock(void) {
  static constexpr emulated_clock kClock{now, hold, go_on, occupy, wait, compute};
  return shared() != nullptr ? &kClock : nullptr;
}

int clock_gettime(clockid_t clock, timespec* time) {
  if (!is_replaced(clock)) return real_gettime(clock, time);
  *time = timespec_of(now());
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* remaining) {
  if (!is_replaced(clock)) {
    static auto* const function =
        real<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
    return function(clock, flags, request, remaining);
  }
  sleep_until((flags & TIMER_ABSTIME) != 0 ? nanoseconds_of(*request)
                                           : now() + nanoseconds_of(*request));
  return 0;
}

int nanosleep(const timespec* request, timespec* remaining) {
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, remaining);
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  if (!is_replaced(clock)) return real_clockwait(condition, mutex, clock, until);
  return wait_for_condition(condition, mutex, nanoseconds_of(*until));
}

// Which clock a condition has only itself knows; times tell.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  const std::int64_t time = nanoseconds_of(*until);
  const bool monotonic = time < kMonotonicBelow;
  return pthread_cond_clockwait(condition, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                until);
}

// The processors of a board are not this machine's, which others may keep busy: nobody yields to
// them.
int sched_setscheduler(pid_t, int, const sched_param*) noexcept { return 0; }
int setpriority(__priority_which_t, id_t, int) noexcept { return 0; }

#pragma GCC visibility pop
}
