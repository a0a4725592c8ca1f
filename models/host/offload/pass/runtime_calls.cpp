#include "models/host/offload/pass/runtime_calls.hpp"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include "models/host/offload/runtime/runtime.hpp"

namespace idletune::offload {
namespace {

using llvm::BasicBlock;
using llvm::IRBuilder;

llvm::GlobalVariable* shared(llvm::Module& module, llvm::Type* type, const char* name) {
  if (llvm::GlobalVariable* before = module.getNamedGlobal(name)) return before;
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

// void name(i8* address, i64* last): calls the others where the address's block is not the last
// one.
llvm::Function* look_near(llvm::Module& module, const char* name,
                          const std::vector<llvm::Function*>& others) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(context),
      {llvm::Type::getInt8PtrTy(context), llvm::Type::getInt64PtrTy(context)}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  auto* look = BasicBlock::Create(context, "", function);
  auto* other = BasicBlock::Create(context, "", function);
  auto* end = BasicBlock::Create(context, "", function);
  llvm::Value *address = function->getArg(0), *last = function->getArg(1);
  IRBuilder<> builder(look);
  llvm::Value* block = builder.CreateLShr(builder.CreatePtrToInt(address, word), 7);
  builder.CreateCondBr(builder.CreateICmpEQ(builder.CreateLoad(word, last), block), end, other,
                       llvm::MDBuilder(context).createBranchWeights(30, 1));
  builder.SetInsertPoint(other);
  builder.CreateStore(block, last);
  for (llvm::Function* one : others) builder.CreateCall(one, {address});
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return function;
}

// void idletune.decide(i8* last, i8* kept, i8 way, i32 block): tells that a branch goes another way
// than `last`, and keeps which.
llvm::Function* decide_then_call(llvm::Module& module, llvm::FunctionCallee turn) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* byte = llvm::Type::getInt8Ty(context);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {llvm::Type::getInt8PtrTy(context), llvm::Type::getInt8PtrTy(context),
                               byte, llvm::Type::getInt32Ty(context)},
                              false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "idletune.decide", module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  auto* look = BasicBlock::Create(context, "", function);
  auto* other = BasicBlock::Create(context, "", function);
  auto* end = BasicBlock::Create(context, "", function);
  IRBuilder<> builder(look);
  llvm::Value* same =
      builder.CreateICmpEQ(builder.CreateLoad(byte, function->getArg(0)), function->getArg(2));
  builder.CreateCondBr(same, end, other, llvm::MDBuilder(context).createBranchWeights(20, 1));
  builder.SetInsertPoint(other);
  builder.CreateStore(function->getArg(2), function->getArg(0));
  builder.CreateStore(function->getArg(2), function->getArg(1));
  builder.CreateCall(turn, {function->getArg(3)});
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return function;
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
  write_with_gaps = look_then_call(module, "idletune.write_with_gaps", "idletune_recent_writes",
                                   "idletune_first_write_with_gaps");
  read_near = look_near(module, "idletune.read_near", {read});
  write_near = look_near(module, "idletune.write_near", {write});
  write_near_with_gaps = look_near(module, "idletune.write_near_with_gaps", {write_with_gaps});
  update_near = look_near(module, "idletune.update_near", {read, write});
}

}  // namespace idletune::offload
