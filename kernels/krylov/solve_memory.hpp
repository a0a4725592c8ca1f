// What solves with one structure have found out on one device, noted for later processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/krylov.hpp>
#include <idletune/notes.hpp>
#include <idletune/span.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/kernel_marks.hpp"

namespace idletune::krylov {

struct SolveMemory {
  std::uint32_t iterations = 0;  // of the last solve
  SparseFormat format = SparseFormat::csr;
  KernelVariant variant;
  bool reverted = false;  // another format was tried, and CSR was faster
  double product_us = 0;  // in that format and kernel; 0: not measured
  double csr_us = 0;
};

// "solve iterations=120 format=ELL kind=0 group=256 reverted=0 product_ns=12500 csr_ns=20000". Nothing: it
// is none.
std::string text_of(const SolveMemory& memory);
std::optional<SolveMemory> memory_in(const std::string& text);
// "products CSR/4/64/0=wrong ELL/0/256/0=died DIA/0/16/1=running": format, kind, work group, and
// whether fused with CG's sums. What is none of that has no marks.
std::string name_of(const ProductKernel& kernel);
std::string text_of(const KernelMarks& marks);
KernelMarks marks_in(const std::string& text);
// Of a device, its driver and a precision: what marks are noted under, and where the digests of
// structures begin.
std::uint64_t device_digest(const DeviceInfo& device, std::size_t number_bytes);
// What a file of an earlier version holds (README.md has its bytes). `key` says of which device,
// precision and structure it is. Errors: corrupt (says why).
Result<SolveMemory> memory_in_file(Bytes bytes, std::uint64_t key);

// Of one structure on one device.
class StructureMemory {
 public:
  // Reads what is there; what is damaged counts as not there. The notes must outlive it.
  void open(const SolverOptions& options, const DeviceInfo& device, std::size_t number_bytes,
            const SparsityPattern& pattern);
  bool known() const { return known_; }
  const SolveMemory& memory() const { return memory_; }
  std::uint64_t key() const { return key_; }
  // Notes only what differs: times and iterations by more than a quarter. Whether it did.
  bool keep(const SolveMemory& memory);
  const std::string& note() const { return note_; }  // one sentence; empty where nothing is kept

 private:
  void take(const SolveMemory& memory);
  void read_file(const std::string& folder);

  Notes* notes_ = nullptr;
  std::uint64_t key_ = 0;
  bool known_ = false;
  bool kept_ = false;  // it is noted; a file's is not yet
  SolveMemory memory_;
  std::string note_;
};

}  // namespace idletune::krylov
