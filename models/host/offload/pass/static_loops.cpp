#include "models/host/offload/pass/static_loops.hpp"

#include <llvm/ADT/Triple.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace idletune::offload {
namespace {

using llvm::dyn_cast;
using llvm::isa;
using llvm::SCEV;

class Evaluation {
 public:
  Evaluation(const StaticFunction& function, const std::vector<Number>& values,
             const LoopPasses& passes, const llvm::ScalarEvolution& evolution)
      : function_(function), values_(values), passes_(passes), evolution_(evolution) {}

  Number of(const SCEV* expression) const {
    const auto bits = static_cast<unsigned>(evolution_.getTypeSizeInBits(expression->getType()));
    if (bits > 64) return {};
    Number result = uncut(expression);
    if (bits < 64) result.bits &= (std::uint64_t{1} << bits) - 1;
    return result;
  }

 private:
  Number uncut(const SCEV* expression) const {
    if (const auto* constant = dyn_cast<llvm::SCEVConstant>(expression)) {
      return known_number(constant->getAPInt().getZExtValue());
    }
    if (const auto* value = dyn_cast<llvm::SCEVUnknown>(expression)) {
      return values_[function_.place_of(value->getValue())];
    }
    if (const auto* carried = dyn_cast<llvm::SCEVAddRecExpr>(expression))
      return of_carried(*carried);
    if (const auto* cast = dyn_cast<llvm::SCEVCastExpr>(expression)) {
      const Number from = of(cast->getOperand(0));
      if (!isa<llvm::SCEVSignExtendExpr>(cast)) return from;
      const auto unused =
          static_cast<unsigned>(64 - evolution_.getTypeSizeInBits(cast->getOperand(0)->getType()));
      return {static_cast<std::uint64_t>(static_cast<std::int64_t>(from.bits << unused) >> unused),
              from.known};
    }
    if (const auto* quotient = dyn_cast<llvm::SCEVUDivExpr>(expression)) {
      const Number above = of(quotient->getLHS()), below = of(quotient->getRHS());
      if (!above.known || !below.known || below.bits == 0) return {};
      return known_number(above.bits / below.bits);
    }
    if (const auto* several = dyn_cast<llvm::SCEVNAryExpr>(expression)) return of_several(*several);
    return {};
  }

  Number of_carried(const llvm::SCEVAddRecExpr& carried) const {
    const auto passes = passes_.find(carried.getLoop());
    if (!carried.isAffine() || passes == passes_.end()) return {};
    const Number start = of(carried.getOperand(0)), step = of(carried.getOperand(1));
    return {start.bits + passes->second * step.bits, start.known && step.known};
  }

  Number of_several(const llvm::SCEVNAryExpr& expression) const {
    Number result = of(expression.getOperand(0));
    const auto bits = static_cast<unsigned>(evolution_.getTypeSizeInBits(expression.getType()));
    const auto less = [&](std::uint64_t a, std::uint64_t b, bool is_signed) {
      const llvm::APInt x(bits, a), y(bits, b);
      return is_signed ? x.slt(y) : x.ult(y);
    };
    for (unsigned i = 1; i < expression.getNumOperands(); ++i) {
      const Number next = of(expression.getOperand(i));
      result.known = result.known && next.known;
      switch (expression.getSCEVType()) {
        case llvm::scAddExpr: result.bits += next.bits; break;
        case llvm::scMulExpr: result.bits *= next.bits; break;
        case llvm::scUMaxExpr:
        case llvm::scSMaxExpr:
          if (less(result.bits, next.bits, isa<llvm::SCEVSMaxExpr>(expression))) {
            result.bits = next.bits;
          }
          break;
        case llvm::scUMinExpr:
        case llvm::scSMinExpr:
          if (less(next.bits, result.bits, isa<llvm::SCEVSMinExpr>(expression))) {
            result.bits = next.bits;
          }
          break;
        default: return {};
      }
    }
    return result;
  }

  const StaticFunction& function_;
  const std::vector<Number>& values_;
  const LoopPasses& passes_;
  const llvm::ScalarEvolution& evolution_;
};

}  // namespace

StaticLoops::StaticLoops(const StaticFunction& function)
    : function_(function),
      tree_(function.function()),
      loops_(tree_),
      assumptions_(function.function()),
      library_names_(llvm::Triple(function.function().getParent()->getTargetTriple())),
      library_(library_names_),
      evolution_(function.function(), library_, assumptions_, tree_, loops_),
      gaps_(stores_with_gaps(function.function(), loops_, evolution_)) {
  for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
    EvenLoop even;
    if (describe(*loop, even)) even_[loop->getHeader()] = std::move(even);
  }
}

const EvenLoop* StaticLoops::at(const llvm::BasicBlock* head) const {
  const auto found = even_.find(head);
  return found == even_.end() ? nullptr : &found->second;
}

Number StaticLoops::evaluate(const SCEV* expression, const std::vector<Number>& values,
                             const LoopPasses& passes) const {
  return Evaluation(function_, values, passes, evolution_).of(expression);
}

bool StaticLoops::is_even(const SCEV* expression, const llvm::Loop& loop) {
  if (evolution_.isLoopInvariant(expression, &loop)) return true;
  const auto* carried = dyn_cast<llvm::SCEVAddRecExpr>(expression);
  return carried != nullptr && carried->getLoop() == &loop && carried->isAffine();
}

bool StaticLoops::describe(const llvm::Loop& loop, EvenLoop& even) {
  even.loop = &loop;
  const llvm::BasicBlock* leaves = loop.getExitingBlock();
  if (!loop.getSubLoops().empty() || leaves == nullptr || loop.getLoopLatch() == nullptr) {
    return false;
  }
  even.leaves = leaves;
  even.passes = evolution_.getBackedgeTakenCount(&loop);
  if (isa<llvm::SCEVCouldNotCompute>(even.passes) || !describe_blocks(loop, even)) return false;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    auto* value = const_cast<llvm::PHINode*>(&phi);
    const SCEV* carried =
        evolution_.isSCEVable(phi.getType()) ? evolution_.getSCEV(value) : nullptr;
    if (carried != nullptr && !is_even(carried, loop)) carried = nullptr;
    even.carried.emplace_back(function_.place_of(&phi), carried);
  }
  return true;
}

// From its head through one block after the other back to it.
bool StaticLoops::describe_blocks(const llvm::Loop& loop, EvenLoop& even) {
  const llvm::BasicBlock* block = loop.getHeader();
  do {
    if (!describe_block(*block, even)) return false;
    const llvm::BasicBlock* next = nullptr;
    const llvm::Instruction* end = block->getTerminator();
    if (!isa<llvm::BranchInst>(end)) return false;
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      if (!loop.contains(end->getSuccessor(i))) continue;
      if (next != nullptr) return false;
      next = end->getSuccessor(i);
      if (block == even.leaves) even.stays = i;
    }
    block = next;
  } while (block != nullptr && block != loop.getHeader() &&
           even.blocks.size() < loop.getNumBlocks());
  return block == loop.getHeader();
}

bool StaticLoops::describe_block(const llvm::BasicBlock& block, EvenLoop& even) {
  const StaticBlock& described = function_.block(&block);
  even.blocks.push_back(&described);
  even.operations += described.operations;
  for (const Step& step : described.steps) {
    llvm::Instruction& instruction = *step.instruction;
    if (isa<llvm::AtomicRMWInst>(instruction) || isa<llvm::AtomicCmpXchgInst>(instruction) ||
        isa<llvm::MemIntrinsic>(instruction)) {
      return false;
    }
    const auto* call = dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr &&
        (call->getCalledFunction() == nullptr || !call->getCalledFunction()->isDeclaration())) {
      return false;
    }
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr) continue;
    const SCEV* address = evolution_.getSCEV(pointer);
    if (!is_even(address, *even.loop)) return false;
    even.accesses.push_back(
        {address, isa<llvm::StoreInst>(instruction), leaves_gaps(&instruction)});
  }
  return true;
}

}  // namespace idletune::offload
