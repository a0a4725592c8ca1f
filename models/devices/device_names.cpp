#include "models/devices/device_names.hpp"

#include <string>
#include <utility>

#include <idletune/text.hpp>

#include "models/devices/device_family.hpp"

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

// Whether a text of words, each with a space before it and one behind the last, has that word.
bool has_word(std::string_view words, std::string_view word) {
  return words.find(joined(" % ", word)) != std::string_view::npos;
}

// Vendors, marketing and packaging: the same chip is sold with and without them. With digits as #:
// "40gb"; how many cores of which revision a Mali has: "mc6", "mp4", "r0p0".
bool is_noise(const std::string& word) {
  static constexpr char kNoise[] =
      " nvidia amd intel arm qualcomm tm r c geforce tesla radeon gpu pcie sxm sxm2 sxm4 "
      "sxm5 graphics corporation inc #gb mc# mp# r#p# ";
  return has_word(kNoise, word) || has_word(kNoise, pattern_of(word));
}

// Brands, which some drivers put before a model's number and others leave out.
bool is_brand(std::string_view word) {
  return has_word(" rtx gtx quadro rx pro instinct mali adreno ", word);
}

// Of two vendors. Intel's devices have no family.
bool strangers(std::string_view a, std::string_view b) {
  const Vendor of_a = device_family(a).vendor;
  const Vendor of_b = device_family(b).vendor;
  if (of_a != Vendor::unknown && of_b != Vendor::unknown) return of_a != of_b;
  const auto is_intel = [](std::string_view name) {
    return name.find("Intel") != std::string_view::npos;
  };
  return of_a == of_b ? false : is_intel(of_a == Vendor::unknown ? a : b);
}

// The words that are not noise, in lower case, each with a space before it.
std::string words_of(std::string_view name) {
  std::string words;
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const char c = i < name.size() ? lower(name[i]) : ' ';
    if (is_alphanumeric(c)) {
      word += c;
    } else if (!word.empty()) {
      if (!is_noise(word)) append(words, " %", word);
      word.clear();
    }
  }
  return words;
}

}  // namespace

bool device_name_contains(std::string_view name, std::string_view word) {
  const std::string wanted = words_of(word);
  return wanted.rfind(' ') == 0 &&
         has_word(joined("% ", words_of(name)), std::string_view(wanted).substr(1));
}

bool same_device_model(std::string_view a, std::string_view b) {
  if (a == b) return !a.empty();
  const std::string words_of_a = words_of(a);
  const std::string words_of_b = words_of(b);
  std::string_view longer = words_of_a;
  std::string_view shorter = words_of_b;
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  if (shorter.empty()) return false;
  // "2080 Ti" and "GeForce RTX 2080 Ti": a shared tail, if it holds a model number and only brands
  // stand before it.
  std::size_t before = longer.size() - shorter.size();
  if (longer.substr(before) != shorter) return false;
  if (before > 0 && shorter.find_first_of("0123456789") == std::string_view::npos) return false;
  while (before > 0) {
    const std::size_t space = longer.rfind(' ', before - 1);
    if (!is_brand(longer.substr(space + 1, before - space - 1))) return false;
    before = space;
  }
  return !strangers(a, b);
}

}  // namespace idletune
