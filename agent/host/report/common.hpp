// What nearly every file of the command and its pages uses.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

// {"a": value.a, "b": value.b, ...} of IDLETUNE_FIELDS(value, a, b, ...); null of empty optionals.
#define IDLETUNE_FIELD(member) fields_[#member] = idletune::report::or_null(of_.member);
#define IDLETUNE_FIELDS(value, ...)                                        \
  [](const auto& of_) {                                                    \
    nlohmann::json fields_ = nlohmann::json::object();                     \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(IDLETUNE_FIELD, __VA_ARGS__)) \
    return fields_;                                                        \
  }(value)

namespace idletune::report {

using nlohmann::json;

// Both objects in one.
inline json joined(json object, const json& more) {
  object.update(more);
  return object;
}

// Null where there is nothing, or where it is not known.
template <class T>
const T& or_null(const T& value) {
  return value;
}
template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}
template <class T>
json or_null(bool known, const T& value) {
  return known ? json(value) : json();
}
// Of what is positive where it is known.
inline json positive_or_null(double value) { return or_null(value > 0, value); }
inline json finite_or_null(double value) { return or_null(std::isfinite(value), value); }

// [make(item), ...] of all items, or of the numbers below a count.
template <class Items, class Make>
json list_of(const Items& items, const Make& make) {
  json list = json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}
template <class Make>
json list_of(std::size_t count, const Make& make) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return list_of(numbers, make);
}

// "a, b, c" of their texts.
template <class Items, class Text>
std::string listed(const Items& items, const std::string& between, const Text& text_of) {
  std::string text;
  bool first = true;
  for (const auto& item : items)
    text += (std::exchange(first, false) ? "" : between) + text_of(item);
  return text;
}
template <class Texts>
std::string listed(const Texts& texts) {
  return listed(texts, ", ", [](const auto& text) { return std::string(text); });
}

template <class Items, class Item>
bool contains(const Items& items, const Item& item) {
  return std::find(std::begin(items), std::end(items), item) != std::end(items);
}

}  // namespace idletune::report

namespace idletune::cli {
using nlohmann::json;
using report::contains;
using report::finite_or_null;
using report::joined;
using report::list_of;
using report::listed;
using report::or_null;
using report::positive_or_null;

// Ends the verb with that failure, which main() tells. Not in jobs of other threads.
class Failure : public std::exception {
 public:
  explicit Failure(Status status) : status_(std::move(status)) {}
  template <class... Pieces>
  explicit Failure(StatusCode code, const Pieces&... pieces) : status_(code, pieces...) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

inline void must(Status status) {
  if (!status.ok()) throw Failure(std::move(status));
}

// What there is, or the end of the verb.
template <class T>
T must(Result<T> result) {
  must(result.status());
  return std::move(*result);
}

// The same of what does not name itself where it fails.
template <class T>
T must_of(const std::string& what, Result<T> result) {
  if (!result.ok()) throw Failure(result.code(), what + ": " + result.status().message());
  return std::move(*result);
}

// The whole text as a decimal number.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace idletune::cli
