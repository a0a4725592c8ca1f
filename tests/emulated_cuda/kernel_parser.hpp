// Reads one kernel of a PTX text.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_cuda/operands.hpp"
#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {

class KernelParser {
 public:
  // `kernel` begins with the shared memory that the module's variables take.
  KernelParser(PtxText& text, Kernel& kernel, Module& module)
      : text_(text), kernel_(kernel), module_(module), operands_(kernel) {}

  // ".visible .entry name(.param .u64 a) .maxntid 128, 1, 1"
  void parse_head(const std::string& head, int line);
  // Up to the brace that closes the kernel.
  void parse_body();
  Operands& operands() { return operands_; }

 private:
  void parameters(const std::string& list, int line);
  void thread_limits(const std::string& text, int line);
  void statement(const std::string& text, int line);
  void directive(const std::string& text, int line);
  void label(const std::string& name, int line);
  void location(const std::string& line);
  void instruction(const std::string& text, int line);
  void resolve_labels();
  int label_at(const std::string& name, int line) const;

  PtxText& text_;
  Kernel& kernel_;
  Module& module_;
  Operands operands_;
  std::uint32_t source_ = 0;
  std::map<std::string, std::uint32_t> known_sources_;
  std::map<std::string, int> labels_;
  std::map<std::string, std::vector<std::string>> target_lists_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;  // instruction, label or list of them
};

}  // namespace emulated_cuda
