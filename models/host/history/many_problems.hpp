// Histories of several problems as the rows of one, which is how a file holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

// What a file of many problems says of each.
struct StoredProblems {
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> dimensions;
  std::vector<double> features;
  std::vector<std::uint64_t> valid_count;
  CellColumn notes, warnings;
};

// Texts as one, and back. A character that parts them is none that anybody reads; it becomes a
// blank.
std::string joined_parts(const std::vector<std::string>& parts);
std::vector<std::string> parts_of(const std::string& text);

// Appends the rows of a history that can share a file with `to`.
void append_rows(const History& from, History& to);

// The history of each problem. `all` is what they share, and their rows.
std::vector<History> taken_apart(const History& all, const StoredProblems& problems,
                                 std::size_t dimensions, std::size_t features);

}  // namespace idletune
