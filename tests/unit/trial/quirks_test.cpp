#include "agent/trial/quirks.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idletune;

namespace {

DeviceInfo some_device() {
  DeviceInfo device;
  device.backend = "opencl";
  device.platform = "Some platform";
  device.name = "Intel(R) Core(TM) i9 CPU @ 2.90GHz";
  device.vendor = "Intel";
  device.driver = "1.1";
  return device;
}

// A launch of the kernel gemm; owns what the subject points to.
class Launch {
 public:
  Launch(std::int64_t local_memory_bytes, std::int64_t work_group_size)
      : values_{{"local_memory_bytes", local_memory_bytes},
                {"work_group_size", work_group_size},
                {"VWM", 8}} {}
  operator QuirkSubject() const { return {"gemm", {values_, 3}}; }

 private:
  QuirkSubject::Value values_[3];
};

// The reason of the first pattern for a launch whose parameter P has that value.
std::string_view match_p(const QuirkTable& table, const DeviceInfo& device, std::int64_t value) {
  const QuirkSubject::Value p{"P", value};
  return table.match(device, {{}, {&p, 1}});
}

std::string message_of(const std::string& text) {
  QuirkTable table;
  return table.add_text(text, "my.quirks").message();
}

}  // namespace

TEST_CASE("a pattern matches its drivers only") {
  QuirkTable table;
  REQUIRE(table
              .add_text("platform=\"Some\" name=\"CPU\": local_memory_bytes > 0, "
                        "work_group_size > 1: barriers",
                        "t")
              .ok());
  REQUIRE(table.size() == 1);
  CHECK(table.match(some_device(), Launch(1024, 64)) == "barriers");
  CHECK(table.match(some_device(), Launch(0, 64)).empty());
  CHECK(table.match(some_device(), Launch(1024, 1)).empty());
  DeviceInfo other = some_device();
  other.platform = "Portable Computing Language";
  CHECK(table.match(other, Launch(1024, 64)).empty());
}

TEST_CASE("every relation compares as it reads") {
  const struct {
    const char* condition;
    bool holds_at_7;
    bool holds_at_8;
    bool holds_at_9;
  } cases[] = {{"P < 8", true, false, false},  {"P <= 8", true, true, false},
               {"P == 8", false, true, false}, {"P != 8", true, false, true},
               {"P >= 8", false, true, true},  {"P > 8", false, false, true},
               {"P>-1", true, true, true},     {"P ==-8", false, false, false}};
  for (const auto& c : cases) {
    CAPTURE(c.condition);
    QuirkTable table;
    REQUIRE(table.add_text(std::string(":") + c.condition + ": reason", "test").ok());
    const auto holds = [&](std::int64_t value) {
      return !match_p(table, DeviceInfo(), value).empty();
    };
    CHECK(holds(7) == c.holds_at_7);
    CHECK(holds(8) == c.holds_at_8);
    CHECK(holds(9) == c.holds_at_9);
  }
}

TEST_CASE("all comparisons must hold, and an unknown name never does") {
  QuirkTable table;
  const char* text = ": VWM == 8, work_group_size > 100: both\n: NOSUCH != 3: never";
  REQUIRE(table.add_text(text, "t").ok());
  CHECK(table.match(DeviceInfo(), Launch(0, 64)).empty());
  REQUIRE_FALSE(table.match(DeviceInfo(), Launch(0, 128)).empty());
  CHECK(table.match(DeviceInfo(), Launch(0, 128)) == "both");
}

TEST_CASE("the kernel's name is exact, the driver's texts are substrings") {
  QuirkTable table;
  REQUIRE(table.add_text("kernel=\"gem\": : no\nkernel=\"gemm\" driver=\"1.\": : yes", "t").ok());
  REQUIRE_FALSE(table.match(some_device(), Launch(0, 1)).empty());
  CHECK(table.match(some_device(), Launch(0, 1)) == "yes");
}

TEST_CASE("comments, blank lines and carriage returns are skipped") {
  QuirkTable table;
  REQUIRE(table.add_text("# nothing\r\n\r\n  name=\"a#b\": P > 1: why # because\r\n", "t").ok());
  REQUIRE(table.size() == 1);
  DeviceInfo device;
  device.name = "xa#by";
  CHECK(match_p(table, device, 2) == "why");
}

TEST_CASE("what cannot be read is refused with its line and what was expected") {
  CHECK(message_of("\nshoe=\"x\": : r") ==
        "my.quirks, line 2: expected backend, platform, name, vendor, driver or kernel, or ':'");
  CHECK(message_of("name=\"x\" name=\"y\": : r") ==
        "my.quirks, line 1: expected each key at most once");
  CHECK(message_of("name=x: : r") == "my.quirks, line 1: expected =\"text\" after the key");
  CHECK(message_of("name=\"x: : r") == "my.quirks, line 1: expected a closing quote");
  CHECK(message_of(": P = 3: r") == "my.quirks, line 1: expected one of < <= == != >= >");
  CHECK(message_of(": P > three: r") ==
        "my.quirks, line 1: expected an integer after the relation");
  CHECK(message_of(": P > 9999999999999999999: r") ==
        "my.quirks, line 1: expected an integer after the relation");
  CHECK(message_of(": P > 3") == "my.quirks, line 1: expected ',' or ':' after a comparison");
  CHECK(message_of(": P > 3: ") == "my.quirks, line 1: expected a reason after the second ':'");
}

TEST_CASE("a text with an error adds nothing") {
  QuirkTable table;
  CHECK_FALSE(table.add_text(": P > 3: good\n: bad", "t").ok());
  CHECK(table.size() == 0);
}

TEST_CASE("the number of patterns is bounded") {
  std::string text;
  for (std::size_t i = 0; i < QuirkTable::kMaxQuirks; ++i) text += "::r\n";
  QuirkTable table;
  REQUIRE(table.add_text(text, "t").ok());
  CHECK(table.add_text("::r\n", "t").code() == StatusCode::no_space);
  CHECK(table.size() == QuirkTable::kMaxQuirks);
}

TEST_CASE("the text form of a table gives the same table") {
  QuirkTable table;
  REQUIRE(table
              .add_text("backend=\"opencl\" vendor=\"v\" driver=\"d d\" kernel=\"k\": "
                        "A < -5, B <= 1, C == 2, D != 3, E >= 4, F > 5: r: with (marks)\n::bare",
                        "t")
              .ok());
  const std::string text = table.text();
  QuirkTable again;
  REQUIRE(again.add_text(text, "t").ok());
  CHECK(again.size() == 2);
  CHECK(again.text() == text);
}

TEST_CASE("a file that is not there is an error that names it") {
  QuirkTable table;
  const Status status = table.add_file("/nonexistent/my.quirks");
  CHECK(status.code() == StatusCode::not_found);
  CHECK(status.message().find("/nonexistent/my.quirks") != std::string::npos);
}
