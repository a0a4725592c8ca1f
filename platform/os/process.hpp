// Child programs that may crash, hang or abort without hurting this process. Started, never forked:
// drivers do not survive fork().
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "platform/os/thread.hpp"

namespace idletune {

// One end of a byte stream between a process and the child it started (a socket pair, so that
// writing to a dead peer is an error and never a SIGPIPE). Used by one thread at a time.
class Channel {
 public:
  Channel() = default;
  // Takes ownership of a connected stream socket; -1 makes a closed channel.
  explicit Channel(int descriptor);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  bool is_open() const { return descriptor_ >= 0; }
  // Sends all bytes. Errors: timeout (part of it may have been sent: the stream is no longer
  // usable), not_found (the peer is gone or the channel closed), io_error.
  Status send(Bytes data, std::chrono::nanoseconds wait);
  // Receives what is there, at most buffer.size() bytes (more than 0), waiting at most `wait` for
  // the first byte (0: just looks). Returns the count, at least 1. Errors: timeout (nothing came),
  // not_found (the peer is gone and everything it sent was received), io_error.
  Result<std::size_t> receive(MutableBytes buffer, std::chrono::nanoseconds wait);
  // Receives exactly buffer.size() bytes within `wait`. Errors as above; after one the stream is no
  // longer usable, except for `timeout` with nothing received yet (`received_any`, if given, says
  // so).
  Status receive_all(MutableBytes buffer, std::chrono::nanoseconds wait,
                     bool* received_any = nullptr);
  // Nothing has come, and the peer is there.
  bool quiet() const;
  void close();

 private:
  int descriptor_ = -1;
};

// "Wait as long as it takes" for the functions of this header.
inline constexpr std::chrono::nanoseconds kNoTimeout = std::chrono::nanoseconds::max();

struct ProcessOptions {
  std::string program;                   // path of the executable; not searched in PATH
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // "NAME=value", added to (or replacing) this process's own
  bool inherit_output = false;           // stdout and stderr: ours (true) or /dev/null (false)
};

// How a child ended.
struct ExitStatus {
  enum class Kind : std::uint8_t {
    exited,    // `value` is its exit code
    signaled,  // `value` is the signal that killed it
    unknown    // it is gone without a farewell, and somebody else in this process reaped it
               // (SIGCHLD ignored, wait())
  };
  Kind kind = Kind::unknown;
  int value = 0;
  bool clean() const { return kind == Kind::exited && value == 0; }
  // It may have been somebody else who ended it: a user, a terminal that closes, a limit, the
  // kernel short of memory.
  bool by_others() const;
  std::string to_string() const;  // "exited with 3", "killed by signal 11 (SIGSEGV)", ...
};

// A started program, the leader of its own process group, with a channel to it. The destructor
// kills the whole group and reaps the child; a child that does not die within two seconds (stuck in
// a driver's system call, or of low priority on a busy machine) is left behind rather than waited
// for, and reaped when another child starts or ends. Used by one thread at a time.
//
// In the child the channel is descriptor kChannelDescriptor; standard input is /dev/null, and
// standard output is not part of the protocol, because drivers print there. The child's main()
// calls join_parent() first. Signals are at their defaults and unblocked in it.
class ChildProcess {
 public:
  // Errors: not_found (no such program), io_error (could not be started; says why). A program that
  // is started and dies at once is not an error here.
  static Result<std::unique_ptr<ChildProcess>> start(const ProcessOptions& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  Channel& channel() { return channel_; }
  pid_t pid() const { return pid_; }
  // Sends SIGKILL to the child and everything in its process group. Returns at once; idempotent.
  void kill();
  // True once the child has ended (and was reaped), waiting at most `wait` (0: just looks).
  bool ended(std::chrono::nanoseconds wait);
  // Processor time that all its threads have had so far; 0 where that cannot be known.
  std::chrono::nanoseconds cpu_time() const;
  // Valid once ended() was true.
  const ExitStatus& exit_status() const { return exit_status_; }
  // `byte` was the last thing that the child sent. If it is a farewell (see join_parent), it tells
  // what nobody else may know. False: it is none.
  bool take_farewell(std::uint8_t byte);
  bool bade_farewell() const { return farewell_ != 0; }
  // A killed child of this process that nobody waits for any more. Any thread.
  static void leave_behind(pid_t pid);
  // Reaps those left behind that have ended; how many have not. Any thread.
  static std::size_t reap_left_behind();

 private:
  ChildProcess(pid_t pid, Channel channel) : pid_(pid), channel_(std::move(channel)) {}
  bool reap_if_ended();
  pid_t pid_ = -1;
  bool ended_ = false;
  int farewell_ = 0;  // a signal; 0: none
  ExitStatus exit_status_;
  Channel channel_;
};

// The descriptor of the channel in a child started by ChildProcess.
inline constexpr int kChannelDescriptor = 3;

// The exit code of a child that left because its parent was gone.
inline constexpr int kParentGoneExitCode = 111;

// Child side; call it first in main(), before other threads exist. Takes the channel, closes all
// other descriptors inherited by accident (4 and up), forbids core dumps (a crash is an expected
// outcome and must not wear out the flash), lifts the limits that the parent has set for itself
// (processor time, memory, processes) as far as it may, lowers the priority of the process,
// bids farewell before a fault ends it (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL or SIGSYS: one
// byte, the signal), and makes it die with its parent: a thread waits for the channel's other end
// to close, and the kernel's parent-death signal covers the case that a stray copy of that end
// lives on. (That signal alone would not do: it fires when the *thread* that started the child
// ends, so its handler looks whether the parent itself is gone.) The parent sees the end of the
// stream when this process ends, not when the Channel is closed. Error: unsupported if this process
// was not started by ChildProcess.
Result<Channel> join_parent(ThreadPriority priority = ThreadPriority::low);

// Child side: once more for SIGABRT, which is at its default again where a compiler in this process
// has put a handler of its own and that let abort() go on.
void renew_farewell();

// The folder of the running executable, without a trailing slash, for finding programs installed
// beside it. `root` replaces "/" in tests. Error: io_error where /proc is not mounted.
Result<std::string> self_executable_folder(const std::string& root = "");

}  // namespace idletune
