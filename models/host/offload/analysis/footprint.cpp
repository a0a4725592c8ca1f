#include "models/host/offload/analysis/footprint.hpp"

namespace idletune::offload {

Footprint::Chunk* Footprint::chunk_of(std::uint64_t address) {
  const std::uint64_t number = address >> 19U;
  Recent& recent = recent_[(number ^ number >> 6U) % kRecent];
  if (number == recent.number) return recent.chunk;
  auto found = chunks_.find(number);
  if (found == chunks_.end()) {
    if (chunks_.size() >= kMostChunks) return nullptr;
    found = chunks_.emplace(number, std::make_unique<Chunk>()).first;
  }
  recent = {number, found->second.get()};
  return recent.chunk;
}

void Footprint::touch(std::uint64_t address, std::uint8_t how) {
  Chunk* chunk = chunk_of(address);
  if (chunk == nullptr) {
    ++overflow_;
    return;
  }
  const auto block = static_cast<std::size_t>((address >> 7U) & 4095U);
  std::uint8_t& state = chunk->block[block];
  const bool reads = how == kRead;
  if (how == kWritten) state = static_cast<std::uint8_t>(state & ~kGaps);
  if ((state & (reads ? kRead : kWritten)) != 0) return;
  const bool own = address >= own_lowest_ && address <= own_highest_;
  if ((state & (kRead | kWritten)) == 0) {
    ++blocks_;
    std::uint8_t& page = chunk->block[block & ~std::size_t{31}];
    if ((page & kPage) == 0) {
      page = static_cast<std::uint8_t>(page | kPage);
      ++pages_;
    }
  }
  if (reads && (state & (kWritten | kGaps)) != kWritten && !own) ++blocks_in_;
  if (!reads && !own) ++blocks_out_;
  state = static_cast<std::uint8_t>(state | how);
}

}  // namespace idletune::offload
