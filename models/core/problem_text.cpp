#include "models/core/problem_text.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace idletune {

Result<Problem> parse_problem(const std::string& text) {
  const auto wrong = [&] {
    return Status(
        StatusCode::invalid_argument,
        "shape '%': expected numbers from 0 on, such as 256,256,256, and features behind a "
        "colon, such as 4096,65536:16,2.5",
        text);
  };
  Problem problem;
  const char* position = text.c_str();
  char* end = nullptr;
  do {
    errno = 0;
    const long long value = std::strtoll(position, &end, 10);
    if (end == position || errno != 0 || value < 0) return wrong();
    problem.push_back(value);
    position = end + 1;
  } while (*end == ',' || *end == 'x');
  while (*end == ':' || (*end == ',' && problem.feature_count() > 0)) {
    const double value = std::strtod(position, &end);
    if (end == position || !(value >= 0) || !std::isfinite(value)) return wrong();
    problem.push_feature(value);
    position = end + 1;
  }
  return *end == '\0' && !problem.overflow() ? Result<Problem>(problem) : wrong();
}

}  // namespace idletune
