// Conversions between types, and between addresses of one memory and generic ones.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/emulated_cuda/decoders.hpp"
#include "tests/emulated_cuda/half.hpp"
#include "tests/emulated_cuda/handlers.hpp"

namespace emulated_cuda {
namespace {

using U64 = std::uint64_t;
__extension__ using Integer = __int128;  // every value of every integer type

enum Rounding : std::uint8_t { kNone, kNearest, kToZero, kDown, kUp };  // to integers

double rounded(double value, std::uint8_t rounding) {
  switch (rounding) {
    case kNearest: return std::nearbyint(value);
    case kToZero: return std::trunc(value);
    case kDown: return std::floor(value);
    case kUp: return std::ceil(value);
    default: return value;
  }
}

Integer lowest(Type type) {
  return is_signed(type) ? -(Integer{1} << (8 * size_of(type) - 1)) : Integer{0};
}
Integer highest(Type type) {
  return (Integer{1} << (8 * size_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

Integer integer_of(U64 bits, Type type) {
  const std::size_t unused = 64 - 8 * size_of(type);
  const U64 shifted = bits << unused;
  return is_signed(type) ? Integer{static_cast<std::int64_t>(shifted) >> unused}
                         : Integer{shifted >> unused};
}

// As a register has it: signed ones extended to its whole width.
U64 bits_of_integer(Integer value, Type type) {
  const std::size_t bits = 8 * size_of(type);
  const U64 mask = bits == 64 ? ~U64{0} : (U64{1} << bits) - 1;
  const U64 kept = static_cast<U64>(value) & mask;
  return is_signed(type) && (kept >> (bits - 1) & 1) != 0 ? kept | ~mask : kept;
}

double float_of(U64 bits, Type type, bool flush) {
  if (type == Type::f16) return value_of_half(static_cast<std::uint16_t>(bits));
  if (type == Type::f64) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  float value;
  const auto low = static_cast<std::uint32_t>(bits);
  std::memcpy(&value, &low, sizeof value);
  return static_cast<double>(flush ? flushed(value) : value);
}

template <class Number>
U64 bits_of_float(Number number, const Instruction& instruction) {
  if (instruction.type == Type::f16) return half_of(static_cast<double>(number));
  U64 bits = 0;
  if (instruction.type == Type::f64) {
    const double value = static_cast<double>(number);
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  float value = static_cast<float>(number);
  if (instruction.flush_subnormal) value = flushed(value);
  if (instruction.saturate) value = saturated(value);
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

U64 converted(const Instruction& instruction, U64 bits) {
  const Type to = instruction.type;
  if (!is_float(instruction.from)) {
    Integer value = integer_of(bits, instruction.from);
    if (is_float(to)) {
      return is_signed(instruction.from)
                 ? bits_of_float(static_cast<std::int64_t>(value), instruction)
                 : bits_of_float(static_cast<U64>(value), instruction);
    }
    if (instruction.saturate) value = std::min(std::max(value, lowest(to)), highest(to));
    return bits_of_integer(value, to);
  }
  const double value =
      rounded(float_of(bits, instruction.from, instruction.flush_subnormal), instruction.operation);
  if (is_float(to)) return bits_of_float(value, instruction);
  if (value != value) return 0;
  if (value <= static_cast<double>(lowest(to))) return bits_of_integer(lowest(to), to);
  if (value >= static_cast<double>(highest(to))) return bits_of_integer(highest(to), to);
  return bits_of_integer(static_cast<Integer>(value), to);
}

void convert(Warp& warp, const Instruction& instruction, Mask mask) {
  unsigned char* result = warp.values(instruction.result);
  const unsigned char* a = warp.values(instruction.a);
  const bool wide_result = instruction.result.is_wide;
  const bool wide_source = instruction.a.is_wide;
  for_each_thread(mask, [&](int thread) {
    set_bits(result, wide_result, thread, converted(instruction, bits_at(a, wide_source, thread)));
  });
}

// The frequent ones between integers, and of nothing but a register's width.
template <class To, class From>
void widen(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto widened = [](From value) { return static_cast<To>(value); };
  set_each<From>(warp, instruction, mask, widened, instruction.a);
}

void add_window(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto window = static_cast<U64>(instruction.immediate);
  set_each<U64>(
      warp, instruction, mask, [&](U64 address) { return address + window; }, instruction.a);
}

Handler quick_conversion(const Instruction& instruction) {
  const bool plain = !instruction.saturate && !instruction.flush_subnormal;
  if (!plain || instruction.result.is_wide != is_wide(instruction.type) ||
      instruction.a.is_wide != is_wide(instruction.from)) {
    return nullptr;
  }
  const auto is = [&](Type to, Type from) {
    return instruction.type == to && instruction.from == from;
  };
  if (is(Type::s64, Type::s32)) return widen<std::int64_t, std::int32_t>;
  if (is(Type::u64, Type::u32)) return widen<U64, std::uint32_t>;
  if (is(Type::u32, Type::u64)) return widen<std::uint32_t, U64>;
  if (is(Type::f64, Type::f32)) return widen<double, float>;
  return nullptr;
}

}  // namespace

// Between floats: to the nearest where precision is lost; else to an integer, as the name says.
void decode_converted(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type to = instruction.type;
  if (instruction.from == Type::none) return;
  const Type from = instruction.from;
  const bool nearest = statement.has("rn");
  constexpr std::pair<const char*, Rounding> kRoundings[] = {
      {"rni", kNearest}, {"rzi", kToZero}, {"rmi", kDown}, {"rpi", kUp}};
  for (const auto& rounding : kRoundings) {
    if (statement.has(rounding.first)) instruction.operation = rounding.second;
  }
  const bool to_integer = instruction.operation != kNone;
  const bool same_or_more = is_float(to) && is_float(from) && size_of(to) >= size_of(from);
  // Which rounding there must be.
  const bool needs_nearest = is_float(to) && !same_or_more;
  const bool needs_to_integer = is_float(from) && !is_float(to);
  const bool may_to_integer = is_float(from) && (!is_float(to) || to == from);
  if (nearest != needs_nearest || (needs_to_integer && !to_integer) ||
      (to_integer && !may_to_integer)) {
    return;
  }
  if (instruction.saturate && (to == Type::f16 || to == Type::f64)) return;
  instruction.result = operands.loose_result(statement.operands[0], to);
  instruction.a = operands.loose_source(statement.operands[1], from);
  instruction.run = quick_conversion(instruction);
  if (instruction.run == nullptr) instruction.run = convert;
}

void decode_converted_address(const Statement& statement, Operands& operands,
                              Instruction& instruction) {
  take_operands(statement, operands, instruction, Type::u64, {Type::u64});
  std::uint64_t window = 0;
  if (statement.has("shared")) window = kSharedWindow;
  if (statement.has("local")) window = kLocalWindow;
  instruction.immediate = static_cast<std::int64_t>(statement.has("to") ? 0 - window : window);
  instruction.run = add_window;
}

}  // namespace emulated_cuda
