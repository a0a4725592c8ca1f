#include "tests/bench/processor_cost.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <new>

namespace idletune::bench {

Heap heap;

double thread_time_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace idletune::bench

namespace {

using idletune::bench::heap;

void* counted(std::size_t size) {
  void* block = std::malloc(size != 0 ? size : 1);
  if (block == nullptr) std::abort();
  heap.bytes += malloc_usable_size(block);
  heap.peak = std::max(heap.peak, heap.bytes);
  return block;
}

void uncounted(void* block) {
  if (block != nullptr) heap.bytes -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* block) noexcept { uncounted(block); }
void operator delete[](void* block) noexcept { uncounted(block); }
void operator delete(void* block, std::size_t) noexcept { uncounted(block); }
void operator delete[](void* block, std::size_t) noexcept { uncounted(block); }
