// Where a kernel goes on, barriers, and what the threads of a warp tell each other.
#include <cstring>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/block.hpp"
#include "tests/emulated_cuda/decoders.hpp"

namespace emulated_cuda {
namespace {

using U32 = std::uint32_t;

void do_nothing(Warp&, const Instruction&, Mask) {}

void trap(Warp& warp, const Instruction& instruction, Mask mask) {
  stop(warp, instruction, __builtin_ctz(mask), idletune::cuda::kLaunchFailed, "trap");
}

// Threads that are named in a mask must come together, and a thread must be in its own mask.
void check_members(Warp& warp, const Instruction& instruction, Mask mask) {
  const unsigned char* members = warp.values(instruction.members);
  for_each_thread(mask, [&](int thread) {
    const auto named = value_at<Mask>(members, thread);
    if ((named & warp.alive() & ~mask) != 0) {
      note(warp, instruction, thread, "warp: threads of the member mask are elsewhere");
    } else if ((named >> thread & 1) == 0) {
      note(warp, instruction, thread, "warp: a thread is not in its own member mask");
    }
  });
}

void warp_barrier(Warp& warp, const Instruction& instruction, Mask mask) {
  check_members(warp, instruction, mask);
  ++warp.interval;
}

// operation 0: up, 1: down, 2: butterfly, 3: any thread's. Of PTX's manual, "shfl.sync".
void shuffle(Warp& warp, const Instruction& instruction, Mask mask) {
  check_members(warp, instruction, mask);
  const unsigned char* a = warp.values(instruction.a);
  const unsigned char* b = warp.values(instruction.b);
  const unsigned char* c = warp.values(instruction.c);
  U32 before[kWarpThreads];
  std::memcpy(before, a, sizeof before);
  unsigned char* result = warp.values(instruction.result);
  Mask inside = 0;
  for_each_thread(mask, [&](int thread) {
    const auto lane = static_cast<U32>(thread);
    const U32 offset = value_at<U32>(b, thread) & 31;
    const U32 segment = value_at<U32>(c, thread) >> 8 & 31;
    const U32 clamp = value_at<U32>(c, thread) & 31;
    const U32 last = (lane & segment) | (clamp & ~segment);
    const U32 first = lane & segment;
    int from = thread;
    bool fits = true;
    switch (instruction.operation) {
      case 0:
        from = thread - static_cast<int>(offset);
        fits = from >= static_cast<int>(last);
        break;
      case 1:
        from = thread + static_cast<int>(offset);
        fits = from <= static_cast<int>(last);
        break;
      case 2:
        from = static_cast<int>(lane ^ offset);
        fits = from <= static_cast<int>(last);
        break;
      default:
        from = static_cast<int>(first | (offset & ~segment));
        fits = from <= static_cast<int>(last);
    }
    if (!fits) from = thread;
    if ((mask >> from & 1) == 0) {
      note(warp, instruction, thread, "warp: shfl reads a thread that is not there");
    }
    set_value(result, thread, before[from]);
    inside |= static_cast<Mask>(fits) << thread;
  });
  if (instruction.has_second_result) {
    set_predicate(warp, instruction.second_result, mask, inside);
  }
}

// operation 0: all, 1: any, 2: the same for all, 3: which.
void vote(Warp& warp, const Instruction& instruction, Mask mask) {
  check_members(warp, instruction, mask);
  const Mask yes = predicate(warp, instruction.a) & mask;
  if (instruction.operation == 3) {
    for_each_thread(mask,
                    [&](int thread) { set_value(warp.values(instruction.result), thread, yes); });
    return;
  }
  const bool answer = instruction.operation == 0   ? yes == mask
                      : instruction.operation == 1 ? yes != 0
                                                   : yes == mask || yes == 0;
  set_predicate(warp, instruction.result, mask, answer ? kAllThreads : 0);
}

void active_threads(Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_thread(mask,
                  [&](int thread) { set_value(warp.values(instruction.result), thread, mask); });
}

// Which one of the names `statement` has; -1: none, or several.
template <std::size_t count>
int one_of(const Statement& statement, const char* const (&names)[count]) {
  int found = -1;
  for (std::size_t i = 0; i < count; ++i) {
    if (!statement.has(names[i])) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

void without_result(Instruction& instruction, Flow flow) {
  instruction.flow = flow;
  instruction.unwritten = Unwritten::finding;
  instruction.has_result = false;
  instruction.cost = Cost::none;
}

}  // namespace

// Targets are put in when all labels are known.
void decode_branch(const Statement&, Operands&, Instruction& instruction) {
  without_result(instruction, Flow::branch);
}

void decode_branch_by_index(const Statement& statement, Operands& operands,
                            Instruction& instruction) {
  if (!statement.has("idx")) operands.fail("unsupported instruction " + statement.opcode);
  without_result(instruction, Flow::branch_index);
  instruction.a = operands.source(statement.operands[0], Type::u32);
}

void decode_left(const Statement&, Operands&, Instruction& instruction) {
  without_result(instruction, Flow::leave);
}

void decode_trapped(const Statement&, Operands&, Instruction& instruction) {
  without_result(instruction, Flow::next);
  instruction.run = trap;
}

// Barrier 0 of all threads of the block; others, and barriers of some threads, there are not.
void decode_barrier(const Statement& statement, Operands& operands, Instruction& instruction) {
  if (!statement.has("sync") || operands.number(statement.operands[0]) != 0) {
    operands.fail("unsupported instruction " + statement.opcode + " " + statement.operands[0]);
  }
  without_result(instruction, Flow::barrier);
}

void decode_nothing_to_do(const Statement&, Operands&, Instruction& instruction) {
  without_result(instruction, Flow::next);
  instruction.run = do_nothing;
}

void decode_warp_barrier(const Statement& statement, Operands& operands, Instruction& instruction) {
  if (!statement.has("sync") || !statement.has("warp")) return;
  without_result(instruction, Flow::next);
  instruction.members = operands.source(statement.operands[0], Type::b32);
  instruction.run = warp_barrier;
}

void decode_shuffled(const Statement& statement, Operands& operands, Instruction& instruction) {
  const int operation = one_of(statement, {"up", "down", "bfly", "idx"});
  if (operation < 0 || !statement.has("sync")) return;
  instruction.operation = static_cast<std::uint8_t>(operation);
  operands.results(statement.operands[0], Type::b32, instruction);
  instruction.a = operands.source(statement.operands[1], Type::b32);
  instruction.b = operands.source(statement.operands[2], Type::b32);
  instruction.c = operands.source(statement.operands[3], Type::b32);
  instruction.members = operands.source(statement.operands[4], Type::b32);
  instruction.run = shuffle;
}

void decode_voted(const Statement& statement, Operands& operands, Instruction& instruction) {
  const int operation = one_of(statement, {"all", "any", "uni", "ballot"});
  const bool is_ballot = operation == 3;
  if (operation < 0 || !statement.has("sync") || is_ballot != (instruction.type == Type::b32)) {
    return;
  }
  instruction.operation = static_cast<std::uint8_t>(operation);
  instruction.result = operands.result(statement.operands[0], instruction.type);
  instruction.a = operands.predicate(statement.operands[1]);
  instruction.members = operands.source(statement.operands[2], Type::b32);
  instruction.run = vote;
}

void decode_active_threads(const Statement& statement, Operands& operands,
                           Instruction& instruction) {
  instruction.result = operands.result(statement.operands[0], Type::b32);
  instruction.run = active_threads;
}

}  // namespace emulated_cuda
