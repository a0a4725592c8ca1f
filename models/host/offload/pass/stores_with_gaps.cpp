#include "models/host/offload/pass/stores_with_gaps.hpp"

#include <cstdlib>
#include <optional>
#include <vector>

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace idletune::offload {
namespace {

using llvm::dyn_cast;
using llvm::SCEV;

constexpr std::int64_t kLargestStep = 4096;

struct Written {
  const llvm::Instruction* store = nullptr;
  const llvm::Loop* loop = nullptr;
  const SCEV* address = nullptr;
  std::uint64_t bytes = 0;
};

// From one iteration of `loop` to the next, if nothing wraps around; none where nobody knows.
std::optional<std::int64_t> step_of(const SCEV* expression, const llvm::Loop& loop,
                                    llvm::ScalarEvolution& evolution) {
  if (evolution.isLoopInvariant(expression, &loop)) return 0;
  if (const auto* carried = dyn_cast<llvm::SCEVAddRecExpr>(expression)) {
    if (carried->getLoop() != &loop) return step_of(carried->getStart(), loop, evolution);
    const auto* step = dyn_cast<llvm::SCEVConstant>(carried->getOperand(1));
    if (step == nullptr) return {};
    return step->getAPInt().getSExtValue();
  }
  if (const auto* cast = dyn_cast<llvm::SCEVCastExpr>(expression)) {
    return step_of(cast->getOperand(), loop, evolution);
  }
  const auto* several = dyn_cast<llvm::SCEVNAryExpr>(expression);
  if (several == nullptr) return {};
  const auto* factor = dyn_cast<llvm::SCEVConstant>(several->getOperand(0));
  if (llvm::isa<llvm::SCEVMulExpr>(several) && several->getNumOperands() == 2 && factor) {
    const auto step = step_of(several->getOperand(1), loop, evolution);
    if (!step || std::abs(*step) > kLargestStep) return {};
    const llvm::APInt& by = factor->getAPInt();
    if (by.abs().ugt(kLargestStep)) return {};
    return *step * by.getSExtValue();
  }
  std::int64_t sum = 0;
  for (const SCEV* operand : several->operands()) {
    const auto step = step_of(operand, loop, evolution);
    if (!step || (*step != 0 && !llvm::isa<llvm::SCEVAddExpr>(several))) return {};
    sum += *step;
  }
  return sum;
}

// Whether the stores of one loop that move with `one` write all of a step between them.
bool filled_together(const Written& one, std::uint64_t step, const std::vector<Written>& all,
                     llvm::ScalarEvolution& evolution) {
  std::set<std::uint64_t> written;
  for (const Written& other : all) {
    if (other.loop != one.loop) continue;
    const auto* apart =
        dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(other.address, one.address));
    if (apart == nullptr) continue;
    for (std::uint64_t i = 0; i < std::min(other.bytes, step); ++i) {
      const std::int64_t at = apart->getAPInt().getSExtValue() + static_cast<std::int64_t>(i);
      const auto around = static_cast<std::int64_t>(step);
      written.insert(static_cast<std::uint64_t>((at % around + around) % around));
    }
  }
  return written.size() == step;
}

bool leaves_gaps(const Written& one, const std::vector<Written>& all,
                 llvm::ScalarEvolution& evolution) {
  for (const llvm::Loop* loop = one.loop; loop != nullptr; loop = loop->getParentLoop()) {
    const std::int64_t signed_step = step_of(one.address, *loop, evolution).value_or(0);
    const auto step = static_cast<std::uint64_t>(std::abs(signed_step));
    if (step == 0 || std::abs(signed_step) > kLargestStep) continue;
    if (step <= one.bytes || filled_together(one, step, all, evolution)) return false;
  }
  return true;
}

}  // namespace

std::set<const llvm::Instruction*> stores_with_gaps(const llvm::Function& function,
                                                    const llvm::LoopInfo& loops,
                                                    llvm::ScalarEvolution& evolution) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<Written> stores;
  std::set<const llvm::Instruction*> result;
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      if (const auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
        const auto* pointer = store->getPointerOperand();
        stores.push_back({store, loops.getLoopFor(&block),
                          evolution.getSCEV(const_cast<llvm::Value*>(pointer)),
                          layout.getTypeStoreSize(store->getValueOperand()->getType())});
      } else if (llvm::isa<llvm::AtomicRMWInst>(instruction) ||
                 llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
        result.insert(&instruction);
      }
    }
  }
  for (const Written& store : stores) {
    if (leaves_gaps(store, stores, evolution)) result.insert(store.store);
  }
  return result;
}

}  // namespace idletune::offload
