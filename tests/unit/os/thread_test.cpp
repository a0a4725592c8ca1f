#include <doctest/doctest.h>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "platform/os/thread.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace idletune {
namespace {

TEST_CASE("a thread runs its body and is joined by the destructor") {
  std::atomic<int> runs{0};
  {
    auto thread = required(Thread::start("idletune-test", ThreadPriority::normal, [&] { ++runs; }));
    CHECK(thread.joinable());
  }
  CHECK(runs == 1);
}

TEST_CASE("joining twice and joining nothing do no harm") {
  Thread nothing;
  CHECK_FALSE(nothing.joinable());
  nothing.join();
  auto thread = required(Thread::start("idletune-test", ThreadPriority::low, [] {}));
  thread.join();
  CHECK_FALSE(thread.joinable());
  thread.join();
}

TEST_CASE("a thread moves, and assigning over a running one joins it") {
  std::atomic<int> runs{0};
  Thread first = std::move(*Thread::start("a", ThreadPriority::normal, [&] { ++runs; }));
  Thread second = std::move(*Thread::start("b", ThreadPriority::normal, [&] { ++runs; }));
  first = std::move(second);
  CHECK(first.joinable());
  CHECK_FALSE(second.joinable());
  first.join();
  CHECK(runs == 2);
}

TEST_CASE("priorities are lowered for the thread alone and names are cut") {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  for (ThreadPriority priority : {ThreadPriority::low, ThreadPriority::idle}) {
    int nice = 0;
    int policy = -1;
    char name[32] = "";
    auto thread = Thread::start("idletune-a-very-long-name", priority, [&] {
      nice = ::getpriority(PRIO_PROCESS, 0);
      policy = ::sched_getscheduler(0);
      ::pthread_getname_np(::pthread_self(), name, sizeof(name));
      CHECK(lower_thread_priority(priority));
    });
    REQUIRE(thread.ok());
    thread->join();
    CHECK(std::strcmp(name, "idletune-a-very") == 0);
    CHECK(nice >= before);
    if (priority == ThreadPriority::low) CHECK(nice >= 10);
    if (priority == ThreadPriority::idle) CHECK((policy == SCHED_IDLE || nice == 19));
  }
  CHECK(::getpriority(PRIO_PROCESS, 0) == before);
}

TEST_CASE("a low thread of a real-time one is none" * doctest::test_suite("real time")) {
  bool real_time = false;
  int policy = -1, nice = 0;
  std::thread application([&] {
    sched_param parameters{};
    parameters.sched_priority = 1;
    real_time = ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
    auto low = Thread::start("low", ThreadPriority::low, [&] {
      policy = ::sched_getscheduler(0);
      nice = ::getpriority(PRIO_PROCESS, 0);
    });
    if (low.ok()) low->join();
  });
  application.join();
  if (!real_time) return test::skip("there is no right to real-time priorities");
  CHECK(policy == SCHED_OTHER);
  CHECK(nice >= 10);
}

TEST_CASE("a low thread of one in a class below nice ones stays there") {
  std::thread application([] {
    sched_param parameters{};
    REQUIRE(::sched_setscheduler(0, SCHED_IDLE, &parameters) == 0);
    CHECK(lower_thread_priority(ThreadPriority::low));
    CHECK(::sched_getscheduler(0) == SCHED_IDLE);
  });
  application.join();
}

TEST_CASE("a thread blocks the application's signals, not faults") {
  sigset_t mask;
  ::sigemptyset(&mask);
  auto thread = required(Thread::start("idletune-test", ThreadPriority::normal,
                                       [&] { ::pthread_sigmask(SIG_BLOCK, nullptr, &mask); }));
  thread.join();
  CHECK(::sigismember(&mask, SIGTERM) == 1);
  CHECK(::sigismember(&mask, SIGUSR1) == 1);
  CHECK(::sigismember(&mask, SIGSEGV) == 0);
}

}  // namespace
}  // namespace idletune
