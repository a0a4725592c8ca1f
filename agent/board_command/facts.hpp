// What a verb answers: one JSON object, or the same in lines for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/object_writer.hpp"

namespace idletune::board {

// Nothing that moves a terminal's cursor or that no JSON may hold, whoever wrote the text.
std::string printable(std::string_view text);

class Facts {
 public:
  explicit Facts(bool json) : json_(json) {}
  bool json() const { return json_; }
  // `name` as a key of JSON; people see spaces in it. Texts may hold any bytes.
  void text(const char* name, std::string_view value);
  void count(const char* name, std::uint64_t value);
  void number(const char* name, double value);
  void flag(const char* name, bool value);
  // Null, or a dash for people.
  void nothing(const char* name);
  void number(const char* name, std::optional<double> value);
  void object(const char* name, Facts facts);
  void list(const char* name, std::vector<Facts> items);
  // All of it. Once.
  std::string finish();

 private:
  void line(const char* name, std::string_view value);

  bool json_;
  ObjectWriter object_;
  std::string lines_;
};

}  // namespace idletune::board
