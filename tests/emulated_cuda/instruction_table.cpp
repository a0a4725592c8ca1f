#include "tests/emulated_cuda/instruction_table.hpp"

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

#include "models/core/word_list.hpp"
#include "tests/emulated_cuda/decoders.hpp"

namespace emulated_cuda {
namespace {

constexpr const char* kIntegers = "s16 u16 s32 u32 s64 u64";
constexpr const char* kFloats = "f32 f64";
constexpr const char* kBits = "pred b16 b32 b64";
constexpr const char* kMoved = "pred b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64";
constexpr const char* kInMemory = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64";
constexpr const char* kConverted = "u8 s8 u16 s16 f16 u32 s32 f32 u64 s64 f64";
// Hints for caches and how a load is ordered: the emulated device keeps every order.
constexpr const char* kLoad =
    "global shared shared::cta local param param::entry const nc v2 v4 ca cg cs lu cv volatile "
    "weak "
    "relaxed acquire cta gpu sys L1::no_allocate L1::evict_last L1::evict_first L2::64B L2::128B "
    "L2::256B";
constexpr const char* kStore =
    "global shared shared::cta local v2 v4 wb cg cs wt volatile weak relaxed release cta gpu sys "
    "L1::no_allocate L1::evict_last L1::evict_first";
constexpr const char* kAtomic =
    "global shared shared::cta add min max exch cas and or xor inc dec relaxed acquire release "
    "acq_rel cta gpu sys";
constexpr const char* kAtomicTypes = "b32 u32 s32 f32 b64 u64 s64 f64";
constexpr const char* kComparisonModifiers =
    "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";

constexpr InstructionRow kRows[] = {
    {"add", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"sub", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"mul", kIntegers, "lo hi", 3, 3, decode_integer_arithmetic},
    {"mad", kIntegers, "lo hi", 4, 4, decode_integer_arithmetic},
    {"div", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"rem", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"min", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"max", kIntegers, "", 3, 3, decode_integer_arithmetic},
    {"mul", "s16 u16 s32 u32", "wide", 3, 3, decode_wide_product},
    {"mad", "s16 u16 s32 u32", "wide", 4, 4, decode_wide_product},
    {"neg", "s16 s32 s64", "", 2, 2, decode_one_integer},
    {"abs", "s16 s32 s64", "", 2, 2, decode_one_integer},
    {"add", kFloats, "rn ftz sat", 3, 3, decode_float_arithmetic},
    {"sub", kFloats, "rn ftz sat", 3, 3, decode_float_arithmetic},
    {"mul", kFloats, "rn ftz sat", 3, 3, decode_float_arithmetic},
    {"fma", kFloats, "rn ftz sat", 4, 4, decode_float_arithmetic},
    {"mad", kFloats, "rn ftz sat", 4, 4, decode_float_arithmetic},
    {"fma", "f32", "rm", 4, 4, decode_float_arithmetic},
    {"div", "f32", "rn approx full ftz", 3, 3, decode_float_arithmetic},
    {"div", "f64", "rn", 3, 3, decode_float_arithmetic},
    {"min", kFloats, "ftz", 3, 3, decode_float_arithmetic},
    {"max", kFloats, "ftz", 3, 3, decode_float_arithmetic},
    {"copysign", kFloats, "", 3, 3, decode_float_arithmetic},
    {"neg", kFloats, "ftz", 2, 2, decode_float_function},
    {"abs", kFloats, "ftz", 2, 2, decode_float_function},
    {"rcp", kFloats, "rn approx ftz", 2, 2, decode_float_function},
    {"sqrt", kFloats, "rn approx ftz", 2, 2, decode_float_function},
    {"rsqrt", kFloats, "approx ftz", 2, 2, decode_float_function},
    {"sin", "f32", "approx ftz", 2, 2, decode_float_function},
    {"cos", "f32", "approx ftz", 2, 2, decode_float_function},
    {"ex2", "f32", "approx ftz", 2, 2, decode_float_function},
    {"lg2", "f32", "approx ftz", 2, 2, decode_float_function},
    {"tanh", "f32", "approx", 2, 2, decode_float_function},
    {"and", kBits, "", 3, 3, decode_bitwise},
    {"or", kBits, "", 3, 3, decode_bitwise},
    {"xor", kBits, "", 3, 3, decode_bitwise},
    {"not", kBits, "", 2, 2, decode_bitwise},
    {"shl", "b16 b32 b64", "", 3, 3, decode_shift},
    {"shr", "b16 u16 s16 b32 u32 s32 b64 u64 s64", "", 3, 3, decode_shift},
    {"shf", "b32", "l r wrap clamp", 4, 4, decode_funnel_shift},
    {"lop3", "b32", "", 5, 5, decode_three_bit_sets},
    {"prmt", "b32", "", 4, 4, decode_permuted_bytes},
    {"bfe", "u32 s32 u64 s64", "", 4, 4, decode_bit_field},
    {"bfi", "b32 b64", "", 5, 5, decode_bit_field},
    {"popc", "b32 b64", "", 2, 2, decode_counted_bits},
    {"clz", "b32 b64", "", 2, 2, decode_counted_bits},
    {"brev", "b32 b64", "", 2, 2, decode_counted_bits},
    {"mov", kMoved, "", 2, 2, decode_moved},
    {"selp", "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64", "", 4, 4, decode_selected},
    {"setp", "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64", kComparisonModifiers, 3, 4,
     decode_compared},
    {"cvt", kConverted, "rn rni rzi rmi rpi ftz sat", 2, 2, decode_converted},
    {"cvta", "u64", "to global shared local const", 2, 2, decode_converted_address},
    {"ld", kInMemory, kLoad, 2, 2, decode_loaded},
    {"ldu", kInMemory, "global v2 v4", 2, 2, decode_loaded},
    {"st", kInMemory, kStore, 2, 2, decode_stored},
    {"atom", kAtomicTypes, kAtomic, 3, 4, decode_atomic},
    {"red", kAtomicTypes, kAtomic, 2, 2, decode_atomic},
    {"bra", "", "uni", 1, 1, decode_branch},
    {"brx", "", "idx uni", 2, 2, decode_branch_by_index},
    {"ret", "", "uni", 0, 0, decode_left},
    {"exit", "", "", 0, 0, decode_left},
    {"trap", "", "", 0, 0, decode_trapped},
    {"bar", "", "sync cta", 1, 1, decode_barrier},
    {"barrier", "", "sync cta aligned", 1, 1, decode_barrier},
    {"bar", "", "warp sync", 1, 1, decode_warp_barrier},
    {"membar", "", "cta gl sys", 0, 0, decode_nothing_to_do},
    {"fence", "", "sc acq_rel cta gpu sys", 0, 0, decode_nothing_to_do},
    {"shfl", "b32", "sync up down bfly idx", 5, 5, decode_shuffled},
    {"vote", "pred b32", "sync all any uni ballot", 3, 3, decode_voted},
    {"activemask", "b32", "", 1, 1, decode_active_threads},
};

// Every modifier is one that the row knows, and there is a type where it lists any.
bool allows(const InstructionRow& row, const Statement& statement) {
  if (statement.base != row.name) return false;
  bool typed = row.types[0] == '\0';
  for (const std::string& modifier : statement.modifiers) {
    if (idletune::is_listed(row.types, modifier)) {
      typed = true;
    } else if (modifier.empty() || !idletune::is_listed(row.modifiers, modifier)) {
      return false;
    }
  }
  return typed;
}

const InstructionRow* row_for(const Statement& statement) {
  for (const InstructionRow& row : instruction_table()) {
    if (allows(row, statement)) return &row;
  }
  return nullptr;
}

void keep_mark(const Operand& operand, std::vector<std::uint32_t>& marks) {
  if (operand.mark != 0) marks.push_back(operand.mark);
}

void collect_marks(Instruction& instruction) {
  for (const Operand* source :
       {&instruction.a, &instruction.b, &instruction.c, &instruction.members}) {
    keep_mark(*source, instruction.reads);
  }
  if (instruction.has_result) keep_mark(instruction.result, instruction.writes);
  if (instruction.has_second_result) keep_mark(instruction.second_result, instruction.writes);
  for (const Operand& element : instruction.vector) {
    keep_mark(element, instruction.loads_vector ? instruction.writes : instruction.reads);
  }
}

// Once in each process to the file of IDLETUNE_EMULATED_INSTRUCTIONS.
void note(const std::string& opcode) {
  const char* path = std::getenv("IDLETUNE_EMULATED_INSTRUCTIONS");
  if (path == nullptr) return;
  static std::mutex mutex;
  static std::set<std::string> noted;
  const std::lock_guard<std::mutex> lock(mutex);
  if (noted.insert(opcode).second) std::ofstream(path, std::ios::app) << opcode << "\n";
}

}  // namespace

const std::vector<InstructionRow>& instruction_table() {
  static const std::vector<InstructionRow> table(std::begin(kRows), std::end(kRows));
  return table;
}

void decode(const Statement& statement, Operands& operands, Instruction& instruction) {
  const InstructionRow* row = row_for(statement);
  if (row == nullptr) operands.fail("unsupported instruction " + statement.opcode);
  if (statement.operands.size() < row->least_operands ||
      statement.operands.size() > row->most_operands) {
    operands.fail(statement.opcode + " with " + std::to_string(statement.operands.size()) +
                  " operands");
  }
  for (const std::string& modifier : statement.modifiers) {
    const Type type = idletune::is_listed(row->types, modifier) ? type_named(modifier) : Type::none;
    if (type == Type::none) continue;
    (instruction.type == Type::none ? instruction.type : instruction.from) = type;
  }
  if (instruction.from != Type::none && statement.base != "cvt") {
    operands.fail("unsupported instruction " + statement.opcode);
  }
  instruction.flush_subnormal = statement.has("ftz");
  instruction.saturate = statement.has("sat");
  if (!statement.guard.empty()) {
    instruction.is_guarded = true;
    instruction.guard = operands.predicate(statement.guard);
  }
  row->decode(statement, operands, instruction);
  note(statement.opcode);
  if (instruction.flow == Flow::next && instruction.run == nullptr) {
    operands.fail("unsupported instruction " + statement.opcode);
  }
  collect_marks(instruction);
}

}  // namespace emulated_cuda
