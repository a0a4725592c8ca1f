// What an agent says about the journal that it finds.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/journal/journal.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::test::TemporaryFolder;

namespace {

struct Line {
  int level;
  std::string text;
};

void take(void* lines, int level, const char* message) {
  static_cast<std::vector<Line>*>(lines)->push_back({level, message});
}

// An agent on a state folder, and what it said while it opened.
struct Opened {
  explicit Opened(const std::string& state) {
    AgentOptions options;
    options.model = kNoModel;
    options.state = state;
    options.read_environment = false;
    options.mode = Mode::cached;  // needs no helper
    options.log = &take;
    options.log_user = &lines;
    options.log_level = 2;
    auto opened = required(Agent::open(options));
    agent = std::make_unique<Agent>(std::move(opened));
  }
  bool said(int level, const std::string& part) const {
    for (const Line& line : lines) {
      if (line.level == level && line.text.find(part) != std::string::npos) return true;
    }
    return false;
  }
  bool explains(const std::string& part) const {
    return agent->explain().find(part) != std::string::npos;
  }
  std::vector<Line> lines;
  std::unique_ptr<Agent> agent;
};

void overwrite(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  REQUIRE(write_file_atomically(path, bytes).ok());
}

journal::Trial some_trial() {
  journal::Trial trial;
  trial.kernel = 1;
  trial.shape = Shape{64};
  trial.configuration = Configuration{8};
  return trial;
}

std::string journal_of(const TemporaryFolder& folder) {
  return folder.path() + "/" + journal::kJournalName;
}

}  // namespace

TEST_CASE("an agent that finds nothing wrong with its journal says nothing about it") {
  const TemporaryFolder folder;
  for (int start = 0; start < 2; ++start) {
    const Opened opened(folder.path());
    CHECK(opened.lines.empty());
    CHECK(opened.agent->status().journal.ok());
    CHECK(opened.explains("\"journal\": \"ok\""));
  }
}

TEST_CASE("a journal that is set aside as unreadable is logged, in the status and explained") {
  const TemporaryFolder folder;
  overwrite(journal_of(folder), std::vector<std::uint8_t>(100, 'x'));
  {
    const Opened opened(folder.path());
    CHECK(opened.said(1, "set aside as journal.unreadable"));
    CHECK(opened.agent->status().journal.code() == StatusCode::corrupt);
    CHECK(opened.agent->status().storage.ok());
    CHECK(opened.explains("\"journal\": \"corrupt: the journal could not be read"));
  }
  CHECK(Opened(folder.path()).agent->status().journal.ok());
}

TEST_CASE("bytes that were torn off the journal are counted and no damage") {
  const TemporaryFolder folder;
  { const Opened opened(folder.path()); }
  auto bytes = required(read_file(journal_of(folder), 1u << 20));
  bytes.insert(bytes.end(), 5, std::uint8_t{1});
  overwrite(journal_of(folder), bytes);
  const Opened opened(folder.path());
  CHECK(opened.agent->status().journal.ok());
  CHECK(opened.agent->status().journal_dropped_bytes == 5);
  CHECK(opened.said(2, "last 5 bytes were torn"));
  CHECK(opened.explains("\"journal_dropped_bytes\": 5"));
}

TEST_CASE("a state folder that is made anew while it is in use is told once") {
  const TemporaryFolder parent;
  const std::string state = parent.file("state");
  std::vector<Line> lines;
  {
    Opened opened(state);
    std::filesystem::remove_all(state);
    std::filesystem::create_directory(state);
    CHECK(opened.lines.empty());
    opened.agent.reset();
    lines = opened.lines;
  }
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].level == 1);
  CHECK(lines[0].text.find("deleted or replaced while it was in use") != std::string::npos);
  CHECK(Opened(state).agent->status().journal.ok());
}

TEST_CASE("what a full disk does not take besides the journal is told") {
  const TemporaryFolder folder;
  Opened opened(folder.path());
  std::filesystem::create_directory(folder.file("explain.json"));  // nothing can take its place
  CHECK_FALSE(opened.agent->flush().ok());
  opened.agent.reset();
  CHECK(opened.said(1, "explain.json"));
}

TEST_CASE("what the last process was trying when it died is said") {
  const TemporaryFolder folder;
  const auto die = [&] {
    journal::JournalOptions options;
    options.boot = boot_identity();
    const auto journal = journal::Journal::open(open_posix_storage(folder.path()), options);
    REQUIRE(journal->intent({some_trial(), journal::IntentStage::run, true}));
  };
  die();
  {
    const Opened opened(folder.path());
    CHECK(opened.agent->status().new_suspects == 1);
    CHECK(opened.agent->status().new_quarantines == 0);
    CHECK(opened.said(1, "quarantined for it: 0, suspected: 1"));
    CHECK(opened.explains("\"new_suspects\": 1"));
  }
  die();
  const Opened opened(folder.path());
  CHECK(opened.agent->status().new_quarantines == 1);
  CHECK(opened.agent->status().quarantined == 1);
  CHECK(opened.said(1, "quarantined for it: 1, suspected: 0"));
}

TEST_CASE(
    "a start tidies what an earlier release left readable and a killed process half-written") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  fs::create_directories(state + "/captures");
  fs::create_directories(state + "/programs");
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  REQUIRE(::waitpid(gone, nullptr, 0) == gone);
  const std::string left = ".tmp" + std::to_string(gone) + "-0";
  for (const char* name : {"/explain.json", "/captures/a.itcapture", "/programs/b.itbinary"}) {
    test::overwrite(state + name + left, "half");
  }
  test::overwrite(state + "/captures/a.itcapture", "whole");
  for (const char* each : {"", "/captures", "/programs"}) {
    fs::permissions(state + each, fs::perms(0755));
  }
  {
    const Opened second(state);
    for (const char* each : {"", "/captures", "/programs"}) {
      CAPTURE(each);
      CHECK(fs::status(state + each).permissions() == fs::perms::owner_all);
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(state)) {
    CAPTURE(entry.path().string());
    CHECK(entry.path().string().find(".tmp") == std::string::npos);
  }
  CHECK(fs::exists(state + "/captures/a.itcapture"));
  CHECK(fs::status(state + "/journal").permissions() == fs::perms(0600));
  CHECK(fs::status(state + "/explain.json").permissions() == fs::perms(0600));
}
