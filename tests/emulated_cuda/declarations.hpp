// Declarations of variables and parameters in PTX.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/emulated_cuda/operands.hpp"

namespace emulated_cuda {

struct Declaration {
  std::string name;
  Space space = Space::generic;
  Type type = Type::none;
  std::size_t align = 1;
  std::size_t bytes = 0;
};

// ".shared .align 4 .b8 name[512]", ".param .u64 .ptr .align 1 name". Problem: it is none.
Declaration parse_declaration(const std::string& text, int line);

// Puts it behind the `used` bytes of its memory.
Variable place_in(std::size_t& used, const Declaration& declared, int line);

// What stands behind the '=': "{1, 2}", "5"; the rest is zero.
std::vector<unsigned char> initial_bytes(const Declaration& declared, const std::string& text,
                                         int line);

}  // namespace emulated_cuda
