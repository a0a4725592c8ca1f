#include "models/host/pack/value_list.hpp"

#include <charconv>
#include <string>

#include "models/space/space.hpp"

namespace idletune::package {
namespace {

constexpr std::string_view kSeparators = " \t\r\n,";

bool read_integer(std::string_view text, std::int64_t& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// "4..12", "4..12:4", "8..128*2", or a single integer.
struct ValueRange {
  std::int64_t first = 0, last = 0, step = 1;
  bool geometric = false;

  bool read(std::string_view word) {
    const std::size_t dots = word.find("..");
    if (!read_integer(word.substr(0, dots), first)) return false;
    if (dots == std::string_view::npos) {
      last = first;
      return true;
    }
    std::string_view rest = word.substr(dots + 2);
    const std::size_t mark = rest.find_first_of(":*");
    if (mark != std::string_view::npos) {
      geometric = rest[mark] == '*';
      if (!read_integer(rest.substr(mark + 1), step)) return false;
    }
    const bool grows = step >= (geometric ? 2 : 1) && (!geometric || first >= 1);
    return read_integer(rest.substr(0, mark), last) && grows && first <= last;
  }

  // The value after `value`; false at the end of 64 bits.
  bool next(std::int64_t& value) const {
    return geometric ? !__builtin_mul_overflow(value, step, &value)
                     : !__builtin_add_overflow(value, step, &value);
  }
};

}  // namespace

Result<std::vector<std::int64_t>> parse_values(std::string_view text) {
  std::vector<std::int64_t> values;
  std::size_t begin = text.find_first_not_of(kSeparators);
  while (begin != std::string_view::npos) {
    const std::size_t end = text.find_first_of(kSeparators, begin);
    const std::string_view word =
        text.substr(begin, end == std::string_view::npos ? end : end - begin);
    ValueRange range;
    if (!range.read(word)) {
      return Status(StatusCode::invalid_argument,
                    "expected an integer or a range like 4..12, 4..12:4, 8..128*2, got '" +
                        std::string(word) + "'");
    }
    std::int64_t value = range.first;
    do {
      if (values.size() == kMaxParameterValues) {
        return Status(StatusCode::invalid_argument,
                      "expected at most " + std::to_string(kMaxParameterValues) + " values");
      }
      values.push_back(value);
    } while (range.next(value) && value <= range.last);
    begin = end == std::string_view::npos ? end : text.find_first_not_of(kSeparators, end);
  }
  if (!values.empty()) return values;
  return Status(StatusCode::invalid_argument, "expected at least one value");
}

}  // namespace idletune::package
