#include "models/host/offload/analysis/loop_dependences.hpp"

#include <algorithm>

namespace idletune::offload {
namespace {

constexpr std::size_t kStores = std::size_t{1} << 18U;
// Of a region's operations: more of them one after the other would rule its time.
constexpr double kMostSerial = 0.1;
constexpr double kMostOfIt = 0.5;

}  // namespace

LoopDependences::LoopDependences(const std::vector<Loop>& loops,
                                 const std::vector<BlockPlace>& blocks)
    : loops_(loops), blocks_(blocks), seen_(loops.size()), stores_(kStores) {
  std::uint32_t functions = 0;
  for (const BlockPlace& block : blocks) functions = std::max(functions, block.function + 1);
  callers_.assign(functions, Loop::kNone);
  for (std::size_t i = 0; i < loops.size(); ++i) seen_[i].carried = loops[i].carried;
}

bool LoopDependences::contains(std::uint32_t loop, std::uint32_t inner) const {
  while (inner != Loop::kNone && inner != loop) inner = loops_[inner].parent;
  return inner == loop;
}

// Ends the calls and loops that control has left.
void LoopDependences::leave_for(const BlockPlace& place) {
  while (!running_.empty() && running_.back().function != place.function) running_.pop_back();
  if (running_.empty()) running_.push_back({Loop::kNone, place.function, time_, time_});
  while (running_.back().loop != Loop::kNone && !contains(running_.back().loop, place.loop))
    running_.pop_back();
}

void LoopDependences::enter(std::uint32_t block) {
  const BlockPlace& place = blocks_[block];
  if (place.begins_function) {
    // No function calls itself, so that what is called runs within what runs.
    const auto around = std::find_if(running_.rbegin(), running_.rend(),
                                     [](const Running& one) { return one.loop != Loop::kNone; });
    callers_[place.function] = around == running_.rend() ? Loop::kNone : around->loop;
    return running_.push_back({Loop::kNone, place.function, time_, time_});
  }
  leave_for(place);
  if (place.loop == Loop::kNone || loops_[place.loop].header != block) return;
  Seen& seen = seen_[place.loop];
  ++seen.iterations;
  if (running_.back().loop == place.loop) {
    running_.back().iteration = time_;
    return;
  }
  ++seen.runs;
  running_.push_back({place.loop, place.function, time_, time_});
}

LoopDependences::Store& LoopDependences::place_of(std::uint64_t address) {
  // Words of 64 bytes lie beside each other, so that one look-up brings the next ones near.
  const std::uint64_t group = (address >> 6U) * 0x9E3779B97F4A7C15ULL >> 50U;
  return stores_[((group << 4U) + ((address >> 2U) & 15U) + ((address & 3U) << 16U)) % kStores];
}

void LoopDependences::load(std::uint64_t address, bool updates) {
  const Store& store = place_of(address);
  if (store.address != address) return;
  for (const Running& one : running_) {
    if (store.time <= one.begun) return;
    if (store.time > one.iteration) continue;
    Carried& carried = seen_[one.loop].carried;
    carried = std::max(carried, updates ? Carried::reduction : Carried::value);
    return;
  }
}

void LoopDependences::store(std::uint64_t address, std::uint64_t bytes) {
  ++time_;
  place_of(address) = {address, time_};
  for (std::uint64_t at = address + 4; at < address + bytes; at += 4) place_of(at) = {at, time_};
}

// Iterations of a loop each time that it runs, as the mean; 1 if two in a row were never seen.
double LoopDependences::threads_of(std::uint32_t loop,
                                   const std::vector<std::uint64_t>& runs) const {
  const Seen& seen = seen_[loop];
  if (seen.iterations <= seen.runs) return 1;
  std::uint64_t repeated = 0;
  for (const std::uint32_t latch : loops_[loop].latches) repeated += runs[latch];
  const std::uint64_t headers = runs[loops_[loop].header];
  if (repeated > 0 && headers > repeated)
    return static_cast<double>(repeated) / static_cast<double>(headers - repeated);
  // The header may run once more than the body.
  return static_cast<double>(seen.iterations) / static_cast<double>(seen.runs) - 1;
}

// How the operations of blocks in that loop could run.
Iterations LoopDependences::judge_loop(std::uint32_t loop,
                                       const std::vector<std::uint64_t>& runs) const {
  double independent = 1;
  double together = 1;  // with reductions
  bool dependent = false;
  for (std::size_t left = loops_.size(); loop != Loop::kNone && left > 0; --left) {
    const Carried carried = seen_[loop].carried;
    dependent = dependent || carried == Carried::value;
    const double threads = std::max(1.0, threads_of(loop, runs));
    if (carried != Carried::value) together *= threads;
    if (carried == Carried::nothing) independent *= threads;
    const std::uint32_t function = blocks_[loops_[loop].header].function;
    loop = loops_[loop].parent != Loop::kNone ? loops_[loop].parent : callers_[function];
  }
  if (independent >= kLeastParallel) return Iterations::independent;
  if (together >= kLeastParallel) return Iterations::reduction;
  return dependent ? Iterations::dependent : Iterations::unknown;
}

Iterations LoopDependences::judge(const std::vector<std::uint64_t>& runs,
                                  const std::vector<std::uint64_t>& operations) const {
  double all = 0;
  double by_kind[4] = {0, 0, 0, 0};
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::uint32_t loop =
        blocks_[b].loop != Loop::kNone ? blocks_[b].loop : callers_[blocks_[b].function];
    const double count = static_cast<double>(runs[b]) * static_cast<double>(operations[b]);
    all += count;
    by_kind[static_cast<std::size_t>(judge_loop(loop, runs))] += count;
  }
  if (by_kind[3] > kMostSerial * all) return Iterations::dependent;
  if (by_kind[1] >= kMostOfIt * all && all > 0) return Iterations::independent;
  if (by_kind[1] + by_kind[2] >= kMostOfIt * all && all > 0) return Iterations::reduction;
  return Iterations::unknown;
}

}  // namespace idletune::offload
