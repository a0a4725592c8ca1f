// Loads, stores and atomic operations.
#include <algorithm>
#include <cstring>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/block.hpp"
#include "tests/emulated_cuda/decoders.hpp"
#include "tests/emulated_cuda/handlers.hpp"
#include "tests/emulated_cuda/memory_cost.hpp"

namespace emulated_cuda {
namespace {

using U64 = std::uint64_t;

U64 address_at(Warp& warp, const Instruction& instruction, int thread) {
  return bits_at(warp.values(instruction.a), instruction.a.is_wide, thread) +
         static_cast<U64>(instruction.immediate);
}

// As a register has what was loaded: signed numbers are extended to its width.
U64 loaded_bits(const unsigned char* place, Type type) {
  const std::size_t bytes = size_of(type);
  U64 bits = 0;
  std::memcpy(&bits, place, bytes);
  if (!is_signed(type) || bytes == 8) return bits;
  const std::size_t unused = 64 - 8 * bytes;
  return static_cast<U64>(static_cast<std::int64_t>(bits << unused) >> unused);
}

void put_elements(Warp& warp, const Instruction& instruction, int thread,
                  const unsigned char* place) {
  const std::size_t each = size_of(instruction.type);
  for (std::size_t k = 0; k < instruction.elements; ++k) {
    const Operand& element = instruction.vector[k];
    set_bits(warp.values(element), element.is_wide, thread,
             loaded_bits(place + k * each, instruction.type));
  }
}

void load(Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t bytes = size_of(instruction.type) * instruction.elements;
  Addresses addresses;
  for_each_thread(mask, [&](int thread) {
    const U64 address = address_at(warp, instruction, thread);
    addresses[static_cast<std::size_t>(thread)] = address;
    put_elements(warp, instruction, thread,
                 checked_memory(warp, instruction, thread, address, bytes, Access::read, nullptr));
  });
  count_access(warp, instruction, mask, addresses, bytes);
}

void store(Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t each = size_of(instruction.type);
  const std::size_t bytes = each * instruction.elements;
  Addresses addresses;
  for_each_thread(mask, [&](int thread) {
    const U64 address = address_at(warp, instruction, thread);
    addresses[static_cast<std::size_t>(thread)] = address;
    unsigned char value[8 * kMostElements];
    for (std::size_t k = 0; k < instruction.elements; ++k) {
      const Operand& element = instruction.vector[k];
      const U64 bits = bits_at(warp.values(element), element.is_wide, thread);
      std::memcpy(value + k * each, &bits, each);
    }
    std::memcpy(checked_memory(warp, instruction, thread, address, bytes, Access::write, value),
                value, bytes);
  });
  count_access(warp, instruction, mask, addresses, bytes);
}

void load_parameter(Warp& warp, const Instruction& instruction, Mask mask) {
  const auto& parameters = warp.block->launch->parameters;
  const std::size_t bytes = size_of(instruction.type) * instruction.elements;
  for_each_thread(mask, [&](int thread) {
    const U64 address = address_at(warp, instruction, thread);
    if (bytes > parameters.size() || address > parameters.size() - bytes) {
      stop(warp, instruction, thread, idletune::cuda::kIllegalAddress,
           "illegal address: reads behind the kernel's parameters");
    }
    put_elements(warp, instruction, thread, parameters.data() + address);
  });
}

enum Operation : std::uint8_t {
  kAdd,
  kMin,
  kMax,
  kExchange,
  kCompareSwap,
  kAnd,
  kOr,
  kXor,
  kInc,
  kDec
};
constexpr const char* kOperations[] = {"add", "min", "max", "exch", "cas",
                                       "and", "or",  "xor", "inc",  "dec"};

template <class T>
T changed(std::uint8_t operation, T old, T b, T c) {
  switch (operation) {
    case kMin: return std::min(old, b);
    case kMax: return std::max(old, b);
    case kExchange: return b;
    case kCompareSwap: return std::memcmp(&old, &b, sizeof old) == 0 ? c : old;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case kAnd: return old & b;
      case kOr: return old | b;
      case kXor: return old ^ b;
      case kInc: return old >= b ? T{0} : static_cast<T>(old + 1);
      case kDec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
      default: return static_cast<T>(static_cast<U64>(old) + static_cast<U64>(b));
    }
  } else {
    return old + b;
  }
}

// Thread after thread: on a GPU the order is not known.
template <class Unused, class T>
struct Atomic {
  static void run(Warp& warp, const Instruction& instruction, Mask mask) {
    Addresses addresses;
    for_each_thread(mask, [&](int thread) {
      const U64 address = address_at(warp, instruction, thread);
      addresses[static_cast<std::size_t>(thread)] = address;
      unsigned char* place =
          checked_memory(warp, instruction, thread, address, sizeof(T), Access::atomic, nullptr);
      T old;
      std::memcpy(&old, place, sizeof old);
      const T now =
          changed(instruction.operation, old, value_at<T>(warp.values(instruction.b), thread),
                  value_at<T>(warp.values(instruction.c), thread));
      std::memcpy(place, &now, sizeof now);
      if (instruction.has_result) set_value(warp.values(instruction.result), thread, old);
    });
    count_access(warp, instruction, mask, addresses, sizeof(T));
  }
};

void take_space(const Statement& statement, Operands& operands, Instruction& instruction) {
  int named = 0;
  const auto consider = [&](const char* name, Space space) {
    if (!statement.has(name)) return;
    instruction.space = space;
    ++named;
  };
  consider("global", Space::global);
  consider("shared", Space::shared);
  consider("shared::cta", Space::shared);
  consider("local", Space::local);
  consider("const", Space::constant);
  consider("param", Space::parameter);
  consider("param::entry", Space::parameter);
  if (named > 1) operands.fail("two memories in " + statement.opcode);
  if (statement.has("nc") && instruction.space != Space::global) {
    operands.fail("unsupported instruction " + statement.opcode);
  }
  instruction.read_only = statement.has("nc");
  instruction.unwritten = Unwritten::finding;
  instruction.cost = Cost::memory;
}

// A "v2" needs two elements, and no "v" one.
void check_elements(const Statement& statement, Operands& operands,
                    const Instruction& instruction) {
  const int wanted = statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1;
  if (instruction.elements != wanted)
    operands.fail("another number of elements than " + statement.opcode);
  if (size_of(instruction.type) * instruction.elements > 16) {
    operands.fail("more than 16 bytes in " + statement.opcode);
  }
}

}  // namespace

void decode_loaded(const Statement& statement, Operands& operands, Instruction& instruction) {
  take_space(statement, operands, instruction);
  instruction.has_result = false;
  instruction.loads_vector = true;
  operands.vector(statement.operands[0], instruction.type, true, instruction);
  operands.address(statement.operands[1], instruction);
  check_elements(statement, operands, instruction);
  const bool is_parameter = instruction.space == Space::parameter;
  if (is_parameter) instruction.cost = Cost::simple;
  instruction.run = is_parameter ? load_parameter : load;
}

void decode_stored(const Statement& statement, Operands& operands, Instruction& instruction) {
  take_space(statement, operands, instruction);
  instruction.has_result = false;
  operands.address(statement.operands[0], instruction);
  operands.vector(statement.operands[1], instruction.type, false, instruction);
  check_elements(statement, operands, instruction);
  instruction.run = store;
}

// atom d, [a], b{, c}; red [a], b
void decode_atomic(const Statement& statement, Operands& operands, Instruction& instruction) {
  take_space(statement, operands, instruction);
  const bool has_result = statement.base == "atom";
  const Type type = instruction.type;
  int found = 0;
  for (std::size_t i = 0; i < std::size(kOperations); ++i) {
    if (!statement.has(kOperations[i])) continue;
    instruction.operation = static_cast<std::uint8_t>(i);
    ++found;
  }
  const bool is_bits = type == Type::b32 || type == Type::b64;
  const bool needs_bits = instruction.operation >= kExchange && instruction.operation <= kXor;
  const bool is_counter = instruction.operation == kInc || instruction.operation == kDec;
  if (found != 1 || is_bits != needs_bits || (is_counter && type != Type::u32) ||
      (is_float(type) && instruction.operation != kAdd)) {
    return;
  }
  const std::size_t first = has_result ? 1 : 0;
  const bool is_swap = instruction.operation == kCompareSwap;
  if (statement.operands.size() != first + (is_swap ? 3 : 2)) return;
  instruction.has_result = has_result;
  if (has_result) instruction.result = operands.result(statement.operands[0], type);
  operands.address(statement.operands[first], instruction);
  instruction.b = operands.source(statement.operands[first + 1], type);
  // Where nothing is compared, c is b: it is read and not used.
  instruction.c = is_swap ? operands.source(statement.operands[first + 2], type) : instruction.b;
  instruction.run = handler_for<Atomic, void, std::int32_t, std::uint32_t, std::int64_t,
                                std::uint64_t, float, double>(without_b(type));
}

}  // namespace emulated_cuda
