#include "models/host/history/json_stream.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace idletune {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxValues = std::size_t{1} << 20;  // of one piece
constexpr std::size_t kMaxMembers = 1000;                 // of the top level

// The text as the parser shall see it. Python writes NaN, Infinity and -Infinity, which JSON does
// not have: null instead, except in strings. The beginning of such a word at the very end, where a
// torn file may stop, is dropped.
class CleanText {
 public:
  explicit CleanText(std::string_view text) : text_(text) { look(); }
  bool at_end() const { return position_ >= text_.size(); }
  // Whether the parser wanted to read on from the end.
  bool read_past_end() const { return read_past_end_; }
  void read_past_end(bool yes) { read_past_end_ = yes; }
  char current() const { return replaced_ < 4 ? "null"[replaced_] : text_[position_]; }
  void advance() {
    if (replaced_ < 3) {
      ++replaced_;
      return;
    }
    if (replaced_ == 3) {
      replaced_ = kNothing;
      position_ += word_bytes_;
    } else {
      step_over_character();
    }
    look();
  }
  // Of the character that is current, in the text as it is.
  std::size_t position() const { return position_; }

 private:
  static constexpr unsigned kNothing = 4;

  void step_over_character() {
    const char c = text_[position_++];
    if (escaped_) {
      escaped_ = false;
    } else if (c == '"') {
      in_string_ = !in_string_;
    } else if (c == '\\') {
      escaped_ = in_string_;
    }
  }
  // Whether a word of Python's begins here.
  void look() {
    if (in_string_ || at_end()) return;
    const char c = text_[position_];
    if (c != 'N' && c != 'I' && c != '-') return;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      const std::size_t left = std::min(word.size(), text_.size() - position_);
      if (text_.compare(position_, left, word.substr(0, left)) != 0) continue;
      if (left < word.size()) {
        text_ = text_.substr(0, position_);
      } else {
        replaced_ = 0;
        word_bytes_ = word.size();
      }
      return;
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t word_bytes_ = 0;
  unsigned replaced_ = kNothing;  // position in "null" while it replaces a word
  bool in_string_ = false;
  bool escaped_ = false;
  bool read_past_end_ = false;
};

// An input iterator over it; all share the one CleanText. The parser compares it with the end
// exactly when it wants a character.
class CleanIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;
  CleanIterator() = default;
  explicit CleanIterator(CleanText& text) : text_(&text) {}
  char operator*() const { return text_->current(); }
  CleanIterator& operator++() {
    text_->advance();
    return *this;
  }
  friend bool operator==(const CleanIterator& a, const CleanIterator& b) {
    return a.done() == b.done();
  }
  friend bool operator!=(const CleanIterator& a, const CleanIterator& b) { return !(a == b); }

 private:
  bool done() const {
    if (text_ == nullptr) return true;
    if (text_->at_end()) text_->read_past_end(true);
    return text_->at_end();
  }
  CleanText* text_ = nullptr;
};

// What the parser complains of, without its own idea of the place.
std::string reason_in(const std::string& message) {
  const std::size_t place = message.find("parse error at ");
  const std::size_t reason = place == std::string::npos ? place : message.find(": ", place);
  return reason == std::string::npos ? message : message.substr(reason + 2);
}

// nlohmann's SAX interface: builds one piece at a time.
class Handler {
 public:
  Handler(const std::string& streamed, const JsonStreamCalls& calls)
      : streamed_(streamed), calls_(calls) {}

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
    if (!stack_.empty()) {
      stack_.back().key = std::move(name);
    } else if (in_streamed_) {
      inner_key_ = std::move(name);
    } else {
      outer_key_ = std::move(name);
      if (++members_ > kMaxMembers) {
        return fail(Status(StatusCode::corrupt, "more than 1,000 members at the top level"));
      }
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    fail(Status(StatusCode::corrupt, "not the JSON expected: " + reason_in(error.what())));
    syntax_error_ = true;
    return false;
  }

  const Status& status() const { return status_; }
  // Whether it was the parser that did not understand, not one of us that refused.
  bool syntax_error() const { return syntax_error_; }

 private:
  struct Open {
    Json value;
    std::string key;  // of the member being read, if value is an object
  };

  bool fail(Status status) {
    status_ = std::move(status);
    return false;
  }
  bool not_an_object() {
    return fail(
        Status(StatusCode::corrupt, "not the JSON expected: the top level is not an object"));
  }
  bool count_value() {
    if (++values_ <= kMaxValues) return true;
    return fail(Status(StatusCode::out_of_memory, "more than a million values in one piece"));
  }

  // Levels outside of what is being built: the top-level object, and perhaps the streamed one.
  bool start(Json empty) {
    if (!in_top_) {
      in_top_ = empty.is_object();
      return in_top_ || not_an_object();
    }
    if (stack_.empty() && !in_streamed_ && outer_key_ == streamed_) {
      in_streamed_ = true;
      inner_key_.clear();
      return true;
    }
    if (stack_.size() >= kMaxDepth) {
      return fail(Status(StatusCode::corrupt, "nested deeper than 32 levels"));
    }
    stack_.push_back({std::move(empty), {}});
    return count_value();
  }
  bool end() {
    if (stack_.empty()) {
      (in_streamed_ ? in_streamed_ : in_top_) = false;
      return true;
    }
    Json finished = std::move(stack_.back().value);
    stack_.pop_back();
    return place(std::move(finished));
  }
  bool value(Json finished) {
    if (!in_top_) return not_an_object();
    return count_value() && place(std::move(finished));
  }
  bool place(Json finished) {
    if (stack_.empty()) {
      values_ = 0;
      Status status = in_streamed_ ? calls_.element(inner_key_, std::move(finished))
                                   : calls_.member(outer_key_, std::move(finished));
      return status.ok() || fail(std::move(status));
    }
    Json& outer = stack_.back().value;
    if (outer.is_array()) {
      outer.push_back(std::move(finished));
    } else {
      // Not operator[]: that looks for the key among all there are.
      outer.get_ref<Json::object_t&>().emplace_back(std::move(stack_.back().key),
                                                    std::move(finished));
    }
    return true;
  }

  const std::string& streamed_;
  const JsonStreamCalls& calls_;
  std::vector<Open> stack_;
  std::string outer_key_;
  std::string inner_key_;
  std::size_t values_ = 0;
  std::size_t members_ = 0;
  bool in_top_ = false;
  bool in_streamed_ = false;
  bool syntax_error_ = false;
  Status status_;
};

}  // namespace

std::string place_in(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const std::size_t line =
      1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(std::max<std::size_t>(column, 1));
}

namespace {

Result<JsonStreamResult> read_once(std::string_view text, const std::string& path,
                                   const std::string& streamed, const JsonStreamCalls& calls) {
  CleanText clean(text);
  Handler handler(streamed, calls);
  JsonStreamResult result;
  if (Json::sax_parse(CleanIterator(clean), CleanIterator(), &handler)) return result;
  // An error at the very end is a torn file; any other is a broken one.
  if (handler.syntax_error() && clean.read_past_end()) {
    result.torn = true;
    return result;
  }
  return Status(handler.status().code(),
                path + ": " + place_in(text, clean.position()) + ": " + handler.status().message());
}

}  // namespace

Result<JsonStreamResult> stream_json(std::string_view text, const std::string& path,
                                     const std::string& streamed, const JsonStreamCalls& calls) {
  bool late = false;
  JsonStreamCalls first = calls;
  first.element = [&](const std::string& key, Json&& value) {
    late = late || !calls.ready();
    return late ? Status() : calls.element(key, std::move(value));
  };
  Result<JsonStreamResult> result = read_once(text, path, streamed, first);
  if (result.ok() && late) return read_once(text, path, streamed, calls);
  return result;
}

}  // namespace idletune
