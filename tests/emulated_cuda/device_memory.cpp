#include "tests/emulated_cuda/device_memory.hpp"

namespace emulated_cuda {
namespace {

constexpr std::uint64_t kAlignment = 512;
constexpr std::uint64_t kGap = 4096;  // between allocations, in which nothing is
// What a program sees that reads before anybody wrote: neither zeros nor plausible numbers.
constexpr unsigned char kUnwritten = 0xff;

}  // namespace

void Allocation::provide_marks(std::size_t least_access_bytes) {
  if (mark_bytes != 0 && mark_bytes <= least_access_bytes) return;
  mark_bytes = least_access_bytes;
  marks.assign(static_cast<std::size_t>(bytes) / mark_bytes + 1, GlobalMark{});
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, bool read_only, const void* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0 || bytes > total_bytes_ - used_bytes_) return 0;
  auto made = std::make_unique<Allocation>();
  made->start = next_;
  made->bytes = bytes;
  made->read_only = read_only;
  made->context = context;
  made->data.assign(static_cast<std::size_t>(bytes), kUnwritten);
  made->written.assign(static_cast<std::size_t>(bytes), 0);
  next_ += (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  used_bytes_ += bytes;
  const std::uint64_t start = made->start;
  living_[start] = std::move(made);
  return start;
}

bool DeviceMemory::release(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = living_.find(address);
  if (found == living_.end()) return false;
  freed_[address] = found->second->bytes;
  used_bytes_ -= found->second->bytes;
  living_.erase(found);
  return true;
}

Allocation* DeviceMemory::find(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto behind = living_.upper_bound(address);
  if (behind == living_.begin()) return nullptr;
  Allocation* before = std::prev(behind)->second.get();
  return before->holds(address, 1) ? before : nullptr;
}

std::string DeviceMemory::describe(std::uint64_t address, const void* context) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::uint64_t nearest = ~std::uint64_t{0};
  std::string text = "where nothing is allocated";
  const auto consider = [&](std::uint64_t start, std::uint64_t bytes, const char* suffix) {
    const std::string size = std::to_string(bytes) + " bytes" + suffix;
    const bool before = address < start;
    if (!before && address - start < bytes) {
      nearest = 0;
      text = "at " + std::to_string(address - start) + " of " + size;
      return;
    }
    const std::uint64_t distance = before ? start - address : address - start - bytes;
    if (distance >= nearest || distance > kGap) return;
    nearest = distance;
    text = std::to_string(distance) + (before ? " before " : " behind ") + size;
  };
  for (const auto& entry : freed_) consider(entry.first, entry.second, " that were freed");
  for (const auto& entry : living_) {
    const bool own = entry.second->context == context;
    consider(entry.first, entry.second->bytes, own ? "" : " of another context");
  }
  return text;
}

std::size_t DeviceMemory::allocations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return living_.size();
}

std::vector<Allocation*> DeviceMemory::living() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Allocation*> all;
  for (const auto& entry : living_) all.push_back(entry.second.get());
  return all;
}

}  // namespace emulated_cuda
