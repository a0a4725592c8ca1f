#include "platform/build_log.hpp"

#include <doctest/doctest.h>

#include <string>

using idletune::excerpt_of_build_log;

TEST_CASE("a short log is kept up to its end, without blanks there") {
  CHECK(excerpt_of_build_log("") == "");
  CHECK(excerpt_of_build_log("one line\n\n  ") == "one line");
  CHECK(excerpt_of_build_log(std::string("up to here\0not here", 19)) == "up to here");
}

TEST_CASE("of a long log the first lines are kept") {
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "x\n";
  CHECK(excerpt_of_build_log(lines).size() == 39);  // 20 lines, 19 ends between them
  CHECK(excerpt_of_build_log(std::string(5000, 'y')).size() == 2000);
}
