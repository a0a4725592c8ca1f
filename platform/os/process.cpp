#include "platform/os/process.hpp"

#include <idletune/text.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string_view>

#include "models/core/lists.hpp"
#include "platform/os/awake_time.hpp"
#include "platform/os/error.hpp"
#include "platform/os/faults.hpp"

extern char** environ;  // NOLINT: POSIX

namespace idletune {
namespace {

using std::chrono::nanoseconds;

// How long to wait, of the time that this process is awake; kNoTimeout never ends.
class Deadline {
 public:
  explicit Deadline(nanoseconds wait) : wait_(wait) {}
  nanoseconds left() {
    if (wait_ == kNoTimeout) return kNoTimeout;
    return std::max(wait_ - awake_.until(), nanoseconds(0));
  }

 private:
  nanoseconds wait_;
  AwakeTime awake_;
};

// Rounded up. A limited wait is made in slices.
int poll_milliseconds(nanoseconds wait) {
  if (wait == kNoTimeout) return -1;
  return static_cast<int>((std::min(wait, AwakeTime::kSlice).count() + 999999) / 1000000);
}

// True when `events` (or an error, or the peer's end) are there; false when the deadline passed.
bool wait_for(int descriptor, short events, Deadline& deadline) {
  for (;;) {
    pollfd entry{descriptor, events, 0};
    const nanoseconds left = deadline.left();
    const int ready = ::poll(&entry, 1, poll_milliseconds(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the operation itself will say what is wrong
    if (deadline.left().count() == 0 && (ready == 0 || left.count() == 0)) return false;
  }
}

Status peer_gone() { return {StatusCode::not_found, "channel: the other process is gone"}; }
Status closed_channel() { return {StatusCode::not_found, "channel: closed"}; }
Status too_late(const char* doing) {
  return {StatusCode::timeout, "channel: % took longer than allowed", doing};
}

bool means_peer_gone(int error) { return error == EPIPE || error == ECONNRESET; }

}  // namespace

// --- Channel ---

Channel::Channel(int descriptor) : descriptor_(descriptor) {}
Channel::Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Status Channel::send(Bytes data, nanoseconds wait) {
  if (!is_open()) return closed_channel();
  Deadline deadline(wait);
  while (!data.empty()) {
    const ssize_t sent = ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLOUT, deadline)) return too_late("sending");
    } else if (means_peer_gone(errno)) {
      return peer_gone();
    } else if (errno != EINTR) {
      return {StatusCode::io_error, "channel: sending: %", error_text(errno)};
    }
  }
  return Status();
}

Result<std::size_t> Channel::receive(MutableBytes buffer, nanoseconds wait) {
  if (!is_open()) return closed_channel();
  Deadline deadline(wait);
  for (;;) {
    const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 || means_peer_gone(errno)) return peer_gone();
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLIN, deadline)) return too_late("receiving");
    } else if (errno != EINTR) {
      return {StatusCode::io_error, "channel: receiving: %", error_text(errno)};
    }
  }
}

bool Channel::quiet() const {
  char next = 0;
  return ::recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && !means_peer_gone(errno);
}

Status Channel::receive_all(MutableBytes buffer, nanoseconds wait, bool* received_any) {
  Deadline deadline(wait);
  std::size_t filled = 0;
  if (received_any != nullptr) *received_any = false;
  while (filled < buffer.size()) {
    const Result<std::size_t> got = receive(buffer.subspan(filled), deadline.left());
    if (!got.ok()) return got.status();
    filled += *got;
    if (received_any != nullptr) *received_any = true;
  }
  return Status();
}

// --- ExitStatus ---

std::string ExitStatus::to_string() const {
  switch (kind) {
    case Kind::exited: return joined("exited with %", value);
    case Kind::signaled: {
      const char* name = "";
      switch (value) {
        case SIGABRT: name = " (SIGABRT)"; break;
        case SIGBUS: name = " (SIGBUS)"; break;
        case SIGFPE: name = " (SIGFPE)"; break;
        case SIGILL: name = " (SIGILL)"; break;
        case SIGKILL: name = " (SIGKILL)"; break;
        case SIGSEGV: name = " (SIGSEGV)"; break;
        case SIGTERM: name = " (SIGTERM)"; break;
        default: break;
      }
      return joined("killed by signal %%", value, name);
    }
    case Kind::unknown: break;
  }
  return "ended in an unknown way";
}

bool ExitStatus::by_others() const {
  if (kind != Kind::signaled) return kind == Kind::unknown;
  for (const int signal :
       {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGXCPU, SIGPWR, SIGALRM, SIGUSR1, SIGUSR2}) {
    if (value == signal) return true;
  }
  return false;
}

// --- Starting ---

namespace {

// posix_spawn takes lists of texts that it does not change, up to a null pointer.
void add_texts(const std::vector<std::string>& texts, std::vector<char*>& list) {
  for (const std::string& text : texts) push(list, const_cast<char*>(text.c_str()));
  push(list, nullptr);
}

// The environment of this process with `additions` in place of its own values.
std::vector<char*> merged_environment(const std::vector<std::string>& additions) {
  std::vector<char*> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& addition : additions) {
      const std::size_t name = addition.find('=') + 1;
      replaced = replaced || (name != 0 && std::strncmp(addition.c_str(), *entry, name) == 0);
    }
    if (!replaced) push(merged, *entry);
  }
  add_texts(additions, merged);
  return merged;
}

// posix_spawn's two argument objects, destroyed with it.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void use_descriptors(int channel, bool inherit_output) {
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (!inherit_output) {
      ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
      ::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions_, channel, kChannelDescriptor);
  }

  void lead_a_group_with_default_signals() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::sigdelset(&all, SIGKILL);
    ::sigdelset(&all, SIGSTOP);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }

  int spawn(pid_t* pid, const std::string& program, char** arguments, char** environment) {
    return ::posix_spawn(pid, program.c_str(), &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

enum class Presence : std::uint8_t { running, ended, reaped };

Presence presence_of(pid_t child) {
  siginfo_t info{};
  int failed;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return Presence::reaped;
  return info.si_pid == 0 ? Presence::running : Presence::ended;
}

// Children that were killed and had not ended when they were left behind; 0: nobody.
std::atomic<pid_t> left_behind[16];

}  // namespace

void ChildProcess::leave_behind(pid_t pid) {
  for (std::atomic<pid_t>& place : left_behind) {
    pid_t nobody = 0;
    if (place.compare_exchange_strong(nobody, pid)) return;
  }
}

std::size_t ChildProcess::reap_left_behind() {
  std::size_t there = 0;
  for (std::atomic<pid_t>& place : left_behind) {
    const pid_t pid = place.exchange(0);  // nobody else waits for it meanwhile
    if (pid == 0 || ::waitpid(pid, nullptr, WNOHANG) != 0) continue;
    leave_behind(pid);
    ++there;
  }
  return there;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const ProcessOptions& options) {
  (void)reap_left_behind();
  const auto failed = [&](StatusCode code, int error) {
    return Status(code, "starting '%': %", options.program, error_text(error));
  };
  // posix_spawn tells too, but not on every system.
  if (::access(options.program.c_str(), X_OK) != 0) return failed(StatusCode::not_found, errno);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed(StatusCode::io_error, errno);
  }
  Channel ours(ends[0]);
  const Channel low_end(ends[1]);
  // Away from the descriptors of the child's plan, so that taking its place really duplicates it.
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveChannel);
  if (theirs < 0) return failed(StatusCode::io_error, errno);
  const Channel their_end(theirs);

  std::vector<char*> arguments;
  push(arguments, const_cast<char*>(options.program.c_str()));
  add_texts(options.arguments, arguments);
  SpawnPlan plan;
  plan.use_descriptors(theirs, options.inherit_output);
  plan.lead_a_group_with_default_signals();
  pid_t pid = -1;
  const int error = plan.spawn(&pid, options.program, arguments.data(),
                               merged_environment(options.environment).data());
  if (error != 0) {
    const bool missing = error == ENOENT || error == ENOTDIR;
    return failed(missing ? StatusCode::not_found : StatusCode::io_error, error);
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(ours)));
}

ChildProcess::~ChildProcess() {
  channel_.close();
  kill();
  if (!ended(std::chrono::seconds(2))) leave_behind(pid_);
  (void)reap_left_behind();
}

void ChildProcess::kill() {
  if (ended_) return;
  // Until it is reaped its id, and so its group's, cannot be somebody else's. Where others reaped
  // it, whoever has that id now is a stranger; where nobody has, the group may be what it left.
  const bool reaped = presence_of(pid_) == Presence::reaped;
  if (!reaped || ::kill(pid_, 0) != 0) (void)::kill(-pid_, SIGKILL);
}

nanoseconds ChildProcess::cpu_time() const {
  clockid_t clock;
  timespec time{};
  if (ended_ || ::clock_getcpuclockid(pid_, &clock) != 0) return nanoseconds(0);
  if (::clock_gettime(clock, &time) != 0) return nanoseconds(0);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

bool ChildProcess::reap_if_ended() {
  if (ended_) return true;
  const Presence presence = presence_of(pid_);
  if (presence == Presence::running) return false;
  if (presence == Presence::ended) (void)::kill(-pid_, SIGKILL);  // and what it started itself
  int status = 0;
  pid_t reaped;
  do {
    reaped = ::waitpid(pid_, &status, WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return false;
  ended_ = true;
  if (reaped == pid_ && WIFEXITED(status)) {
    exit_status_ = {ExitStatus::Kind::exited, WEXITSTATUS(status)};
  } else if (reaped == pid_ && WIFSIGNALED(status)) {
    exit_status_ = {ExitStatus::Kind::signaled, WTERMSIG(status)};
  } else if (farewell_ != 0) {
    exit_status_ = {ExitStatus::Kind::signaled, farewell_};
  }
  return true;
}

bool ChildProcess::take_farewell(std::uint8_t byte) {
  if (std::find(std::begin(kFaults), std::end(kFaults), byte) == std::end(kFaults)) return false;
  farewell_ = byte;
  if (ended_ && exit_status_.kind == ExitStatus::Kind::unknown) {
    exit_status_ = {ExitStatus::Kind::signaled, farewell_};
  }
  return true;
}

bool ChildProcess::ended(nanoseconds wait) {
  Deadline deadline(wait);
  nanoseconds pause = std::chrono::microseconds(50);
  while (!reap_if_ended()) {
    const nanoseconds left = deadline.left();
    if (left.count() == 0) return false;
    pause = std::min<nanoseconds>({pause * 2, left, std::chrono::milliseconds(2)});
    timespec sleep{};
    sleep.tv_nsec = static_cast<long>(pause.count());
    (void)::nanosleep(&sleep, nullptr);
  }
  return true;
}

Result<std::string> self_executable_folder(const std::string& root) {
  const std::string link = root + "/proc/self/exe";
  std::vector<char> target(4096);
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= target.size()) {
    return {StatusCode::io_error, "reading '%': %", link, error_text(errno)};
  }
  const std::string path(target.data(), static_cast<std::size_t>(length));
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return {StatusCode::io_error, "reading '%': '%' is not an absolute path", link, path};
  }
  return slash == 0 ? std::string("/") : path.substr(0, slash);
}

}  // namespace idletune
