// Arithmetic on integers and floating-point numbers.
#include <limits>

#include "tests/emulated_cuda/block.hpp"
#include "tests/emulated_cuda/decoders.hpp"
#include "tests/emulated_cuda/handlers.hpp"

namespace emulated_cuda {
namespace {

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

// Integers wrap around.
template <class T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
std::uint64_t extended(T value) {
  return static_cast<std::uint64_t>(value);
}

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    if constexpr (std::is_integral_v<T>) return wrapped<T>(extended(a) + extended(b));
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    if constexpr (std::is_integral_v<T>) return wrapped<T>(extended(a) - extended(b));
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    if constexpr (std::is_integral_v<T>) return wrapped<T>(extended(a) * extended(b));
  }
};
struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    using Product = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
    return static_cast<T>((static_cast<Product>(a) * static_cast<Product>(b)) >> (8 * sizeof(T)));
  }
};
struct MultiplyAdd {
  template <class T>
  static T of(T a, T b, T c) {
    return wrapped<T>(extended(a) * extended(b) + extended(c));
  }
};
struct MultiplyHighAdd {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MultiplyHigh::of(a, b), c);
  }
};
// The larger for sign 1, the smaller for -1: a number before what is none, +0 above -0.
template <int sign>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a && b != b) return std::numeric_limits<T>::quiet_NaN();
      if (a != a || b != b) return a != a ? b : a;
      if (a == b) return std::signbit(a) == (sign < 0) ? a : b;
    }
    return (sign > 0) == (a > b) ? a : b;
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_floating_point_v<T>) return -a;
    if constexpr (std::is_integral_v<T>) return wrapped<T>(0 - extended(a));
  }
};
struct Absolute {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
    if constexpr (std::is_integral_v<T>) return a < 0 ? Negate::of(a) : a;
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct CopySign {
  template <class T>
  static T of(T sign, T magnitude) {
    return std::copysign(magnitude, sign);
  }
};
struct FusedMultiplyAdd {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
// Of single precision, whose products are exact in double precision; the smaller neighbour where the
// nearest is larger than the sum.
struct FusedMultiplyAddDown {
  static float of(float a, float b, float c) {
    const float nearest = std::fma(a, b, c);
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double term = static_cast<double>(c);
    const double sum = product + term;
    const double other = sum - product;
    const double rest = (product - (sum - other)) + (term - other);  // the sum's error (Knuth)
    if (sum == 0 && rest == 0) {
      return std::signbit(product) == std::signbit(c) ? nearest : -0.0f;
    }
    const double beyond = sum - static_cast<double>(nearest);
    const bool is_larger = beyond < 0 || (beyond == 0 && rest < 0);
    return is_larger ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
  }
};
struct SquareRoot {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return 1 / a;
  }
};
// In double precision and rounded: within the error of the approximations of every GPU.
#define EMULATED_CUDA_FUNCTION(Name, expression)      \
  struct Name {                                       \
    template <class T>                                \
    static T of(T argument) {                         \
      const double a = static_cast<double>(argument); \
      return static_cast<T>(expression);              \
    }                                                 \
  };
EMULATED_CUDA_FUNCTION(ReciprocalRoot, 1 / std::sqrt(a))
EMULATED_CUDA_FUNCTION(Sine, std::sin(a))
EMULATED_CUDA_FUNCTION(Cosine, std::cos(a))
EMULATED_CUDA_FUNCTION(PowerOfTwo, std::exp2(a))
EMULATED_CUDA_FUNCTION(BinaryLogarithm, std::log2(a))
EMULATED_CUDA_FUNCTION(HyperbolicTangent, std::tanh(a))
#undef EMULATED_CUDA_FUNCTION

// Operation true: the quotient, false: the rest. What a GPU gives for a divisor of 0 is undefined.
template <class Quotient, class T>
struct Division {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    unsigned char* result = warp.values(instruction.result);
    const unsigned char* a = warp.values(instruction.a);
    const unsigned char* b = warp.values(instruction.b);
    for_each_thread(mask, [&](int thread) {
      const T dividend = value_at<T>(a, thread);
      const T divisor = value_at<T>(b, thread);
      T value = static_cast<T>(-1);
      if (divisor == 0) {
        note(warp, instruction, thread, "undefined: an integer is divided by zero");
      } else if (std::is_signed_v<T> && divisor == static_cast<T>(-1)) {
        value = Quotient::value ? Negate::of(dividend) : T{0};
      } else {
        value = static_cast<T>(Quotient::value ? dividend / divisor : dividend % divisor);
      }
      set_value(result, thread, value);
    });
  }
};

// d = a * b, or + c, with d and c twice as wide.
template <class Narrow, class Result>
void wide_product(Warp& warp, const Instruction& instruction, Mask mask) {
  unsigned char* result = warp.values(instruction.result);
  const unsigned char* a = warp.values(instruction.a);
  const unsigned char* b = warp.values(instruction.b);
  const unsigned char* c = warp.values(instruction.c);
  for_each_thread(mask, [&](int thread) {
    const Result product = static_cast<Result>(value_at<Narrow>(a, thread)) *
                           static_cast<Result>(value_at<Narrow>(b, thread));
    const Result more = instruction.variant != 0 ? value_at<Result>(c, thread) : Result{0};
    set_value(result, thread, Add::of(product, more));
  });
}

void take_alike(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  take_operands(statement, operands, instruction, type, {type, type, type});
}

Cost cost_of(Type type) { return type == Type::f64 ? Cost::fp64 : Cost::fp32; }

}  // namespace

void decode_integer_arithmetic(const Statement& statement, Operands& operands,
                               Instruction& instruction) {
  take_alike(statement, operands, instruction);
  const Type type = instruction.type;
  const std::string& base = statement.base;
  const bool high = statement.has("hi");
  if ((base == "mul" || base == "mad") && high == statement.has("lo")) return;
  if (base == "add") instruction.run = integer_handler<OnTwo, Add>(type);
  if (base == "sub") instruction.run = integer_handler<OnTwo, Subtract>(type);
  if (base == "min") instruction.run = integer_handler<OnTwo, Extreme<-1>>(type);
  if (base == "max") instruction.run = integer_handler<OnTwo, Extreme<1>>(type);
  if (base == "mul") {
    instruction.run =
        high ? integer_handler<OnTwo, MultiplyHigh>(type) : integer_handler<OnTwo, Multiply>(type);
  }
  if (base == "mad") {
    instruction.run = high ? integer_handler<OnThree, MultiplyHighAdd>(type)
                           : integer_handler<OnThree, MultiplyAdd>(type);
  }
  if (base == "div" || base == "rem") {
    instruction.cost = Cost::integer_division;
    instruction.run = base == "div" ? integer_handler<Division, std::true_type>(type)
                                    : integer_handler<Division, std::false_type>(type);
  }
}

void decode_one_integer(const Statement& statement, Operands& operands, Instruction& instruction) {
  take_alike(statement, operands, instruction);
  instruction.run = statement.base == "neg" ? integer_handler<OnOne, Negate>(instruction.type)
                                            : integer_handler<OnOne, Absolute>(instruction.type);
}

void decode_wide_product(const Statement& statement, Operands& operands, Instruction& instruction) {
  Type wide = Type::none;
  switch (instruction.type) {
    case Type::s16:
      wide = Type::s32;
      instruction.run = wide_product<std::int16_t, std::int32_t>;
      break;
    case Type::u16:
      wide = Type::u32;
      instruction.run = wide_product<std::uint16_t, std::uint32_t>;
      break;
    case Type::s32:
      wide = Type::s64;
      instruction.run = wide_product<std::int32_t, std::int64_t>;
      break;
    default:
      wide = Type::u64;
      instruction.run = wide_product<std::uint32_t, std::uint64_t>;
      break;
  }
  take_operands(statement, operands, instruction, wide, {instruction.type, instruction.type, wide});
  instruction.variant = statement.operands.size() > 3 ? 1 : 0;
}

void decode_float_arithmetic(const Statement& statement, Operands& operands,
                             Instruction& instruction) {
  take_alike(statement, operands, instruction);
  const Type type = instruction.type;
  const std::string& base = statement.base;
  if (type == Type::f64 && (instruction.flush_subnormal || instruction.saturate)) return;
  instruction.cost = cost_of(type);
  if (base == "add") instruction.run = float_handler<OnTwo, Add>(type);
  if (base == "sub") instruction.run = float_handler<OnTwo, Subtract>(type);
  if (base == "mul") instruction.run = float_handler<OnTwo, Multiply>(type);
  if (base == "min") instruction.run = float_handler<OnTwo, Extreme<-1>>(type);
  if (base == "max") instruction.run = float_handler<OnTwo, Extreme<1>>(type);
  if (base == "copysign") instruction.run = float_handler<OnTwo, CopySign>(type);
  if (statement.has("rm")) {
    instruction.run = OnThree<FusedMultiplyAddDown, float>::run;
  } else if (base == "fma" || base == "mad") {
    instruction.run = float_handler<OnThree, FusedMultiplyAdd>(type);
  }
  if (base == "div") {
    instruction.cost = Cost::special;
    instruction.run = float_handler<OnTwo, Divide>(type);
  }
}

void decode_float_function(const Statement& statement, Operands& operands,
                           Instruction& instruction) {
  take_alike(statement, operands, instruction);
  const Type type = instruction.type;
  const std::string& base = statement.base;
  if (type == Type::f64 && instruction.flush_subnormal) return;
  const bool is_simple = base == "neg" || base == "abs";
  instruction.cost = is_simple ? cost_of(type) : Cost::special;
  if (base == "neg") instruction.run = float_handler<OnOne, Negate>(type);
  if (base == "abs") instruction.run = float_handler<OnOne, Absolute>(type);
  if (base == "rcp") instruction.run = float_handler<OnOne, Reciprocal>(type);
  if (base == "sqrt") instruction.run = float_handler<OnOne, SquareRoot>(type);
  if (base == "rsqrt") instruction.run = float_handler<OnOne, ReciprocalRoot>(type);
  if (base == "sin") instruction.run = float_handler<OnOne, Sine>(type);
  if (base == "cos") instruction.run = float_handler<OnOne, Cosine>(type);
  if (base == "ex2") instruction.run = float_handler<OnOne, PowerOfTwo>(type);
  if (base == "lg2") instruction.run = float_handler<OnOne, BinaryLogarithm>(type);
  if (base == "tanh") instruction.run = float_handler<OnOne, HyperbolicTangent>(type);
}

}  // namespace emulated_cuda
