// What a test cannot go on without.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include <idletune/result.hpp>

namespace idletune {

// The value. A failure, or none, ends the test case with its message, at the caller's line.
template <class T>
T required(Result<T> result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!result.ok()) ADD_FAIL_AT(file, line, result.status().to_string());
  return std::move(*result);
}
template <class T>
T required(std::optional<T> value, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  if (!value) ADD_FAIL_AT(file, line, "there is none");
  return std::move(*value);
}

}  // namespace idletune
