#include "models/offload/pass/instrument.hpp"

#include <set>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "models/offload/runtime/runtime.hpp"

namespace idletune::offload {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::IRBuilder;

llvm::GlobalVariable* shared(llvm::Module& module, llvm::Type* type, const char* name) {
  auto* variable = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage,
                                            nullptr, name);
  variable->setDSOLocal(true);
  return variable;
}

// void name(i8* address): calls `missed` where the address's block is not among the recent ones.
llvm::Function* look_then_call(llvm::Module& module, const char* name, const char* table,
                               const char* missed) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::Type::getInt8PtrTy(context);
  auto* recent = shared(module, llvm::ArrayType::get(word, kIdletuneRecent), table);
  const llvm::FunctionCallee call =
      module.getOrInsertFunction(missed, llvm::Type::getVoidTy(context), pointer);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  auto* look = BasicBlock::Create(context, "", function);
  auto* miss = BasicBlock::Create(context, "", function);
  auto* end = BasicBlock::Create(context, "", function);
  IRBuilder<> builder(look);
  llvm::Value* block = builder.CreateLShr(builder.CreatePtrToInt(function->getArg(0), word), 7);
  llvm::Value* slot = builder.CreateAnd(block, kIdletuneRecent - 1);
  llvm::Value* place =
      builder.CreateInBoundsGEP(recent->getValueType(), recent, {builder.getInt64(0), slot});
  builder.CreateCondBr(builder.CreateICmpEQ(builder.CreateLoad(word, place), block), end, miss,
                       llvm::MDBuilder(context).createBranchWeights(2000, 1));
  builder.SetInsertPoint(miss);
  builder.CreateCall(call, {function->getArg(0)});
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return function;
}

// void idletune.decide(i8* last, i8 way, i32 block): tells that a branch goes another way.
llvm::Function* decide_then_call(llvm::Module& module, llvm::FunctionCallee turn) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* byte = llvm::Type::getInt8Ty(context);
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(context),
      {llvm::Type::getInt8PtrTy(context), byte, llvm::Type::getInt32Ty(context)}, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "idletune.decide", module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  auto* look = BasicBlock::Create(context, "", function);
  auto* other = BasicBlock::Create(context, "", function);
  auto* end = BasicBlock::Create(context, "", function);
  IRBuilder<> builder(look);
  llvm::Value* same =
      builder.CreateICmpEQ(builder.CreateLoad(byte, function->getArg(0)), function->getArg(1));
  builder.CreateCondBr(same, end, other, llvm::MDBuilder(context).createBranchWeights(20, 1));
  builder.SetInsertPoint(other);
  builder.CreateStore(function->getArg(1), function->getArg(0));
  builder.CreateCall(turn, {function->getArg(2)});
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return function;
}

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
  Doubling(FunctionCode& code, const Program& program, const RuntimeCalls& calls)
      : code_(code), program_(program), calls_(calls) {}

  void run(const BlockVariables& variables, bool outermost);

 private:
  void find_crossings(bool outermost);
  void look_at_accesses();
  void look_at_decisions(llvm::GlobalVariable& last);
  void count(llvm::GlobalVariable& counts);
  void free_the_entry();
  void make_telling_half();
  BasicBlock* make_crossing(BasicBlock* block);
  void redirect_to_crossings();
  std::uint64_t operations_of(BasicBlock* block) {
    return program_.blocks[code_.number[block]].operations;
  }

  FunctionCode& code_;
  const Program& program_;
  const RuntimeCalls& calls_;
  BasicBlock* places_ = nullptr;  // holds the function's variables, and is not doubled
  llvm::ValueToValueMapTy telling_;
  // Where control may change sides: how many operations come before the next such place; 0: does
  // not count.
  std::map<BasicBlock*, std::uint64_t> crossings_;
};

void Doubling::find_crossings(bool outermost) {
  llvm::DominatorTree tree(*code_.function);
  llvm::LoopInfo loops(tree);
  std::uint64_t outside = 1;
  for (BasicBlock* block : code_.blocks) {
    if (const llvm::Loop* loop = loops.getLoopFor(block)) {
      crossings_[loop->getHeader()] += operations_of(block);
    } else {
      outside += operations_of(block);
    }
  }
  for (BasicBlock* block : code_.continuations) crossings_.emplace(block, 0);
  crossings_.emplace(code_.blocks.front(), outermost ? outside : 0);
}

void Doubling::look_at_accesses() {
  for (Instruction* access : code_.accesses) {
    const bool writes = llvm::isa<llvm::StoreInst>(access) ||
                        llvm::isa<llvm::AtomicRMWInst>(access) ||
                        llvm::isa<llvm::AtomicCmpXchgInst>(access);
    llvm::Value* pointer = const_cast<llvm::Value*>(llvm::isa<llvm::LoadInst>(access) ||
                                                            llvm::isa<llvm::StoreInst>(access)
                                                        ? llvm::getLoadStorePointerOperand(access)
                                                        : access->getOperand(0));
    IRBuilder<> builder(access);
    builder.CreateCall(writes ? calls_.write : calls_.read,
                       {builder.CreatePointerCast(pointer, builder.getInt8PtrTy())});
  }
}

// Which successor it will be, from 1 on; null where there is no decision.
llvm::Value* chosen(IRBuilder<>& builder, Instruction& end) {
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end)) {
    if (branch->isUnconditional()) return nullptr;
    return builder.CreateAdd(builder.CreateZExt(branch->getCondition(), builder.getInt8Ty()),
                             builder.getInt8(1));
  }
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

void Doubling::look_at_decisions(llvm::GlobalVariable& last) {
  for (BasicBlock* block : code_.blocks) {
    IRBuilder<> builder(block->getTerminator());
    llvm::Value* way = chosen(builder, *block->getTerminator());
    if (way == nullptr) continue;
    llvm::Value* place =
        builder.CreateConstInBoundsGEP2_64(last.getValueType(), &last, 0, code_.number[block]);
    builder.CreateCall(calls_.decide, {place, way, builder.getInt32(code_.number[block])});
  }
}

void Doubling::count(llvm::GlobalVariable& counts) {
  for (BasicBlock* block : code_.blocks) {
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

void Doubling::make_telling_half() {
  std::vector<BasicBlock*> copies;
  for (BasicBlock* block : code_.blocks) {
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
    auto* copy = llvm::cast<Instruction>(&*telling_[access]);
    // Behind the call of read or write, which has the address as a pointer to bytes.
    auto* look = llvm::cast<llvm::CallBase>(copy->getPrevNode());
    IRBuilder<> builder(look);
    builder.CreateCall(calls_.access, {look->getArgOperand(0)});
  }
}

BasicBlock* Doubling::make_crossing(BasicBlock* block) {
  llvm::LLVMContext& context = block->getContext();
  auto* crossing = BasicBlock::Create(context, "crossing", code_.function, block);
  IRBuilder<> builder(crossing);
  llvm::MDBuilder metadata(context);
  if (const std::uint64_t operations = crossings_[block]; operations > 0) {
    auto* change = BasicBlock::Create(context, "change", code_.function);
    auto* on = BasicBlock::Create(context, "crossing", code_.function, block);
    llvm::Type* word = builder.getInt64Ty();
    llvm::Value* left =
        builder.CreateSub(builder.CreateLoad(word, calls_.countdown), builder.getInt64(operations));
    builder.CreateStore(left, calls_.countdown);
    builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt64(0)), change, on,
                         metadata.createBranchWeights(1, 100000));
    builder.SetInsertPoint(change);
    builder.CreateCall(calls_.change);
    builder.CreateBr(on);
    builder.SetInsertPoint(on);
  }
  llvm::Value* tracing = builder.CreateICmpNE(
      builder.CreateLoad(builder.getInt8Ty(), calls_.tracing), builder.getInt8(0));
  builder.CreateCondBr(tracing, llvm::cast<BasicBlock>(&*telling_[block]), block,
                       metadata.createBranchWeights(1, 1000));
  return crossing;
}

void Doubling::redirect_to_crossings() {
  std::map<BasicBlock*, BasicBlock*> to;
  std::vector<BasicBlock*> from{places_};
  for (BasicBlock* block : code_.blocks) {
    from.push_back(block);
    from.push_back(llvm::cast<BasicBlock>(&*telling_[block]));
  }
  for (const auto& [block, operations] : crossings_) {
    BasicBlock* crossing = make_crossing(block);
    to[block] = crossing;
    to[llvm::cast<BasicBlock>(&*telling_[block])] = crossing;
  }
  for (BasicBlock* block : from) {
    Instruction* end = block->getTerminator();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      const auto found = to.find(end->getSuccessor(i));
      if (found != to.end()) end->setSuccessor(i, found->second);
    }
  }
}

void Doubling::run(const BlockVariables& variables, bool outermost) {
  find_crossings(outermost);
  values_to_memory(*code_.function);
  look_at_accesses();
  look_at_decisions(*variables.last);
  count(*variables.counts);
  free_the_entry();
  make_telling_half();
  redirect_to_crossings();
}

}  // namespace

RuntimeCalls::RuntimeCalls(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  llvm::Type* pointer = llvm::Type::getInt8PtrTy(context);
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  change = module.getOrInsertFunction("idletune_switch", none);
  block = module.getOrInsertFunction("idletune_block", none, number);
  access = module.getOrInsertFunction("idletune_access", none, pointer);
  bulk = module.getOrInsertFunction("idletune_bulk", none, pointer, pointer, word, number, number);
  turn = module.getOrInsertFunction("idletune_turn", none, number);
  for (llvm::FunctionCallee callee : {change, block, access, bulk, turn}) {
    llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  }
  countdown = shared(module, word, "idletune_countdown");
  tracing = shared(module, llvm::Type::getInt8Ty(context), "idletune_tracing");
  read = look_then_call(module, "idletune.read", "idletune_recent_reads", "idletune_first_read");
  decide = decide_then_call(module, turn);
  write =
      look_then_call(module, "idletune.write", "idletune_recent_writes", "idletune_first_write");
}

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

void instrument(FunctionCode& code, const Program& program, const RuntimeCalls& calls,
                const BlockVariables& variables, bool outermost) {
  Doubling(code, program, calls).run(variables, outermost);
  variables_to_registers(*code.function);
}

}  // namespace idletune::offload
