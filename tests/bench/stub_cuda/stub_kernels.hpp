// The kernels that the stub driver finds in an image, and what running them does.
#pragma once

#include <cstddef>
#include <string>

#include "tests/bench/stub_cuda/stub_state.hpp"

namespace stub_cuda {

// The number behind "-DNAME=" in the image; `otherwise` where there is none.
long definition(const std::string& image, const char* name, long otherwise);

// Reads the parameters of `name` from the source in the image; null where it has no such function.
Kernel* find_kernel(Module* module, const std::string& name);

// Whether [address, address + bytes) lies inside one allocation.
bool is_allocated(DeviceAddress address, std::size_t bytes);

// What `scale` and gemm compute, and how the kernel was told to behave.
void behave(const Kernel& kernel, Stream& stream, void** parameters);

// Keeps a launch for cuda_stub_last_launch. `sizes`: grid, block, shared bytes.
void record(const Kernel& kernel, const Stream& stream, StreamHandle handle,
            const unsigned (&sizes)[7], void** parameters);

// A launch into a graph, which runs this module on this memory whenever it likes.
void capture(const Kernel& kernel, void** parameters);

}  // namespace stub_cuda
