// What the operands of a kernel's instructions stand for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_cuda/instruction.hpp"

namespace emulated_cuda {

// A variable of a kernel or of a module.
struct Variable {
  Space space = Space::shared;
  std::uint64_t offset = 0;  // of shared and local ones, in their memory
  int global = -1;           // of the others: which of Module::variables
};

// Problems name the line, which is that of the statement being read.
class Operands {
 public:
  explicit Operands(Kernel& kernel) : kernel_(kernel), scopes_(1) {}

  void set_line(int line) { line_ = line; }
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  void declare_registers(const std::string& declaration);  // ".reg .b32 %r<10>, %x"
  void declare_variable(const std::string& name, const Variable& variable);
  void declare_parameter(const std::string& name, std::size_t offset);

  // What an instruction reads as `type`: a register of that size, a special one, a number, the
  // address of a variable.
  Operand source(const std::string& text, Type type);
  // As source, of whatever size not below the type's; for memory and conversions.
  Operand loose_source(const std::string& text, Type type);
  // A predicate, perhaps with '!' before it.
  Operand predicate(const std::string& text);
  // A register of that size that is written; or "_".
  Operand result(const std::string& text, Type type);
  Operand loose_result(const std::string& text, Type type);
  // "%p1|%p2" and "%r1|%p1": both results.
  void results(const std::string& text, Type type, Instruction& instruction);
  // "[%rd1+8]", "[name]": sets `a` and `immediate`.
  void address(const std::string& text, Instruction& instruction);
  // "{%f1, %f2}", or one: sets `vector` and `elements`.
  void vector(const std::string& text, Type type, bool is_result, Instruction& instruction);
  // A number that stands in the instruction.
  std::uint64_t number(const std::string& text) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  Operand new_register(Type type);
  Operand constant(std::uint64_t value, Type type, int variable = -1);
  const Operand* register_named(const std::string& name) const;
  bool special_register(const std::string& name, Operand& found);
  bool variable_address(const std::string& text, Type type, Operand& found);
  void check_size(const std::string& text, const Operand& operand, Type type) const;

  Kernel& kernel_;
  std::vector<std::map<std::string, Operand>> scopes_;
  std::map<std::string, Variable> variables_;
  std::map<std::string, std::size_t> parameters_;
  std::map<std::pair<std::uint64_t, std::pair<int, int>>, Operand> constants_;
  int line_ = 0;
};

}  // namespace emulated_cuda
