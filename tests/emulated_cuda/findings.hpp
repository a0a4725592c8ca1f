// What is wrong with kernels and with how they are launched.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_cuda/instruction.hpp"

namespace emulated_cuda {

// Where a kernel is when something is found.
struct Place {
  const Kernel* kernel;
  const Instruction* instruction;
  unsigned block[3];
  unsigned thread[3];
};
// "dot_parts, PTX line 12 (dot.cl:8), block 0,0,0, thread 3,0,0"
std::string text_of(const Place& place);

// Any thread may call. What is found again at the same instruction is only counted.
class Findings {
 public:
  // Findings are also appended to this file; empty: they are written to stderr.
  explicit Findings(std::string file = {}) : file_(std::move(file)) {}

  // "race: ...", at an instruction.
  void add(const Place& place, const std::string& what);
  // Of a launch, a module or a call.
  void add(const std::string& what);
  // Remarks that are no findings: why a module was refused, where a kernel ended.
  void remark(const std::string& what);

  std::vector<std::string> list() const;  // in the order in which they were found first
  std::uint64_t times(const std::string& finding) const;
  void clear();

 private:
  void add_new(std::string key, std::string text);
  void write(const char* kind, const std::string& text) const;

  std::string file_;
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
  std::map<std::string, std::pair<std::string, std::uint64_t>> counted_;  // key: text, times
};

}  // namespace emulated_cuda
