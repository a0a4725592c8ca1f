#include <doctest/doctest.h>

#include "agent/cli/context.hpp"

using namespace idletune;
using namespace idletune::cli;

TEST_CASE("a table aligns its columns and leaves no trailing blanks") {
  TextTable table({{"name"}, {"ms", Align::right}, {"note"}});
  table.add_row({"gemm", "1.25", ""});
  table.add_row({"a longer name", "10", "good"});
  CHECK(table.to_string() ==
        "name             ms  note\n"
        "gemm           1.25\n"
        "a longer name    10  good\n");
}

TEST_CASE("a table counts characters, not bytes") {
  TextTable table({{"unit", Align::right}, {"x"}});
  table.add_row({"\xc2\xb5s", "1"});
  CHECK(table.to_string() ==
        "unit  x\n"
        "  \xc2\xb5s  1\n");
}

TEST_CASE("rows with missing or surplus cells keep the table's columns") {
  TextTable table({{"a"}, {"b"}});
  table.add_row({"1"});
  table.add_row({"2", "3", "4"});
  CHECK(table.to_string() == "a  b\n1\n2  3\n");
}

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

TEST_CASE("the json flag belongs to the verb that asked for it") {
  CommandLine line("test", "", "1");
  CliContext context;
  context.add_json_flag(line.add_verb("verb", ""));
  const char* const words[] = {"test", "verb", "--json"};
  CHECK(line.run(3, words));
  CHECK(context.json());
}
