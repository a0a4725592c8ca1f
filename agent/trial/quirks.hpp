// Known-bad patterns per driver: configurations that are refused before they reach it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <idletune/device.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// What a condition may speak of: the launch as planned, and parameters by name.
struct QuirkSubject {
  struct Value {
    std::string_view name;
    std::int64_t value = 0;
  };
  std::string_view kernel;
  // "local_memory_bytes", "work_group_size", "local_0" to "local_2", and the parameters.
  Span<const Value> values;
  bool unknown_holds = false;  // comparisons with a name that is not among the values
};

// A list of patterns. A plain value.
//
// Text form, one pattern a line, '#' starts a comment (not inside quotes):
//   platform="ARM" name="Mali-T6": local_memory_bytes > 0, work_group_size > 128: crashes, see ...
// Keys backend, platform, name, vendor, driver (parts of what DeviceInfo says, case-sensitive) and
// kernel (its whole name), each at most once; comparisons are NAME < <= == != >= > INTEGER,
// separated by commas, and must all hold; the third part is the reason (where it is documented and
// what happens) and must not be empty.
class QuirkTable {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kMaxQuirks = 1024;

  // Adds the patterns of `text`; all or none. Error: invalid_argument naming `origin`, the line and
  // what was expected there; no_space past kMaxQuirks.
  Status add_text(std::string_view text, std::string_view origin);
  // Adds the patterns of a file. Errors: those of reading it, and of add_text.
  Status add_file(const std::string& path);
  // The reason of the first pattern that matches; empty if none. A comparison with a name that the
  // subject does not have does not hold. Valid until the table changes.
  std::string_view match(const DeviceInfo& device, const QuirkSubject& subject) const;
  std::size_t size() const { return count_; }
  // In the text form, without comments; add_text() of it gives the same table.
  const std::string& text() const { return text_; }

 private:
  std::string text_;  // one pattern a line, each of which can be read
  std::size_t count_ = 0;
};

}  // namespace idletune
