// Which shapes behave alike.
#include <algorithm>

#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"

namespace idletune {
namespace {

using namespace package;
using namespace space;

// None whole, one, or more, each with or without a rest; what makes no tiles as it is, and no
// number of these.
std::uint64_t in_tiles(std::int64_t number, std::int64_t tile) {
  constexpr std::uint64_t kNoTiles = std::uint64_t{1} << 63;
  if (tile < 1 || number < 0) return static_cast<std::uint64_t>(number) ^ kNoTiles;
  const std::int64_t whole = quotient(number, tile);
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
  bool usual = true;
  for (const std::int64_t dimension : shape.values()) {
    usual = usual && static_cast<std::uint64_t>(dimension) <= kUsualDimension;
  }
  return usual;
}

bool same(const Expression& a, const Expression& b) {
  const Span<const std::uint32_t> x = a.code(), y = b.code();
  return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin()) &&
         a.constants().empty() && b.constants().empty();
}

// What a term says; errors are numbers of their own.
std::int64_t number_of(const Evaluation& value) {
  return value.ok() ? value.value : INT64_MIN + static_cast<std::int64_t>(value.error);
}

std::uint64_t state_of(const ClassPart& part, std::int64_t number, std::int64_t tile) {
  return part.kind == kClassTile ? in_tiles(number, tile) : state_of(part.kind, number);
}

// Whether the number has one state where no dimension is above kUsualDimension.
bool is_usual(const Expression& term, std::uint8_t kind, std::uint64_t& state) {
  std::int64_t dimensions[2][kMaxDimensions] = {};
  std::fill_n(dimensions[1], kMaxDimensions, kUsualDimension);
  const Evaluation low = term.evaluate({dimensions[0], kMaxDimensions}, {});
  const Evaluation high = term.evaluate({dimensions[1], kMaxDimensions}, {});
  state = state_of(kind, low.value);
  return kind != kClassTile && low.ok() && high.ok() && state == state_of(kind, high.value) &&
         grows(term);
}

// What is the same for all usual shapes comes last.
void leave_out_usual(PackageContents& package) {
  std::size_t& count = package.usual_parts = package.class_parts.size();
  package.usual_rest = package.class_rest;
  for (std::size_t i = count; i-- > 0;) {
    ClassPart& part = package.class_parts[i];
    std::uint64_t state = 0;
    if (!is_usual(package.class_terms[part.number], part.kind, state)) continue;
    package.usual_rest += part.weight * state;
    std::swap(part, package.class_parts[--count]);
  }
}

}  // namespace

void package::make_class_parts(PackageContents& package) {
  std::uint16_t number = 0;
  package.class_parts = std::vector<ClassPart>(package.class_terms.size());
  for (std::size_t term = 0; term < package.class_terms.size(); ++term) {
    const auto i = static_cast<std::uint16_t>(term);  // there are few
    const std::uint8_t kind = package.class_kinds[i];
    if (kind != kClassTile) number = i;
    std::uint64_t weight = (i + 1u) * 0x9e3779b97f4a7c15ull;
    weight = (weight ^ weight >> 32) * 0xff51afd7ed558ccdull;
    package.class_parts[i] = {weight ^ weight >> 29, 0, number, i, kind};
  }
  package.usual_parts = package.class_parts.size();
}

void package::reduce_class_parts(PackageContents& package) {
  const std::vector<Expression>& terms = package.class_terms;
  std::vector<ClassPart>& parts = package.class_parts;
  std::size_t count = 0;
  for (const ClassPart& read : parts) {
    ClassPart part = read;
    const Evaluation number = terms[part.number].evaluate({}, {});
    const Evaluation tile = terms[part.tile_term].evaluate({}, {});
    if (part.kind == kClassTile && tile.ok() && tile.value >= 1) part.tile = tile.value;
    // Errors, too, are the same for all shapes where they come before any dimension is looked at.
    const bool is_known = number.error != ExpressionError::missing_variable;
    if (is_known && (part.kind != kClassTile || part.tile != 0)) {
      package.class_rest += part.weight * state_of(part, number_of(number), part.tile);
      continue;
    }
    if (part.kind == 0) continue;  // counts in its tiles
    std::size_t at = 0;
    for (; at < count; ++at) {
      const ClassPart& known = parts[at];
      if (!same(terms[known.number], terms[part.number])) continue;
      part.number = known.number;
      const bool settled = part.kind != kClassTile || part.tile != 0;
      if (known.kind == part.kind && known.tile == part.tile && settled) break;
    }
    if (at < count) {
      parts[at].weight += part.weight;
    } else {
      parts[count++] = part;
    }
  }
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(count), parts.end());
  leave_out_usual(package);
}

bool KernelPackage::has_classes() const { return !contents_->class_terms.empty(); }

std::uint64_t KernelPackage::class_key(const Shape& shape,
                                       const Configuration& configuration) const {
  const PackageContents& package = contents_for(shape);
  if (package.class_terms.empty()) return digest_of(shape);
  const bool usual = is_usual(shape);
  std::uint64_t key = usual ? package.usual_rest : package.class_rest;
  const std::size_t count = usual ? package.usual_parts : package.class_parts.size();
  const auto value_of = [&](std::uint16_t term) {
    return number_of(package.class_terms[term].evaluate(shape.values(), configuration.values()));
  };
  std::int64_t number = 0;
  std::uint32_t its_term = ~0u;
  for (std::size_t i = 0; i < count; ++i) {
    const ClassPart& part = package.class_parts[i];
    if (part.number != its_term)
      number = value_of(static_cast<std::uint16_t>(its_term = part.number));
    std::int64_t tile = part.tile;
    if (part.kind == kClassTile && tile == 0) tile = value_of(part.tile_term);
    key += part.weight * state_of(part, number, tile);
  }
  return key;
}

}  // namespace idletune
