#include "agent/trial/tuning_data.hpp"

#include <new>

#include "models/core/random.hpp"
#include "models/core/scalar.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::trial {
namespace {

// SplitMix64's state advances by this for every number, so the stream can be entered anywhere.
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;

Random stream_at(std::uint32_t seed, std::uint32_t argument, std::uint64_t first) {
  const std::uint64_t start = Random((std::uint64_t{seed} << 32) | argument).next();
  return Random(start + first * kStep);
}

double uniform_value(const ArgumentSpec& spec, Random& random) {
  return spec.fill_low + (spec.fill_high - spec.fill_low) * random.uniform();
}

double index_value(const ArgumentSpec& spec, std::uint64_t element) {
  const double period = spec.fill_high - spec.fill_low;
  const std::uint64_t offset = period >= 1 ? element % static_cast<std::uint64_t>(period) : element;
  return spec.fill_low + static_cast<double>(offset);
}

}  // namespace

void fill_elements(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed,
                   std::uint64_t first, MutableBytes out) {
  Random random = stream_at(seed, argument, first);
  const std::size_t size = scalar_size_bytes(spec.type);
  const std::size_t count = out.size() / size;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t* element = out.data() + i * size;
    double value = 0;
    switch (spec.fill) {
      case Fill::uniform: value = uniform_value(spec, random); break;
      case Fill::constant: value = spec.fill_low; break;
      case Fill::zero: break;
      case Fill::index: value = index_value(spec, first + i); break;
      case Fill::ramp: value = spec.fill_high * static_cast<double>(first + i) + 0.5; break;
    }
    store_number(spec.type, value, element);
    // Rounding may reach the open end of the interval.
    if (spec.fill == Fill::uniform && load_number(spec.type, element) >= spec.fill_high) {
      store_number(spec.type, spec.fill_low, element);
    }
  }
}

ArgumentSpec fill_at(const KernelPackage& package, std::size_t argument, const Shape& shape,
                     std::uint64_t bytes) {
  ArgumentSpec spec = package.argument(argument);
  if (!spec.is_index) return spec;
  const Result<std::int64_t> bound = package.index_bound(argument, shape);
  spec.fill_low = 0;
  spec.fill_high = bound.ok() ? static_cast<double>(*bound) : 1;
  if (spec.fill != Fill::ramp) return spec;
  const std::uint64_t count = bytes / scalar_size_bytes(spec.type);
  spec.fill_high = (spec.fill_high - 1) / static_cast<double>(count > 1 ? count - 1 : 1);
  return spec;
}

Argument scalar_value(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed) {
  std::uint8_t value[8];
  fill_elements(spec, argument, seed, 0, MutableBytes(value, scalar_size_bytes(spec.type)));
  return Argument::scalar(spec.type, value);
}

Result<Argument> derived_argument(const KernelPackage& package, std::size_t argument,
                                  const Shape& shape, const Configuration& configuration) {
  const Result<std::int64_t> value = package.derived_value(argument, shape, configuration);
  if (!value.ok()) return value.status();
  Argument derived;
  (void)derived_from(package.argument(argument), *value, derived);  // the package looked
  return derived;
}

bool derived_from(const ArgumentSpec& spec, std::int64_t value, Argument& out) {
  if (spec.kind == ArgumentKind::local) {
    out = Argument::local_memory(static_cast<std::uint64_t>(value));
    return value >= 1;
  }
  if (spec.type == ScalarType::i32 && value <= kMostInInt &&
      static_cast<std::int32_t>(value) == value) {          // as most are
    new (&out) Argument(static_cast<std::int32_t>(value));  // a copy would wait for its parts
    return true;
  }
  std::uint8_t bytes[8];
  const bool fits = store_integer(spec.type, value, bytes) && spec.type != ScalarType::i32;
  out = Argument::scalar(spec.type, bytes);
  return fits;
}

std::uint32_t poison_word(ScalarType type, std::uint32_t argument, std::uint32_t seed) {
  const std::uint64_t mixed = Random((std::uint64_t{argument} << 32) | seed).next();
  const auto drawn = static_cast<std::uint32_t>(mixed >> 32);
  if (scalar_size_bytes(type) < 4 && is_integer(type)) return drawn;
  const std::uint32_t half = 0x7e00u | (drawn >> 23);
  // Halves all look alike: one of them tells as much as a word.
  return (scalar_size_bytes(type) < 4 ? half << 16 : 0x7ffd0000u) | half;
}

std::uint32_t guard_word(std::uint32_t argument) {
  const std::uint64_t mixed = Random(0x677561726400ull + argument).next();
  return 0xd6a90000u | static_cast<std::uint32_t>(mixed >> 48);
}

void fill_words(std::uint32_t word, MutableBytes out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(word >> (8 * (i % 4)));
  }
}

}  // namespace idletune::trial
