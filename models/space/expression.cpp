#include "models/space/expression.hpp"

#include <algorithm>

#include "models/core/digest.hpp"
#include "models/core/word_list.hpp"

namespace idletune {
namespace {

constexpr std::uint32_t operand_of(std::uint32_t instruction) { return instruction >> 8; }
constexpr std::uint8_t op_of(std::uint32_t instruction) {
  return static_cast<std::uint8_t>(instruction & 0xffu);
}

bool is_small(std::int64_t number) { return number >= 0 && number >> 24 == 0; }
std::uint32_t push_small(std::int64_t number) { return static_cast<std::uint32_t>(number) << 8; }
bool is_binary(ExpressionOp op) { return op >= ExpressionOp::add && op <= ExpressionOp::round_up; }
bool is_unary(ExpressionOp op) {
  return op == ExpressionOp::negate || op == ExpressionOp::logical_not ||
         op == ExpressionOp::to_bool;
}
bool is_jump(ExpressionOp op) {
  return op == ExpressionOp::jump || op == ExpressionOp::jump_if_zero;
}

Evaluation value_of(std::int64_t value) { return {value, ExpressionError::none}; }
Evaluation failure(ExpressionError error) { return {0, error}; }

Evaluation divide(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b > 0) return value_of(quotient(a, b));  // as most are
  if (b == 0) return failure(ExpressionError::division_by_zero);
  if (b == -1) {
    std::int64_t negated = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &negated)) {
      return failure(ExpressionError::overflow);
    }
    return value_of(negated);
  }
  return value_of(a / b);
}

Evaluation remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return failure(ExpressionError::division_by_zero);
  return value_of(b == -1 ? 0 : a % b);
}

Evaluation ceil_div(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b > 0) {
    const std::int64_t whole = quotient(a, b);
    return value_of(whole + (whole * b != a ? 1 : 0));
  }
  const Evaluation quotient = divide(a, b);
  if (!quotient.ok() || b == -1) return quotient;
  const std::int64_t rest = a % b;
  const bool truncated_down = rest != 0 && (rest > 0) == (b > 0);
  return value_of(quotient.value + (truncated_down ? 1 : 0));
}

Evaluation multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return failure(ExpressionError::overflow);
  return value_of(result);
}

Evaluation round_up(std::int64_t a, std::int64_t b) {
  if (a >= 0 && b > 0) return multiply(ceil_div(a, b).value, b);
  const Evaluation rest = remainder(a, b);
  if (!rest.ok()) return rest;
  std::int64_t multiple = a - rest.value;                              // towards zero
  if (multiple < a && __builtin_sub_overflow(multiple, b, &multiple))  // b is below 0
    return failure(ExpressionError::overflow);
  return value_of(multiple);
}

Evaluation apply(ExpressionOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case ExpressionOp::negate: return divide(a, -1);
    case ExpressionOp::logical_not: return value_of(a == 0);
    case ExpressionOp::to_bool: return value_of(a != 0);
    case ExpressionOp::add:
      if (__builtin_add_overflow(a, b, &result)) return failure(ExpressionError::overflow);
      return value_of(result);
    case ExpressionOp::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return failure(ExpressionError::overflow);
      return value_of(result);
    case ExpressionOp::multiply: return multiply(a, b);
    case ExpressionOp::divide: return divide(a, b);
    case ExpressionOp::remainder: return remainder(a, b);
    case ExpressionOp::less: return value_of(a < b);
    case ExpressionOp::less_equal: return value_of(a <= b);
    case ExpressionOp::greater: return value_of(a > b);
    case ExpressionOp::greater_equal: return value_of(a >= b);
    case ExpressionOp::equal: return value_of(a == b);
    case ExpressionOp::not_equal: return value_of(a != b);
    case ExpressionOp::minimum: return value_of(a < b ? a : b);
    case ExpressionOp::maximum: return value_of(a > b ? a : b);
    case ExpressionOp::ceil_div: return ceil_div(a, b);
    case ExpressionOp::round_up: return round_up(a, b);
    default: return failure(ExpressionError::missing_variable);  // load() lets no other op get here
  }
}

// Walks the code once. Jumps go forward only, so every path into an instruction is known when the
// walk reaches it.
class CodeChecker {
 public:
  CodeChecker(Span<const std::uint32_t> code, std::size_t constants, std::size_t dimensions,
              std::size_t parameters)
      : code_(code), limits_{constants, dimensions, parameters}, depth_at_(code.size() + 1, -1) {}

  // The first offending instruction, or code.size() with a reason, or nullptr if all is well.
  const char* check(std::size_t& where) {
    if (code_.empty()) return "no instructions";
    if (code_.size() > Expression::kMaxInstructions) return "too many instructions";
    depth_at_[0] = 0;
    for (where = 0; where < code_.size(); ++where) {
      if (const char* problem = check_instruction(where)) return problem;
    }
    return depth_at_[code_.size()] == 1 ? nullptr : "it must leave exactly one value";
  }

 private:
  const char* check_instruction(std::size_t i) {
    const int depth = depth_at_[i];
    if (depth < 0) return "it cannot be reached";
    if (op_of(code_[i]) >= kExpressionOpCount) return "the operation is unknown";
    const ExpressionOp op = static_cast<ExpressionOp>(op_of(code_[i]));
    const std::uint32_t operand = operand_of(code_[i]);
    if (is_jump(op)) return check_jump(i, op, operand, depth);
    if (is_unary(op)) return depth < 1 ? "the stack is empty" : reach(i + 1, depth);
    if (is_binary(op)) return depth < 2 ? "the stack is empty" : reach(i + 1, depth - 1);
    return check_push(i, op, operand, depth);
  }

  const char* check_jump(std::size_t i, ExpressionOp op, std::uint32_t target, int depth) {
    if (target <= i || target > code_.size()) return "the jump does not go forward";
    if (op == ExpressionOp::jump) return reach(target, depth);
    if (depth < 1) return "the stack is empty";
    if (const char* problem = reach(target, depth - 1)) return problem;
    return reach(i + 1, depth - 1);
  }

  const char* check_push(std::size_t i, ExpressionOp op, std::uint32_t operand, int depth) {
    if (depth >= static_cast<int>(Expression::kMaxDepth)) return "the stack overflows";
    if (op == ExpressionOp::constant && operand >= limits_[0]) return "the constant is not there";
    if (op == ExpressionOp::dimension && operand >= limits_[1]) return "the dimension is not there";
    if (op == ExpressionOp::parameter && operand >= limits_[2]) return "the parameter is not there";
    return reach(i + 1, depth + 1);
  }

  const char* reach(std::size_t target, int depth) {
    if (depth_at_[target] >= 0 && depth_at_[target] != depth) {
      return "the stack depth depends on the path";
    }
    depth_at_[target] = depth;
    return nullptr;
  }

  Span<const std::uint32_t> code_;
  std::size_t limits_[3];
  std::vector<int> depth_at_;
};

}  // namespace

const char* expression_error_name(ExpressionError error) {
  return word_of("none\0division by zero\0overflow of 64 bits\0missing dimension or parameter\0",
                 static_cast<unsigned>(error));
}

Result<Expression> Expression::load(Span<const std::uint32_t> code,
                                    Span<const std::int64_t> constants, std::string_view text,
                                    std::size_t dimension_count, std::size_t parameter_count) {
  if (text.size() > kMaxText || constants.size() > kMaxInstructions) {
    return Status(StatusCode::corrupt, "expression '%...': too long, or too many constants",
                  text.substr(0, 200));
  }
  CodeChecker checker(code, constants.size(), std::min<std::size_t>(dimension_count, 32),
                      std::min<std::size_t>(parameter_count, 32));
  std::size_t where = 0;
  if (const char* problem = checker.check(where)) {
    return Status(StatusCode::corrupt, "expression '%', instruction %: %", text.substr(0, 200),
                  where, problem);
  }
  Expression expression;
  expression.code_.assign(code.begin(), code.end());
  expression.constants_.assign(constants.begin(), constants.end());
  expression.text_ = std::string(text);
  expression.note_variables();
  return expression;
}

void Expression::put_in(Span<const std::int64_t> parameters, std::uint32_t which,
                        Span<const std::int64_t> dimensions, std::uint32_t of_dimensions) {
  for (std::uint32_t& word : code_) {
    const std::uint32_t read = operand_of(word);
    const ExpressionOp op = static_cast<ExpressionOp>(op_of(word));
    const bool of_shape = op == ExpressionOp::dimension;
    if (!of_shape && op != ExpressionOp::parameter) continue;
    const Span<const std::int64_t> values = of_shape ? dimensions : parameters;
    if (((of_shape ? of_dimensions : which) >> read & 1) == 0 || read >= values.size()) continue;
    const std::int64_t value = values[read];
    if (is_small(value)) {
      word = push_small(value);
      continue;
    }
    word = static_cast<std::uint32_t>(constants_.size() << 8) |
           static_cast<std::uint32_t>(ExpressionOp::constant);
    constants_.push_back(value);
  }
  if (fold(false)) (void)fold(true);
  note_variables();
}

void Expression::note_variables() {
  dimension_mask_ = parameter_mask_ = 0;
  for (const std::uint32_t word : code_) {
    const ExpressionOp op = static_cast<ExpressionOp>(op_of(word));
    const std::uint32_t bit = std::uint32_t{1} << (operand_of(word) & 31);
    if (op == ExpressionOp::dimension) dimension_mask_ |= bit;
    if (op == ExpressionOp::parameter) parameter_mask_ |= bit;
  }
}

// Follows the only path there is, and replaces what is known on it, in place; false where
// dimensions decide between paths.
bool Expression::fold(bool write) {
  struct Part {  // a value on the stack: where its code begins, and what it is if that is known
    std::size_t begin;
    bool known;
    std::int64_t value;
  } stack[kMaxDepth + 1];
  std::size_t depth = 0;
  std::size_t out = 0;  // never ahead of what is read
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const std::uint32_t word = code_[i];
    const ExpressionOp op = static_cast<ExpressionOp>(op_of(word));
    const std::uint32_t operand = operand_of(word);
    if (is_jump(op)) {
      const bool asks = op == ExpressionOp::jump_if_zero;
      if (asks && !stack[--depth].known) return false;
      if (asks) out = stack[depth].begin;
      if (!asks || stack[depth].value == 0) i = operand - 1;
      continue;
    }
    Part part{out, op == ExpressionOp::small, operand};
    if (op >= ExpressionOp::negate) {
      depth -= is_binary(op) ? 2 : 1;
      const Part *a = &stack[depth], *b = is_binary(op) ? a + 1 : a;
      Evaluation value = failure(ExpressionError::missing_variable);
      if (a->known && b->known) value = apply(op, a->value, b->value);
      part = {a->begin, value.ok() && is_small(value.value), value.value};
    }
    if (part.known) out = part.begin;
    if (write) code_[out] = part.known ? push_small(part.value) : word;
    ++out;
    stack[depth++] = part;
  }
  if (write) code_.erase(code_.begin() + static_cast<std::ptrdiff_t>(out), code_.end());
  return true;
}

Evaluation Expression::evaluate(Span<const std::int64_t> dimensions,
                                Span<const std::int64_t> parameters) const {
  if (code_.size() == 1) {  // most of what launches ask for
    const std::uint32_t operand = operand_of(code_[0]);
    const ExpressionOp op = static_cast<ExpressionOp>(op_of(code_[0]));
    if (op == ExpressionOp::small) return value_of(operand);
    if (op == ExpressionOp::dimension && operand < dimensions.size()) {
      return value_of(dimensions[operand]);
    }
  }
  std::int64_t stack[kMaxDepth + 1];  // below the top
  std::int64_t* below = stack;
  std::int64_t top = 0;
  const std::uint32_t *const begin = code_.data(), *const end = begin + code_.size();
  for (const std::uint32_t* at = begin; at != end; ++at) {
    ExpressionOp op = static_cast<ExpressionOp>(op_of(*at));
    const std::uint32_t operand = operand_of(*at);
    std::int64_t value = operand;
    switch (op) {
      case ExpressionOp::small: break;
      case ExpressionOp::constant: value = constants_[operand]; break;
      case ExpressionOp::dimension:
        if (operand >= dimensions.size()) return failure(ExpressionError::missing_variable);
        value = dimensions[operand];
        break;
      case ExpressionOp::parameter:
        if (operand >= parameters.size()) return failure(ExpressionError::missing_variable);
        value = parameters[operand];
        break;
      case ExpressionOp::jump: at = begin + operand - 1; continue;
      case ExpressionOp::jump_if_zero:
        if (top == 0) at = begin + operand - 1;
        top = *--below;
        continue;
      default: {
        const bool binary = is_binary(op);
        const Evaluation result = apply(op, binary ? *--below : top, top);
        if (!result.ok()) return result;
        top = result.value;
        continue;
      }
    }
    // What takes it at once finds it here.
    if (at + 1 == end || !is_binary(op = static_cast<ExpressionOp>(op_of(at[1])))) {
      *below++ = top;
      top = value;
      continue;
    }
    ++at;
    if (op == ExpressionOp::multiply) {  // as most are
      if (__builtin_mul_overflow(top, value, &top)) return failure(ExpressionError::overflow);
      continue;
    }
    const Evaluation result = apply(op, top, value);
    if (!result.ok()) return result;
    top = result.value;
  }
  return value_of(top);
}

std::uint64_t Expression::digest() const {
  Digest digest;
  digest.add(code_.size());
  for (std::uint32_t instruction : code_) digest.add(std::uint64_t{instruction});
  digest.add(constants_.size());
  for (std::int64_t constant : constants_) digest.add_signed(constant);
  return digest.value();
}

}  // namespace idletune
