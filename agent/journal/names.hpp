// What the journal's digests stand for, as people read it. Not in an agent that does not ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <idletune/span.hpp>

#include "agent/journal/state.hpp"

namespace idletune::journal {

// That line of the name (entries.hpp, Name::text), counted from 0; empty: there is none.
std::string name_line(const State& state, NameKind kind, std::uint64_t digest, std::size_t line);
// The line that says what it is called, or the digest.
std::string called(const State& state, NameKind kind, std::uint64_t digest);

// "M=64 N=32"; where `names`, one space between two, are not as many as the values: "64,32".
std::string named_values(std::string_view names, Span<const std::int64_t> values);
// By the names in that line of the kernel's.
enum class KernelLine : std::uint8_t { dimensions = 2, parameters = 3 };
std::string named_values(const State& state, std::uint64_t kernel, KernelLine line,
                         Span<const std::int64_t> values);

}  // namespace idletune::journal
