#include "agent/trial/quirks.hpp"

#include <idletune/text.hpp>

#include <utility>

#include "platform/os/storage.hpp"

namespace idletune {
namespace {

constexpr std::size_t kMaxWordBytes = 512;

// Patterns whose source is public; others belong into a file of the user's.
constexpr std::string_view kBuiltinText =
    // Apple's OpenCL on its CPUs dies of work-groups of more than one item in kernels with
    // barriers, which are the ones with local memory; see also Kernel Tuner's pull request 38.
    "platform=\"Apple\" name=\"CPU\": local_memory_bytes > 0, work_group_size > 1: "
    "kernels with barriers run with one work-item only (github.com/CNugteren/CLTune/issues/54)\n";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Reads one line of the text form. Errors are static texts: what was expected.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  const char* read(Quirk& quirk) {
    if (const char* expected = read_matches(quirk)) return expected;
    if (const char* expected = read_conditions(quirk)) return expected;
    const std::string_view reason = trimmed(rest_);
    if (reason.empty()) return "a reason after the second ':'";
    if (reason.size() > kMaxWordBytes) return "a reason of at most 512 bytes";
    quirk.reason = std::string(reason);
    return nullptr;
  }

 private:
  const char* read_matches(Quirk& quirk) {
    while (!skip(':')) {
      std::string* field = field_named(quirk, word());
      if (field == nullptr) return "backend, platform, name, vendor, driver or kernel, or ':'";
      if (!field->empty()) return "each key at most once";
      if (!skip('=') || !skip('"')) return "=\"text\" after the key";
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) return "a closing quote";
      if (end == 0 || end > kMaxWordBytes) return "a text of 1 to 512 bytes";
      *field = std::string(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
    }
    return nullptr;
  }

  const char* read_conditions(Quirk& quirk) {
    if (skip(':')) return nullptr;
    do {
      Quirk::Comparison comparison;
      comparison.name = std::string(word());
      if (comparison.name.empty()) return "a name to compare";
      if (!read_relation(comparison.relation)) return "one of < <= == != >= >";
      if (!read_integer(comparison.value)) return "an integer after the relation";
      quirk.conditions.push_back(std::move(comparison));
    } while (skip(','));
    return skip(':') ? nullptr : "',' or ':' after a comparison";
  }

  bool read_relation(Quirk::Relation& relation) {
    if (skip('<')) {
      relation = skip_now('=') ? Quirk::Relation::less_equal : Quirk::Relation::less;
    } else if (skip('>')) {
      relation = skip_now('=') ? Quirk::Relation::greater_equal : Quirk::Relation::greater;
    } else if (skip('=')) {
      relation = Quirk::Relation::equal;
      return skip_now('=');
    } else if (skip('!')) {
      relation = Quirk::Relation::not_equal;
      return skip_now('=');
    } else {
      return false;
    }
    return true;
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

  static std::string* field_named(Quirk& quirk, std::string_view key) {
    if (key == "backend") return &quirk.backend;
    if (key == "platform") return &quirk.platform;
    if (key == "name") return &quirk.name;
    if (key == "vendor") return &quirk.vendor;
    if (key == "driver") return &quirk.driver;
    if (key == "kernel") return &quirk.kernel;
    return nullptr;
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
};

// Cuts a comment off: the first '#' that is not inside quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool holds(std::int64_t left, Quirk::Relation relation, std::int64_t right) {
  switch (relation) {
    case Quirk::Relation::less: return left < right;
    case Quirk::Relation::less_equal: return left <= right;
    case Quirk::Relation::equal: return left == right;
    case Quirk::Relation::not_equal: return left != right;
    case Quirk::Relation::greater_equal: return left >= right;
    case Quirk::Relation::greater: return left > right;
  }
  return false;
}

bool matches_device(const Quirk& quirk, const DeviceInfo& device) {
  return contains(device.backend, quirk.backend) && contains(device.platform, quirk.platform) &&
         contains(device.name, quirk.name) && contains(device.vendor, quirk.vendor) &&
         contains(device.driver, quirk.driver);
}

bool holds(const Quirk::Comparison& comparison, const QuirkSubject& subject) {
  for (const QuirkSubject::Value& value : subject.values) {
    if (value.name != comparison.name) continue;
    return holds(value.value, comparison.relation, comparison.value);
  }
  return false;
}

const char* relation_text(Quirk::Relation relation) {
  switch (relation) {
    case Quirk::Relation::less: return "<";
    case Quirk::Relation::less_equal: return "<=";
    case Quirk::Relation::equal: return "==";
    case Quirk::Relation::not_equal: return "!=";
    case Quirk::Relation::greater_equal: return ">=";
    case Quirk::Relation::greater: return ">";
  }
  return "==";
}

void append_match(std::string& text, const char* key, const std::string& value) {
  if (value.empty()) return;
  if (!text.empty() && text.back() != '\n') text += ' ';
  text += key;
  text += "=\"";
  text += value;
  text += '"';
}

void append_line(std::string& text, const Quirk& quirk) {
  append_match(text, "backend", quirk.backend);
  append_match(text, "platform", quirk.platform);
  append_match(text, "name", quirk.name);
  append_match(text, "vendor", quirk.vendor);
  append_match(text, "driver", quirk.driver);
  append_match(text, "kernel", quirk.kernel);
  text += ':';
  const char* separator = " ";
  for (const Quirk::Comparison& comparison : quirk.conditions) {
    text += separator;
    text += comparison.name;
    text += ' ';
    text += relation_text(comparison.relation);
    text += ' ';
    append(text, {comparison.value});
    separator = ", ";
  }
  text += ": ";
  text += quirk.reason;
  text += '\n';
}

}  // namespace

QuirkTable QuirkTable::builtin() {
  QuirkTable table;
  (void)table.add_text(kBuiltinText, "built-in quirks");  // a constant, read by the tests
  return table;
}

Status QuirkTable::add_text(std::string_view text, std::string_view origin) {
  const auto failure = [&](StatusCode code, std::size_t line, const char* expected) {
    return Status(code, {origin, ", line ", line, ": expected ", expected});
  };
  if (text.size() > kMaxTextBytes) {
    return failure(StatusCode::invalid_argument, 1, "at most 64 KiB of text");
  }
  std::vector<Quirk> added;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    Quirk quirk;
    if (const char* expected = LineReader(line).read(quirk)) {
      return failure(StatusCode::invalid_argument, number, expected);
    }
    if (quirks_.size() + added.size() == kMaxQuirks) {
      return failure(StatusCode::no_space, number, "at most 1024 patterns");
    }
    added.push_back(std::move(quirk));
  }
  for (Quirk& quirk : added) quirks_.push_back(std::move(quirk));
  return {};
}

Status QuirkTable::add_file(const std::string& path) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, kMaxTextBytes);
  if (!bytes) return bytes.status();
  return add_text({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

const Quirk* QuirkTable::match(const DeviceInfo& device, const QuirkSubject& subject) const {
  for (const Quirk& quirk : quirks_) {
    if (!matches_device(quirk, device)) continue;
    if (!quirk.kernel.empty() && quirk.kernel != subject.kernel) continue;
    bool all = true;
    for (const Quirk::Comparison& comparison : quirk.conditions) {
      all = all && holds(comparison, subject);
    }
    if (all) return &quirk;
  }
  return nullptr;
}

std::string QuirkTable::text() const {
  std::string text;
  for (const Quirk& quirk : quirks_) append_line(text, quirk);
  return text;
}

}  // namespace idletune
