// What a piece of code costs: processor time and heap. A program that links processor_cost.cpp has
// its heap counted by operator new and delete.
#pragma once

#include <cstddef>

namespace idletune::bench {

// In use and at its peak, as malloc rounds it. The peak may be set back. Of one thread.
struct Heap {
  std::size_t bytes = 0;
  std::size_t peak = 0;
};
extern Heap heap;

// Processor time of this thread: what other programs on the machine do counts little.
double thread_time_us();

}  // namespace idletune::bench
