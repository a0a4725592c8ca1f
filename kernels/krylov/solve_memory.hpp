// What solves with one structure have found out on one device, in a file that later processes begin
// with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/krylov.hpp>
#include <idletune/span.hpp>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::krylov {

struct SolveMemory {
  std::uint32_t iterations = 0;  // of the last solve
  SparseFormat format = SparseFormat::csr;
  KernelVariant variant;
  bool reverted = false;  // another format was tried, and CSR was faster
  double product_us = 0;  // in that format and kernel; 0: not measured
  double csr_us = 0;
};

// README.md has the bytes. `key` says of which device, precision and structure it is. Errors:
// corrupt (says why).
std::vector<std::uint8_t> bytes_of(const SolveMemory& memory, std::uint64_t key);
Result<SolveMemory> memory_in(Bytes bytes, std::uint64_t key);

class MemoryFile {
 public:
  // Reads what is there; what is damaged counts as not there.
  void open(const std::string& folder, const DeviceInfo& device, std::size_t number_bytes,
            const SparsityPattern& pattern);
  bool known() const { return known_; }
  const SolveMemory& memory() const { return memory_; }
  // Writes only what differs: times and iterations by more than a quarter.
  void keep(const SolveMemory& memory);
  const std::string& note() const { return note_; }  // one sentence; empty without a folder

 private:
  std::string path_;
  std::uint64_t key_ = 0;
  bool known_ = false;
  SolveMemory memory_;
  std::string note_;
};

}  // namespace idletune::krylov
