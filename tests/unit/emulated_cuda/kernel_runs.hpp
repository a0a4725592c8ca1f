// Kernels in PTX on a device of their own.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_cuda/launch.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/emulated_cuda/ptx_parser.hpp"

namespace emulated_cuda {

// A kernel `test` of `parameters` pointers, %rd1 to %rd3 in this order; %r0 is the thread's number
// in the block, and registers %r1, %rd4, %f1, %fd1, %rs1 and %p1 up to 19 are to be had.
inline std::string kernel_ptx(int parameters, const std::string& body,
                              const std::string& before = "") {
  std::string ptx =
      ".version 9.0\n.target sm_87\n.address_size 64\n" + before + ".visible .entry test(";
  for (int i = 0; i < parameters; ++i) {
    ptx += (i > 0 ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
  }
  ptx +=
      ") .maxntid 1024, 1, 1\n{\n.reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<20>; .reg .f32 "
      "%f<20>; "
      ".reg .b64 %rd<20>; .reg .f64 %fd<20>;\n";
  for (int i = 0; i < parameters; ++i) {
    const std::string name = "%rd" + std::to_string(i + 1);
    ptx += "ld.param.u64 " + name + ", [p" + std::to_string(i) + "]; cvta.to.global.u64 " + name +
           ", " + name + ";\n";
  }
  return ptx + "mov.u32 %r0, %tid.x;\n.loc 1 100 1\n" + body +
         "\nret;\n}\n.file 1 \"folder/test.cl\"\n";
}

class TestDevice {
 public:
  // In bytes, unwritten.
  std::uint64_t allocate(std::size_t bytes) { return memory.allocate(bytes); }
  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    Allocation& allocation = *memory.find(address);
    std::memcpy(allocation.data.data(), values.data(), values.size() * sizeof(T));
    allocation.written.assign(allocation.written.size(), 1);
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address) {
    const Allocation& allocation = *memory.find(address);
    std::vector<T> values(allocation.data.size() / sizeof(T));
    std::memcpy(values.data(), allocation.data.data(), values.size() * sizeof(T));
    return values;
  }
  // Runs kernel `test`; the error that ended it, or 0.
  int run(const std::string& ptx, unsigned blocks, unsigned threads,
          const std::vector<std::uint64_t>& parameters) {
    module = parse_ptx(ptx);
    const LoadedModule loaded = load_module(*module, memory);
    Launch launch;
    launch.kernel = module->find("test");
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.parameters.resize(8 * parameters.size());
    if (!parameters.empty()) {
      std::memcpy(launch.parameters.data(), parameters.data(), launch.parameters.size());
    }
    int error = 0;
    turn.take();
    try {
      work = run_kernel(launch, loaded, memory, findings, turn);
    } catch (const Problem& problem) {
      error = problem.error;
    }
    turn.give_back();
    return error;
  }
  // The findings, one a line.
  std::string found() const {
    std::string text;
    for (const std::string& finding : findings.list()) text += finding + "\n";
    return text;
  }

  DeviceMemory memory{std::uint64_t{1} << 30};
  Findings findings{"/dev/null"};
  Turn turn;
  Work work;
  std::unique_ptr<Module> module;
};

}  // namespace emulated_cuda
