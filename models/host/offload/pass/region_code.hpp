// What a region's code is to the analysis: its instructions, blocks and values get numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "models/host/offload/analysis/program.hpp"

namespace idletune::offload {

// A copy of one function of the region, of the region's own.
struct FunctionCode {
  llvm::Function* function = nullptr;
  ValueNumber returned = 0;
  std::vector<llvm::BasicBlock*> blocks;
  std::map<llvm::BasicBlock*, std::uint32_t> number;  // in Program::blocks
  std::vector<llvm::Instruction*> accesses;           // loads and stores, in order
  std::vector<llvm::BasicBlock*> continuations;  // where calls of the region's functions return
};

class RegionCode {
 public:
  explicit RegionCode(const std::string& name) { program_.region = name; }

  // First all functions, then their instructions.
  FunctionCode& add(llvm::Function& function);
  void describe();

  Program& program() { return program_; }
  std::vector<FunctionCode*> functions();
  // For copies and fills: operations that belong to no block.
  std::uint32_t bulk_operation(OperationKind kind);

 private:
  ValueNumber number_of(const llvm::Value* value) const;
  void number_values(FunctionCode& code);
  void describe_block(FunctionCode& code, llvm::BasicBlock& block);
  void describe_entries(FunctionCode& code, llvm::BasicBlock& block, Block& described);
  void describe_leaving(FunctionCode& code, llvm::BasicBlock& block, Block& described);
  void add_operations(FunctionCode& code, llvm::Instruction& instruction);
  void remark_call(const llvm::CallBase& call);

  Program program_;
  std::map<llvm::Function*, FunctionCode> codes_;
  std::vector<llvm::Function*> order_;
  std::map<const llvm::Value*, ValueNumber> values_;
};

}  // namespace idletune::offload
