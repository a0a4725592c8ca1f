// What a kernel's launches did, so that equal ones need not be interpreted again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/emulated_cuda/block.hpp"

namespace emulated_cuda {

// Those of one program, the latest few. Only launches that read nothing of what they write are
// remembered. For who has the device's turn.
class RememberedLaunches {
 public:
  // Does again what an equal launch did that read the same contents; its work. Null: there is none.
  const Work* repeat(const Launch& launch, DeviceMemory& memory);
  // Of a launch that was just interpreted.
  void keep(const Launch& launch, const Work& work, DeviceMemory& memory);

 private:
  struct Input {
    std::uint64_t start;  // of the allocation
    std::uint64_t version;
  };
  struct Written {
    std::size_t offset;
    std::vector<unsigned char> bytes;
  };
  struct Output {
    std::uint64_t start;
    std::uint64_t version;  // with all of this written
    std::vector<Written> written;
  };
  struct Remembered {
    Launch launch;
    Work work;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
  };
  static Output output_of(Allocation& allocation, std::uint32_t launch);
  static bool still_holds(const Remembered& known, DeviceMemory& memory);
  static void write(Output& output, Allocation& to, DeviceMemory& memory);

  std::deque<Remembered> known_;
};

}  // namespace emulated_cuda
