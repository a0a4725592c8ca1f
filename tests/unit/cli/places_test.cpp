#include "agent/host/cli/places.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <string>

#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/variable.hpp"

using namespace idletune;
using namespace idletune::cli;
using idletune::test::overwrite;
using idletune::test::TemporaryFolder;
using idletune::test::Variable;

TEST_CASE("what a verb keeps is in the folder for state, or in the home folder") {
  const Variable state("XDG_STATE_HOME", "/state");
  const Variable home("HOME", "/home/somebody");
  CHECK(state_folder("solve").value() == "/state/idletune/solve");
  state.set("not/absolute");
  CHECK(state_folder("solve").value() == "/home/somebody/.local/state/idletune/solve");
  state.set(nullptr);
  home.set("");
  CHECK(state_folder("solve").code() == StatusCode::not_found);
}

TEST_CASE(
    "folders are made with those above them, and nothing that is no folder is taken for one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a/b/c");
  CHECK(make_folders(path).ok());
  CHECK(make_folders(path).ok());
  struct stat info {};
  CHECK(::stat(path.c_str(), &info) == 0);
  CHECK(S_ISDIR(info.st_mode));
  const std::string file = folder.file("file");
  overwrite(file, "text");
  const Status status = make_folders(file + "/below");
  CHECK_FALSE(status.ok());
  CHECK(status.message().find("'" + file + "' is no folder") != std::string::npos);
}

TEST_CASE("what does not ship is looked for in named places") {
  const auto found = find_shipped("no such file");
  CHECK(found.code() == StatusCode::not_found);
  CHECK(found.status().message().rfind("'no such file' is in none of /", 0) == 0);
}

TEST_CASE("any name becomes a part of a file's") {
  CHECK(file_name_part("sgemm-1.0") == "sgemm-1.0");
  CHECK(file_name_part("NVIDIA T4/../x") == "NVIDIA_T4_.._x");
  CHECK(file_name_part(std::string(200, 'a')) == std::string(80, 'a'));
  CHECK(has_ending("a.json", ".json"));
  CHECK_FALSE(has_ending("json", ".json"));
  CHECK_FALSE(has_ending("a.json ", ".json"));
}
