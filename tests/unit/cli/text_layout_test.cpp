#include "agent/host/cli/text_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace idletune::cli;

TEST_CASE("lines break between words, and a word that is too long has a line of its own") {
  CHECK(lines_of("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(lines_of("a unbreakable b", 5) == std::vector<std::string>{"a", "unbreakable", "b"});
  CHECK(lines_of("", 5) == std::vector<std::string>{""});
}

TEST_CASE("a paragraph continues below its first word") {
  CHECK(paragraph("runs  ", "A=1 B=2 C=3", 14) == "runs  A=1 B=2\n      C=3\n");
}

TEST_CASE("a table aligns its columns and leaves no trailing blanks") {
  TextTable table({"name", ">ms", "note"});
  table.add_row({"gemm", "1.25", ""});
  table.add_row({"a longer name", "10", "good"});
  CHECK(table.to_string() ==
        "name             ms  note\n"
        "gemm           1.25\n"
        "a longer name    10  good\n");
}

TEST_CASE("a table counts characters, not bytes") {
  TextTable table({">unit", "x"});
  table.add_row({"\xc2\xb0s", "1"});
  CHECK(table.to_string() ==
        "unit  x\n"
        "  \xc2\xb0s  1\n");
}

TEST_CASE("rows with missing or surplus cells keep the table's columns") {
  TextTable table({"a", "b"});
  table.add_row({"1"});
  table.add_row({"2", "3", "4"});
  CHECK(table.to_string() == "a  b\n1\n2  3\n");
}

TEST_CASE("a table that is too wide breaks its titles first") {
  TextTable table({"k", ">evaluations in the median"});
  table.add_row({"gemm", "12"});
  CHECK(table.to_string(24) ==
        "      evaluations in the\n"
        "k                 median\n"
        "gemm                  12\n");
}

TEST_CASE("texts of a table that is too wide take several lines") {
  TextTable table({">n", "configuration"});
  table.add_row({"1", "MWG=32 NWG=32 KWG=16 MDIMC=8"});
  CHECK(table.to_string(20) ==
        "n  configuration\n"
        "1  MWG=32 NWG=32\n"
        "   KWG=16 MDIMC=8\n");
}

TEST_CASE(
    "a second part of a table has all keys of the first, cut in the middle where they are long") {
  TextTable table({"kernel", "device", ">first", ">second"});
  table.add_row({"gemm_block", "NVIDIA-GeForce-RTX-2080-Ti-of-Somebody", "123456789", "1"});
  table.add_row({"gemm_block", "NVIDIA-GeForce-RTX-3090-of-Somebody", "2", "987654321"});
  CHECK(table.to_string(40) ==
        "kernel      device              first\n"
        "gemm_block  NVIDIA..mebody  123456789\n"
        "gemm_block  NVIDIA..mebody          2\n"
        "\n"
        "kernel      device             second\n"
        "gemm_block  NVIDIA..mebody          1\n"
        "gemm_block  NVIDIA..mebody  987654321\n");
}

TEST_CASE("what a name would do to a terminal is shown, not done") {
  CHECK(terminal_text("A\x1b[31mRED\n\t") == "A\\x1b[31mRED\\n\\x09");
  CHECK(terminal_text("\xe2\x80\xae") == "\\u202e");
  CHECK(terminal_text("\xff\xfe") == "\\xff\\xfe");
  CHECK(terminal_text("a\nb", /*lines=*/true) == "a\nb");
  CHECK(terminal_text("1\xc2\xa0\xc2\xb5s") == "1 us");
  CHECK(paragraph("", "a\x1b[2Jb") == "a\\x1b[2Jb\n");
}

TEST_CASE("a Chinese sign takes two columns") {
  CHECK(display_width("\xe6\x98\xbe\xe5\x8d\xa1") == 4);
  TextTable table({"device", ">n"});
  table.add_row({"\xe6\x98\xbe\xe5\x8d\xa1", "1"});
  CHECK(table.to_string() == "device  n\n\xe6\x98\xbe\xe5\x8d\xa1    1\n");
}

TEST_CASE("a text that does not fit keeps its beginning and its end") {
  CHECK(fitted("0123456789", 10) == "0123456789");
  CHECK(fitted("0123456789ab", 10) == "0123..89ab");
}

TEST_CASE("columns without a place follow in a second table with the first column") {
  TextTable table({">launches", ">never", ">always"});
  table.add_row({"10", "123456", "654321"});
  CHECK(table.to_string(16) ==
        "launches   never\n"
        "      10  123456\n"
        "\n"
        "launches  always\n"
        "      10  654321\n");
}

TEST_CASE("a table of very many rows is laid out, also where it must be folded") {
  TextTable table({">rank", "name", "value"});
  for (int row = 0; row < 100000; ++row)
    table.add_row({std::to_string(row), "a text", "b c d e f"});
  const std::string text = table.to_string(16);
  CHECK(std::count(text.begin(), text.end(), '\n') > 100000);
}
