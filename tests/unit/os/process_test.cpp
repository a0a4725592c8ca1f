#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "platform/os/process.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace idletune {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using test::bytes_of;

constexpr seconds kLong{60};  // a limit that only a failure reaches

std::string receive_text(Channel& channel, std::size_t size) {
  std::string text(size, '\0');
  const Status status =
      channel.receive_all(MutableBytes(reinterpret_cast<std::uint8_t*>(&text[0]), size), kLong);
  CHECK_MESSAGE(status.ok(), status.to_string());
  return text;
}

std::string receive_once(Channel& channel) {
  std::uint8_t buffer[256];
  const auto got = required(channel.receive(MutableBytes(buffer), kLong));
  return std::string(reinterpret_cast<const char*>(buffer), got);
}

std::unique_ptr<ChildProcess> start(const std::string& program,
                                    const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.program = program;
  options.arguments = arguments;
  return required(ChildProcess::start(options));
}

std::unique_ptr<ChildProcess> shell(const std::string& script) {
  return start("/bin/sh", {"-c", script});
}

std::string child_program() {
  const auto folder = required(self_executable_folder());
  return folder + "/idletune_os_child";
}

// The child program, where this system can start it at all (an emulated processor's program cannot
// be without the kernel's help).
std::unique_ptr<ChildProcess> own_child(const std::vector<std::string>& arguments) {
  static const bool can_start = [] {
    auto child = start(child_program(), {"hang"});
    std::uint8_t byte = 0;
    return child->channel().receive(MutableBytes(&byte, 1), kLong).ok();
  }();
  if (!can_start) {
    test::skip(child_program() + " cannot be started here");
    return nullptr;
  }
  return start(child_program(), arguments);
}

// Gone or a zombie that nobody reaped yet.
bool is_dead(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return true;
  return line[line.rfind(')') + 2] == 'Z';
}

TEST_CASE("bytes go to a child and come back on its channel") {
  auto child = shell("exec cat <&3 >&3");
  REQUIRE(child->channel().send(bytes_of("hello"), kLong).ok());
  CHECK(receive_text(child->channel(), 5) == "hello");
  CHECK_FALSE(child->ended(nanoseconds(0)));
}

TEST_CASE("more than a socket holds goes through while both sides work") {
  auto child = shell("exec cat <&3 >&3");
  const std::string block(1 << 20, 'x');
  std::thread writer([&] { CHECK(child->channel().send(bytes_of(block), kLong).ok()); });
  CHECK(receive_text(child->channel(), block.size()) == block);
  writer.join();
}

TEST_CASE("receiving from a silent child ends with a timeout and nothing is lost") {
  auto child = shell("read line <&3; echo \"got $line\" >&3");
  std::uint8_t byte = 0;
  CHECK(child->channel().receive(MutableBytes(&byte, 1), nanoseconds(0)).code() ==
        StatusCode::timeout);
  CHECK(child->channel().receive(MutableBytes(&byte, 1), milliseconds(20)).code() ==
        StatusCode::timeout);
  REQUIRE(child->channel().send(bytes_of("it\n"), kLong).ok());
  CHECK(receive_text(child->channel(), 7) == "got it\n");
}

TEST_CASE("sending to a child that does not read ends with a timeout") {
  auto child = shell("sleep 1000");
  const std::string block(16 << 20, 'x');
  CHECK(child->channel().send(bytes_of(block), milliseconds(50)).code() == StatusCode::timeout);
}

TEST_CASE("an exit code is reported and the channel ends") {
  auto child = shell("exit 41");
  REQUIRE(child->ended(kLong));
  CHECK(child->exit_status().kind == ExitStatus::Kind::exited);
  CHECK(child->exit_status().value == 41);
  CHECK_FALSE(child->exit_status().clean());
  CHECK(child->exit_status().to_string() == "exited with 41");
  std::uint8_t byte = 0;
  CHECK(child->channel().receive(MutableBytes(&byte, 1), kLong).code() == StatusCode::not_found);
}

TEST_CASE("a child's processor time counts its work, not its waiting") {
  auto busy = shell("while :; do :; done");
  auto waiting = shell("printf x >&3; exec sleep 1000");
  CHECK(receive_text(waiting->channel(), 1) == "x");
  const nanoseconds before = waiting->cpu_time();
  const auto give_up = std::chrono::steady_clock::now() + kLong;
  while (busy->cpu_time() < milliseconds(300) && std::chrono::steady_clock::now() < give_up) {
    CHECK_FALSE(busy->ended(milliseconds(5)));
  }
  CHECK(busy->cpu_time() >= milliseconds(300));
  CHECK(waiting->cpu_time() - before < milliseconds(200));
  busy->kill();
  REQUIRE(busy->ended(kLong));
  CHECK(busy->cpu_time() == nanoseconds(0));
}

TEST_CASE("writing to a dead child is an error and no signal") {
  auto child = shell("exit 0");
  REQUIRE(child->ended(kLong));
  CHECK(child->exit_status().clean());
  CHECK(child->channel().send(bytes_of("x"), kLong).code() == StatusCode::not_found);
}

TEST_CASE("what a child sent before it died is still received") {
  auto child = shell("printf last >&3");
  REQUIRE(child->ended(kLong));
  CHECK(receive_text(child->channel(), 4) == "last");
}

TEST_CASE("a signal that killed the child is reported") {
  auto child = shell("kill -SEGV $$");
  REQUIRE(child->ended(kLong));
  CHECK(child->exit_status().kind == ExitStatus::Kind::signaled);
  CHECK(child->exit_status().value == SIGSEGV);
  CHECK(child->exit_status().to_string() == "killed by signal 11 (SIGSEGV)");
}

TEST_CASE("killing ends the child and what it started") {
  auto child = shell("sleep 1000 & echo $! >&3; wait");
  std::string grandchild = receive_once(child->channel());
  grandchild.pop_back();
  CHECK_FALSE(child->ended(milliseconds(10)));
  child->kill();
  REQUIRE(child->ended(kLong));
  CHECK(child->exit_status().value == SIGKILL);
  for (int i = 0; i < 1000 && !is_dead(grandchild); ++i)
    std::this_thread::sleep_for(milliseconds(5));
  CHECK(is_dead(grandchild));
}

TEST_CASE("a program that is not there is not found") {
  ProcessOptions options;
  options.program = "/nonexistent/idletune-helper";
  const auto child = ChildProcess::start(options);
  CHECK(child.code() == StatusCode::not_found);
  CHECK(child.status().message().find("/nonexistent/idletune-helper") != std::string::npos);
}

TEST_CASE("a child whose end somebody else collected counts as ended in an unknown way") {
  ::signal(SIGCHLD, SIG_IGN);
  {
    auto child = shell("exit 5");
    CHECK(child->ended(kLong));
    CHECK(child->exit_status().kind == ExitStatus::Kind::unknown);
  }
  ::signal(SIGCHLD, SIG_DFL);
}

TEST_CASE("whoever has the id of a child that somebody else reaped is left alone" *
          doctest::test_suite("chosen ids")) {
  const char kLastId[] = "/proc/sys/kernel/ns_last_pid";
  if (::access(kLastId, W_OK) != 0) return test::skip(std::string(kLastId) + " cannot be written");
  auto child = shell("exit 5");
  const std::string id = std::to_string(child->pid());
  REQUIRE(::waitpid(child->pid(), nullptr, 0) == child->pid());
  // setsid goes on under the number that it was started with, as the leader of a group.
  auto stranger = shell("for i in $(seq 2000); do echo $((" + id + " - 1)) > " + kLastId +
                        "; setsid sleep 1000 & if [ $! = " + id +
                        " ]; then echo taken >&3; wait; exit; fi; kill $!; done; echo no >&3");
  REQUIRE(receive_once(stranger->channel()) == "taken\n");
  while (::getpgid(child->pid()) != child->pid()) std::this_thread::sleep_for(milliseconds(1));
  child->kill();
  child.reset();
  std::this_thread::sleep_for(milliseconds(20));
  CHECK_FALSE(is_dead(id));
  (void)::kill(std::atoi(id.c_str()), SIGKILL);
}

TEST_CASE("which ends may be somebody else's doing") {
  const auto by_others = [](ExitStatus::Kind kind, int value) {
    return ExitStatus{kind, value}.by_others();
  };
  for (const int signal :
       {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGXCPU, SIGPWR, SIGALRM, SIGUSR1, SIGUSR2}) {
    CAPTURE(signal);
    CHECK(by_others(ExitStatus::Kind::signaled, signal));
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS}) {
    CAPTURE(signal);
    CHECK_FALSE(by_others(ExitStatus::Kind::signaled, signal));
  }
  CHECK(by_others(ExitStatus::Kind::unknown, 0));
  CHECK_FALSE(by_others(ExitStatus::Kind::exited, 1));
}

TEST_CASE("a child that is left behind is reaped when it has ended") {
  const pid_t stuck = ::fork();
  if (stuck == 0) {
    for (;;) ::pause();
  }
  REQUIRE(stuck > 0);
  ChildProcess::leave_behind(stuck);
  CHECK(ChildProcess::reap_left_behind() == 1);
  ::kill(stuck, SIGKILL);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(stuck), &info, WEXITED | WNOWAIT) == 0);
  (void)shell("true");
  CHECK(::waitpid(stuck, nullptr, WNOHANG) == -1);
  CHECK(ChildProcess::reap_left_behind() == 0);
}

TEST_CASE("a child that joined its parent echoes" * doctest::test_suite("own children")) {
  auto child = own_child({"echo"});
  if (!child) return;
  REQUIRE(child->channel().send(bytes_of("ping"), kLong).ok());
  CHECK(receive_text(child->channel(), 4) == "ping");
  child->channel().close();
  REQUIRE(child->ended(kLong));
  // Its own look at the stream and its watching thread race; either way it left by itself.
  CHECK(child->exit_status().kind == ExitStatus::Kind::exited);
}

TEST_CASE("a joined child has no stray descriptors, dumps no core and is nice" *
          doctest::test_suite("own children")) {
  const int stray = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as applications do
  auto child = own_child({"describe"});
  if (child) {
    const std::string text = receive_once(child->channel());
    CHECK(text.substr(0, 2) == "0 ");
    CHECK((text[2] == '0' || text[2] == '1'));
    const int nice = std::atoi(text.c_str() + 4);
    CHECK(nice >= 10);
  }
  ::close(stray);
}

TEST_CASE("a fault of a joined child is known though somebody else reaps it" *
          doctest::test_suite("own children")) {
  const std::pair<std::string, int> faults[] = {{"overflow", SIGSEGV},
                                                {"address", SIGSEGV},
                                                {"thread", SIGABRT},
                                                {std::to_string(SIGSEGV), SIGSEGV},
                                                {std::to_string(SIGABRT), SIGABRT},
                                                {std::to_string(SIGBUS), SIGBUS},
                                                {std::to_string(SIGFPE), SIGFPE},
                                                {std::to_string(SIGILL), SIGILL},
                                                {std::to_string(SIGSYS), SIGSYS}};
  for (const auto& [how, signal] : faults) {
    CAPTURE(how);
    for (const bool reaped_elsewhere : {false, true}) {
      ::signal(SIGCHLD, reaped_elsewhere ? SIG_IGN : SIG_DFL);
      auto child = own_child({"fault", how});
      if (!child) break;
      std::uint8_t farewell = 0;
      CHECK(child->channel().receive_all(MutableBytes(&farewell, 1), kLong).ok());
      CHECK(farewell == signal);
      CHECK(child->channel().receive(MutableBytes(&farewell, 1), kLong).code() ==
            StatusCode::not_found);
      CHECK(child->ended(kLong));
      if (reaped_elsewhere) CHECK(child->exit_status().kind == ExitStatus::Kind::unknown);
      CHECK(child->take_farewell(farewell));
      CHECK(child->exit_status().kind == ExitStatus::Kind::signaled);
      CHECK(child->exit_status().value == signal);
    }
    ::signal(SIGCHLD, SIG_DFL);
  }
}

TEST_CASE("what is no farewell says nothing of an end") {
  ::signal(SIGCHLD, SIG_IGN);
  {
    auto child = shell("exit 5");
    for (const int byte : {0, SIGKILL, SIGTERM, 0xd7}) {
      CHECK_FALSE(child->take_farewell(static_cast<std::uint8_t>(byte)));
    }
    CHECK(child->ended(kLong));
    CHECK(child->exit_status().kind == ExitStatus::Kind::unknown);
  }
  ::signal(SIGCHLD, SIG_DFL);
}

TEST_CASE("limits that the parent has set for itself do not bind a joined child" *
          doctest::test_suite("own children")) {
  const std::pair<decltype(RLIMIT_CPU), rlim_t> limited[] = {
      {RLIMIT_CPU, 1000000}, {RLIMIT_AS, rlim_t{1} << 46}, {RLIMIT_FSIZE, rlim_t{1} << 40}};
  rlimit before[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(::getrlimit(limited[i].first, &before[i]) == 0);
    rlimit soft = before[i];
    soft.rlim_cur = std::min(soft.rlim_max, limited[i].second);
    REQUIRE(::setrlimit(limited[i].first, &soft) == 0);
  }
  if (auto child = own_child({"limits"})) {
    const bool full_disk_only = before[2].rlim_max > rlim_t{1} << 40;
    CHECK(receive_once(child->channel()) ==
          (full_disk_only ? " lifted lifted kept" : " lifted lifted lifted"));
  }
  for (std::size_t i = 0; i < 3; ++i) ::setrlimit(limited[i].first, &before[i]);
}

TEST_CASE("environment entries are added and replaced" * doctest::test_suite("own children")) {
  ::setenv("IDLETUNE_OS_TEST", "inherited", 1);
  if (!own_child({"echo"})) return;
  CHECK(receive_once(own_child({"environment"})->channel()) == "inherited");
  ProcessOptions options;
  options.program = child_program();
  options.arguments = {"environment"};
  options.environment = {"IDLETUNE_OS_TEST=replaced"};
  auto child = required(ChildProcess::start(options));
  CHECK(receive_once(child->channel()) == "replaced");
  ::unsetenv("IDLETUNE_OS_TEST");
}

TEST_CASE("an aborting child is told from one that exits" * doctest::test_suite("own children")) {
  auto child = own_child({"abort"});
  if (!child) return;
  REQUIRE(child->ended(kLong));
  CHECK(child->exit_status().kind == ExitStatus::Kind::signaled);
  CHECK(child->exit_status().value == SIGABRT);
}

TEST_CASE("a hanging child dies when its parent is killed" * doctest::test_suite("own children")) {
  auto parent = own_child({"parent"});
  if (!parent) return;
  const std::string grandchild = receive_once(parent->channel());
  REQUIRE_FALSE(is_dead(grandchild));
  REQUIRE(::kill(parent->pid(), SIGKILL) == 0);
  for (int i = 0; i < 4000 && !is_dead(grandchild); ++i)
    std::this_thread::sleep_for(milliseconds(5));
  CHECK(is_dead(grandchild));
}

TEST_CASE("a child survives the end of the thread that started it" *
          doctest::test_suite("own children")) {
  std::unique_ptr<ChildProcess> child;
  std::thread([&] { child = own_child({"echo"}); }).join();
  if (!child) return;
  CHECK_FALSE(child->ended(milliseconds(100)));
  REQUIRE(child->channel().send(bytes_of("alive"), kLong).ok());
  CHECK(receive_text(child->channel(), 5) == "alive");
}

TEST_CASE("a program that nobody started as a child cannot join a parent") {
  // Descriptor 3 of this process is whatever it is, but in a shell without one there is none.
  auto outer = shell("exec 3<&-; exec " + child_program() + " echo");
  REQUIRE(outer->ended(kLong));
  CHECK(outer->exit_status().kind == ExitStatus::Kind::exited);
  CHECK(outer->exit_status().value != 0);
}

TEST_CASE("the folder of the executable is found") {
  const auto folder = required(self_executable_folder());
  CHECK(folder.front() == '/');
  CHECK(folder.back() != '/');
  CHECK(self_executable_folder("/nonexistent").code() == StatusCode::io_error);
}

}  // namespace
}  // namespace idletune
