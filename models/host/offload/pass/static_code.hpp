// The code of a function as one walks through it without running it: its values are places in a
// table, and each is a number or unknown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>

#include "models/host/offload/pass/region_code.hpp"

namespace idletune::offload {

// A whole number or an address, of at most 64 bits.
struct Number {
  std::uint64_t bits = 0;
  bool known = false;
};
Number known_number(std::uint64_t bits);

// What is said of the run: values by the name of a parameter or of a global variable.
using GivenValues = std::map<std::string, std::int64_t>;

// Gives each array a place of its own that begins on a page, as the pages of memory would.
class Addresses {
 public:
  explicit Addresses(const GivenValues& given);

  std::uint64_t of(const llvm::GlobalVariable& variable, const llvm::DataLayout& layout);
  // Of an array that nothing is known of.
  std::uint64_t of_unknown(std::uint64_t bytes = 0);
  // How many bytes from an address on are thought to be there.
  std::uint64_t extent(std::uint64_t base) const;

 private:
  std::uint64_t next_ = std::uint64_t{1} << 40U;
  std::uint64_t assumed_ = 0;  // bytes of arrays that nothing is known of
  std::map<const llvm::GlobalVariable*, std::uint64_t> variables_;
  std::map<std::uint64_t, std::uint64_t> extents_;
};

// One instruction. Operands and result are places in the table; 0 is a value that nobody knows.
struct Step {
  llvm::Instruction* instruction = nullptr;
  std::uint32_t result = 0;
  std::vector<std::uint32_t> operands;
  std::uint32_t base = 0;             // of an access: the array that it lies in
  std::uint64_t offset = 0;           // of an address: what is added to its first operand,
  std::vector<std::uint64_t> scales;  // and by what the others are multiplied,
  std::vector<unsigned> widths;       // which have so many bits
};

struct StaticBlock {
  std::uint32_t number = 0;  // in Program::blocks
  std::uint64_t operations = 0;
  std::vector<Step> phis;  // operands in the order of the incoming blocks
  std::vector<Step> steps;
};

class StaticFunction {
 public:
  StaticFunction(const FunctionCode& code, const Program& program, Addresses& addresses);

  llvm::Function& function() const { return *function_; }
  const StaticBlock& block(const llvm::BasicBlock* block) const { return blocks_.at(block); }
  std::uint32_t place_of(const llvm::Value* value) const;
  // Constants and addresses of variables are known, the rest is not.
  const std::vector<Number>& first_values() const { return values_; }

 private:
  std::uint32_t add(const llvm::Value* value, Addresses& addresses);
  Number constant(const llvm::Constant& constant, Addresses& addresses) const;
  Step step_of(llvm::Instruction& instruction, Addresses& addresses);

  llvm::Function* function_;
  const llvm::DataLayout& layout_;
  std::map<const llvm::Value*, std::uint32_t> places_;
  std::vector<Number> values_;
  std::map<const llvm::BasicBlock*, StaticBlock> blocks_;
};

// What an instruction without an effect gives: sums, comparisons, conversions, choices, addresses.
// Unknown is what follows from unknown numbers, and all that is not whole.
Number compute(const Step& step, const std::vector<Number>& values);

}  // namespace idletune::offload
