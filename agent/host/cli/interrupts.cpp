#include "agent/host/cli/interrupts.hpp"

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace idletune::cli {
namespace {

std::atomic<int> asked{0};
std::atomic<bool> answered{false};  // by the verb, or by giving up
std::atomic<int> parts_kept{0};
std::atomic<int> perhaps_kept{0};
std::atomic<bool> line_is_drawn{false};
std::recursive_mutex writing;  // what is kept of a part is written by who gives up
static_assert(std::atomic<int>::is_always_lock_free, "set from a signal handler");

void ask(int signal) {
  if (asked.fetch_add(1) == 0) return;
  if (line_is_drawn.load() && ::write(STDERR_FILENO, "\n", 1) < 0) ::_exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Waits for the first signal, and for the verb if that wants to answer.
void watch(const std::function<void()>& give_up) {
  constexpr std::chrono::milliseconds kLook{50};
  constexpr std::chrono::milliseconds kPatience{800};
  while (asked.load() == 0) std::this_thread::sleep_for(kLook);
  const auto begin = std::chrono::steady_clock::now();
  // A little also for a verb that keeps nothing, but says more itself.
  const auto wait = [&] { return perhaps_kept.load() > 0 ? kPatience : kPatience / 4; };
  while (!answered.load() &&
         (parts_kept.load() > 0 || std::chrono::steady_clock::now() - begin < wait()))
    std::this_thread::sleep_for(kLook);
  writing.lock();  // what is being written is there first
  if (answered.exchange(true)) return writing.unlock();
  give_up();
  ::_exit(1);
}

}  // namespace

void catch_interrupts(std::function<void()> give_up) {
  std::signal(SIGINT, ask);
  std::signal(SIGTERM, ask);
  std::thread(watch, std::move(give_up)).detach();
}

bool interrupted() {
  if (asked.load() == 0) return false;
  answered.store(true);
  return true;
}

bool draws_line(bool drawn) { return line_is_drawn.exchange(drawn); }

KeepsPart::KeepsPart(Patience patience) : patience_(patience) {
  ++(patience_ == Patience::endless ? parts_kept : perhaps_kept);
}

KeepsPart::~KeepsPart() {
  if (asked.load() > 0) answered.store(true);
  --(patience_ == Patience::endless ? parts_kept : perhaps_kept);
}

Uninterrupted::Uninterrupted() { writing.lock(); }

Uninterrupted::~Uninterrupted() { writing.unlock(); }

}  // namespace idletune::cli
