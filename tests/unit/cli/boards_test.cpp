#include "agent/host/cli/boards.hpp"

#include <doctest/doctest.h>

#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::cli;
using idletune::test::overwrite;
using idletune::test::TemporaryFolder;

namespace {

std::string problem_with(const std::string& word) {
  const auto boards = boards_of({word});
  CHECK(boards.code() == StatusCode::invalid_argument);
  return boards.status().message();
}

}  // namespace

TEST_CASE("a board is named by the way to it and the state folder there") {
  const auto boards = required(boards_of({"dir:state", "ssh:root@board.local:/var/lib/app",
                                          "adb:emulator-5554:/data/app", "ssh:[fe80::1]:/state"}));
  REQUIRE(boards.size() == 4);
  CHECK(boards[0].way == Board::Way::folder);
  CHECK(boards[0].state == "state");
  CHECK(boards[1].way == Board::Way::ssh);
  CHECK(boards[1].at == "root@board.local");
  CHECK(boards[1].state == "/var/lib/app");
  CHECK(boards[2].way == Board::Way::adb);
  CHECK(boards[2].at == "emulator-5554");
  CHECK(boards[2].name == "adb:emulator-5554:/data/app");
  CHECK(boards[3].at == "[fe80::1]");
}

TEST_CASE("what names no board is refused by its word") {
  for (const std::string word : {"", "board", "dir:", "ssh:board", "ssh::/state", "adb:serial",
                                 "ssh:-oProxyCommand=x:/state", "SSH:board:/state"}) {
    CAPTURE(word);
    CHECK(problem_with(word).rfind("'" + word + "': expected dir:STATE", 0) == 0);
  }
}

TEST_CASE("a list has a board in each line, and names the line that is wrong") {
  const TemporaryFolder folder;
  const std::string list = folder.file("boards");
  overwrite(list, "# the hall\n\n  dir:/a  # the first\r\ndir:/b\ndir:/a");
  const auto boards = required(boards_of({"dir:/b", "@" + list, "dir:/c"}));
  REQUIRE(boards.size() == 3);
  CHECK(boards[0].state == "/b");
  CHECK(boards[1].state == "/a");
  CHECK(boards[2].state == "/c");

  const std::string wrong = folder.file("wrong");
  overwrite(wrong, "dir:/a\n\nnowhere\n");
  CHECK(problem_with("@" + wrong).rfind(wrong + ":3: 'nowhere': expected", 0) == 0);
  CHECK(boards_of({"@" + folder.file("missing")}).code() == StatusCode::not_found);
}

TEST_CASE("a word for the shell stays one word") {
  CHECK(quoted("") == "''");
  CHECK(quoted("a b$(c)") == "'a b$(c)'");
  CHECK(quoted("it's") == "'it'\\''s'");
  Board here;
  const auto said = required(run_there(here, "printf %s " + quoted("it's \"$HOME\"; `x`\n")));
  CHECK(std::string(said.begin(), said.end()) == "it's \"$HOME\"; `x`\n");
}

TEST_CASE("what a board is asked gets its input, and tells what failed") {
  Board here;
  const std::string input = "some\0bytes\n";
  const auto back = required(
      run_there(here, "cat", {reinterpret_cast<const std::uint8_t*>(input.data()), input.size()}));
  CHECK(std::string(back.begin(), back.end()) == input);
  const auto failed = run_there(here, "echo not this; echo the reason >&2; false");
  CHECK(failed.code() == StatusCode::io_error);
  CHECK(failed.status().message() == "the reason");
  CHECK(run_there(here, "exit 0").status().message() == "the connection ended early");
}
