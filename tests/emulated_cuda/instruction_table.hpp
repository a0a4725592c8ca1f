// Which instructions the emulated device has.
#pragma once

#include <vector>

#include "tests/emulated_cuda/instruction.hpp"
#include "tests/emulated_cuda/operands.hpp"
#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {

using Decoder = void(const Statement& statement, Operands& operands, Instruction& instruction);

// A row allows the modifiers that it lists, and of types those that it lists. Of several rows with
// one name, that counts which has the type.
struct InstructionRow {
  const char* name;
  const char* types;      // between blanks; "": none
  const char* modifiers;  // between blanks, types not among them
  std::size_t least_operands, most_operands;
  Decoder* decode;
};

const std::vector<InstructionRow>& instruction_table();

// All of `instruction` but where it stands and what it jumps to. Problem: the table does not have
// it, or its operands are wrong.
void decode(const Statement& statement, Operands& operands, Instruction& instruction);

}  // namespace emulated_cuda
