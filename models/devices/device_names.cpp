#include "models/devices/device_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace idletune {

namespace {

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The word with each run of digits replaced by #.
std::string pattern_of(std::string_view word) {
  std::string pattern;
  for (const char c : word) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || pattern.empty() || pattern.back() != '#') pattern += digit ? '#' : c;
  }
  return pattern;
}

// Vendors, marketing and packaging: the same chip is sold with and without them.
bool is_noise(std::string_view word) {
  static constexpr std::array<std::string_view, 21> kNoise = {
      "nvidia", "amd",     "intel", "arm",    "qualcomm", "tm",          "r",
      "c",      "geforce", "tesla", "quadro", "radeon",   "gpu",         "pcie",
      "sxm",    "sxm2",    "sxm4",  "sxm5",   "graphics", "corporation", "inc"};
  if (std::find(kNoise.begin(), kNoise.end(), word) != kNoise.end()) return true;
  // "40gb"; how many cores of which revision a Mali has: "mc6", "mp4", "r0p0".
  const std::string pattern = pattern_of(word);
  return pattern == "#gb" || pattern == "mc#" || pattern == "mp#" || pattern == "r#p#";
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const char c = i < name.size() ? lower(name[i]) : ' ';
    if (is_alphanumeric(c)) {
      word += c;
    } else if (!word.empty()) {
      if (!is_noise(word)) words.push_back(word);
      word.clear();
    }
  }
  return words;
}

bool has_digit(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return true;
  }
  return false;
}

}  // namespace

bool device_name_contains(std::string_view name, std::string_view word) {
  const std::vector<std::string> wanted = words_of(word);
  const std::vector<std::string> words = words_of(name);
  return wanted.size() == 1 && std::find(words.begin(), words.end(), wanted[0]) != words.end();
}

bool same_device_model(std::string_view a, std::string_view b) {
  if (a == b) return !a.empty();
  std::vector<std::string> longer = words_of(a);
  std::vector<std::string> shorter = words_of(b);
  if (longer.size() < shorter.size()) longer.swap(shorter);
  if (shorter.empty()) return false;
  if (longer == shorter) return true;
  // "2080 Ti" and "GeForce RTX 2080 Ti": a shared tail, if it holds a model number.
  return has_digit(shorter) && std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin());
}

}  // namespace idletune
