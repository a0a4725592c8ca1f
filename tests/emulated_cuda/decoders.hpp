// How instructions are read: one function for a few that are alike. Each sets the handler.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "tests/emulated_cuda/instruction_table.hpp"

namespace emulated_cuda {

Decoder decode_integer_arithmetic, decode_wide_product, decode_one_integer, decode_float_arithmetic,
    decode_float_function, decode_bitwise, decode_shift, decode_funnel_shift, decode_three_bit_sets,
    decode_permuted_bytes, decode_bit_field, decode_counted_bits, decode_moved, decode_selected,
    decode_compared, decode_converted, decode_converted_address, decode_loaded, decode_stored,
    decode_atomic, decode_branch, decode_branch_by_index, decode_left, decode_trapped,
    decode_barrier, decode_nothing_to_do, decode_warp_barrier, decode_shuffled, decode_voted,
    decode_active_threads;

// The result, and of a, b, c and members as many as there are `sources` and the statement has.
inline void take_operands(const Statement& statement, Operands& operands, Instruction& instruction,
                          Type result, std::initializer_list<Type> sources) {
  Operand* const places[] = {&instruction.a, &instruction.b, &instruction.c, &instruction.members};
  instruction.result = operands.result(statement.operands[0], result);
  const std::size_t count = std::min(sources.size(), statement.operands.size() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    *places[i] = operands.source(statement.operands[i + 1], sources.begin()[i]);
  }
}

}  // namespace emulated_cuda
