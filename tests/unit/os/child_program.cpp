// Started by process_test: joins its parent, then does what its argument says.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "platform/os/environment.hpp"
#include "platform/os/process.hpp"

namespace {

using idletune::Bytes;
using idletune::Channel;

void say(Channel& channel, const std::string& text) {
  (void)channel.send(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                     idletune::kNoTimeout);
}

int echo(Channel& channel) {
  std::uint8_t buffer[4096];
  for (;;) {
    const auto got = channel.receive(idletune::MutableBytes(buffer), idletune::kNoTimeout);
    if (!got.ok()) return 3;
    if (!channel.send(Bytes(buffer, *got), idletune::kNoTimeout).ok()) return 4;
  }
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

volatile std::uint8_t* nowhere = nullptr;
volatile bool for_ever = true;

// Uses up the stack.
int descend(int depth) {
  volatile std::uint8_t room[4096];
  room[depth % 4096] = static_cast<std::uint8_t>(depth);
  return for_ever ? descend(depth + 1) + room[0] : 0;
}

int fail_by(const std::string& how) {
  if (how == "overflow") return descend(0);
  if (how == "address") return *nowhere;
  if (how == "thread") std::thread([] { std::abort(); }).join();
  return ::raise(std::stoi(how));
}

// "<soft limit equals hard limit> ..." of processor time, memory and file size
int tell_limits(Channel& channel) {
  std::string told;
  for (const auto resource : {RLIMIT_CPU, RLIMIT_AS, RLIMIT_FSIZE}) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    told += limit.rlim_cur == limit.rlim_max ? " lifted" : " kept";
  }
  say(channel, told);
  return 0;
}

// "<open descriptors from 4 to 200> <core limit> <nice>"
int describe(Channel& channel) {
  int open_descriptors = 0;
  const int parent_watch = 1;  // join_parent's own
  for (int i = 4; i < 200; ++i) open_descriptors += ::fcntl(i, F_GETFD) >= 0 ? 1 : 0;
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  say(channel, std::to_string(open_descriptors - parent_watch) + " " +
                   std::to_string(core.rlim_cur) + " " +
                   std::to_string(::getpriority(PRIO_PROCESS, 0)));
  return 0;
}

// Starts a child that hangs, tells its process id, and waits to be killed.
int start_another(Channel& channel, const char* self) {
  idletune::ProcessOptions options;
  options.program = self;
  options.arguments = {"hang"};
  const auto child = idletune::ChildProcess::start(options);
  if (!child.ok()) return 5;
  std::uint8_t ready = 0;
  if (!(*child)->channel().receive(idletune::MutableBytes(&ready, 1), idletune::kNoTimeout).ok())
    return 6;
  say(channel, std::to_string((*child)->pid()));
  hang();
}

}  // namespace

int main(int argc, char** argv) {
  auto joined = idletune::join_parent();
  if (!joined.ok() || argc < 2) return 2;
  Channel& channel = *joined;
  const std::string order = argv[1];
  if (order == "echo") return echo(channel);
  if (order == "describe") return describe(channel);
  if (order == "parent") return start_another(channel, argv[0]);
  if (order == "fault" && argc > 2) return fail_by(argv[2]);
  if (order == "limits") return tell_limits(channel);
  if (order == "abort") std::abort();
  if (order == "trusted environment") {
    const char* value = idletune::environment("IDLETUNE_OS_TEST");
    say(channel, value != nullptr ? value : "(unset)");
    return 0;
  }
  if (order == "environment") {
    const char* value = std::getenv("IDLETUNE_OS_TEST");
    say(channel, value != nullptr ? value : "(unset)");
    return 0;
  }
  say(channel, "!");
  if (order == "hang") hang();
  return 7;
}
