#include "tests/bench/launch_cost/allocation_counter.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0;
std::atomic<const void*> excluded_base{nullptr};  // of a driver; null: none

const void* library_base(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

void count(const void* caller) {
  const void* excluded = excluded_base.load(std::memory_order_relaxed);
  if (excluded != nullptr && library_base(caller) == excluded) return;
  ++allocations;
}

}  // namespace

namespace idletune::bench {

std::uint64_t allocations_of_this_thread() { return allocations; }

void exclude_library_of(const void* symbol) {
  excluded_base = symbol != nullptr ? library_base(symbol) : nullptr;
}

}  // namespace idletune::bench

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* block, std::size_t size);

void* __wrap_malloc(std::size_t size) {
  count(__builtin_return_address(0));
  return __real_malloc(size);
}
void* __wrap_calloc(std::size_t items, std::size_t size) {
  count(__builtin_return_address(0));
  return __real_calloc(items, size);
}
void* __wrap_realloc(void* block, std::size_t size) {
  count(__builtin_return_address(0));
  return __real_realloc(block, size);
}
}

namespace {

// Null where there is no memory.
void* counted_block(std::size_t size, const void* caller) {
  count(caller);
  return __real_malloc(size != 0 ? size : 1);
}
void* counted_block(std::size_t size, std::align_val_t alignment, const void* caller) {
  count(caller);
  void* block = nullptr;
  return posix_memalign(&block, static_cast<std::size_t>(alignment), size) == 0 ? block : nullptr;
}
void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  return or_throw(counted_block(size, __builtin_return_address(0)));
}
void* operator new[](std::size_t size) {
  return or_throw(counted_block(size, __builtin_return_address(0)));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(counted_block(size, alignment, __builtin_return_address(0)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(counted_block(size, alignment, __builtin_return_address(0)));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_block(size, __builtin_return_address(0));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_block(size, __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_block(size, alignment, __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_block(size, alignment, __builtin_return_address(0));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(block);
}
