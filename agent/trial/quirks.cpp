#include "agent/trial/quirks.hpp"

#include <idletune/text.hpp>

#include <iterator>

#include "platform/os/storage.hpp"

namespace idletune {
namespace {

constexpr std::size_t kMaxWordBytes = 512;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Reads one line of the text form and finds on the way whether it applies. Errors are static texts:
// what was expected.
class LineReader {
 public:
  // Without a device and a subject, the form alone is looked at.
  LineReader(std::string_view line, const DeviceInfo* device, const QuirkSubject* subject)
      : rest_(line), device_(device), subject_(subject), applies_(device != nullptr) {}

  const char* read() {
    if (const char* expected = read_matches()) return expected;
    if (const char* expected = read_conditions()) return expected;
    rest_ = trimmed(rest_);
    if (rest_.empty()) return "a reason after the second ':'";
    if (rest_.size() > kMaxWordBytes) return "a reason of at most 512 bytes";
    return nullptr;
  }

  // After read().
  bool applies() const { return applies_; }
  std::string_view reason() const { return rest_; }

 private:
  struct Key {
    char name[9];
    std::string DeviceInfo::*text;  // null: the kernel
  };
  static constexpr Key kKeys[] = {
      {"backend", &DeviceInfo::backend}, {"platform", &DeviceInfo::platform},
      {"name", &DeviceInfo::name},       {"vendor", &DeviceInfo::vendor},
      {"driver", &DeviceInfo::driver},   {"kernel", nullptr}};
  // Bits of a relation: which order of the two sides it admits.
  static constexpr unsigned kLess = 1;
  static constexpr unsigned kEqual = 2;
  static constexpr unsigned kGreater = 4;

  const char* read_matches() {
    unsigned seen = 0;
    while (!skip(':')) {
      const std::string_view key = word();
      unsigned which = 0;
      while (which < std::size(kKeys) && key != kKeys[which].name) ++which;
      if (which == std::size(kKeys))
        return "backend, platform, name, vendor, driver or kernel, or ':'";
      if ((seen & (1U << which)) != 0) return "each key at most once";
      seen |= 1U << which;
      if (!skip('=') || !skip('"')) return "=\"text\" after the key";
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) return "a closing quote";
      if (end == 0 || end > kMaxWordBytes) return "a text of 1 to 512 bytes";
      match(kKeys[which], rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
    }
    return nullptr;
  }

  void match(const Key& key, std::string_view text) {
    if (!applies_) return;
    applies_ = key.text == nullptr ? subject_->kernel == text
                                   : (device_->*key.text).find(text) != std::string::npos;
  }

  const char* read_conditions() {
    if (skip(':')) return nullptr;
    do {
      const std::string_view name = word();
      if (name.empty()) return "a name to compare";
      const unsigned relation = read_relation();
      if (relation == 0) return "one of < <= == != >= >";
      std::int64_t limit = 0;
      if (!read_integer(limit)) return "an integer after the relation";
      applies_ = applies_ && holds(name, relation, limit);
    } while (skip(','));
    return skip(':') ? nullptr : "',' or ':' after a comparison";
  }

  unsigned read_relation() {
    if (skip('<')) return skip_now('=') ? kLess | kEqual : kLess;
    if (skip('>')) return skip_now('=') ? kGreater | kEqual : kGreater;
    if (skip('=')) return skip_now('=') ? kEqual : 0;
    return skip('!') && skip_now('=') ? kLess | kGreater : 0;
  }

  bool holds(std::string_view name, unsigned relation, std::int64_t limit) const {
    for (const QuirkSubject::Value& value : subject_->values) {
      if (value.name != name) continue;
      const unsigned order = value.value < limit ? kLess : value.value > limit ? kGreater : kEqual;
      return (relation & order) != 0;
    }
    return subject_->unknown_holds;
  }

  bool read_integer(std::int64_t& value) {
    const bool negative = skip('-');
    std::uint64_t magnitude = 0;
    std::size_t digits = 0;
    if (!negative) skip_blanks();
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      if (++digits > 18) return false;
      magnitude = magnitude * 10 + static_cast<std::uint64_t>(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    value = static_cast<std::int64_t>(magnitude);
    if (negative) value = -value;
    return digits > 0;
  }

  std::string_view word() {
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() && is_name_character(rest_[length])) ++length;
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return result;
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool skip_now(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool skip(char c) {
    skip_blanks();
    return skip_now(c);
  }

  std::string_view rest_;
  const DeviceInfo* device_;
  const QuirkSubject* subject_;
  bool applies_;
};

// Takes the first line off a text that is not empty.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Cuts a comment off: the first '#' that is not inside quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

}  // namespace

Status QuirkTable::add_text(std::string_view text, std::string_view origin) {
  std::string added;
  std::size_t count = count_;
  StatusCode code = StatusCode::invalid_argument;
  const char* expected = text.size() > kMaxTextBytes ? "at most 64 KiB of text" : nullptr;
  std::size_t number = 1;
  for (; expected == nullptr && !text.empty(); ++number) {
    const std::string_view line = trimmed(without_comment(next_line(text)));
    if (line.empty()) continue;
    expected = LineReader(line, nullptr, nullptr).read();
    if (expected == nullptr && ++count > kMaxQuirks) {
      code = StatusCode::no_space;
      expected = "at most 1024 patterns";
    }
    if (expected != nullptr) break;
    append(added, "%\n", line);
  }
  if (expected != nullptr) return Status(code, "%, line %: expected %", origin, number, expected);
  text_ += added;
  count_ = count;
  return {};
}

Status QuirkTable::add_file(const std::string& path) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, kMaxTextBytes);
  if (!bytes) return bytes.status();
  return add_text({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

std::string_view QuirkTable::match(const DeviceInfo& device, const QuirkSubject& subject) const {
  for (std::string_view text = text_; !text.empty();) {
    LineReader line(next_line(text), &device, &subject);
    if (line.read() == nullptr && line.applies()) return line.reason();
  }
  return {};
}

}  // namespace idletune
