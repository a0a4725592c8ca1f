#include "models/space/expression.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::uint32_t instruction(ExpressionOp op, std::uint32_t operand = 0) {
  return static_cast<std::uint32_t>(op) | operand << 8;
}

Result<Expression> load(const std::vector<std::uint32_t>& code,
                        const std::vector<std::int64_t>& constants = {}) {
  return Expression::load(code, constants, "a test", 2, 3);
}

// a op b
Evaluation apply(ExpressionOp op, std::int64_t a, std::int64_t b) {
  const auto expression = required(load({instruction(ExpressionOp::constant, 0),
                                         instruction(ExpressionOp::constant, 1), instruction(op)},
                                        {a, b}));
  return expression.evaluate({}, {});
}
std::int64_t value(ExpressionOp op, std::int64_t a, std::int64_t b) {
  const Evaluation result = apply(op, a, b);
  REQUIRE(result.ok());
  return result.value;
}
ExpressionError error(ExpressionOp op, std::int64_t a, std::int64_t b) {
  return apply(op, a, b).error;
}

std::string refusal(const std::vector<std::uint32_t>& code,
                    const std::vector<std::int64_t>& constants = {}) {
  const auto expression = load(code, constants);
  CHECK(expression.code() == StatusCode::corrupt);
  return expression.status().message();
}

}  // namespace

TEST_CASE("division truncates as in C and ceil_div rounds towards plus infinity") {
  CHECK(value(ExpressionOp::divide, 7, 2) == 3);
  CHECK(value(ExpressionOp::divide, -7, 2) == -3);
  CHECK(value(ExpressionOp::divide, 7, -1) == -7);
  CHECK(value(ExpressionOp::remainder, -7, 2) == -1);
  CHECK(value(ExpressionOp::remainder, 7, -2) == 1);
  CHECK(value(ExpressionOp::remainder, kMin, -1) == 0);
  CHECK(value(ExpressionOp::ceil_div, 7, 2) == 4);
  CHECK(value(ExpressionOp::ceil_div, 8, 2) == 4);
  CHECK(value(ExpressionOp::ceil_div, -7, 2) == -3);
  CHECK(value(ExpressionOp::ceil_div, 7, -2) == -3);
  CHECK(value(ExpressionOp::ceil_div, -7, -2) == 4);
  CHECK(value(ExpressionOp::ceil_div, 5, -1) == -5);
  CHECK(value(ExpressionOp::ceil_div, 0, 3) == 0);
  CHECK(value(ExpressionOp::round_up, 7, 4) == 8);
  CHECK(value(ExpressionOp::round_up, 8, 4) == 8);
  CHECK(value(ExpressionOp::round_up, kMax - 7, 8) == kMax - 7);
  CHECK(value(ExpressionOp::round_up, 7, -4) == 8);
  CHECK(value(ExpressionOp::round_up, 8, -4) == 8);
  CHECK(value(ExpressionOp::round_up, -7, -4) == -4);
  CHECK(value(ExpressionOp::round_up, -7, 4) == -4);
  CHECK(value(ExpressionOp::round_up, kMin, kMin) == kMin);
  CHECK(value(ExpressionOp::round_up, -5, kMin) == 0);
}

TEST_CASE("quotients are exact, by powers of two and others, of numbers of any size") {
  Random random(5);
  const auto draw = [&] {
    const auto any = static_cast<std::int64_t>(random.next() >> (random.next() % 64));
    const std::int64_t number = random.below(3) == 0 ? std::int64_t{1} << random.below(63) : any;
    return random.below(4) == 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(number))
                                : number;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t a = draw(), b = draw();
    if (b == 0 || (a == kMin && b == -1)) continue;
    CAPTURE(a);
    CAPTURE(b);
    const std::int64_t whole = a / b, rest = a % b;
    const std::int64_t up = whole + (rest != 0 && (rest > 0) == (b > 0) ? 1 : 0);
    CHECK(value(ExpressionOp::divide, a, b) == whole);
    CHECK(value(ExpressionOp::ceil_div, a, b) == up);
    // The smallest multiple that is not below: b times the quotient, or the one above that.
    std::int64_t rounded = a - rest;
    const bool overflows = rounded < a && (b > 0 ? __builtin_add_overflow(rounded, b, &rounded)
                                                 : __builtin_sub_overflow(rounded, b, &rounded));
    const Evaluation result = apply(ExpressionOp::round_up, a, b);
    CHECK(result.ok() == !overflows);
    if (result.ok()) CHECK(result.value == rounded);
  }
}

TEST_CASE("what has no exact value is an error, not a wrapped number") {
  CHECK(error(ExpressionOp::add, kMax, 1) == ExpressionError::overflow);
  CHECK(error(ExpressionOp::subtract, kMin, 1) == ExpressionError::overflow);
  CHECK(error(ExpressionOp::multiply, kMax, 2) == ExpressionError::overflow);
  CHECK(error(ExpressionOp::multiply, kMin, -1) == ExpressionError::overflow);
  CHECK(error(ExpressionOp::divide, kMin, -1) == ExpressionError::overflow);
  CHECK(error(ExpressionOp::round_up, kMax, 8) == ExpressionError::overflow);
  for (ExpressionOp op : {ExpressionOp::divide, ExpressionOp::remainder, ExpressionOp::ceil_div,
                          ExpressionOp::round_up}) {
    CHECK(error(op, 1, 0) == ExpressionError::division_by_zero);
  }
  const auto negated = required(
      load({instruction(ExpressionOp::constant, 0), instruction(ExpressionOp::negate)}, {kMin}));
  CHECK(negated.evaluate({}, {}).error == ExpressionError::overflow);
}

TEST_CASE("comparisons, minimum and maximum") {
  CHECK(value(ExpressionOp::less, -1, 0) == 1);
  CHECK(value(ExpressionOp::less, 0, 0) == 0);
  CHECK(value(ExpressionOp::less_equal, 0, 0) == 1);
  CHECK(value(ExpressionOp::greater, 1, 0) == 1);
  CHECK(value(ExpressionOp::greater_equal, 0, 1) == 0);
  CHECK(value(ExpressionOp::equal, kMin, kMin) == 1);
  CHECK(value(ExpressionOp::not_equal, 1, 2) == 1);
  CHECK(value(ExpressionOp::minimum, -3, 2) == -3);
  CHECK(value(ExpressionOp::maximum, -3, 2) == 2);
}

TEST_CASE("dimensions and parameters are read by index and must be given") {
  const auto expression = required(
      load({instruction(ExpressionOp::dimension, 1), instruction(ExpressionOp::parameter, 2),
            instruction(ExpressionOp::multiply)}));
  CHECK(expression.dimension_mask() == 2);
  CHECK(expression.parameter_mask() == 4);
  const std::vector<std::int64_t> dimensions{5, 6}, parameters{7, 8, 9};
  CHECK(expression.evaluate(dimensions, parameters).value == 54);
  const std::vector<std::int64_t> too_few{5};
  CHECK(expression.evaluate(too_few, parameters).error == ExpressionError::missing_variable);
  CHECK(expression.evaluate(dimensions, dimensions).error == ExpressionError::missing_variable);
}

TEST_CASE("the default expression is 0") {
  CHECK(Expression().evaluate({}, {}).value == 0);
  CHECK(Expression().evaluate({}, {}).ok());
}

TEST_CASE("bytecode that could misbehave is refused when it is loaded") {
  using Op = ExpressionOp;
  CHECK(refusal({}).find("no instructions") != std::string::npos);
  CHECK(refusal({instruction(Op::add)}).find("stack is empty") != std::string::npos);
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::add)}).find("stack is empty") !=
        std::string::npos);
  CHECK(refusal({instruction(Op::negate)}).find("stack is empty") != std::string::npos);
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::small, 1)}).find("exactly one") !=
        std::string::npos);
  CHECK(refusal({99}).find("unknown") != std::string::npos);
  CHECK(refusal({instruction(Op::constant, 1)}, {7}).find("constant") != std::string::npos);
  CHECK(refusal({instruction(Op::dimension, 2)}).find("dimension") != std::string::npos);
  CHECK(refusal({instruction(Op::parameter, 3)}).find("parameter") != std::string::npos);
  CHECK(refusal({instruction(Op::parameter, 0xffffff)}).find("parameter") != std::string::npos);
}

TEST_CASE("jumps go forward, stay inside and keep the stack the same on every path") {
  using Op = ExpressionOp;
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::jump, 0)}).find("forward") !=
        std::string::npos);
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::jump, 1)}).find("forward") !=
        std::string::npos);  // onto itself
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::jump, 3)}).find("forward") !=
        std::string::npos);
  CHECK(refusal({instruction(Op::jump, 1), instruction(Op::jump, 2)}).find("exactly one") !=
        std::string::npos);
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::jump, 3), instruction(Op::small, 1)})
            .find("cannot be reached") != std::string::npos);
  CHECK(refusal({instruction(Op::small, 1), instruction(Op::small, 1),
                 instruction(Op::jump_if_zero, 4), instruction(Op::small, 2)})
            .find("depends on the path") != std::string::npos);
  const auto good = required(
      load({instruction(Op::parameter, 0), instruction(Op::jump_if_zero, 4),
            instruction(Op::small, 10), instruction(Op::jump, 5), instruction(Op::small, 20)}));
  const std::vector<std::int64_t> yes{1, 0, 0}, no{0, 0, 0};
  CHECK(good.evaluate({}, yes).value == 10);
  CHECK(good.evaluate({}, no).value == 20);
}

TEST_CASE("depth, length and text are bounded") {
  using Op = ExpressionOp;
  const auto nested = [](std::size_t depth) {
    std::vector<std::uint32_t> code(depth, instruction(Op::small, 1));
    code.insert(code.end(), depth - 1, instruction(Op::add));
    return code;
  };
  const auto deepest = required(load(nested(Expression::kMaxDepth)));
  CHECK(deepest.evaluate({}, {}).value == static_cast<std::int64_t>(Expression::kMaxDepth));
  CHECK(refusal(nested(Expression::kMaxDepth + 1)).find("overflows") != std::string::npos);
  std::vector<std::uint32_t> code(Expression::kMaxInstructions, instruction(Op::negate));
  code[0] = instruction(Op::small, 1);
  CHECK(load(code).ok());
  code.push_back(instruction(Op::negate));
  CHECK(refusal(code).find("too many") != std::string::npos);
  const std::string text(Expression::kMaxText + 1, 'x');
  CHECK_FALSE(Expression::load(nested(1), {}, text, 0, 0).ok());
}

TEST_CASE("operations keep the numbers they have in stored packages") {
  CHECK(static_cast<int>(ExpressionOp::parameter) == 3);
  CHECK(static_cast<int>(ExpressionOp::add) == 7);
  CHECK(static_cast<int>(ExpressionOp::less) == 12);
  CHECK(static_cast<int>(ExpressionOp::minimum) == 18);
  CHECK(static_cast<int>(ExpressionOp::round_up) == 21);
  CHECK(static_cast<int>(ExpressionOp::jump_if_zero) == 23);
  CHECK(kExpressionOpCount == 24);
}
