#include "agent/host/cli/interrupts.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace idletune::cli;

namespace {

// What a process says and ends with that interrupts itself before `verb` runs.
struct Ended {
  std::string said;
  int status = 0;
};

Ended run(void (*verb)()) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    static int out;
    out = ends[1];
    catch_interrupts([] { (void)!::write(out, "given up", 8); });
    verb();
    ::_exit(interrupted() ? 3 : 4);
  }
  ::close(ends[1]);
  Ended ended;
  char text[64];
  for (ssize_t n = 0; (n = ::read(ends[0], text, sizeof text)) > 0;)
    ended.said.append(text, static_cast<std::size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, &ended.status, 0);
  return ended;
}

void forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

TEST_CASE("a verb that does not look is ended") {
  const Ended ended = run([] {
    std::raise(SIGTERM);
    forever();
  });
  CHECK(ended.said == "given up");
  CHECK((WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 1));
}

TEST_CASE("a verb that keeps its part ends by itself") {
  const Ended ended = run([] {
    const KeepsPart keeps;
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    (void)interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  CHECK(ended.said.empty());
  CHECK((WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 3));
}

TEST_CASE("a verb that was to look within a second, and does not, is ended") {
  const Ended ended = run([] {
    const KeepsPart keeps(KeepsPart::Patience::a_second);
    std::raise(SIGINT);
    forever();
  });
  CHECK(ended.said == "given up");
}

TEST_CASE("a second signal ends at once, whatever is kept") {
  const Ended ended = run([] {
    const KeepsPart keeps;
    std::raise(SIGINT);
    std::raise(SIGINT);
    forever();
  });
  CHECK(ended.said.empty());
  CHECK((WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGINT));
}

TEST_CASE("what is being written is written to its end") {
  const Ended ended = run([] {
    const Uninterrupted writing;
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ::_exit(5);
  });
  CHECK(ended.said.empty());
  CHECK((WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 5));
}
