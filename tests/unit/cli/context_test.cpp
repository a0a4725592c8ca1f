#include <doctest/doctest.h>

#include "agent/host/cli/context.hpp"

using namespace idletune;
using namespace idletune::cli;

TEST_CASE("the exit status is 0 until something fails") {
  CliContext context;
  CHECK(context.exit_status() == 0);
  context.warn("expected in a test");
  CHECK(context.exit_status() == 0);
  context.fail(Status(StatusCode::not_found, "expected in a test"));
  CHECK(context.exit_status() == 1);
}

TEST_CASE("wrong use has an exit status of its own") {
  CliContext context;
  context.used_wrongly("expected in a test");
  CHECK(context.exit_status() == 2);
}

TEST_CASE("every verb has the flag that asks for JSON") {
  CommandLine line("test", "", "1");
  CliContext context;
  context.add_json_flags(line);
  line.add_verb("verb", "").runs([] {});
  const char* const words[] = {"test", "verb", "--json"};
  CHECK(line.run(3, words));
  CHECK(context.json());
}

TEST_CASE("a count takes no negative number, which would be the largest one") {
  CommandLine line("test", "", "1");
  std::uint64_t count = 0;
  std::string told;
  line.before_verb([&](const std::string& verb) { told = verb; });
  line.add_verb("verb", "").option("--count", count, "So many");
  const char* const words[] = {"test", "verb", "--count", "-1"};
  CHECK_FALSE(line.run(4, words));
  CHECK(line.usage_error() == "--count: expected a whole number from 0 on, not -1");
  CHECK(told == "verb");
  CHECK(count == 0);
}
