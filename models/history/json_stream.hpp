// Reading a large JSON object piece by piece, keeping what is complete of a torn one. Host side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

namespace idletune {

struct JsonStreamResult {
  bool torn = false;         // the text ended early; everything complete was delivered
  std::size_t position = 0;  // in bytes: of the end, or of the error
};

// Delivers the members of the top-level object, in order: `member(key, value)`; those of the
// top-level member named `streamed` one by one instead, as `element(key, value)`. Accepts Python's NaN
// and Infinity (as null). Error `corrupt`, with `path`, line and column, for text that is no JSON in
// the middle, for nesting deeper than 32, or if the top level is not an object.
Result<JsonStreamResult> stream_json(
    const std::string& text, const std::string& path, const std::string& streamed,
    const std::function<void(const std::string&, nlohmann::ordered_json&&)>& member,
    const std::function<void(const std::string&, nlohmann::ordered_json&&)>& element);

}  // namespace idletune
