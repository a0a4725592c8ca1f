#include "models/host/history/time_unit.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace idletune {

namespace {

struct Name {
  const char* word;
  double nanoseconds;
};
constexpr Name kFull[] = {
    {"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
constexpr Name kShort[] = {
    {"ns", 1},       {"us", 1e3},          {"\xc2\xb5s", 1e3},  {"\xce\xbcs", 1e3},
    {"ms", 1e6},     {"s", 1e9},           {"sec", 1e9},        {"nanosecond", 1},
    {"second", 1e9}, {"microsecond", 1e3}, {"millisecond", 1e6}};

// Letters to replace, insert or remove to make one word of the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<TimeUnit> time_unit_from(const std::string& word) {
  std::string lower;
  for (const char c : word) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Name& name : kFull) {
    if (lower == name.word) return TimeUnit{name.nanoseconds, false};
  }
  for (const Name& name : kShort) {
    if (lower == name.word) return TimeUnit{name.nanoseconds, false};
  }
  if (lower.size() > 20) return {};
  const Name* close = nullptr;
  for (const Name& name : kFull) {
    // The first letter must fit: "mseconds" are no mistyped seconds.
    if (lower.empty() || lower[0] != name.word[0] || distance(lower, name.word) > 2) continue;
    if (close != nullptr) return {};
    close = &name;
  }
  if (close == nullptr) return {};
  return TimeUnit{close->nanoseconds, true};
}

const char* time_unit_word(double nanoseconds_per_unit) {
  for (const Name& name : kFull) {
    if (name.nanoseconds == nanoseconds_per_unit) return name.word;
  }
  return nullptr;
}

}  // namespace idletune
