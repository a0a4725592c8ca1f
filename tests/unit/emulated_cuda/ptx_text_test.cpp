#include "tests/emulated_cuda/ptx_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/emulated_cuda/problem.hpp"

using namespace emulated_cuda;

using Strings = std::vector<std::string>;

TEST_CASE("operands are split at commas outside brackets") {
  CHECK(split("{%f1, %f2}, [%rd1+8]", ',') == Strings{"{%f1, %f2}", "[%rd1+8]"});
  CHECK(split(" a ,, b ", ',') == Strings{"a", "", "b"});
  CHECK(split("  \t\n", ',').empty());
}

TEST_CASE("an integer is decimal or hexadecimal, and has at most 64 bits") {
  std::uint64_t value = 0;
  CHECK((parse_integer("-5", value) && value == ~std::uint64_t{4}));
  CHECK((parse_integer("0xffffffffffffffff", value) && value == ~std::uint64_t{0}));
  CHECK((parse_integer("7U", value) && value == 7));
  for (const char* wrong : {"", "-", "0x", "18446744073709551616", "1.5", "one", "5 "}) {
    CAPTURE(wrong);
    CHECK(!parse_integer(wrong, value));
  }
}

TEST_CASE("an instruction has a guard, a name, modifiers and operands") {
  const Statement statement("@!%p1 \tld.global.v2.f32 \t{%f1, %f2}, [%rd1+8]", 7);
  CHECK(statement.line == 7);
  CHECK(statement.guard == "!%p1");
  CHECK(statement.opcode == "ld.global.v2.f32");
  CHECK(statement.base == "ld");
  CHECK(statement.modifiers == Strings{"global", "v2", "f32"});
  CHECK(statement.operands == Strings{"{%f1, %f2}", "[%rd1+8]"});
  CHECK(statement.has("v2"));
  CHECK(!statement.has("v4"));
  CHECK(Statement("ret", 1).operands.empty());
  CHECK_THROWS_AS(Statement("@%p1", 1), emulated_cuda::Problem);
}

TEST_CASE("comments are left out and lines keep their numbers") {
  PtxText text("// one\n/* two\nthree */ add.s32 // four\n a;\nret;");
  char end = '\0';
  text.skip_blanks();
  CHECK(text.line() == 3);
  CHECK(words_of(text.until(";", end)) == Strings{"add.s32", "a"});
  text.skip_blanks();
  CHECK(text.line() == 5);
  CHECK(text.at_word("ret"));
  CHECK(!text.at_word("re"));
}

TEST_CASE("a label is a word before a colon") {
  PtxText text("$L__BB0_2: bra next;");
  CHECK(text.label() == "$L__BB0_2");
  text.skip_blanks();
  CHECK(text.label().empty());
  CHECK(text.at_word("bra"));
}

TEST_CASE("a text that ends within a statement is a problem that names the line") {
  PtxText text("\n\nadd.s32 %r1, ");
  char end = '\0';
  text.skip_blanks();
  try {
    text.until(";", end);
    FAIL("nothing was wrong");
  } catch (const emulated_cuda::Problem& problem) {
    CHECK(problem.text == "PTX line 3: the text ends within 'add.s32 %r1,'");
  }
  PtxText braces("{ { }");
  CHECK_THROWS_AS(braces.skip_braces(), emulated_cuda::Problem);
}
