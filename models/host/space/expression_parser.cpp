#include "models/host/space/expression_parser.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace idletune {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Token {
  enum class Kind { end, number, name, symbol } kind = Kind::end;
  std::string_view text;
  std::size_t column = 1;
  std::int64_t number = 0;
};

struct BinaryOperator {
  std::string_view symbol;
  ExpressionOp op;
  int precedence;
};
constexpr int kOrPrecedence = 1;
constexpr int kAndPrecedence = 2;
constexpr BinaryOperator kBinaryOperators[] = {
    {"==", ExpressionOp::equal, 3},      {"!=", ExpressionOp::not_equal, 3},
    {"<=", ExpressionOp::less_equal, 4}, {">=", ExpressionOp::greater_equal, 4},
    {"<", ExpressionOp::less, 4},        {">", ExpressionOp::greater, 4},
    {"+", ExpressionOp::add, 5},         {"-", ExpressionOp::subtract, 5},
    {"*", ExpressionOp::multiply, 6},    {"/", ExpressionOp::divide, 6},
    {"%", ExpressionOp::remainder, 6},
};
struct Function {
  std::string_view name;
  ExpressionOp op;
  bool many;  // two or more arguments instead of exactly two
};
constexpr Function kFunctions[] = {
    {"min", ExpressionOp::minimum, true},
    {"max", ExpressionOp::maximum, true},
    {"ceil_div", ExpressionOp::ceil_div, false},
    {"round_up", ExpressionOp::round_up, false},
};
constexpr std::string_view kSymbols[] = {"&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-",
                                         "*",  "/",  "%",  "!",  "?",  ":",  "(", ")", ","};
constexpr int kMaxNesting = 64;

// A recursive-descent parser that emits code as it goes. After the first problem it stops making
// progress: every step checks `problem_`.
class Parser {
 public:
  Parser(std::string_view text, const ExpressionNames& names) : text_(text), names_(names) {
    advance();
  }

  Result<Expression> parse() {
    conditional();
    if (problem_.empty() && token_.kind != Token::Kind::end) expected("an operator or the end");
    if (!problem_.empty()) return Status(StatusCode::invalid_argument, problem_);
    Result<Expression> expression = Expression::load(
        code_, constants_, trimmed(), names_.dimensions.size(), names_.parameters.size());
    if (expression.ok()) return expression;
    return Status(StatusCode::invalid_argument,
                  "column 1: the expression is too deeply nested or too long (" +
                      expression.status().message() + ")");
  }

 private:
  // --- tokens ---
  void advance() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
    token_ = Token();
    token_.column = position_ + 1;
    if (position_ == text_.size()) return;
    const char c = text_[position_];
    if (is_digit(c)) return number();
    if (is_letter(c)) return name();
    for (std::string_view symbol : kSymbols) {
      if (text_.substr(position_, symbol.size()) == symbol) return take(symbol);
    }
    fail(token_.column, std::string("unexpected character '") + c + "'");
  }
  void take(std::string_view symbol) {
    token_.kind = Token::Kind::symbol;
    token_.text = symbol;
    position_ += symbol.size();
  }
  void name() {
    const std::size_t begin = position_;
    const auto continues = [](char c) { return is_letter(c) || is_digit(c); };
    while (position_ < text_.size() && continues(text_[position_])) ++position_;
    token_.kind = Token::Kind::name;
    token_.text = text_.substr(begin, position_ - begin);
    const std::pair<std::string_view, std::string_view> words[] = {
        {"and", "&&"}, {"or", "||"}, {"not", "!"}};
    for (const auto& word : words) {
      if (token_.text != word.first) continue;
      token_.kind = Token::Kind::symbol;
      token_.text = word.second;
    }
  }
  void number() {
    const std::size_t begin = position_;
    const bool hexadecimal = text_[begin] == '0' && begin + 1 < text_.size() &&
                             (text_[begin + 1] == 'x' || text_[begin + 1] == 'X');
    if (hexadecimal) position_ += 2;
    const std::int64_t base = hexadecimal ? 16 : 10;
    const std::size_t first = position_;
    std::int64_t value = 0;
    for (; position_ < text_.size(); ++position_) {
      const int digit = digit_value(text_[position_]);
      if (digit < 0 || digit >= base) break;
      if (__builtin_mul_overflow(value, base, &value) ||
          __builtin_add_overflow(value, std::int64_t{digit}, &value)) {
        return fail(begin + 1, "the number does not fit 64 bits");
      }
    }
    if (position_ == first || (position_ < text_.size() && is_letter(text_[position_]))) {
      return fail(begin + 1, "expected an integer");
    }
    token_.kind = Token::Kind::number;
    token_.number = value;
    token_.text = text_.substr(begin, position_ - begin);
  }
  static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }
  bool at(std::string_view symbol) const {
    return problem_.empty() && token_.kind == Token::Kind::symbol && token_.text == symbol;
  }
  bool accept(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }
  void require(std::string_view symbol) {
    if (!accept(symbol)) expected("'" + std::string(symbol) + "'");
  }

  // --- problems ---
  void fail(std::size_t column, const std::string& what) {
    if (problem_.empty()) problem_ = "column " + std::to_string(column) + ": " + what;
  }
  void expected(const std::string& what) {
    const std::string got =
        token_.kind == Token::Kind::end ? "the end" : "'" + std::string(token_.text) + "'";
    fail(token_.column, "expected " + what + ", got " + got);
  }

  // --- grammar ---
  void conditional() {
    if (++nesting_ > kMaxNesting) fail(token_.column, "nested too deeply");
    if (problem_.empty()) binary(kOrPrecedence);
    if (accept("?")) {
      const std::size_t to_else = emit(ExpressionOp::jump_if_zero);
      conditional();
      const std::size_t to_end = emit(ExpressionOp::jump);
      land(to_else);
      require(":");
      if (problem_.empty()) conditional();
      land(to_end);
    }
    --nesting_;
  }

  void binary(int precedence) {
    unary();
    for (;;) {
      if (precedence <= kOrPrecedence && accept("||")) {
        logical_or();
      } else if (precedence <= kAndPrecedence && accept("&&")) {
        logical_and();
      } else if (const BinaryOperator* op = binary_operator(precedence)) {
        advance();
        binary(op->precedence + 1);
        emit(op->op);
      } else {
        return;
      }
    }
  }
  // a && b: a, if zero go to "0", b as bool, go to the end, "0".
  void logical_and() {
    const std::size_t to_zero = emit(ExpressionOp::jump_if_zero);
    binary(kAndPrecedence + 1);
    emit(ExpressionOp::to_bool);
    const std::size_t to_end = emit(ExpressionOp::jump);
    land(to_zero);
    emit(ExpressionOp::small, 0);
    land(to_end);
  }
  void logical_or() {
    const std::size_t to_second = emit(ExpressionOp::jump_if_zero);
    emit(ExpressionOp::small, 1);
    const std::size_t to_end = emit(ExpressionOp::jump);
    land(to_second);
    binary(kOrPrecedence + 1);
    emit(ExpressionOp::to_bool);
    land(to_end);
  }
  const BinaryOperator* binary_operator(int precedence) const {
    if (!problem_.empty() || token_.kind != Token::Kind::symbol) return nullptr;
    for (const BinaryOperator& op : kBinaryOperators) {
      if (op.symbol == token_.text && op.precedence >= precedence) return &op;
    }
    return nullptr;
  }

  void unary() {
    if (++nesting_ > kMaxNesting) fail(token_.column, "nested too deeply");
    if (accept("-")) {
      unary();
      emit(ExpressionOp::negate);
    } else if (accept("!")) {
      unary();
      emit(ExpressionOp::logical_not);
    } else if (accept("+")) {
      unary();
    } else {
      primary();
    }
    --nesting_;
  }

  void primary() {
    if (!problem_.empty()) return;
    if (accept("(")) {
      conditional();
      require(")");
    } else if (token_.kind == Token::Kind::number) {
      push_number(token_.number);
      advance();
    } else if (token_.kind == Token::Kind::name) {
      variable_or_function();
    } else {
      expected("a number, a name or '('");
    }
  }

  void variable_or_function() {
    const Token token = token_;
    advance();
    for (const Function& function : kFunctions) {
      if (function.name == token.text && at("(")) return call(function);
    }
    if (const auto i = index_in(names_.parameters, token.text)) {
      emit(ExpressionOp::parameter, *i);
    } else if (const auto d = index_in(names_.dimensions, token.text)) {
      emit(ExpressionOp::dimension, *d);
    } else {
      fail(token.column, "unknown name '" + std::string(token.text) +
                             "', expected a dimension, a parameter or a function");
    }
  }
  static std::optional<std::uint32_t> index_in(Span<const std::string> names,
                                               std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
  }

  void call(const Function& function) {
    require("(");
    conditional();
    int arguments = 1;
    while (problem_.empty() && at(",")) {
      if (arguments == 2 && !function.many) return expected("')'");
      advance();
      conditional();
      emit(function.op);
      ++arguments;
    }
    if (problem_.empty() && arguments < 2) return expected("','");
    require(")");
  }

  // --- code ---
  std::size_t emit(ExpressionOp op, std::uint32_t operand = 0) {
    if (code_.size() > Expression::kMaxInstructions) {
      fail(token_.column, "the expression is too long");
    }
    code_.push_back(static_cast<std::uint32_t>(op) | operand << 8);
    return code_.size() - 1;
  }
  // Lets the jump at `instruction` go to what is emitted next.
  void land(std::size_t instruction) {
    code_[instruction] |= static_cast<std::uint32_t>(code_.size()) << 8;
  }
  void push_number(std::int64_t number) {
    if (number < (1 << 24)) {
      emit(ExpressionOp::small, static_cast<std::uint32_t>(number));
      return;
    }
    constants_.push_back(number);
    emit(ExpressionOp::constant, static_cast<std::uint32_t>(constants_.size() - 1));
  }
  std::string_view trimmed() const {
    std::string_view text = text_;
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }

  std::string_view text_;
  const ExpressionNames& names_;
  std::size_t position_ = 0;
  Token token_;
  std::string problem_;
  int nesting_ = 0;
  std::vector<std::uint32_t> code_;
  std::vector<std::int64_t> constants_;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text, const ExpressionNames& names) {
  return Parser(text, names).parse();
}

}  // namespace idletune
