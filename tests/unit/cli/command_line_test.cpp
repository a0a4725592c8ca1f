#include "agent/host/cli/command_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace idletune::cli;

namespace {

// A verb with options of every kind; `wrong` after reading the words, empty: they are right.
struct Given {
  double share = 0;
  double ms = 0;
  std::uint64_t count = 0;
  std::int64_t change = 0;
  std::uint64_t mib = 0;
  std::vector<std::uint64_t> list;
  std::string mode = "plain";
  std::string file;
  bool ran = false;
  std::string wrong;

  explicit Given(const std::vector<const char*>& words) {
    CommandLine line("test", "", "1");
    Verb verb = line.add_verb("verb", "");
    const Argument share_option =
        verb.option("--share", share, "A share").between(0.0, 1.0).shows_default();
    verb.option("--ms N[ms]", ms, "A time").between(0.0, 1e6);
    verb.option("--count", count, "So many").at_least(1).excludes(share_option);
    verb.option("--change", change, "By so many");
    verb.option("--mib N[MiB]", mib, "Room");
    verb.option("--list", list, "Numbers").separated_by_commas();
    verb.option("--file", file, "Goes there").writes(FileKind::page);
    verb.option("--mode", mode, "How");
    bool deep = false;
    verb.flag("--deep", deep, "More").acts("with --mode deep", [this] { return mode == "deep"; });
    verb.runs([this] { ran = true; });
    std::vector<const char*> all{"test", "verb"};
    all.insert(all.end(), words.begin(), words.end());
    if (!line.run(static_cast<int>(all.size()), all.data())) wrong = line.usage_error();
  }
};

}  // namespace

TEST_CASE("whole numbers are decimal, whatever they begin with") {
  CHECK(Given({"--count", "010"}).count == 10);
  CHECK(Given({"--count", "09"}).count == 9);
  CHECK(Given({"--count", "0x10"}).count == 16);
  CHECK(Given({"--change", "-08"}).change == -8);
  CHECK(Given({"--list", "010,2"}).list == std::vector<std::uint64_t>{10, 2});
  CHECK(Given({"--count", "18446744073709551615"}).count == UINT64_MAX);
  for (const char* word :
       {"18446744073709551616", "1e3", "1.0", "nan", "inf", "5 ", "", "0x", "-1", "+1"}) {
    CAPTURE(word);
    CHECK_FALSE(Given({"--count", word}).wrong.empty());
  }
}

TEST_CASE("real numbers are finite and in their range") {
  CHECK(Given({"--share", "0.5"}).share == 0.5);
  CHECK(Given({"--share", "nan"}).wrong == "--share: expected a finite number, not nan");
  CHECK(Given({"--share", "1.5"}).wrong == "--share: expected 0 to 1, not 1.5");
  for (const char* word : {"inf", "-inf", "1e999", "-0.1", " 0.5", "0.5x", ""}) {
    CAPTURE(word);
    CHECK_FALSE(Given({"--share", word}).wrong.empty());
  }
}

TEST_CASE("units may stand behind a number of that kind") {
  CHECK(Given({"--ms", "3"}).ms == 3);
  CHECK(Given({"--ms", "3 s"}).ms == 3000);
  CHECK(Given({"--ms", "250us"}).ms == doctest::Approx(0.25));
  CHECK(Given({"--ms", "1min"}).ms == 60000);
  CHECK(Given({"--mib", "2 GiB"}).mib == 2048);
  CHECK(Given({"--ms", "3 GiB"}).wrong ==
        "--ms: expected a finite number, such as 10ms, not 3 GiB");
  CHECK_FALSE(Given({"--mib", "1 KiB"}).wrong.empty());  // less than one of its units
  CHECK_FALSE(Given({"--share", "1 s"}).wrong.empty());
  CHECK(Given({"--ms", "1 h"}).wrong == "--ms: expected 0 to 1000000 ms, not 3600000");
}

TEST_CASE("an option that would do nothing in this call is refused") {
  CHECK(Given({"--deep"}).wrong ==
        "--deep: it does something with --mode deep, and nothing in this call");
  CHECK(Given({"--deep", "--mode", "deep"}).ran);
  CHECK_FALSE(Given({"--count", "1", "--share", "1"}).wrong.empty());
  CHECK_FALSE(Given({"--deep"}).ran);
}

TEST_CASE("before a verb works its files are known, and what it may read") {
  CommandLine line("test", "", "1");
  Verb verb = line.add_verb("verb", "");
  std::string from, to;
  bool ran = false;
  verb.option("from", from, "Read");
  verb.option("-o,--output", to, "Written").writes(FileKind::model, /*beside=*/true);
  verb.runs([&] { ran = true; });
  Call seen;
  line.before_work([&](const Call& call) {
    seen = call;
    return false;
  });
  const char* const words[] = {"test", "verb", "in", "-o", "out", "--force"};
  CHECK(line.run(6, words));
  CHECK_FALSE(ran);
  REQUIRE(seen.files.size() == 1);
  CHECK(seen.files[0].path == "out");
  CHECK(seen.files[0].kind == FileKind::model);
  CHECK(seen.files[0].beside);
  CHECK(seen.insists);
  CHECK(std::find(seen.words.begin(), seen.words.end(), "in") != seen.words.end());
  CHECK(std::find(seen.words.begin(), seen.words.end(), "out") == seen.words.end());
}
