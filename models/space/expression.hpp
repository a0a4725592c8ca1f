// Integer expressions over a kernel's dimensions and tuning parameters, as verified bytecode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// Why an expression has no value.
enum class ExpressionError : std::uint8_t {
  none = 0,
  division_by_zero,
  overflow,         // the exact value does not fit 64 bits
  missing_variable  // fewer dimensions or parameters were given than the expression reads
};
// "division by zero", ...; never null.
const char* expression_error_name(ExpressionError error);

struct Evaluation {
  std::int64_t value = 0;
  ExpressionError error = ExpressionError::none;
  bool ok() const { return error == ExpressionError::none; }
};

// a / b, for a >= 0 and b > 0: shifts, where b is a power of two as most are.
inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return (b & (b - 1)) == 0 ? a >> __builtin_ctzll(static_cast<std::uint64_t>(b)) : a / b;
}

// The instructions. An instruction is one 32-bit word: the operation in the low 8 bits, its operand
// above. The numbers are stored in packages and never change.
enum class ExpressionOp : std::uint8_t {
  small = 0,      // push the operand (0 ... 2^24 - 1)
  constant = 1,   // push constants[operand]
  dimension = 2,  // push dimension[operand]
  parameter = 3,  // push parameter[operand]
  negate = 4,
  logical_not = 5,
  to_bool = 6,  // 0 stays 0, anything else becomes 1
  add = 7,
  subtract = 8,
  multiply = 9,
  divide = 10,     // truncates towards zero, as in C
  remainder = 11,  // has the sign of the dividend, as in C
  less = 12,
  less_equal = 13,
  greater = 14,
  greater_equal = 15,
  equal = 16,
  not_equal = 17,
  minimum = 18,
  maximum = 19,
  ceil_div = 20,     // the quotient rounded towards plus infinity
  round_up = 21,     // the smallest multiple of b that is not below a
  jump = 22,         // to instruction operand; forward only
  jump_if_zero = 23  // pops; to instruction operand; forward only
};
inline constexpr std::uint8_t kExpressionOpCount = 24;

// An immutable compiled expression. Evaluating it allocates nothing, takes bounded time (jumps go
// forward only) and may happen in any number of threads at once.
class Expression {
 public:
  static constexpr std::size_t kMaxDepth = 32;           // values on the stack
  static constexpr std::size_t kMaxInstructions = 1024;  // and constants, per expression
  static constexpr std::size_t kMaxText = 8192;          // characters

  // The constant 0.
  Expression() = default;

  // Takes bytecode from a file or the parser: checks operations, operands, jump targets, stack
  // depth on every path, and that it reads only the first `dimension_count` dimensions and
  // `parameter_count` parameters. `text` is kept for messages. Error: corrupt, naming the
  // instruction.
  static Result<Expression> load(Span<const std::uint32_t> code, Span<const std::int64_t> constants,
                                 std::string_view text, std::size_t dimension_count,
                                 std::size_t parameter_count);

  // The value, or why there is none. && || ?: evaluate only what they need, and read only that.
  Evaluation evaluate(Span<const std::int64_t> dimensions,
                      Span<const std::int64_t> parameters) const;

  // Puts those parameters in whose bit is set in `which`, and those dimensions whose bit is set in
  // `of_dimensions`: the value stays the same for all others, is not asked for these any more, and
  // takes less time.
  void put_in(Span<const std::int64_t> parameters, std::uint32_t which = ~0u,
              Span<const std::int64_t> dimensions = {}, std::uint32_t of_dimensions = 0);

  // Bit i set: reads dimension (parameter) i.
  std::uint32_t dimension_mask() const { return dimension_mask_; }
  std::uint32_t parameter_mask() const { return parameter_mask_; }
  const std::string& text() const { return text_; }
  Span<const std::uint32_t> code() const { return {code_.data(), code_.size()}; }
  Span<const std::int64_t> constants() const { return {constants_.data(), constants_.size()}; }
  // Of the compiled form: blanks and redundant parentheses in the text do not matter.
  std::uint64_t digest() const;

 private:
  bool fold(bool write);
  void note_variables();

  std::vector<std::uint32_t> code_;
  std::vector<std::int64_t> constants_;
  std::string text_;
  std::uint32_t dimension_mask_ = 0;
  std::uint32_t parameter_mask_ = 0;
};

}  // namespace idletune
