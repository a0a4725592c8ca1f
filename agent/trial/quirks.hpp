// Known-bad patterns per driver: configurations that are refused before they reach it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune {

// What a condition may speak of: the launch as planned, and parameters by name.
struct QuirkSubject {
  struct Value {
    std::string_view name;
    std::int64_t value = 0;
  };
  std::string_view kernel;
  // "local_memory_bytes", "work_group_size", "local_0" to "local_2", and the parameters.
  std::vector<Value> values;
};

// One pattern: applies to drivers whose DeviceInfo contains every given text, to the kernel (empty:
// any), when every comparison holds.
struct Quirk {
  enum class Relation : std::uint8_t { less, less_equal, equal, not_equal, greater_equal, greater };
  struct Comparison {
    std::string name;
    Relation relation = Relation::equal;
    std::int64_t value = 0;
  };
  std::string backend, platform, name, vendor, driver;  // substrings, case-sensitive; empty: any
  std::string kernel;                                   // exact; empty: any
  std::vector<Comparison> conditions;                   // all must hold; none: always
  std::string reason;                                   // where it is documented, and what happens
};

// A list of patterns. A plain value.
//
// Text form, one pattern a line, '#' starts a comment (not inside quotes):
//   platform="Apple" name="CPU": local_memory_bytes > 0, work_group_size > 1: crashes, see ...
// Keys backend, platform, name, vendor, driver, kernel, each at most once; comparisons are NAME
// < <= == != >= > INTEGER, separated by commas; the third part is the reason and must not be empty.
class QuirkTable {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kMaxQuirks = 1024;

  // The patterns that ship with the library.
  static QuirkTable builtin();
  // Adds the patterns of `text`; all or none. Error: invalid_argument naming `origin`, the line and
  // what was expected there; no_space past kMaxQuirks.
  Status add_text(std::string_view text, std::string_view origin);
  // Adds the patterns of a file. Errors: those of reading it, and of add_text.
  Status add_file(const std::string& path);
  // The first pattern that matches; null if none. A comparison with a name that the subject does
  // not have does not hold. Valid until the table changes.
  const Quirk* match(const DeviceInfo& device, const QuirkSubject& subject) const;
  std::size_t size() const { return quirks_.size(); }
  // In the text form; add_text() of it gives the same table.
  std::string text() const;

 private:
  std::vector<Quirk> quirks_;
};

}  // namespace idletune
