// Handlers of instructions that compute each thread's result from that thread's values alone.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tests/emulated_cuda/instruction.hpp"
#include "tests/emulated_cuda/warp.hpp"

namespace emulated_cuda {

// The type of C++ that has a PTX type's values. Of bits: unsigned.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (std::is_same_v<T, double>) return Type::f64;
  if constexpr (std::is_same_v<T, std::int16_t>) return Type::s16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return Type::u16;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::s32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Type::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::s64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::u64;
  return Type::none;
}

// Bits of a size as the unsigned type of that size, floats too.
inline Type as_bits(Type type) {
  switch (size_of(type)) {
    case 2: return Type::u16;
    case 4: return Type::u32;
    default: return Type::u64;
  }
}
inline Type without_b(Type type) {
  return type == Type::b16 || type == Type::b32 || type == Type::b64 ? as_bits(type) : type;
}

template <class T>
inline T flushed(T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (std::fabs(value) < FLT_MIN) return std::copysign(0.0f, value);
  }
  return value;
}

template <class T>
inline T saturated(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value > 0 ? (value > 1 ? T{1} : value) : T{0};  // not a number: 0
  } else {
    return value;
  }
}

// The result of every thread of the mask: `function` of the operands' values, which have types Ts.
template <class... Ts, class Function, class... Operands>
void set_each(Warp& warp, const Instruction& instruction, Mask mask, const Function& function,
              const Operands&... operands) {
  unsigned char* result = warp.values(instruction.result);
  const auto run = [&, mask](const auto*... values) {
    for_each_thread(mask, [&](int thread) {
      set_value(result, thread, function(value_at<Ts>(values, thread)...));
    });
  };
  run(static_cast<const unsigned char*>(warp.values(operands))...);
}

// Operation::of(a), of(a, b) or of(a, b, c), for every thread of the mask.
template <class Operation, class T, class... Operands>
void on_each_thread(Warp& warp, const Instruction& instruction, Mask mask,
                    const Operands&... operands) {
  unsigned char* result = warp.values(instruction.result);
  const auto run = [&, mask](const auto*... values) {
    if (instruction.flush_subnormal || instruction.saturate) {
      const bool flush = instruction.flush_subnormal;
      const auto in = [flush](T value) { return flush ? flushed(value) : value; };
      for_each_thread(mask, [&](int thread) {
        const T value = in(Operation::of(in(value_at<T>(values, thread))...));
        set_value<T>(result, thread, instruction.saturate ? saturated(value) : value);
      });
      return;
    }
    for_each_thread(mask, [&](int thread) {
      set_value<T>(result, thread, Operation::of(value_at<T>(values, thread)...));
    });
  };
  run(static_cast<const unsigned char*>(warp.values(operands))...);
}

template <class Operation, class T>
struct OnOne {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    on_each_thread<Operation, T>(warp, instruction, mask, instruction.a);
  }
};
template <class Operation, class T>
struct OnTwo {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    on_each_thread<Operation, T>(warp, instruction, mask, instruction.a, instruction.b);
  }
};
template <class Operation, class T>
struct OnThree {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    on_each_thread<Operation, T>(warp, instruction, mask, instruction.a, instruction.b,
                                 instruction.c);
  }
};

// The handler for that one of Ts which has `type`; null for another.
template <template <class, class> class Shape, class Operation, class... Ts>
Handler handler_for(Type type) {
  Handler handler = nullptr;
  ((type_of<Ts>() == type ? void(handler = Shape<Operation, Ts>::run) : void()), ...);
  return handler;
}
template <template <class, class> class Shape, class Operation>
Handler integer_handler(Type type) {
  return handler_for<Shape, Operation, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                     std::int64_t, std::uint64_t>(type);
}
template <template <class, class> class Shape, class Operation>
Handler bits_handler(Type type) {
  return handler_for<Shape, Operation, std::uint16_t, std::uint32_t, std::uint64_t>(as_bits(type));
}
template <template <class, class> class Shape, class Operation>
Handler float_handler(Type type) {
  return handler_for<Shape, Operation, float, double>(type);
}

}  // namespace emulated_cuda
