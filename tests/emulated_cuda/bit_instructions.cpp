// Bits: logic, shifts, fields, and values that are moved as they are.
#include <algorithm>

#include "tests/emulated_cuda/decoders.hpp"
#include "tests/emulated_cuda/handlers.hpp"

namespace emulated_cuda {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct ExclusiveOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct Same {
  template <class T>
  static T of(T a) {
    return a;
  }
};
struct CountOnes {
  template <class T>
  static T of(T a) {
    return static_cast<T>(__builtin_popcountll(a));
  }
};
struct CountLeadingZeros {
  template <class T>
  static T of(T a) {
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    return static_cast<T>(a == 0 ? bits : __builtin_clzll(a) - (64 - bits));
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    T reversed = 0;
    for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) {
      reversed = static_cast<T>((reversed << 1) | ((a >> bit) & 1));
    }
    return reversed;
  }
};

// How many of something a value of T has.
template <class Operation, class T>
struct Counted {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    const auto count = [](T a) { return static_cast<U32>(Operation::of(a)); };
    set_each<T>(warp, instruction, mask, count, instruction.a);
  }
};

// On predicates: operation 0 and, 1 or, 2 exclusive or, 3 not, 4 the same.
void predicate_logic(Warp& warp, const Instruction& instruction, Mask mask) {
  const Mask a = predicate(warp, instruction.a);
  const Mask b = predicate(warp, instruction.b);
  Mask value = a;
  if (instruction.operation == 0) value = a & b;
  if (instruction.operation == 1) value = a | b;
  if (instruction.operation == 2) value = a ^ b;
  if (instruction.operation == 3) value = ~a;
  set_predicate(warp, instruction.result, mask, value);
}

// The amount is a u32, and may be larger than the value has bits.
template <class Left, class T>
struct Shift {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    constexpr U32 bits = 8 * sizeof(T);
    const auto shifted = [](T value, U32 amount) {
      if (amount < bits) {
        return static_cast<T>(Left::value ? static_cast<U64>(value) << amount
                                          : static_cast<U64>(value >> amount));
      }
      return std::is_signed_v<T> && !Left::value && value < 0 ? static_cast<T>(-1) : T{0};
    };
    set_each<T, U32>(warp, instruction, mask, shifted, instruction.a, instruction.b);
  }
};

// operation 1: left; variant 1: clamped, else the amount wraps around.
void funnel_shift(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shifted = [&](U32 low, U32 high, U32 given) {
    const U32 amount = instruction.variant != 0 ? std::min(given, U32{32}) : given & 31;
    const U64 both = U64{high} << 32 | low;
    return static_cast<U32>(instruction.operation != 0 ? (both << amount) >> 32 : both >> amount);
  };
  set_each<U32, U32, U32>(warp, instruction, mask, shifted, instruction.a, instruction.b,
                          instruction.c);
}

// Bit k of `immediate` says what comes of the bits that are written as k: a, b, c.
void three_bit_sets(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto joined = [&](U32 a, U32 b, U32 c) {
    U32 value = 0;
    for (int k = 0; k < 8; ++k) {
      if ((instruction.immediate >> k & 1) == 0) continue;
      value |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    }
    return value;
  };
  set_each<U32, U32, U32>(warp, instruction, mask, joined, instruction.a, instruction.b,
                          instruction.c);
}

// Each half byte of c chooses a byte of a and b; its upper bit: that byte's sign, repeated.
void permuted_bytes(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto chosen = [](U32 a, U32 b, U32 choices) {
    const U64 both = U64{b} << 32 | a;
    U32 value = 0;
    for (int k = 0; k < 4; ++k) {
      const U32 choice = choices >> (4 * k) & 15;
      U32 byte = static_cast<U32>(both >> (8 * (choice & 7))) & 255;
      if ((choice & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      value |= byte << (8 * k);
    }
    return value;
  };
  set_each<U32, U32, U32>(warp, instruction, mask, chosen, instruction.a, instruction.b,
                          instruction.c);
}

// `length` bits of a from bit `from` on; of signed types, its last bit is repeated above.
template <class Unused, class T>
struct ExtractField {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    using Unsigned = std::make_unsigned_t<T>;
    const auto extracted = [](T a, U32 b, U32 c) {
      const auto value = static_cast<Unsigned>(a);
      const int from = static_cast<int>(b & 255);
      const int length = static_cast<int>(c & 255);
      const int last = std::min(from + length - 1, bits - 1);
      const bool sign = std::is_signed_v<T> && length > 0 && (value >> last & 1) != 0;
      Unsigned field = 0;
      for (int k = 0; k < bits; ++k) {
        const bool inside = k < length && from + k < bits;
        const bool bit = inside ? (value >> (from + k) & 1) != 0 : sign;
        field = static_cast<Unsigned>(field | static_cast<Unsigned>(bit) << k);
      }
      return static_cast<T>(field);
    };
    set_each<T, U32, U32>(warp, instruction, mask, extracted, instruction.a, instruction.b,
                          instruction.c);
  }
};

// a's lowest bits put into b; where and how many say c and `members`.
template <class Unused, class T>
struct InsertField {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    constexpr U32 bits = 8 * sizeof(T);
    const auto inserted = [](T field, T value, U32 c, U32 members) {
      const U32 from = c & 255;
      const U32 length = members & 255;
      for (U32 k = 0; k < length && from + k < bits; ++k) {
        const T bit = static_cast<T>(T{1} << (from + k));
        value = static_cast<T>((field >> k & 1) != 0 ? value | bit : value & ~bit);
      }
      return value;
    };
    set_each<T, T, U32, U32>(warp, instruction, mask, inserted, instruction.a, instruction.b,
                             instruction.c, instruction.members);
  }
};

// A value of 64 or 32 bits of equal parts, and the parts of one.
void packed(Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t bits = 8 * size_of(instruction.type) / instruction.elements;
  for_each_thread(mask, [&](int thread) {
    U64 value = 0;
    for (std::size_t k = 0; k < instruction.elements; ++k) {
      const Operand& part = instruction.vector[k];
      const U64 found = bits_at(warp.values(part), part.is_wide, thread);
      value |= (found & ((U64{1} << bits) - 1)) << (bits * k);
    }
    set_bits(warp.values(instruction.result), instruction.result.is_wide, thread, value);
  });
}

void unpacked(Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t bits = 8 * size_of(instruction.type) / instruction.elements;
  for_each_thread(mask, [&](int thread) {
    const U64 value = bits_at(warp.values(instruction.a), instruction.a.is_wide, thread);
    for (std::size_t k = 0; k < instruction.elements; ++k) {
      const Operand& part = instruction.vector[k];
      set_bits(warp.values(part), part.is_wide, thread,
               value >> (bits * k) & ((U64{1} << bits) - 1));
    }
  });
}

template <class Unused, class T>
struct Select {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    unsigned char* result = warp.values(instruction.result);
    const unsigned char* a = warp.values(instruction.a);
    const unsigned char* b = warp.values(instruction.b);
    const Mask chosen = predicate(warp, instruction.c);
    for_each_thread(mask, [&](int thread) {
      set_value(result, thread, value_at<T>((chosen >> thread & 1) != 0 ? a : b, thread));
    });
  }
};

}  // namespace

void decode_bitwise(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  const bool is_predicate = type == Type::pred;
  const auto source = [&](std::size_t i) {
    return is_predicate ? operands.predicate(statement.operands[i])
                        : operands.source(statement.operands[i], type);
  };
  instruction.result = operands.result(statement.operands[0], type);
  instruction.a = source(1);
  if (statement.operands.size() > 2) instruction.b = source(2);
  constexpr const char* kNames[] = {"and", "or", "xor", "not"};
  const auto name = std::find(std::begin(kNames), std::end(kNames), statement.base);
  instruction.operation = static_cast<std::uint8_t>(name - std::begin(kNames));
  if (is_predicate) {
    instruction.run = predicate_logic;
    return;
  }
  switch (instruction.operation) {
    case 0: instruction.run = bits_handler<OnTwo, And>(type); break;
    case 1: instruction.run = bits_handler<OnTwo, Or>(type); break;
    case 2: instruction.run = bits_handler<OnTwo, ExclusiveOr>(type); break;
    default: instruction.run = bits_handler<OnOne, Not>(type); break;
  }
}

void decode_shift(const Statement& statement, Operands& operands, Instruction& instruction) {
  take_operands(statement, operands, instruction, instruction.type, {instruction.type, Type::u32});
  const Type type = without_b(instruction.type);
  instruction.run = statement.base == "shl" ? integer_handler<Shift, std::true_type>(type)
                                            : integer_handler<Shift, std::false_type>(type);
}

void decode_funnel_shift(const Statement& statement, Operands& operands, Instruction& instruction) {
  if (statement.has("l") == statement.has("r") || statement.has("clamp") == statement.has("wrap")) {
    return;
  }
  take_operands(statement, operands, instruction, Type::b32, {Type::b32, Type::b32, Type::u32});
  instruction.operation = statement.has("l") ? 1 : 0;
  instruction.variant = statement.has("clamp") ? 1 : 0;
  instruction.run = funnel_shift;
}

void decode_three_bit_sets(const Statement& statement, Operands& operands,
                           Instruction& instruction) {
  take_operands(statement, operands, instruction, Type::b32, {Type::b32, Type::b32, Type::b32});
  instruction.immediate = static_cast<std::int64_t>(operands.number(statement.operands[4]));
  instruction.run = three_bit_sets;
}

void decode_permuted_bytes(const Statement& statement, Operands& operands,
                           Instruction& instruction) {
  take_operands(statement, operands, instruction, Type::b32, {Type::b32, Type::b32, Type::u32});
  instruction.run = permuted_bytes;
}

void decode_bit_field(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  const bool insert = statement.base == "bfi";
  take_operands(statement, operands, instruction, type,
                {type, insert ? type : Type::u32, Type::u32, Type::u32});
  instruction.run =
      insert ? bits_handler<InsertField, void>(type) : integer_handler<ExtractField, void>(type);
}

void decode_counted_bits(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  const bool is_reverse = statement.base == "brev";
  take_operands(statement, operands, instruction, is_reverse ? type : Type::u32, {type});
  if (statement.base == "popc") instruction.run = bits_handler<Counted, CountOnes>(type);
  if (statement.base == "clz") instruction.run = bits_handler<Counted, CountLeadingZeros>(type);
  if (is_reverse) instruction.run = bits_handler<OnOne, Reverse>(type);
}

void decode_moved(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  const std::string& to = statement.operands[0];
  const std::string& from = statement.operands[1];
  if (to.empty() || from.empty()) operands.fail("mov of nothing");
  if (to[0] == '{' || from[0] == '{') {
    if (type != Type::b32 && type != Type::b64) return;
    const bool packs = from[0] == '{';
    instruction.loads_vector = !packs;
    instruction.has_result = packs;
    operands.vector(packs ? from : to, type == Type::b64 ? Type::b32 : Type::b16, !packs,
                    instruction);
    if (8 % instruction.elements != 0 || instruction.elements < 2) return;
    (packs ? instruction.result : instruction.a) =
        packs ? operands.result(to, type) : operands.source(from, type);
    instruction.unwritten = Unwritten::if_all;
    instruction.run = packs ? packed : unpacked;
    return;
  }
  instruction.result = operands.result(to, type);
  if (type == Type::pred) {
    instruction.a = operands.predicate(from);
    instruction.operation = 4;
    instruction.run = predicate_logic;
    return;
  }
  instruction.a = operands.source(from, type);
  instruction.run = bits_handler<OnOne, Same>(type);
}

void decode_selected(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  instruction.unwritten = Unwritten::if_chosen;
  take_operands(statement, operands, instruction, type, {type, type});
  instruction.c = operands.predicate(statement.operands[3]);
  instruction.run = bits_handler<Select, void>(type);
}

}  // namespace emulated_cuda
