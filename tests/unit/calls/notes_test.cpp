#include <idletune/agent.hpp>
#include <idletune/notes.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "agent/api/agent_state.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;

namespace {

Agent open_agent(const std::string& state, Mode mode = Mode::cached) {
  AgentOptions options;
  options.state = state;
  options.mode = mode;
  options.model = kNoModel;
  options.read_environment = false;
  auto agent = Agent::open(options);
  REQUIRE(agent.ok());
  return std::move(*agent);
}

// A process with that state folder, killed once it has done so.
template <class Work>
void die_after(const std::string& state, const Work& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Agent agent = open_agent(state);
    const auto notes = open_notes(agent);
    work(agent, *notes);
    (void)kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
}

}  // namespace

TEST_CASE("a note is found again, the last one of a digest") {
  const test::TemporaryFolder folder;
  {
    Agent agent = open_agent(folder.path());
    const auto notes = open_notes(agent);
    CHECK(notes->noted(1).empty());
    notes->note(1, "one");
    notes->note(2, "two");
    notes->note(1, "another");
    CHECK(notes->noted(1) == "another");
  }
  Agent agent = open_agent(folder.path());
  CHECK(open_notes(agent)->noted(1) == "another");
  CHECK(open_notes(agent)->noted(2) == "two");
}

TEST_CASE("a killed process' notes are there once they were flushed") {
  const test::TemporaryFolder folder;
  die_after(folder.path(), [](Agent& agent, Notes& notes) {
    for (std::uint64_t i = 0; i < 50; ++i) notes.note(i, "note " + std::to_string(i));
    (void)agent.flush();
  });
  Agent agent = open_agent(folder.path());
  const auto notes = open_notes(agent);
  for (std::uint64_t i = 0; i < 50; ++i) CHECK(notes->noted(i) == "note " + std::to_string(i));
}

TEST_CASE("a note is on the medium once that is said, without anybody's idle time") {
  const test::TemporaryFolder folder;
  die_after(folder.path(), [](Agent&, Notes& notes) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      notes.note(i, "note " + std::to_string(i));
      CHECK(notes.synced(std::chrono::seconds(60)));
    }
  });
  Agent agent = open_agent(folder.path());
  for (std::uint64_t i = 0; i < 50; ++i)
    CHECK(open_notes(agent)->noted(i) == "note " + std::to_string(i));
  Agent in_memory = open_agent("", Mode::off);
  open_notes(in_memory)->note(1, "one");
  CHECK(open_notes(in_memory)->synced({}));
}

TEST_CASE("a second process notes in memory, and says so") {
  const test::TemporaryFolder folder;
  Agent first = open_agent(folder.path());
  open_notes(first)->note(1, "first");
  REQUIRE(first.flush().ok());
  {
    Agent second = open_agent(folder.path());
    CHECK(second.status().storage.code() == StatusCode::busy);
    const auto notes = open_notes(second);
    CHECK(notes->noted(1) == "first");
    notes->note(1, "second");
    CHECK(notes->noted(1) == "second");
  }
  CHECK(open_notes(first)->noted(1) == "first");
}

TEST_CASE("notes are bounded, and the newest stay") {
  Agent agent = open_agent("", Mode::off);
  const auto notes = open_notes(agent);
  notes->note(0, std::string(4000, 'x'));
  CHECK(notes->noted(0).empty());
  constexpr std::uint64_t kMany = 5000;
  for (std::uint64_t i = 1; i <= kMany; ++i) notes->note(i, std::string(100, 'y'));
  CHECK(notes->noted(kMany).size() == 100);
  CHECK(notes->noted(kMany - 500).size() == 100);
  CHECK(notes->noted(1).empty());
}

TEST_CASE("what a library worked and lost is in the agent's ledger, and stays there") {
  using namespace std::chrono_literals;
  const test::TemporaryFolder folder;
  {
    Agent agent = open_agent(folder.path());
    const auto notes = open_notes(agent), others = open_notes(agent);
    notes->account(3s, 20ms);
    others->account(1s, 0s);
    CHECK(agent.status().kernel_seconds == doctest::Approx(4));
    CHECK(agent.status().charged_seconds == doctest::Approx(0.02));
  }
  const Agent agent = open_agent(folder.path());
  CHECK(agent.status().kernel_seconds == doctest::Approx(4));
  CHECK(agent.status().charged_seconds == doctest::Approx(0.02));
}

TEST_CASE("who notes waits for nobody that tunes, and flush() has what was noted meanwhile") {
  const test::TemporaryFolder folder;
  AgentOptions options;
  options.state = folder.path();
  options.model = kNoModel;
  options.read_environment = false;
  const auto agent = detail::AgentState::open(options);
  REQUIRE(agent.ok());
  const auto notes = detail::open_notes(**agent), others = detail::open_notes(**agent);
  CHECK(notes->noted(2).empty());
  (*agent)->look_at([&](const journal::State&, auto) {  // holds what whoever tunes holds
    std::thread([&] {
      notes->note(1, "one");
      notes->note(2, "two");
      notes->note(2, std::string(journal::kMaxNameBytes + 1, 'x'));
      CHECK(others->noted(1) == "one");
      CHECK(others->noted(2) == "two");
      CHECK(!notes->synced({}));
    }).join();
  });
  REQUIRE((*agent)->flush().ok());
  (*agent)->look_at([](const journal::State& state, auto) {
    CHECK(state.name(journal::NameKind::note, 1)->text == "one");
    CHECK(state.name(journal::NameKind::note, 2)->text == "two");
  });
}

TEST_CASE("more notes than are kept at hand are all found") {
  const test::TemporaryFolder folder;
  Agent agent = open_agent(folder.path());
  const auto notes = open_notes(agent);
  for (std::uint64_t i = 0; i < 200; ++i) notes->note(i % 150, "note " + std::to_string(i));
  for (std::uint64_t i = 50; i < 200; ++i)
    CHECK(notes->noted(i % 150) == "note " + std::to_string(i));
}
