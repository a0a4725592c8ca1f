#include "tests/campaigns/host_sizes/long_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace idletune::test {
namespace {

struct Array {
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  bool used = false;
};
Array arrays[256];  // those that were given back are kept: pages take long to map
std::mutex arrays_mutex;

unsigned char* mapped(std::size_t bytes) {
  void* const all = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const int file = ::memfd_create("middle", 0);
  bool fine = file >= 0 && ::ftruncate(file, kPart) == 0;
  auto* const begin = static_cast<unsigned char*>(all);
  for (std::size_t at = kPart; fine && at + 2 * kPart < bytes; at += kPart) {
    fine = ::mmap(begin + at, kPart, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                  file, 0) != MAP_FAILED;
  }
  if (file >= 0) ::close(file);
  return fine ? begin : nullptr;
}

void* take(std::size_t bytes) {
  bytes = (bytes + kPart - 1) / kPart * kPart;
  const std::lock_guard<std::mutex> lock(arrays_mutex);
  Array* fresh = nullptr;
  for (Array& array : arrays) {
    if (array.begin == nullptr) fresh = &array;
    if (array.used || array.bytes != bytes) continue;
    array.used = true;
    return array.begin;
  }
  if (fresh == nullptr || (fresh->begin = mapped(bytes)) == nullptr) return nullptr;
  fresh->bytes = bytes;
  fresh->used = true;
  return fresh->begin;
}

bool give_back(void* memory) {
  if (reinterpret_cast<std::uintptr_t>(memory) % 4096 != 0) return false;
  const std::lock_guard<std::mutex> lock(arrays_mutex);
  for (Array& array : arrays) {
    if (array.begin != memory) continue;
    array.used = false;
    return true;
  }
  return false;
}

}  // namespace

}  // namespace idletune::test

void* operator new(std::size_t bytes) {
  void* const memory = bytes < idletune::test::kLong ? std::malloc(bytes > 0 ? bytes : 1)
                                                     : idletune::test::take(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr && !idletune::test::give_back(memory)) std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
