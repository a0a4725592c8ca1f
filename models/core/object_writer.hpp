// JSON where no library may be.
#pragma once

#include <idletune/text.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/number_text.hpp"

namespace idletune {

// Builds one JSON object, member by member.
class ObjectWriter {
 public:
  void text(const char* name, std::string_view value) {
    key(name);
    quote(value);
  }
  void text(const char* name, const char* value) { text(name, std::string_view(value)); }
  // Members in a row, `names` with a space between two.
  void numbers(const char* names, std::initializer_list<double> values) {
    for (const double value : values) {
      names = keys(names);
      number(value);
    }
  }
  void counts(const char* names, std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) {
      names = keys(names);
      append(out_, "%", value);
    }
  }
  void flag(const char* name, bool value) { raw(name, value ? "true" : "false"); }
  void raw(const char* name, std::string_view json) {
    key(name);
    out_ += json;
  }
  std::string finish() {
    out_ += '}';
    return std::move(out_);
  }

 private:
  // The key that is the first of the names; where the others begin.
  const char* keys(const char* names) {
    const std::string_view name =
        std::string_view(names).substr(0, std::string_view(names).find(' '));
    key(name);
    return names + name.size() + 1;
  }
  void number(double value) {
    if (!std::isfinite(value)) return void(out_ += "null");  // JSON has no infinity
    out_ += number_text(value, 9);
  }
  void key(std::string_view name) {
    out_ += first_ ? "{" : ", ";
    first_ = false;
    quote(name);
    out_ += ": ";
  }
  void quote(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
        out_ += buffer;
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  std::string out_;
  bool first_ = true;
};

}  // namespace idletune
