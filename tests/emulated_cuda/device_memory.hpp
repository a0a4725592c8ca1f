// The memory of an emulated device: what is allocated, what was written, and who reads and writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace emulated_cuda {

// Who read and wrote a few bytes in one launch. Blocks are numbered from 1; 0: nobody.
struct GlobalMark {
  std::uint32_t launch = 0;
  std::uint32_t writer = 0;
  std::uint32_t reader = 0;  // kSeveralReaders: of several blocks
  bool by_atomics = false;   // it was written by atomic operations only
};
inline constexpr std::uint32_t kSeveralReaders = ~std::uint32_t{0};

struct Allocation {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  bool read_only = false;         // constant memory
  const void* context = nullptr;  // whose it is
  std::vector<unsigned char> data;
  std::vector<unsigned char> written;  // for each byte: not 0 if somebody has
  std::vector<GlobalMark> marks;       // for each `mark_bytes` bytes
  std::size_t mark_bytes = 0;
  std::uint64_t version = 0;                  // another one when the contents may be others
  std::uint32_t read_in = 0, written_in = 0;  // the last launches that did

  bool holds(std::uint64_t address, std::uint64_t count) const {
    return address >= start && count <= bytes && address - start <= bytes - count;
  }
  // Marks for accesses of no fewer than so many bytes; those of earlier launches are forgotten.
  void provide_marks(std::size_t least_access_bytes);
};

// Addresses are never given out again, so that what was freed is known. Any thread may call; an
// allocation may only be used while nobody frees it.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t total_bytes) : total_bytes_(total_bytes) {}

  // For one context, whoever that is. 0: no memory is left.
  std::uint64_t allocate(std::uint64_t bytes, bool read_only = false,
                         const void* context = nullptr);
  // False: nothing was allocated there.
  bool release(std::uint64_t address);
  // What holds the address; null: nothing.
  Allocation* find(std::uint64_t address);
  // "at 4 of 400 bytes", "4 behind 400 bytes", "at 0 of 400 bytes that were freed", "at 0 of 400
  // bytes of another context".
  std::string describe(std::uint64_t address, const void* context = nullptr) const;
  std::size_t allocations() const;
  std::vector<Allocation*> living();
  std::uint64_t new_version() { return ++versions_; }

 private:
  mutable std::mutex mutex_;
  std::uint64_t total_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t next_ = std::uint64_t{7} << 32;  // address
  std::map<std::uint64_t, std::unique_ptr<Allocation>> living_;
  std::map<std::uint64_t, std::uint64_t> freed_;  // start: bytes
  std::atomic<std::uint64_t> versions_{0};
};

}  // namespace emulated_cuda
