// Reading a large JSON object piece by piece, keeping what is complete of a torn one. Host side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

namespace idletune {

struct JsonStreamResult {
  bool torn = false;  // the text ended early; everything complete was delivered
};

// What is called with each piece; an error of theirs ends the reading. An object that has a key
// twice is delivered with both members.
struct JsonStreamCalls {
  // A member of the top-level object.
  std::function<Status(const std::string& key, nlohmann::ordered_json&& value)> member;
  // A member or element of the top-level member called `streamed`; the key is empty for elements.
  std::function<Status(const std::string& key, nlohmann::ordered_json&& value)> element;
  // Whether the members that elements need have been delivered. If one comes before that, elements
  // are delivered in a second reading, and members twice.
  std::function<bool()> ready = [] { return true; };
};

// Delivers the members of the top-level object, in order; those of the top-level member (object or
// array) named `streamed` one by one. Accepts Python's NaN and Infinity (as null). Errors, with
// `path`, line and column: `corrupt` for text that is no JSON in the middle, for nesting deeper
// than 32, or if the top level is not an object or has more than 1,000 members; `out_of_memory` for
// a piece of more than a million values; those of the calls.
Result<JsonStreamResult> stream_json(std::string_view text, const std::string& path,
                                     const std::string& streamed, const JsonStreamCalls& calls);

// "line 3, column 14" of a byte in a text.
std::string place_in(std::string_view text, std::size_t position);

}  // namespace idletune
