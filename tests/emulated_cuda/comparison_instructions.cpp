// Comparisons, which give predicates.

#include "tests/emulated_cuda/decoders.hpp"
#include "tests/emulated_cuda/handlers.hpp"

namespace emulated_cuda {
namespace {

// Those that end in u are true where one side is no number.
struct Named {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr Named kComparisons[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"lo", true, false, false, false}, {"ls", true, true, false, false},
    {"hi", false, false, true, false}, {"hs", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true},
};
// The first two also compare bits, the next four any numbers, and the next four unsigned integers.
bool may_compare(std::size_t comparison, Type type) {
  if (comparison < 2) return true;
  if (comparison < 6) return without_b(type) == type;
  const bool is_unsigned = without_b(type) == type && !is_float(type) && !is_signed(type);
  return comparison < 10 ? is_unsigned : is_float(type);
}

template <class Unused, class T>
struct Compare {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    const unsigned char* a = warp.values(instruction.a);
    const unsigned char* b = warp.values(instruction.b);
    const Named& wanted = kComparisons[instruction.operation];
    const bool flush = instruction.flush_subnormal;
    Mask found = 0;
    for_each_thread(mask, [&](int thread) {
      T x = value_at<T>(a, thread);
      T y = value_at<T>(b, thread);
      if (flush) {
        x = flushed(x);
        y = flushed(y);
      }
      const bool is_true = x < y    ? wanted.less
                           : x == y ? wanted.equal
                           : x > y  ? wanted.greater
                                    : wanted.unordered;
      found |= static_cast<Mask>(is_true) << thread;
    });
    Mask other = ~found;
    if (instruction.variant != 0) {
      const Mask with = predicate(warp, instruction.c);
      const auto joined = [&](Mask compared) {
        return instruction.variant == 1   ? compared & with
               : instruction.variant == 2 ? compared | with
                                          : compared ^ with;
      };
      found = joined(found);
      other = joined(other);
    }
    set_predicate(warp, instruction.result, mask, found);
    if (instruction.has_second_result) {
      set_predicate(warp, instruction.second_result, mask, other);
    }
  }
};

}  // namespace

// setp.lt.and.s32 %p1|%p2, a, b, c
void decode_compared(const Statement& statement, Operands& operands, Instruction& instruction) {
  const Type type = instruction.type;
  std::size_t comparison = 0;
  while (comparison < std::size(kComparisons) &&
         statement.modifiers[0] != kComparisons[comparison].name) {
    ++comparison;
  }
  if (comparison == std::size(kComparisons) || !may_compare(comparison, type) ||
      (instruction.flush_subnormal && type != Type::f32)) {
    return;
  }
  instruction.operation = static_cast<std::uint8_t>(comparison);
  const bool joins = statement.operands.size() > 3;
  for (std::size_t i = 1; i < statement.modifiers.size(); ++i) {
    const std::string& modifier = statement.modifiers[i];
    if (modifier == "and") instruction.variant = 1;
    if (modifier == "or") instruction.variant = 2;
    if (modifier == "xor") instruction.variant = 3;
  }
  if (joins != (instruction.variant != 0)) return;
  operands.results(statement.operands[0], Type::pred, instruction);
  instruction.a = operands.source(statement.operands[1], type);
  instruction.b = operands.source(statement.operands[2], type);
  if (joins) instruction.c = operands.predicate(statement.operands[3]);
  instruction.run =
      handler_for<Compare, void, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                  std::int64_t, std::uint64_t, float, double>(without_b(type));
}

}  // namespace emulated_cuda
