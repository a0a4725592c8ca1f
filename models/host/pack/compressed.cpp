#include "models/host/pack/compressed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace idletune {
namespace {

constexpr std::size_t kShortest = 4;  // of a match
constexpr std::size_t kFarthest = 65535;
constexpr std::size_t kFarthestKnown = (1 << 24) - 1;
constexpr std::size_t kTries = 4096;  // matches compared
constexpr std::size_t kHeads = 1 << 14;
constexpr std::size_t kNone = ~std::size_t{0};

std::size_t hash_at(const std::uint8_t* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word * 2654435761u >> 18;
}

class Compressor {
 public:
  Compressor(Bytes bytes, Bytes known)
      : in_(known.begin(), known.end()),
        known_(known.size()),
        farthest_(known.empty() ? kFarthest : kFarthestKnown),
        heads_(kHeads, kNone),
        before_(known.size() + bytes.size(), kNone) {
    in_.insert(in_.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::uint8_t> run() {
    for (std::size_t i = 0; i < 4; ++i) {
      out_.push_back(static_cast<std::uint8_t>((in_.size() - known_) >> (8 * i)));
    }
    for (std::size_t i = 0; i < known_; ++i) remember(i);
    std::size_t at = known_, literals = known_;
    while (at + kShortest <= in_.size()) {
      std::size_t from = 0;
      const std::size_t length = longest(at, from);
      if (length < kShortest) {
        remember(at++);
        continue;
      }
      sequence(literals, at, length);
      const std::size_t offset = at - from;
      out_.insert(out_.end(),
                  {static_cast<std::uint8_t>(offset), static_cast<std::uint8_t>(offset >> 8)});
      if (known_ > 0) out_.push_back(static_cast<std::uint8_t>(offset >> 16));
      further(length - kShortest);
      for (const std::size_t end = at + length; at < end; ++at) remember(at);
      literals = at;
    }
    sequence(literals, in_.size(), kShortest);
    return std::move(out_);
  }

 private:
  void remember(std::size_t at) {
    if (at + kShortest > in_.size()) return;
    std::size_t& head = heads_[hash_at(&in_[at])];
    before_[at] = head;
    head = at;
  }
  std::size_t longest(std::size_t at, std::size_t& from) const {
    std::size_t best = 0, tries = 0;
    for (std::size_t i = heads_[hash_at(&in_[at])]; i != kNone && at - i <= farthest_;
         i = before_[i]) {
      std::size_t length = 0;
      while (at + length < in_.size() && in_[i + length] == in_[at + length]) ++length;
      if (length > best) best = length, from = i;
      if (++tries == kTries) break;
    }
    return best;
  }
  // The token and the literals; the match's length is in it as far as it fits.
  void sequence(std::size_t from, std::size_t to, std::size_t length) {
    const std::size_t count = to - from, match = length - kShortest;
    out_.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(count, 15) << 4 |
                                             std::min<std::size_t>(match, 15)));
    further(count);
    out_.insert(out_.end(), in_.data() + from, in_.data() + to);
  }
  void further(std::size_t number) {
    if (number < 15) return;
    for (number -= 15; number >= 255; number -= 255) out_.push_back(255);
    out_.push_back(static_cast<std::uint8_t>(number));
  }

  std::vector<std::uint8_t> in_;  // what is known, then the bytes
  std::size_t known_;
  std::size_t farthest_;
  std::vector<std::size_t> heads_, before_;
  std::vector<std::uint8_t> out_;
};

}  // namespace

std::vector<std::uint8_t> compressed(Bytes bytes, Bytes known) {
  return Compressor(bytes, known).run();
}

}  // namespace idletune
