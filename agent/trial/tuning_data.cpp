#include "agent/trial/tuning_data.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "models/core/random.hpp"

namespace idletune::trial {
namespace {

// SplitMix64's state advances by this for every number, so the stream can be entered anywhere.
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;

Random stream_at(std::uint32_t seed, std::uint32_t argument, std::uint64_t first) {
  const std::uint64_t start = Random((std::uint64_t{seed} << 32) | argument).next();
  return Random(start + first * kStep);
}

// The nearest value that T has; integers round towards zero.
template <class T>
T converted(double value) {
  if constexpr (std::is_integral_v<T>) {
    // The upper limit of a 64-bit type is no double: its successor, a power of two, is.
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    if (!(value > kLow)) return std::numeric_limits<T>::min();
    if (value >= kEnd) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

template <class T>
T uniform_value(const ArgumentSpec& spec, Random& random) {
  const double value = spec.fill_low + (spec.fill_high - spec.fill_low) * random.uniform();
  const T result = converted<T>(value);
  // Rounding to f32 may reach the open end of the interval.
  return static_cast<double>(result) >= spec.fill_high ? converted<T>(spec.fill_low) : result;
}

template <class T>
T index_value(const ArgumentSpec& spec, std::uint64_t element) {
  const double period = spec.fill_high - spec.fill_low;
  const std::uint64_t offset = period >= 1 ? element % static_cast<std::uint64_t>(period) : element;
  return converted<T>(spec.fill_low + static_cast<double>(offset));
}

template <class T>
void fill(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed, std::uint64_t first,
          MutableBytes out) {
  Random random = stream_at(seed, argument, first);
  const std::size_t count = out.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T value{};
    switch (spec.fill) {
      case Fill::uniform: value = uniform_value<T>(spec, random); break;
      case Fill::constant: value = converted<T>(spec.fill_low); break;
      case Fill::zero: break;
      case Fill::index: value = index_value<T>(spec, first + i); break;
    }
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
Argument scalar(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed) {
  T value{};
  fill<T>(spec, argument, seed, 0,
          MutableBytes(reinterpret_cast<std::uint8_t*>(&value), sizeof(value)));
  return Argument(value);
}

}  // namespace

void fill_elements(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed,
                   std::uint64_t first, MutableBytes out) {
  switch (spec.type) {
    case ScalarType::i32: return fill<std::int32_t>(spec, argument, seed, first, out);
    case ScalarType::u32: return fill<std::uint32_t>(spec, argument, seed, first, out);
    case ScalarType::i64: return fill<std::int64_t>(spec, argument, seed, first, out);
    case ScalarType::u64: return fill<std::uint64_t>(spec, argument, seed, first, out);
    case ScalarType::f32: return fill<float>(spec, argument, seed, first, out);
    case ScalarType::f64: return fill<double>(spec, argument, seed, first, out);
  }
}

Argument scalar_value(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed) {
  switch (spec.type) {
    case ScalarType::i32: return scalar<std::int32_t>(spec, argument, seed);
    case ScalarType::u32: return scalar<std::uint32_t>(spec, argument, seed);
    case ScalarType::i64: return scalar<std::int64_t>(spec, argument, seed);
    case ScalarType::u64: return scalar<std::uint64_t>(spec, argument, seed);
    case ScalarType::f32: return scalar<float>(spec, argument, seed);
    case ScalarType::f64: return scalar<double>(spec, argument, seed);
  }
  return Argument();
}

Argument dimension_argument(ScalarType type, std::int64_t value) {
  switch (type) {
    case ScalarType::i32: return Argument(static_cast<std::int32_t>(value));
    case ScalarType::u32: return Argument(static_cast<std::uint32_t>(value));
    case ScalarType::i64: return Argument(value);
    case ScalarType::u64: return Argument(static_cast<std::uint64_t>(value));
    case ScalarType::f32: return Argument(static_cast<float>(value));
    case ScalarType::f64: return Argument(static_cast<double>(value));
  }
  return Argument();
}

std::uint32_t poison_word(std::uint32_t argument, std::uint32_t seed) {
  const std::uint64_t mixed = Random((std::uint64_t{argument} << 32) | seed).next();
  return 0x7ffd0000u | static_cast<std::uint32_t>(mixed >> 48);
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
