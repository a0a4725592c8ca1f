#include "models/host/offload/pass/instrument.hpp"

#include <algorithm>
#include <set>

#include <llvm/ADT/Triple.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "models/host/offload/pass/stores_with_gaps.hpp"

namespace idletune::offload {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::IRBuilder;

// Afterwards no value but a place on the stack is used outside of its block.
void values_to_memory(llvm::Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  Instruction* point = &*entry.getFirstInsertionPt();
  while (llvm::isa<llvm::AllocaInst>(point)) point = point->getNextNode();
  std::vector<Instruction*> escaping;
  std::vector<llvm::PHINode*> phis;
  for (BasicBlock& block : function) {
    for (Instruction& instruction : block) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) phis.push_back(phi);
      if (llvm::isa<llvm::AllocaInst>(instruction) && &block == &entry) continue;
      for (const llvm::User* user : instruction.users()) {
        const auto* used = llvm::cast<Instruction>(user);
        if (used->getParent() == &block && !llvm::isa<llvm::PHINode>(used)) continue;
        escaping.push_back(&instruction);
        break;
      }
    }
  }
  // New places come before what is there, so that they stay at the head of the entry.
  auto* anchor = new llvm::BitCastInst(
      llvm::Constant::getNullValue(llvm::Type::getInt32Ty(function.getContext())),
      llvm::Type::getInt32Ty(function.getContext()), "", point);
  for (Instruction* instruction : escaping) {
    llvm::DemoteRegToStack(*instruction, false, anchor);
  }
  for (llvm::PHINode* phi : phis) llvm::DemotePHIToStack(phi, anchor);
  anchor->eraseFromParent();
}

class Doubling {
 public:
  Doubling(FunctionCode& code, Program& program, const RuntimeCalls& calls)
      : code_(code), program_(program), calls_(calls) {}

  void run(const BlockVariables& variables, bool outermost);

 private:
  void share_counts();
  void find_crossings(bool outermost);
  void find_near_accesses();
  llvm::AllocaInst* variable(llvm::Type* type, llvm::Value* first);
  void look_at_accesses();
  void look_at_decisions(llvm::GlobalVariable& last);
  void look_at_branch(llvm::BranchInst& branch, llvm::Value* last, llvm::Value* kept);
  void count(llvm::GlobalVariable& counts);
  void free_the_entry();
  void count_down_locally();
  void make_telling_half();
  llvm::Value* telling(llvm::Value* value) {
    llvm::Value* copy = telling_.lookup(value);
    return copy != nullptr ? copy : value;
  }
  void count_down(IRBuilder<>& builder, std::uint64_t operations, BasicBlock* change,
                  BasicBlock* on);
  BasicBlock* make_change(BasicBlock* on);
  void make_crossing(BasicBlock* block);
  void redirect(BasicBlock* from, BasicBlock* original);
  void redirect_to_crossings();
  bool is_continuation(BasicBlock* block) const {
    return std::find(code_.continuations.begin(), code_.continuations.end(), block) !=
           code_.continuations.end();
  }
  std::uint64_t operations_of(BasicBlock* block) {
    return program_.blocks[code_.number[block]].operations;
  }

  FunctionCode& code_;
  Program& program_;
  const RuntimeCalls& calls_;
  BasicBlock* places_ = nullptr;  // holds the function's variables, and is not doubled
  llvm::ValueToValueMapTy telling_;
  std::map<Instruction*, llvm::Value*> address_;  // of the accesses, as a pointer to bytes
  // Accesses in loops that mostly stay in the block where they were the last time; and stores right
  // behind loads of the same address, with those.
  std::set<Instruction*> near_;
  std::set<const Instruction*> gaps_;
  std::map<Instruction*, Instruction*> loaded_before_;
  std::set<BasicBlock*> in_loops_;
  // Loops without others and without calls, by their first block.
  std::map<BasicBlock*, std::set<BasicBlock*>> tight_;
  std::map<BasicBlock*, BasicBlock*> edges_;  // on the way from a branch; and whose it is
  llvm::Value* left_ = nullptr;               // operations until the next change
  // By where control wants to go, in either half: where it goes instead, into a loop from outside
  // (or behind a call, or at the begin), and at a tight loop's end.
  std::map<BasicBlock*, BasicBlock*> into_, again_;
  std::map<BasicBlock*, const std::set<BasicBlock*>*> inside_;  // what is in a tight loop
  // Where control may change sides: how many operations come before the next such place; 0: does
  // not count.
  std::map<BasicBlock*, std::uint64_t> crossings_;
};

void Doubling::share_counts() {
  for (BasicBlock* block : code_.blocks) {
    std::vector<std::uint32_t>& next = program_.blocks[code_.number[block]].next;
    for (BasicBlock* successor : llvm::successors(block)) {
      if (successor->getSinglePredecessor() != block || is_continuation(successor)) {
        next.clear();
        break;
      }
      next.push_back(code_.number[successor]);
    }
  }
}

void Doubling::find_crossings(bool outermost) {
  llvm::DominatorTree tree(*code_.function);
  llvm::LoopInfo loops(tree);
  std::uint64_t outside = 1;
  for (BasicBlock* block : code_.blocks) {
    if (const llvm::Loop* loop = loops.getLoopFor(block)) {
      crossings_[loop->getHeader()] += operations_of(block);
      in_loops_.insert(block);
      if (loop->isInnermost()) tight_[loop->getHeader()].insert(block);
    } else {
      outside += operations_of(block);
    }
  }
  for (BasicBlock* block : code_.continuations) {
    crossings_.emplace(block, 0);
    if (const llvm::Loop* loop = loops.getLoopFor(block)) tight_.erase(loop->getHeader());
  }
  crossings_.emplace(code_.blocks.front(), outermost ? outside : 0);
}

// Steps of at most half a block, or none, from one iteration to the next.
bool stays_near(const llvm::SCEV* address, const llvm::Loop& loop,
                llvm::ScalarEvolution& evolution) {
  if (evolution.isLoopInvariant(address, &loop)) return true;
  const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(address);
  if (steps == nullptr || steps->getLoop() != &loop) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(steps->getStepRecurrence(evolution));
  return step != nullptr && step->getAPInt().abs().ule(64);
}

void Doubling::find_near_accesses() {
  llvm::Function& function = *code_.function;
  llvm::DominatorTree tree(function);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(function);
  const llvm::TargetLibraryInfoImpl names(llvm::Triple(function.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::ScalarEvolution evolution(function, library, assumptions, tree, loops);
  gaps_ = stores_with_gaps(function, loops, evolution);
  const BasicBlock* block = nullptr;
  std::map<const llvm::Value*, Instruction*> loads;  // of the block, by address
  for (Instruction* access : code_.accesses) {
    if (access->getParent() != block) loads.clear();
    block = access->getParent();
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(access);
    const llvm::Loop* loop = loops.getLoopFor(block);
    if (pointer == nullptr || loop == nullptr) continue;
    if (!stays_near(evolution.getSCEV(const_cast<llvm::Value*>(pointer)), *loop, evolution)) {
      continue;
    }
    near_.insert(access);
    const auto load = loads.find(pointer);
    if (llvm::isa<llvm::LoadInst>(access)) {
      loads.emplace(pointer, access);
    } else if (load != loads.end()) {
      loaded_before_.emplace(access, load->second);
    }
  }
}

// One that becomes a register.
llvm::AllocaInst* Doubling::variable(llvm::Type* type, llvm::Value* first) {
  auto* place = new llvm::AllocaInst(type, 0, "", &places_->front());
  new llvm::StoreInst(first, place, places_->getTerminator());
  return place;
}

void Doubling::look_at_accesses() {
  std::set<Instruction*> updated;
  for (const auto& [store, load] : loaded_before_) updated.insert(load);
  for (Instruction* access : code_.accesses) {
    const bool writes = !llvm::isa<llvm::LoadInst>(access);
    const bool updates = writes && !llvm::isa<llvm::StoreInst>(access);  // atomically
    const bool gaps = gaps_.count(access) != 0;
    llvm::Value* pointer = updates
                               ? access->getOperand(0)
                               : const_cast<llvm::Value*>(llvm::getLoadStorePointerOperand(access));
    IRBuilder<> builder(access);
    llvm::Value* address = builder.CreatePointerCast(pointer, builder.getInt8PtrTy());
    address_[access] = address;
    if (loaded_before_.count(access) != 0) continue;  // the load has looked for both
    if (near_.count(access) == 0) {
      if (!writes || updates) builder.CreateCall(calls_.read, {address});
      if (writes) builder.CreateCall(gaps ? calls_.write_with_gaps : calls_.write, {address});
      continue;
    }
    llvm::Value* last = variable(builder.getInt64Ty(), builder.getInt64(~std::uint64_t{0}));
    builder.CreateCall(updated.count(access) != 0 ? calls_.update_near
                       : gaps                     ? calls_.write_near_with_gaps
                       : writes                   ? calls_.write_near
                                                  : calls_.read_near,
                       {address, last});
  }
}

// Which successor of a switch it will be, from 1 on; null for anything else.
llvm::Value* chosen(IRBuilder<>& builder, Instruction& end) {
  auto* cases = llvm::dyn_cast<llvm::SwitchInst>(&end);
  if (cases == nullptr) return nullptr;
  std::map<BasicBlock*, std::uint8_t> numbers{{cases->getDefaultDest(), 1}};
  llvm::Value* number = builder.getInt8(1);
  for (const auto& one : cases->cases()) {
    // Beyond 255 ways some share a number.
    const auto next = static_cast<std::uint8_t>(numbers.size() % 255 + 1);
    const auto found = numbers.emplace(one.getCaseSuccessor(), next).first;
    number = builder.CreateSelect(builder.CreateICmpEQ(cases->getCondition(), one.getCaseValue()),
                                  builder.getInt8(found->second), number);
  }
  return number;
}

// On the way to each of its successors, where the other one need not be thought of.
void Doubling::look_at_branch(llvm::BranchInst& branch, llvm::Value* last, llvm::Value* kept) {
  const std::uint32_t number = code_.number[branch.getParent()];
  for (unsigned i = 0; i < 2; ++i) {
    auto* edge = BasicBlock::Create(branch.getContext(), "edge", code_.function);
    IRBuilder<> builder(edge);
    builder.CreateCall(
        calls_.decide,
        {last, kept, builder.getInt8(static_cast<std::uint8_t>(i + 1)), builder.getInt32(number)});
    builder.CreateBr(branch.getSuccessor(i));
    branch.setSuccessor(i, edge);
    edges_[edge] = branch.getParent();
  }
}

void Doubling::look_at_decisions(llvm::GlobalVariable& last) {
  for (BasicBlock* block : code_.blocks) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch != nullptr && branch->isUnconditional()) continue;
    IRBuilder<> builder(places_->getTerminator());
    llvm::Value* kept =
        builder.CreateConstInBoundsGEP2_64(last.getValueType(), &last, 0, code_.number[block]);
    if (branch != nullptr) {
      const bool often = in_loops_.count(block) != 0;
      llvm::Type* byte = builder.getInt8Ty();
      look_at_branch(*branch, often ? variable(byte, builder.CreateLoad(byte, kept)) : kept, kept);
      continue;
    }
    builder.SetInsertPoint(block->getTerminator());
    llvm::Value* way = chosen(builder, *block->getTerminator());
    if (way == nullptr) continue;
    builder.CreateCall(calls_.decide, {kept, kept, way, builder.getInt32(code_.number[block])});
  }
}

void Doubling::count(llvm::GlobalVariable& counts) {
  for (BasicBlock* block : code_.blocks) {
    if (!program_.blocks[code_.number[block]].next.empty()) continue;
    Instruction* first = &*block->getFirstInsertionPt();
    while (llvm::isa<llvm::AllocaInst>(first)) first = first->getNextNode();
    IRBuilder<> builder(first);
    llvm::Value* place =
        builder.CreateConstInBoundsGEP2_64(counts.getValueType(), &counts, 0, code_.number[block]);
    llvm::Type* word = builder.getInt64Ty();
    builder.CreateStore(builder.CreateAdd(builder.CreateLoad(word, place), builder.getInt64(1)),
                        place);
  }
}

void Doubling::free_the_entry() {
  BasicBlock* entry = code_.blocks.front();
  places_ = BasicBlock::Create(entry->getContext(), "places", code_.function, entry);
  for (auto next = entry->begin(); next != entry->end();) {
    Instruction& instruction = *next++;
    const auto* place = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (place != nullptr && llvm::isa<llvm::Constant>(place->getArraySize())) {
      instruction.moveBefore(*places_, places_->end());
    }
  }
  llvm::BranchInst::Create(entry, places_);
}

// While the function runs the countdown is its own, but for what it calls.
void Doubling::count_down_locally() {
  IRBuilder<> builder(places_->getTerminator());
  llvm::Type* word = builder.getInt64Ty();
  if (in_loops_.empty()) {
    left_ = calls_.countdown;
    return;
  }
  left_ = variable(word, builder.CreateLoad(word, calls_.countdown));
  const auto hand_back = [&](Instruction* before) {
    builder.SetInsertPoint(before);
    builder.CreateStore(builder.CreateLoad(word, left_), calls_.countdown);
  };
  for (BasicBlock* block : code_.blocks) {
    if (is_continuation(block)) hand_back(&*block->getSinglePredecessor()->getFirstInsertionPt());
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) hand_back(block->getTerminator());
  }
}

void Doubling::make_telling_half() {
  std::vector<BasicBlock*> copies;
  std::vector<BasicBlock*> all = code_.blocks;
  for (const auto& [edge, from] : edges_) all.push_back(edge);
  for (BasicBlock* block : all) {
    BasicBlock* copy = llvm::CloneBasicBlock(block, telling_, ".telling", code_.function);
    telling_[block] = copy;
    copies.push_back(copy);
  }
  for (BasicBlock* copy : copies) {
    for (Instruction& instruction : *copy) {
      llvm::RemapInstruction(&instruction, telling_,
                             llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    }
  }
  for (BasicBlock* block : code_.blocks) {
    auto* copy = llvm::cast<BasicBlock>(&*telling_[block]);
    IRBuilder<> builder(&*copy->getFirstInsertionPt());
    builder.CreateCall(calls_.block, {builder.getInt32(code_.number[block])});
  }
  for (Instruction* access : code_.accesses) {
    IRBuilder<> builder(llvm::cast<Instruction>(telling(access)));
    builder.CreateCall(calls_.access, {telling(address_[access])});
  }
}

void Doubling::count_down(IRBuilder<>& builder, std::uint64_t operations, BasicBlock* change,
                          BasicBlock* on) {
  llvm::Type* word = builder.getInt64Ty();
  llvm::Value* left =
      builder.CreateSub(builder.CreateLoad(word, left_), builder.getInt64(operations));
  builder.CreateStore(left, left_);
  builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt64(0)), change, on,
                       llvm::MDBuilder(on->getContext()).createBranchWeights(1, 100000));
}

// Tells that the countdown is over.
BasicBlock* Doubling::make_change(BasicBlock* on) {
  auto* change = BasicBlock::Create(on->getContext(), "change", code_.function);
  IRBuilder<> builder(change);
  llvm::Type* word = builder.getInt64Ty();
  builder.CreateStore(builder.CreateLoad(word, left_), calls_.countdown);
  builder.CreateCall(calls_.change);
  builder.CreateStore(builder.CreateLoad(word, calls_.countdown), left_);
  builder.CreateBr(on);
  return change;
}

// Where either half may be the right one from now on. A tight loop's next iteration stays in its
// half as long as nothing changes, and otherwise comes here: so every loop has one way in.
void Doubling::make_crossing(BasicBlock* block) {
  llvm::LLVMContext& context = block->getContext();
  auto* choice = BasicBlock::Create(context, "choice", code_.function, block);
  auto* crossing = BasicBlock::Create(context, "crossing", code_.function, choice);
  IRBuilder<> builder(choice);
  llvm::Value* tracing = builder.CreateICmpNE(
      builder.CreateLoad(builder.getInt8Ty(), calls_.tracing), builder.getInt8(0));
  builder.CreateCondBr(tracing, llvm::cast<BasicBlock>(telling(block)), block,
                       llvm::MDBuilder(context).createBranchWeights(1, 1000));
  const std::uint64_t operations = crossings_[block];
  builder.SetInsertPoint(crossing);
  if (is_continuation(block)) {
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), calls_.countdown), left_);
  }
  if (operations > 0) {
    count_down(builder, operations, make_change(choice), choice);
  } else {
    builder.CreateBr(choice);
  }
  into_[block] = into_[llvm::cast<BasicBlock>(telling(block))] = crossing;
  if (tight_.count(block) == 0) return;
  BasicBlock* change = make_change(choice);
  for (BasicBlock* half : {block, llvm::cast<BasicBlock>(telling(block))}) {
    again_[half] = BasicBlock::Create(context, "again", code_.function, half);
    builder.SetInsertPoint(again_[half]);
    count_down(builder, operations, change, half);
  }
}

// `original`: what `from` is or is a part of, in the half that does not tell.
void Doubling::redirect(BasicBlock* from, BasicBlock* original) {
  Instruction* end = from->getTerminator();
  for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
    BasicBlock* to = end->getSuccessor(i);
    const auto again = again_.find(to);
    const auto into = into_.find(to);
    if (again != again_.end() && inside_.at(to)->count(original) != 0) {
      end->setSuccessor(i, again->second);
    } else if (into != into_.end()) {
      end->setSuccessor(i, into->second);
    }
  }
}

void Doubling::redirect_to_crossings() {
  for (const auto& [block, operations] : crossings_) make_crossing(block);
  for (const auto& [block, loop] : tight_) {
    inside_[block] = inside_[llvm::cast<BasicBlock>(telling(block))] = &loop;
  }
  redirect(places_, places_);
  std::map<BasicBlock*, BasicBlock*> all = edges_;
  for (BasicBlock* block : code_.blocks) all[block] = block;
  for (const auto& [block, original] : all) {
    redirect(block, original);
    redirect(llvm::cast<BasicBlock>(telling(block)), original);
  }
}

void Doubling::run(const BlockVariables& variables, bool outermost) {
  share_counts();
  find_crossings(outermost);
  find_near_accesses();
  values_to_memory(*code_.function);
  free_the_entry();
  look_at_accesses();
  count(*variables.counts);
  count_down_locally();
  look_at_decisions(*variables.last);
  make_telling_half();
  redirect_to_crossings();
}

}  // namespace

void variables_to_registers(llvm::Function& function) {
  for (;;) {
    std::vector<llvm::AllocaInst*> places;
    for (BasicBlock& block : function) {
      for (Instruction& instruction : block) {
        auto* place = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        if (place != nullptr && llvm::isAllocaPromotable(place)) places.push_back(place);
      }
    }
    if (places.empty()) return;
    llvm::DominatorTree tree(function);
    llvm::PromoteMemToReg(places, tree);
  }
}

void instrument(FunctionCode& code, Program& program, const RuntimeCalls& calls,
                const BlockVariables& variables, bool outermost) {
  Doubling(code, program, calls).run(variables, outermost);
  variables_to_registers(*code.function);
}

}  // namespace idletune::offload
