// The child's side of a started program.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "platform/os/faults.hpp"
#include "platform/os/process.hpp"

namespace idletune {
namespace {

pid_t parent_of_child = -1;

void leave_if_parent_is_gone(int) {
  if (::getppid() != parent_of_child) ::_exit(kParentGoneExitCode);
}

void die_with_parent(int channel) {
  parent_of_child = ::getppid();
  struct sigaction action {};
  action.sa_handler = leave_if_parent_is_gone;
  action.sa_flags = SA_RESTART;
  const int death_signal = SIGRTMAX - 1;
  (void)::sigaction(death_signal, &action, nullptr);
#ifdef PR_SET_PDEATHSIG
  (void)::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(death_signal), 0UL, 0UL, 0UL);
#endif
  // The watcher lives as long as the process and is never joined. It has a descriptor of its own,
  // which nobody closes under it.
  const int watched = ::fcntl(channel, F_DUPFD_CLOEXEC, kAboveChannel);
  if (watched < 0) return;
  // Kept for good. Volatile, or compilers drop the only pointer to it and leak checkers complain.
  static Result<Thread>* volatile watcher = nullptr;
  watcher =
      new Result<Thread>(Thread::start("idletune-parent", ThreadPriority::normal, [watched]() {
        for (;;) {
          pollfd entry{watched, 0, 0};  // a closed other end shows whatever is asked for
          if (::poll(&entry, 1, -1) > 0 && (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
            ::_exit(kParentGoneExitCode);
          }
        }
      }));
  (void)watcher;
}

void close_descriptors_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
#endif
  DIR* open_descriptors = ::opendir("/proc/self/fd");
  if (open_descriptors == nullptr) return;
  std::vector<int> found;
  while (const dirent* entry = ::readdir(open_descriptors)) {
    const int descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (descriptor >= first && descriptor != ::dirfd(open_descriptors)) found.push_back(descriptor);
  }
  ::closedir(open_descriptors);
  for (int descriptor : found) ::close(descriptor);
}

// One byte, not none: that also stops dumps that are piped to a program (core(5)).
void forbid_core_dumps() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(1, limit.rlim_max);
  (void)::setrlimit(RLIMIT_CORE, &limit);
}

// A limit that the application has set for itself would end or fail what it did not ask for. Not
// of stacks, which have one by default: endless recursion must find an end.
void lift_limits() {
  for (const auto resource :
       {RLIMIT_CPU, RLIMIT_RTTIME, RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK, RLIMIT_NPROC}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(resource, &limit);
  }
}

void bid_farewell(int signal) {
  const auto byte = static_cast<std::uint8_t>(signal);
  (void)::send(kChannelDescriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)::raise(signal);  // which is at its default again
}

void bid_farewell_at(int fault) {
  struct sigaction action {};
  action.sa_handler = bid_farewell;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  (void)::sigaction(fault, &action, nullptr);
}

// On a stack of its own: the main thread's may be what has no room left.
void bid_farewell_at_faults() {
  alignas(16) static std::uint8_t room[std::size_t{64} << 10];
  stack_t stack{};
  stack.ss_sp = room;
  stack.ss_size = sizeof(room);
  (void)::sigaltstack(&stack, nullptr);
  for (const int fault : kFaults) bid_farewell_at(fault);
}

}  // namespace

void renew_farewell() { bid_farewell_at(SIGABRT); }

Result<Channel> join_parent(ThreadPriority priority) {
  struct stat info {};
  if (::fstat(kChannelDescriptor, &info) != 0 || !S_ISSOCK(info.st_mode)) {
    return {StatusCode::unsupported, "this program is started by the agent, not by hand"};
  }
  (void)::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC);
  close_descriptors_from(kChannelDescriptor + 1);
  forbid_core_dumps();
  lift_limits();
  bid_farewell_at_faults();
  (void)lower_thread_priority(priority);
  die_with_parent(kChannelDescriptor);
  return Channel(kChannelDescriptor);
}

}  // namespace idletune
