#include "tests/emulated_cuda/warp_run.hpp"

#include <algorithm>
#include <climits>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/block.hpp"

namespace emulated_cuda {
namespace {

constexpr int kStepsInTurn = 4096;

double cycles_of(Cost cost) {
  switch (cost) {
    case Cost::fp64: return 32;
    case Cost::special: return 8;
    case Cost::integer_division: return 20;
    default: return 1;
  }
}

// The threads of a warp that are at the same instruction.
struct Group {
  int next = INT_MAX;
  Mask threads = 0;
  int others = INT_MAX;  // where the next group is; it lies behind
};

Group farthest_behind(const Warp& warp) {
  Group group;
  for (Mask left = warp.runnable(); left != 0; left &= left - 1) {
    const int thread = __builtin_ctz(left);
    const int next = warp.next[static_cast<std::size_t>(thread)];
    if (next < group.next) {
      group.others = group.next;
      group.next = next;
      group.threads = Mask{1} << thread;
    } else if (next == group.next) {
      group.threads |= Mask{1} << thread;
    } else {
      group.others = std::min(group.others, next);
    }
  }
  return group;
}

void put(Warp& warp, Mask threads, int next) {
  for_each_thread(threads, [&](int thread) { warp.next[static_cast<std::size_t>(thread)] = next; });
}

// Which of the threads do the instruction.
Mask guarded(Warp& warp, const Instruction& instruction, Mask threads) {
  if (!instruction.is_guarded) return threads;
  const Mask unwritten = threads & ~warp.written[instruction.guard.mark];
  if (unwritten != 0) {
    note(warp, instruction, __builtin_ctz(unwritten),
         "unwritten: depends on a predicate that nobody wrote");
  }
  return threads & predicate(warp, instruction.guard);
}

// Those of the threads whose results are there because the sources are.
Mask with_sources(Warp& warp, const Instruction& instruction, Mask threads) {
  const auto written = [&](const Operand& operand) { return warp.written[operand.mark]; };
  if (instruction.unwritten == Unwritten::if_chosen) {
    const Mask first = predicate(warp, instruction.c);
    return threads & written(instruction.c) &
           ((first & written(instruction.a)) | (~first & written(instruction.b)));
  }
  Mask all = threads;
  Mask any = instruction.reads.empty() ? threads : 0;
  for (const std::uint32_t mark : instruction.reads) {
    all &= warp.written[mark];
    any |= warp.written[mark];
  }
  return instruction.unwritten == Unwritten::if_all ? any & threads : all;
}

void check_registers(Warp& warp, const Instruction& instruction, Mask threads) {
  Mask there = with_sources(warp, instruction, threads);
  if (there != threads && instruction.unwritten == Unwritten::finding) {
    note(warp, instruction, __builtin_ctz(threads & ~there),
         "unwritten: reads a register that nobody wrote");
    there = threads;
  }
  for (const std::uint32_t mark : instruction.writes) {
    warp.written[mark] = (warp.written[mark] & ~threads) | there;
  }
}

void count(Warp& warp, const Instruction& instruction, Mask threads) {
  Work& work = warp.block->work;
  const double cycles = cycles_of(instruction.cost);
  work.thread_operations += __builtin_popcount(threads);
  work.issue_cycles += cycles;
  warp.cycles += cycles;
}

void jump_by_index(Warp& warp, const Instruction& instruction, Mask threads) {
  const unsigned char* indices = warp.values(instruction.a);
  for_each_thread(threads, [&](int thread) {
    const auto index = value_at<std::uint32_t>(indices, thread);
    if (index >= instruction.targets.size()) {
      stop(warp, instruction, thread, idletune::cuda::kLaunchFailed,
           "undefined: brx.idx outside its labels");
    }
    put(warp, Mask{1} << thread, instruction.targets[index]);
  });
}

// What is no plain instruction; puts all threads of the group.
void change_flow(Warp& warp, const Instruction& instruction, const Group& group, Mask on) {
  put(warp, group.threads & ~on, group.next + 1);
  switch (instruction.flow) {
    case Flow::branch: put(warp, on, instruction.targets[0]); break;
    case Flow::branch_index: jump_by_index(warp, instruction, on); break;
    case Flow::leave: warp.left |= on; break;
    default:  // a barrier
      warp.waiting |= on;
      put(warp, on, group.next + 1);
  }
}

// Runs the group until it parts, meets another group, waits, or leaves. Returns the steps.
int run_group(Warp& warp, Group& group) {
  const std::vector<Instruction>& code = warp.block->kernel->code;
  for (int steps = 1;; ++steps) {
    const Instruction& instruction = code[static_cast<std::size_t>(group.next)];
    const Mask on = guarded(warp, instruction, group.threads);
    count(warp, instruction, on);
    if (on != 0) check_registers(warp, instruction, on);
    if (instruction.flow == Flow::next) {
      if (on != 0) instruction.run(warp, instruction, on);
      ++group.next;
    } else if (instruction.flow == Flow::branch && (on == 0 || on == group.threads)) {
      group.next = on == 0 ? group.next + 1 : instruction.targets[0];
    } else {
      change_flow(warp, instruction, group, on);
      return steps;
    }
    if (group.next >= group.others || steps >= kStepsInTurn) {
      put(warp, group.threads, group.next);
      return steps;
    }
  }
}

}  // namespace

void run_warp(Warp& warp, Turn& turn) {
  int steps = 0;
  while (warp.runnable() != 0) {
    Group group = farthest_behind(warp);
    steps += run_group(warp, group);
    if (steps < kStepsInTurn) continue;
    steps = 0;
    turn.let_others();
  }
}

}  // namespace emulated_cuda
