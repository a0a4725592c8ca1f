// Which shapes behave alike.
#include <algorithm>

#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"

namespace idletune {
namespace {

using namespace space;

constexpr std::int64_t kUnknown = 0;  // a shape decides
constexpr std::int64_t kSaid = kClassSaid;

// None whole, one, or more, each with or without a rest.
std::uint64_t in_tiles(std::int64_t number, std::int64_t tile) {
  if (tile < 1 || number < 0) return static_cast<std::uint64_t>(number) + 100;
  const bool shifts = (tile & (tile - 1)) == 0;  // as most do, in less time
  const std::int64_t whole = shifts ? number >> __builtin_ctzll(tile) : number / tile;
  return static_cast<std::uint64_t>(2 * std::min<std::int64_t>(whole, 2) +
                                    (number != whole * tile ? 1 : 0));
}

std::uint64_t state_of(std::uint8_t kind, std::int64_t number) {
  if ((kind & kClassValue) != 0) return static_cast<std::uint64_t>(number);
  // Elements have up to 8 bytes: bytes and elements, signed and unsigned, of 32 bits.
  std::uint64_t state = 0;
  if ((kind & kClassSize) != 0 && number >> 28 != 0) {
    state = number < 0 ? 99 : 2 * static_cast<std::uint64_t>(36 - __builtin_clzll(number));
  }
  return state + ((kind & kClassFlag) != 0 && number != 0 ? 1 : 0);
}

}  // namespace

bool KernelPackage::has_classes() const { return !contents_->class_terms.empty(); }

std::vector<std::int64_t> KernelPackage::class_tiles(const Configuration& configuration) const {
  std::vector<std::int64_t> tiles(contents_->class_terms.size(), kUnknown);
  std::size_t first = 0;     // of those of the same number
  bool always_zero = false;  // that number, as one of a family's member that does not run
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Expression& term = contents_->class_terms[i];
    if (contents_->class_kinds[i] != kClassTile) {
      first = i + 1;
      const Evaluation number = term.evaluate({}, configuration.values());
      always_zero = number.ok() && number.value == 0;
    }
    if (always_zero) tiles[i] = kSaid;
    if (always_zero || contents_->class_kinds[i] != kClassTile) continue;
    const Evaluation tile = term.evaluate({}, configuration.values());
    if (!tile.ok() || tile.value < 1) continue;
    const bool said = std::find(&tiles[first], &tiles[i], tile.value) != &tiles[i];
    tiles[i] = said ? kSaid : tile.value;
  }
  return tiles;
}

std::uint64_t KernelPackage::class_key(const Shape& shape, const Configuration& configuration,
                                       Span<const std::int64_t> tiles) const {
  if (tiles.empty() || tiles.size() != contents_->class_terms.size()) return digest_of(shape);
  std::uint64_t key = 0x9e3779b97f4a7c15ull;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    std::int64_t known = tiles[i];
    if (known == kSaid) continue;
    const std::uint8_t kind = contents_->class_kinds[i];
    if (known == kUnknown) {
      const Evaluation value =
          contents_->class_terms[i].evaluate(shape.values(), configuration.values());
      known = value.ok() ? value.value : INT64_MIN + static_cast<std::int64_t>(value.error);
    }
    std::uint64_t state = 0;
    if (kind == kClassTile) {
      state = in_tiles(number, known);
    } else {
      number = known;
      state = state_of(kind, number);
    }
    key = (key ^ state) * 0xff51afd7ed558ccdull;
    key ^= key >> 32;
  }
  return key;
}

}  // namespace idletune
