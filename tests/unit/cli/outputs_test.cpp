#include "agent/host/cli/outputs.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace idletune;
using namespace idletune::cli;
namespace fs = std::filesystem;

namespace {

const std::string kPage =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><meta name=\"x\">";
const std::string kModel = std::string("\x10\0\0\0ITM1", 8) + "and the rest";

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "outputsXXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
  }
  std::string path;
};

void store(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Status write_page(Outputs& outputs, const std::string& path) {
  return outputs.write({{path, FileKind::page, bytes_of(kPage)}});
}

}  // namespace

TEST_CASE("a new file and one of the same kind are written, and nothing stays beside them") {
  const Folder folder;
  Outputs outputs;
  CHECK(write_page(outputs, folder / "page").ok());
  CHECK(write_page(outputs, folder / "page").ok());
  CHECK(content(folder / "page") == kPage);
  store(folder / "empty", "");
  CHECK(write_page(outputs, folder / "empty").ok());
  CHECK(folder.files() == 2);
}

TEST_CASE("a file of another kind stays, unless somebody insists") {
  const Folder folder;
  store(folder / "source.cpp", "int main() {}");
  store(folder / "known.itmodel", kModel);
  Outputs outputs;
  for (const char* name : {"source.cpp", "known.itmodel"}) {
    CHECK(outputs.check(folder / name, FileKind::page).code() == StatusCode::invalid_argument);
    CHECK(write_page(outputs, folder / name).code() == StatusCode::invalid_argument);
  }
  CHECK(content(folder / "source.cpp") == "int main() {}");
  CHECK(outputs.check(folder / "known.itmodel", FileKind::package).code() ==
        StatusCode::invalid_argument);
  CHECK(outputs.check(folder / "known.itmodel", FileKind::model).ok());
  outputs.begin({}, /*insist=*/true);
  CHECK(write_page(outputs, folder / "source.cpp").ok());
  CHECK(content(folder / "source.cpp") == kPage);
}

TEST_CASE("what the call reads is not written, by whatever name") {
  const Folder folder;
  store(folder / "page", kPage);
  store(folder / "one.ithistory", std::string("\x10\0\0\0ITH1", 8));
  fs::create_symlink("page", folder / "link");
  fs::create_hard_link(folder / "page", folder / "hard");
  Outputs outputs;
  outputs.begin({"values=" + (folder / "page"), folder.path}, false);
  for (const char* name : {"page", "link", "hard"}) {
    CHECK(outputs.check(folder / name, FileKind::page).code() == StatusCode::invalid_argument);
  }
  // A folder of histories is what is in it.
  CHECK(outputs.check(folder / "one.ithistory", FileKind::history).code() ==
        StatusCode::invalid_argument);
  CHECK(outputs.check(folder / "two.ithistory", FileKind::history).ok());
}

TEST_CASE("links are followed, also to where nothing is yet") {
  const Folder folder;
  store(folder / "real", kPage);
  fs::create_symlink("real", folder / "link");
  fs::create_symlink("later", folder / "dangling");
  Outputs outputs;
  CHECK(write_page(outputs, folder / "link").ok());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(write_page(outputs, folder / "dangling").ok());
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(content(folder / "later") == kPage);
}

TEST_CASE("pipes and devices are written into and stay what they are") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  Outputs nobody;
  CHECK(nobody.check(folder / "pipe", FileKind::page).code() == StatusCode::io_error);
  CHECK(nobody.check(folder / "pipe", FileKind::page, /*beside=*/true).code() ==
        StatusCode::invalid_argument);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  {
    Outputs outputs;
    CHECK(write_page(outputs, folder / "pipe").ok());
  }
  std::string read(200, '\0');
  read.resize(static_cast<std::size_t>(::read(reader, read.data(), read.size())));
  CHECK(read == kPage);
  ::close(reader);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  Outputs descriptor;
  CHECK(write_page(descriptor, "/dev/fd/" + std::to_string(ends[1])).ok());
  CHECK(::read(ends[0], read.data(), read.size()) == static_cast<ssize_t>(kPage.size()));
  for (const int end : ends) ::close(end);
  struct stat info {};
  CHECK((::stat((folder / "pipe").c_str(), &info) == 0 && S_ISFIFO(info.st_mode)));
  Outputs outputs;
  CHECK(outputs.check(folder.path, FileKind::page).code() == StatusCode::invalid_argument);
  CHECK(outputs.check("", FileKind::page).code() == StatusCode::invalid_argument);
  CHECK(outputs.check(folder / "none/page", FileKind::page).code() == StatusCode::not_found);
  CHECK_FALSE(outputs.take_standard_output());
  CHECK(outputs.check("-", FileKind::page).ok());
  CHECK(outputs.take_standard_output());
}

TEST_CASE("of several files either all are there or none") {
  const Folder folder;
  store(folder / "source.cpp", "int main() {}");
  Outputs outputs;
  CHECK_FALSE(outputs
                  .write({{folder / "page", FileKind::page, bytes_of(kPage)},
                          {folder / "source.cpp", FileKind::code, bytes_of(kPage)}})
                  .ok());
  CHECK(folder.files() == 1);
  CHECK_FALSE(outputs
                  .write({{folder / "page", FileKind::page, bytes_of(kPage)},
                          {"/dev/full", FileKind::page, bytes_of(kPage)}})
                  .ok());
  CHECK(folder.files() == 1);
}

TEST_CASE("two outputs have two names") {
  const Folder folder;
  Outputs outputs;
  CHECK(outputs.check(folder / "both", FileKind::model).ok());
  CHECK(outputs.check(folder / "both", FileKind::model).ok());
  CHECK(outputs.check(folder / "./both", FileKind::code).message() ==
        "'" + folder / "./both" + "' is named for two outputs");
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const Folder folder;
  store(folder / "page", kPage);
  ::chmod((folder / "page").c_str(), 0640);
  Outputs outputs;
  CHECK(write_page(outputs, folder / "page").ok());
  struct stat info {};
  CHECK((::stat((folder / "page").c_str(), &info) == 0 && (info.st_mode & 0777) == 0640));
}
