// Which memory was touched: blocks of 128 bytes and pages of 4 KB, first touches, and reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace idletune::offload {

// Exact. Of memory that the program has it takes a 127th, at most kMostChunks times 4 KB; addresses
// beyond are counted in overflow(). An access belongs to the block and page of its first byte.
class Footprint {
 public:
  static constexpr std::size_t kMostChunks = 1U << 18U;

  void read(std::uint64_t address) { touch(address, kRead); }
  // `gaps`: what lies between what such writes write is not written by them.
  void write(std::uint64_t address, bool gaps = false) {
    touch(address, gaps ? kWritten | kGaps : kWritten);
  }
  // What lies there is the region's own (its stack): it is touched, and never moved to a GPU.
  void set_own(std::uint64_t lowest, std::uint64_t highest) {
    own_lowest_ = lowest;
    own_highest_ = highest;
  }

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t pages() const { return pages_; }
  std::uint64_t blocks_in() const { return blocks_in_; }    // read before all of it was written
  std::uint64_t blocks_out() const { return blocks_out_; }  // written
  std::uint64_t overflow() const { return overflow_; }

 private:
  static constexpr std::uint8_t kRead = 1, kWritten = 2, kPage = 4, kGaps = 8;
  struct Chunk {
    std::uint8_t block[4096] = {};
  };
  void touch(std::uint64_t address, std::uint8_t how);
  Chunk* chunk_of(std::uint64_t address);

  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;  // by address / 512 KB
  // Those that were touched last: code goes to and fro between several arrays.
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Chunk* chunk = nullptr;
  };
  static constexpr std::size_t kRecent = 64;
  Recent recent_[kRecent];
  std::uint64_t own_lowest_ = 1, own_highest_ = 0;
  std::uint64_t blocks_ = 0, pages_ = 0, blocks_in_ = 0, blocks_out_ = 0, overflow_ = 0;
};

// Counts references whose block was among the two that were referenced last: between them and the
// reference before to the same block lies at most one other block. Behind a gap none counts until
// two blocks are known.
class ShortReuse {
 public:
  void reference(std::uint64_t address) {
    const std::uint64_t block = address >> 7U;
    if (second_ != kNone || !behind_gap_) {
      references_ += weight_;
      if (block == newest_ || block == second_) reused_ += weight_;
    }
    if (block == newest_) return;
    second_ = newest_;
    newest_ = block;
  }
  // A gap in the stream.
  void restart() {
    newest_ = second_ = kNone;
    behind_gap_ = references_ > 0;
  }
  // How many references each one from now on stands for.
  void set_weight(double weight) { weight_ = weight; }
  // Of the references so far; 0 without any.
  double share() const { return references_ > 0 ? reused_ / references_ : 0; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t newest_ = kNone, second_ = kNone;
  bool behind_gap_ = false;
  double weight_ = 1, references_ = 0, reused_ = 0;
};

}  // namespace idletune::offload
