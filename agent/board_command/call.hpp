// What was asked for on the command line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/board_command/facts.hpp"

namespace idletune::board {

struct Call {
  std::vector<std::string> words;                // behind the verb, in order
  std::map<std::string, std::string> options;    // "shape" of --shape
  std::map<std::string, std::uint64_t> numbers;  // of those that are whole numbers
  Problem shape;                                 // of --shape
  bool json = false;
  bool help = false;
  // The word at `place`, or an empty one.
  std::string word(std::size_t place) const { return place < words.size() ? words[place] : ""; }
  std::string option(const char* name, const char* otherwise = "") const;
  std::uint64_t number(const char* name, std::uint64_t otherwise) const;
};

struct Verb {
  const char* name;
  const char* words;    // for people: "STATE [WHY]"
  const char* options;  // with a value each: "shape seconds"
  const char* does;
  // Fills in the answer; or null and it writes itself.
  Status (*run)(const Call& call, Facts& answer);
  const char* help;  // more of it
};

// `words` are those behind the verb. Errors: invalid_argument.
Result<Call> call_of(const Verb& verb, const std::vector<std::string>& words);
// All of it, or an error: io_error, no_space.
Status write_to_standard_output(Bytes bytes);

}  // namespace idletune::board
