// Expressions from anywhere: the first byte chooses text for the parser (even) or bytecode (odd).
// What is accepted has a value or an error, and what the parser accepts reads back as itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "models/host/space/expression_parser.hpp"
#include "models/space/expression.hpp"

using namespace idletune;

namespace {

const std::vector<std::string> kDimensions{"M", "N", "K"};
const std::vector<std::string> kParameters{"A", "B", "C", "D"};

void require(bool condition) {
  if (!condition) std::abort();
}

void evaluate(const Expression& expression) {
  const std::int64_t dimensions[] = {1024, 7, INT64_MAX};
  const std::int64_t parameters[] = {0, -1, INT64_MIN, 64};
  const Evaluation first = expression.evaluate(dimensions, parameters);
  const Evaluation second = expression.evaluate(dimensions, parameters);
  require(first.value == second.value && first.error == second.error);
  require(first.error != ExpressionError::missing_variable);
}

void parse(const std::string& text) {
  const auto expression = parse_expression(text, {kDimensions, kParameters});
  if (!expression.ok()) {
    require(expression.status().message().find("column ") == 0);
    return;
  }
  evaluate(*expression);
  const auto again = parse_expression(expression->text(), {kDimensions, kParameters});
  require(again.ok() && again->digest() == expression->digest());
}

void load(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint32_t> code(size / 4);
  if (!code.empty()) std::memcpy(code.data(), data, code.size() * 4);
  const std::int64_t constants[] = {INT64_MIN, -1, INT64_MAX};
  const auto expression = Expression::load(code, constants, "fuzz", 3, 4);
  if (expression.ok()) evaluate(*expression);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] % 2 == 0) {
    parse(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  } else {
    load(data + 1, size - 1);
  }
  return 0;
}
