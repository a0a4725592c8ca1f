#include "kernels/krylov/background_conversion.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr int kNice = 10;  // the iterations go first where the device is the processor itself

std::function<PlayedConversion()>& played() {
  static std::function<PlayedConversion()> begins;
  return begins;
}

}  // namespace

void play_conversions(std::function<PlayedConversion()> begins) { played() = std::move(begins); }

BackgroundConversion::~BackgroundConversion() {
  if (started()) pthread_join(thread_, nullptr);
}

bool BackgroundConversion::start(const SparsityPattern& pattern, SparseFormat format,
                                 std::size_t number_bytes, std::uint64_t limit_bytes) {
  if (played()) played_ = played()();
  pattern_ = &pattern;
  format_ = format;
  number_bytes_ = number_bytes;
  limit_bytes_ = limit_bytes;
  done_.store(false, std::memory_order_relaxed);
  // The application's signals are its own threads'; faults are whose they are.
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool runs = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!runs) pattern_ = nullptr;
  return runs;
}

void* BackgroundConversion::run(void* self) {
  auto& own = *static_cast<BackgroundConversion*>(self);
  const sched_param none{};
  (void)sched_setscheduler(0, SCHED_OTHER, &none);  // in a real-time class nothing is nice
  if (getpriority(PRIO_PROCESS, 0) < kNice) (void)setpriority(PRIO_PROCESS, 0, kNice);
  const auto begin = std::chrono::steady_clock::now();
  own.stored_ = convert(*own.pattern_, own.format_, own.number_bytes_, own.limit_bytes_);
  own.seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  own.done_.store(true, std::memory_order_release);
  return nullptr;
}

Result<StoredPattern> BackgroundConversion::take() {
  pthread_join(thread_, nullptr);
  pattern_ = nullptr;
  return std::move(stored_);
}

}  // namespace idletune::krylov
