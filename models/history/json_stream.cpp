#include "models/history/json_stream.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxDepth = 32;

// Python writes NaN, Infinity and -Infinity, which JSON does not have: null instead, except in strings.
// The beginning of such a word at the very end, where a torn file may stop, is dropped.
std::string without_python_constants(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string_view found;
    if (!in_string) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        const std::size_t left = std::min(word.size(), text.size() - i);
        if (text.compare(i, left, word.substr(0, left)) == 0) found = word;
      }
    }
    if (found.size() > text.size() - i) break;
    if (!found.empty()) {
      result += "null";
      i += found.size() - 1;
      continue;
    }
    if (c == '"') in_string = !in_string;
    result += c;
    if (in_string && c == '\\' && i + 1 < text.size()) result += text[++i];
  }
  return result;
}

std::string place(const std::string& text, std::size_t position) {
  const std::size_t end = std::min(position, text.size());
  const auto begin = text.begin();
  const auto stop = begin + static_cast<std::ptrdiff_t>(end);
  const std::size_t line = 1 + static_cast<std::size_t>(std::count(begin, stop, '\n'));
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = newline == std::string::npos ? end : end - newline - 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

// nlohmann's SAX interface: builds one member (or element) at a time.
class Handler {
 public:
  using Deliver = std::function<void(const std::string&, Json&&)>;
  Handler(const std::string& streamed, const Deliver& member, const Deliver& element)
      : streamed_(streamed), member_(member), element_(element) {}

  bool null() { return value(Json(nullptr)); }
  bool boolean(bool x) { return value(Json(x)); }
  bool number_integer(Json::number_integer_t x) { return value(Json(x)); }
  bool number_unsigned(Json::number_unsigned_t x) { return value(Json(x)); }
  bool number_float(Json::number_float_t x, const std::string&) { return value(Json(x)); }
  bool string(std::string& x) { return value(Json(std::move(x))); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(std::size_t) { return start(Json::object()); }
  bool start_array(std::size_t) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(std::string& name) {
    (stack_.empty() ? outer_key_ : stack_.back().key) = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    position_ = position;
    message_ = error.what();
    return false;
  }

  std::size_t position() const { return position_; }
  const std::string& problem() const { return message_; }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member being read, if value is an object
  };

  // Levels outside of what is being built: the top-level object, and perhaps the streamed one.
  bool start(Json empty) {
    if (!in_top_) {
      in_top_ = empty.is_object();
      if (!in_top_) message_ = "the top level is not an object";
      return in_top_;
    }
    if (stack_.empty() && !in_streamed_ && outer_key_ == streamed_ && empty.is_object()) {
      in_streamed_ = true;
      return true;
    }
    if (stack_.size() >= kMaxDepth) {
      message_ = "nested deeper than 32 levels";
      return false;
    }
    stack_.push_back({std::move(empty), {}});
    return true;
  }
  bool end() {
    if (stack_.empty()) {
      if (in_streamed_) {
        in_streamed_ = false;
      } else {
        in_top_ = false;
      }
      return true;
    }
    Json finished = std::move(stack_.back().value);
    stack_.pop_back();
    return value(std::move(finished));
  }
  bool value(Json finished) {
    if (!in_top_) {
      message_ = "the top level is not an object";
      return false;
    }
    if (stack_.empty()) {
      (in_streamed_ ? element_ : member_)(outer_key_, std::move(finished));
    } else if (stack_.back().value.is_array()) {
      stack_.back().value.push_back(std::move(finished));
    } else {
      stack_.back().value[stack_.back().key] = std::move(finished);
    }
    return true;
  }

  const std::string& streamed_;
  const Deliver& member_;
  const Deliver& element_;
  std::vector<Open> stack_;
  std::string outer_key_;
  bool in_top_ = false;
  bool in_streamed_ = false;
  std::size_t position_ = 0;
  std::string message_;
};

}  // namespace

Result<JsonStreamResult> stream_json(const std::string& text, const std::string& path,
                                     const std::string& streamed,
                                     const std::function<void(const std::string&, Json&&)>& member,
                                     const std::function<void(const std::string&, Json&&)>& element) {
  const std::string clean = without_python_constants(text);
  Handler handler(streamed, member, element);
  JsonStreamResult result;
  result.position = text.size();
  if (Json::sax_parse(clean, &handler)) return result;
  result.position = handler.position();
  // An error at the very end is a torn file; any other is a broken one. What the parser calls the
  // position is the last character it read, one past the end for "unexpected end of input".
  const std::size_t last = clean.find_last_not_of(" \t\r\n");
  if (handler.position() > 0 && (last == std::string::npos || handler.position() > last + 1)) {
    result.torn = true;
    return result;
  }
  return Status(StatusCode::corrupt, path + ": " + place(text, handler.position()) + ": not the JSON expected: " +
                handler.problem());
}

}  // namespace idletune
