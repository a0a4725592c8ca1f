// The types and memories of PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace emulated_cuda {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  s8,
  u8,
  b16,
  s16,
  u16,
  f16,
  b32,
  s32,
  u32,
  f32,
  b64,
  s64,
  u64,
  f64
};
enum class Space : std::uint8_t { generic, parameter, global, shared, local, constant };

// Bytes of a value in memory; 0 for none, and a predicate is in no memory.
inline std::size_t size_of(Type type) {
  switch (type) {
    case Type::none:
    case Type::pred: return 0;
    case Type::b8:
    case Type::s8:
    case Type::u8: return 1;
    case Type::b16:
    case Type::s16:
    case Type::u16:
    case Type::f16: return 2;
    case Type::b32:
    case Type::s32:
    case Type::u32:
    case Type::f32: return 4;
    default: return 8;
  }
}

inline bool is_wide(Type type) { return size_of(type) == 8; }

inline bool is_float(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64;
}

inline bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

// none: not the name of a type.
inline Type type_named(std::string_view name) {
  constexpr struct {
    std::string_view name;
    Type type;
  } kTypes[] = {{"pred", Type::pred}, {"b8", Type::b8},   {"s8", Type::s8},   {"u8", Type::u8},
                {"b16", Type::b16},   {"s16", Type::s16}, {"u16", Type::u16}, {"f16", Type::f16},
                {"b32", Type::b32},   {"s32", Type::s32}, {"u32", Type::u32}, {"f32", Type::f32},
                {"b64", Type::b64},   {"s64", Type::s64}, {"u64", Type::u64}, {"f64", Type::f64}};
  for (const auto& known : kTypes) {
    if (known.name == name) return known.type;
  }
  return Type::none;
}

// Where generic addresses of a block's shared and a thread's local memory begin; global ones lie
// below both.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 60;

}  // namespace emulated_cuda
