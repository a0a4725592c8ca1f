#include "models/host/space/expression_parser.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

const std::vector<std::string> kDimensions{"M", "N"};
const std::vector<std::string> kParameters{"A", "B", "minimal"};
const std::vector<std::int64_t> kDimensionValues{100, 7};
const std::vector<std::int64_t> kParameterValues{16, 0, -3};

Evaluation evaluate(const std::string& text) {
  const auto expression = parse_expression(text, {kDimensions, kParameters});
  REQUIRE_MESSAGE(expression.ok(), text << ": " << expression.status().message());
  return expression->evaluate(kDimensionValues, kParameterValues);
}
std::int64_t value(const std::string& text) {
  const Evaluation result = evaluate(text);
  REQUIRE_MESSAGE(result.ok(), text);
  return result.value;
}
std::string refusal(const std::string& text) {
  const auto expression = parse_expression(text, {kDimensions, kParameters});
  REQUIRE_MESSAGE(!expression.ok(), text);
  CHECK(expression.code() == StatusCode::invalid_argument);
  return expression.status().message();
}

__extension__ typedef __int128 Wide;

// A random expression as a tree, written out and evaluated by a second implementation.
struct Tree {
  std::string op;  // "number", "name", an operator or a function
  std::int64_t number = 0;
  std::vector<std::unique_ptr<Tree>> children;
};
using Value = std::optional<std::int64_t>;

std::unique_ptr<Tree> random_tree(Random& random, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || random.below(5) == 0) {
    tree->op = random.below(2) == 0 ? "number" : "name";
    tree->number = static_cast<std::int64_t>(random.below(tree->op == "name" ? 5 : 20));
    return tree;
  }
  const std::vector<std::string> ops{"+",   "-",  "*",   "/",   "%",        "<",       "<=",
                                     ">",   ">=", "==",  "!=",  "&&",       "||",      "?",
                                     "neg", "!",  "min", "max", "ceil_div", "round_up"};
  tree->op = ops[static_cast<std::size_t>(random.below(ops.size()))];
  const int children = tree->op == "?" ? 3 : tree->op == "neg" || tree->op == "!" ? 1 : 2;
  for (int i = 0; i < children; ++i) tree->children.push_back(random_tree(random, depth - 1));
  return tree;
}

int precedence(const std::string& op) {
  const std::vector<std::vector<std::string>> levels{
      {"?"},      {"||"},          {"&&"},      {"==", "!="}, {"<", "<=", ">", ">="},
      {"+", "-"}, {"*", "/", "%"}, {"neg", "!"}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (std::find(levels[i].begin(), levels[i].end(), op) != levels[i].end()) {
      return static_cast<int>(i);
    }
  }
  return 100;
}

// With as few parentheses as the grammar needs, so that precedence and associativity are tested.
std::string text_of(const Tree& tree, int least) {
  const auto child = [&](std::size_t i, int p) { return text_of(*tree.children[i], p); };
  const int own = precedence(tree.op);
  std::string text;
  if (tree.op == "number") {
    text = std::to_string(tree.number);
  } else if (tree.op == "name") {
    const std::string names[] = {"M", "N", "A", "B", "minimal"};
    text = names[tree.number];
  } else if (tree.op == "?") {
    text = child(0, 1) + " ? " + child(1, 0) + " : " + child(2, 0);
  } else if (tree.op == "neg") {
    text = "- " + child(0, own);
  } else if (tree.op == "!") {
    text = "!" + child(0, own);
  } else if (own == 100) {
    text = tree.op + "(" + child(0, 0) + ", " + child(1, 0) + ")";
  } else {
    text = child(0, own) + " " + tree.op + " " + child(1, own + 1);
  }
  return own < least ? "(" + text + ")" : text;
}

Value narrow(Wide exact) {
  if (exact > INT64_MAX || exact < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(exact);
}

Value binary(const std::string& op, Wide a, Wide b) {
  if (op == "+") return narrow(a + b);
  if (op == "-") return narrow(a - b);
  if (op == "*") return narrow(a * b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "min") return narrow(a < b ? a : b);
  if (op == "max") return narrow(a > b ? a : b);
  if (b == 0) return std::nullopt;
  if (op == "/") return narrow(a / b);
  if (op == "%") return narrow(a % b);
  Wide ceiling = a / b;
  while (b > 0 ? ceiling * b < a : ceiling * b > a) ++ceiling;
  if (op == "ceil_div") return narrow(ceiling);
  const Wide multiple = a / b * b;
  return narrow(multiple < a ? multiple + (b < 0 ? -b : b) : multiple);
}

Value second_opinion(const Tree& tree) {
  if (tree.op == "number") return tree.number;
  if (tree.op == "name") {
    return tree.number < 2 ? kDimensionValues[static_cast<std::size_t>(tree.number)]
                           : kParameterValues[static_cast<std::size_t>(tree.number - 2)];
  }
  const Value first = second_opinion(*tree.children[0]);
  if (!first) return std::nullopt;
  if (tree.op == "neg") return narrow(-static_cast<Wide>(*first));
  if (tree.op == "!") return *first == 0;
  if (tree.op == "?") return second_opinion(*tree.children[*first != 0 ? 1 : 2]);
  if (tree.op == "&&" && *first == 0) return 0;
  if (tree.op == "||" && *first != 0) return 1;
  const Value second = second_opinion(*tree.children[1]);
  if (!second) return std::nullopt;
  if (tree.op == "&&" || tree.op == "||") return *second != 0;
  return binary(tree.op, *first, *second);
}

}  // namespace

TEST_CASE("random expressions have the value that a second implementation gives them") {
  Random random(77);
  int with_value = 0, without_value = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto tree = random_tree(random, 1 + static_cast<int>(random.below(5)));
    const std::string text = text_of(*tree, 0);
    const Value expected = second_opinion(*tree);
    const Evaluation actual = evaluate(text);
    INFO(text);
    REQUIRE(actual.ok() == expected.has_value());
    if (expected) REQUIRE(actual.value == *expected);
    ++(expected ? with_value : without_value);
  }
  CHECK(with_value > 10000);
  CHECK(without_value > 1000);
}

TEST_CASE("operators bind as in C") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("100 / 10 / 5") == 2);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("1 < 2 == 1") == 1);
  CHECK(value("0 ? 1 : 0 ? 2 : 3") == 3);
  CHECK(value("-A + 1") == -15);
  CHECK(value("!B") == 1);
  CHECK(value("!A + 1") == 1);
}

TEST_CASE("logic yields 0 or 1 and looks only at what it needs") {
  CHECK(value("A && 7") == 1);
  CHECK(value("0 || 7") == 1);
  CHECK(value("B != 0 && A % B == 0") == 0);
  CHECK(value("B == 0 || A / B") == 1);
  CHECK(value("B ? A / B : 5") == 5);
  CHECK(evaluate("A / B").error == ExpressionError::division_by_zero);
}

TEST_CASE("words stand for the operators that XML reserves") {
  CHECK(value("A and B") == 0);
  CHECK(value("A or B") == 1);
  CHECK(value("not A or not B") == 1);
  CHECK(value("A >= 16 and not (B > 0)") == 1);
}

TEST_CASE("names, numbers and functions") {
  CHECK(value("M * N") == 700);
  CHECK(value("0x10 + 0XfF") == 271);
  CHECK(value("9223372036854775807") == INT64_MAX);
  CHECK(value("16777216 + 16777215") == 33554431);  // around what an instruction can hold
  CHECK(value("min(5, 3, 4)") == 3);
  CHECK(value("max(1, 2, 9, 3)") == 9);
  CHECK(value("ceil_div(M, A) * A") == 112);
  CHECK(value("round_up(M, A)") == 112);
  CHECK(value("minimal") == -3);
}

TEST_CASE("a refusal names the column and what was expected") {
  CHECK(refusal("") == "column 1: expected a number, a name or '(', got the end");
  CHECK(refusal("A +") == "column 4: expected a number, a name or '(', got the end");
  CHECK(refusal("(A + 1") == "column 7: expected ')', got the end");
  CHECK(refusal("A B") == "column 3: expected an operator or the end, got 'B'");
  CHECK(refusal("A ? 1") == "column 6: expected ':', got the end");
  CHECK(refusal("A = 1") == "column 3: unexpected character '='");
  CHECK(refusal("A & 1") == "column 3: unexpected character '&'");
  CHECK(refusal("X + 1").find("column 1: unknown name 'X'") == 0);
  CHECK(refusal("1.5").find("column 2") == 0);
  CHECK(refusal("12ab") == "column 1: expected an integer");
  CHECK(refusal("0x") == "column 1: expected an integer");
  CHECK(refusal("9223372036854775808").find("column 1: the number does not fit") == 0);
  CHECK(refusal("min(1)") == "column 6: expected ',', got ')'");
  CHECK(refusal("ceil_div(1, 2, 3)") == "column 14: expected ')', got ','");
  CHECK(refusal("min 1").find("unknown name 'min'") != std::string::npos);
  CHECK(refusal("1 ) 2").find("column 3") == 0);
}

TEST_CASE("texts that nest too deeply or grow too long are refused") {
  CHECK(refusal(std::string(100000, '(')).find("nested too deeply") != std::string::npos);
  CHECK(refusal(std::string(100000, '-') + "1").find("nested too deeply") != std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 3000; ++i) sum += "+1";
  CHECK(refusal(sum).find("too long") != std::string::npos);
  std::string right = "1";
  for (int i = 0; i < 40; ++i) right = "1 + (" + right + ")";
  CHECK_FALSE(refusal(right).empty());
}

TEST_CASE("the digest of an expression does not depend on how it is spelt") {
  const auto digest = [](const std::string& text) {
    const auto expression = required(parse_expression(text, {kDimensions, kParameters}));
    return expression.digest();
  };
  CHECK(digest("A+B") == digest(" ( A ) + ( B ) "));
  CHECK(digest("A and B") == digest("A && B"));
  CHECK(digest("A+B") != digest("B+A"));
  CHECK(digest("A+1") != digest("A+2"));
}

TEST_CASE("an expression where parameters are known is short, and has the same value or none") {
  const std::vector<std::string> dimensions{"M", "N"}, parameters{"A", "B", "C"};
  const ExpressionNames names{dimensions, parameters};
  const auto put_in = [&](const char* text, std::vector<std::int64_t> values, std::uint32_t which) {
    auto expression = required(parse_expression(text, names));
    expression.put_in({values.data(), values.size()}, which);
    return expression;
  };
  const auto length = [&](const char* text, std::vector<std::int64_t> values) {
    return put_in(text, std::move(values), ~0u).code().size();
  };
  CHECK(length("A * B + C", {2, 3, 4}) == 1);
  CHECK(length("ceil_div(N, A * B) * C", {2, 3, 4}) == 5);
  CHECK(length("A == 0 ? N % B : M * (B + C)", {0, 3, 4}) == 3);
  CHECK(length("A == 1 && N % B != 0 ? M : C", {0, 3, 4}) == 1);
  CHECK(length("A / B", {1, 0, 0}) == 3);  // has no value
  CHECK(put_in("A / B", {1, 0, 0}, ~0u).evaluate({}, {}).error ==
        ExpressionError::division_by_zero);
  CHECK(length("-A * N", {2, 0, 0}) == 4);  // negative numbers are made when they are needed
  // Dimensions decide: the parameters are gone all the same.
  const Expression undecided = put_in("N > A ? N * B : C", {2, 3, 4}, ~0u);
  CHECK(undecided.parameter_mask() == 0);
  CHECK(undecided.dimension_mask() == 2);
  const std::vector<std::int64_t> large{0, 9}, small{0, 1}, all{2, 5, 7};
  CHECK(undecided.evaluate({large.data(), 2}, {}).value == 27);
  CHECK(undecided.evaluate({small.data(), 2}, {}).value == 4);
  // Some of them.
  const Expression some = put_in("A * (B + C)", {2, 3, 4}, 6);
  CHECK(some.parameter_mask() == 1);
  CHECK(some.evaluate({}, {all.data(), 3}).value == 14);
}
