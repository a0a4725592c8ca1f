// Which shapes behave alike.
#include <algorithm>

#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"

namespace idletune {
namespace {

using namespace space;

// Of class_tiles(), beside tiles and numbers that are known.
constexpr std::int64_t kUnknown = 0;  // a shape decides
// The term says nothing that an earlier one does not say; less: so many in a row.
constexpr std::int64_t kSaid = -1;

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

// Whether its value never falls where a dimension grows.
bool grows(const Expression& term) {
  bool by_constant = false;
  for (const std::uint32_t word : term.code()) {
    const auto op = static_cast<ExpressionOp>(word & 0xffu);
    const bool falls_with_second = op == ExpressionOp::divide || op == ExpressionOp::ceil_div ||
                                   op == ExpressionOp::greater || op == ExpressionOp::greater_equal;
    const bool is_small = op == ExpressionOp::small;
    const bool grows = is_small || op == ExpressionOp::dimension || op == ExpressionOp::add ||
                       op == ExpressionOp::multiply || op == ExpressionOp::maximum;
    if (!grows && !(falls_with_second && by_constant)) return false;
    by_constant = is_small;
  }
  return true;
}

bool is_usual(const Shape& shape) {
  for (const std::int64_t dimension : shape.values()) {
    if (dimension < 0 || dimension > space::kUsualDimension) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> space::usual_numbers(const PackageContents& package) {
  const std::size_t terms = package.class_terms.size();
  std::vector<std::int64_t> numbers(terms, kNoUsualNumber);
  Shape smallest, largest;
  while (smallest.size() < package.dimensions.size()) {
    smallest.push_back(0);
    largest.push_back(kUsualDimension);
  }
  for (std::size_t i = 0; i < terms; ++i) {
    const std::uint8_t kind = package.class_kinds[i];
    const bool counts_tiles = i + 1 < terms && package.class_kinds[i + 1] == kClassTile;
    if (kind == kClassTile || counts_tiles || !grows(package.class_terms[i])) continue;
    const Evaluation low = package.class_terms[i].evaluate(smallest.values(), {});
    const Evaluation high = package.class_terms[i].evaluate(largest.values(), {});
    if (!low.ok() || !high.ok() || state_of(kind, low.value) != state_of(kind, high.value))
      continue;
    numbers[i] = high.value;
  }
  return numbers;
}

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
      if (number.ok() && number.value > 0) tiles[i] = number.value;
    }
    if (always_zero) tiles[i] = kSaid;
    if (always_zero || contents_->class_kinds[i] != kClassTile) continue;
    const Evaluation tile = term.evaluate({}, configuration.values());
    if (!tile.ok() || tile.value < 1) continue;
    const bool said = std::find(&tiles[first], &tiles[i], tile.value) != &tiles[i];
    tiles[i] = said ? kSaid : tile.value;
  }
  for (std::size_t i = tiles.size(); i-- > 1;) {
    if (tiles[i] < 0 && tiles[i - 1] < 0) tiles[i - 1] += tiles[i];
  }
  return tiles;
}

std::uint64_t KernelPackage::class_key(const Shape& shape, const Configuration& configuration,
                                       Span<const std::int64_t> tiles) const {
  if (tiles.empty() || tiles.size() != contents_->class_terms.size()) return digest_of(shape);
  std::uint64_t key = 0x9e3779b97f4a7c15ull;
  std::int64_t number = 0;
  const std::vector<std::int64_t>& usual = contents_->usual_numbers;
  const bool is_in_them = !usual.empty() && is_usual(shape);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    std::int64_t known = tiles[i];
    if (known < 0) {
      i += static_cast<std::size_t>(-known) - 1;
      continue;
    }
    const std::uint8_t kind = contents_->class_kinds[i];
    if (is_in_them && usual[i] != kNoUsualNumber) {
      known = usual[i];
    } else if (known == kUnknown) {
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
