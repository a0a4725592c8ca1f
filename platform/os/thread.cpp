#include "platform/os/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>
#include <utility>

#include "platform/os/error.hpp"

namespace idletune {
namespace {

constexpr int kLowNice = 10;
constexpr int kIdleNice = 19;  // where SCHED_IDLE cannot be had

// On Linux a nice value belongs to the thread, not the process.
bool raise_nice_to(int nice) {
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  if (now == -1 && errno != 0) return false;
  return now >= nice || ::setpriority(PRIO_PROCESS, 0, nice) == 0;
}

bool enter_class(int policy) {
  sched_param parameters{};
  return ::sched_setscheduler(0, policy, &parameters) == 0;
}

}  // namespace

bool lower_thread_priority(ThreadPriority priority) {
  if (priority == ThreadPriority::normal) return true;
  if (priority == ThreadPriority::idle && enter_class(SCHED_IDLE)) return true;
  // Who starts it may be of a real-time class, in which nothing is nice; or of one below nice ones.
  const int now = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (now != SCHED_IDLE && now != SCHED_BATCH) (void)enter_class(SCHED_OTHER);
  return raise_nice_to(priority == ThreadPriority::low ? kLowNice : kIdleNice);
}

std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void name_thread(const char* name) {
  char cut[16] = {};  // the kernel's limit, with the final zero
  std::string_view(name).copy(cut, sizeof(cut) - 1);
  (void)::pthread_setname_np(::pthread_self(), cut);
}

struct Thread::State {
  std::string name;
  ThreadPriority priority = ThreadPriority::normal;
  std::function<void()> body;
  pthread_t thread{};

  static void* enter(void* self) {
    State& state = *static_cast<State*>(self);
    name_thread(state.name.c_str());
    (void)lower_thread_priority(state.priority);
    state.body();
    return nullptr;
  }
};

Thread::Thread() = default;
Thread::Thread(std::unique_ptr<State> state) : state_(std::move(state)) {}
Thread::Thread(Thread&&) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    join();
    state_ = std::move(other.state_);
  }
  return *this;
}

Thread::~Thread() { join(); }

Result<Thread> Thread::start(const char* name, ThreadPriority priority,
                             std::function<void()> body) {
  std::unique_ptr<State> state(new State);
  state->name = name;
  state->priority = priority;
  state->body = std::move(body);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // Faults are the thread's own, and blocked ones would pass by the application's crash report.
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&state->thread, nullptr, &State::enter, state.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return {StatusCode::out_of_memory, "starting thread '%': %", name, error_text(error)};
  }
  return Thread(std::move(state));
}

void Thread::join() {
  if (state_ == nullptr) return;
  ::pthread_join(state_->thread, nullptr);
  state_.reset();
}

}  // namespace idletune
