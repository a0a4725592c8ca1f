// Host side: from the text of an expression to its bytecode.
#pragma once

#include <string>
#include <string_view>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/space/expression.hpp"

namespace idletune {

// Names that an expression may use, by index. Names of dimensions and parameters are distinct.
struct ExpressionNames {
  Span<const std::string> dimensions;
  Span<const std::string> parameters;
};

// Parses C-like infix text: integers (decimal or 0x...), names, ( ), unary - + !, * / %, + -,
// < <= > >=, == !=, &&, ||, ?:, min(a, b, ...), max(a, b, ...), ceil_div(a, b), round_up(a, b).
// `and`, `or`, `not` may stand for && || ! (XML wants & and < escaped).
// Error: invalid_argument, "column 7: expected ')' ...".
Result<Expression> parse_expression(std::string_view text, const ExpressionNames& names);

}  // namespace idletune
