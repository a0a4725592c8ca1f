// A plugin for clang 14 (-fpass-plugin): before anything is optimised, the regions of a module get
// copies that count and tell, and the functions themselves call those.
//
// What to do stands in a variable of the module, so that compilers need no options of ours:
//   const char idletune_profile_settings[] = "function=NAME;function=NAME;time=1;result=PATH;..."
// With time=1 regions are only timed; with static=1 nothing is changed, and the pass itself writes
// what a walk through the code says.
#include <cstdlib>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "models/host/offload/pass/instrument.hpp"
#include "models/host/offload/pass/prepare.hpp"
#include "models/host/offload/pass/region_code.hpp"
#include "models/host/offload/pass/static_profile.hpp"

namespace idletune::offload {
namespace {

using llvm::Function;

std::vector<std::string> settings(const std::string& text, const std::string& name) {
  std::vector<std::string> values;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    if (entry.compare(0, name.size() + 1, name + "=") == 0) {
      values.push_back(entry.substr(name.size() + 1));
    }
    begin = end + 1;
  }
  return values;
}

std::string text_of(const llvm::GlobalVariable& variable) {
  const auto* letters = llvm::dyn_cast<llvm::ConstantDataArray>(variable.getInitializer());
  return letters != nullptr && letters->isCString() ? letters->getAsCString().str() : "";
}

class Instrumentation {
 public:
  Instrumentation(llvm::Module& module, llvm::GlobalVariable& settings)
      : module_(module),
        settings_variable_(settings),
        settings_(text_of(settings)),
        calls_(module),
        timing_(!idletune::offload::settings(settings_, "time").empty()) {}

  void run();

 private:
  void profile_statically(const std::vector<FoundRegion>& found);
  struct Copied {
    Function* original = nullptr;
    Function* copy = nullptr;  // of the region itself
  };
  Copied copy_region(const FoundRegion& found);
  void finish_program(RegionCode& code);
  void call_for_copies(RegionCode& code, Function& copy);
  void add_registration(const Program& program, llvm::GlobalVariable& counts);
  void wrap(const Copied& copied, std::uint32_t number);
  void make_body(Function& wrapper, Function& copy, std::uint32_t number);
  llvm::FunctionCallee region_call(const char* name, bool has_frame);

  llvm::Module& module_;
  llvm::GlobalVariable& settings_variable_;
  std::string settings_;
  RuntimeCalls calls_;
  bool timing_;
  std::vector<llvm::Constant*> registrations_;
};

llvm::FunctionCallee Instrumentation::region_call(const char* name, bool has_frame) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  return has_frame
             ? module_.getOrInsertFunction(name, none, number, llvm::Type::getInt8PtrTy(context))
             : module_.getOrInsertFunction(name, none, number);
}

// Fills and large copies are told as a whole; they belong to no block.
void Instrumentation::call_for_copies(RegionCode& code, Function& copy) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<llvm::MemIntrinsic*> all;
  for (llvm::BasicBlock& block : copy) {
    for (llvm::Instruction& instruction : block) {
      if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) all.push_back(memory);
    }
  }
  for (llvm::MemIntrinsic* memory : all) {
    llvm::IRBuilder<> builder(memory);
    llvm::Type* pointer = builder.getInt8PtrTy();
    llvm::Value* to = builder.CreatePointerCast(memory->getRawDest(), pointer);
    llvm::Value* from = llvm::ConstantPointerNull::get(builder.getInt8PtrTy());
    std::uint32_t load = kNone;
    if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory)) {
      from = builder.CreatePointerCast(transfer->getRawSource(), pointer);
      load = code.bulk_operation(OperationKind::load);
    }
    const std::uint32_t store = code.bulk_operation(OperationKind::store);
    llvm::Value* bytes = builder.CreateZExtOrTrunc(memory->getLength(), builder.getInt64Ty());
    builder.CreateCall(calls_.bulk,
                       {to, from, bytes, builder.getInt32(load), builder.getInt32(store)});
  }
}

Instrumentation::Copied Instrumentation::copy_region(const FoundRegion& found) {
  const std::vector<Function*> copies = copy_functions(found);
  const Copied result{found.function, copies.front()};
  if (timing_) return result;
  RegionCode code(found.function->getName().str());
  for (Function* copy : copies) {
    const auto continuations = prepare(*copy, copies);
    code.add(*copy).continuations = continuations;
  }
  code.describe();
  for (Function* copy : copies) call_for_copies(code, *copy);
  finish_program(code);
  return result;
}

void Instrumentation::finish_program(RegionCode& code) {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt64Ty(module_.getContext()),
                                    code.program().blocks.size());
  auto* counts =
      new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                               llvm::ConstantAggregateZero::get(type), "idletune.counts");
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.getContext()),
                                     code.program().blocks.size());
  auto* last = new llvm::GlobalVariable(module_, bytes, false, llvm::GlobalValue::InternalLinkage,
                                        llvm::ConstantAggregateZero::get(bytes), "idletune.last");
  for (FunctionCode* function : code.functions()) {
    instrument(*function, code.program(), calls_, {counts, last},
               function == code.functions().front());
  }
  add_registration(code.program(), *counts);
}

void Instrumentation::add_registration(const Program& program, llvm::GlobalVariable& counts) {
  llvm::LLVMContext& context = module_.getContext();
  const std::vector<std::uint32_t> numbers = program.encode();
  llvm::Constant* words =
      llvm::ConstantDataArray::get(context, llvm::ArrayRef<std::uint32_t>(numbers));
  auto* table =
      new llvm::GlobalVariable(module_, words->getType(), true, llvm::GlobalValue::InternalLinkage,
                               words, "idletune.program");
  registrations_.push_back(table);
  registrations_.push_back(&counts);
}

// The function calls its copy, between two calls that say that the region begins and ends.
void Instrumentation::wrap(const Copied& copied, std::uint32_t number) {
  Function& wrapper = *copied.original;
  const auto linkage = wrapper.getLinkage();
  wrapper.deleteBody();  // makes it external
  wrapper.setLinkage(linkage);
  wrapper.removeFnAttr(llvm::Attribute::AlwaysInline);
  wrapper.removeFnAttr(llvm::Attribute::NoUnwind);
  wrapper.removeFnAttr(llvm::Attribute::ReadNone);
  wrapper.removeFnAttr(llvm::Attribute::ReadOnly);
  wrapper.addFnAttr(llvm::Attribute::NoInline);
  wrapper.setPersonalityFn(llvm::cast<llvm::Constant>(
      module_
          .getOrInsertFunction(
              "__gxx_personality_v0",
              llvm::FunctionType::get(llvm::Type::getInt32Ty(module_.getContext()), true))
          .getCallee()));
  copied.copy->removeFnAttr(llvm::Attribute::AlwaysInline);
  copied.copy->removeFnAttr(llvm::Attribute::NoUnwind);
  copied.copy->removeFnAttr(llvm::Attribute::ReadNone);
  copied.copy->removeFnAttr(llvm::Attribute::ReadOnly);
  copied.copy->addFnAttr(llvm::Attribute::NoInline);
  make_body(wrapper, *copied.copy, number);
}

void Instrumentation::make_body(Function& wrapper, Function& copy, std::uint32_t number) {
  llvm::LLVMContext& context = module_.getContext();
  auto* begin = llvm::BasicBlock::Create(context, "", &wrapper);
  auto* ended = llvm::BasicBlock::Create(context, "", &wrapper);
  auto* thrown = llvm::BasicBlock::Create(context, "", &wrapper);
  llvm::IRBuilder<> builder(begin);
  llvm::Value* frame = builder.CreateIntrinsic(llvm::Intrinsic::frameaddress,
                                               {builder.getInt8PtrTy()}, {builder.getInt32(0)});
  builder.CreateCall(region_call("idletune_enter", true), {builder.getInt32(number), frame});
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& argument : wrapper.args()) arguments.push_back(&argument);
  llvm::InvokeInst* result = builder.CreateInvoke(&copy, ended, thrown, arguments);
  result->setAttributes(copy.getAttributes().removeFnAttributes(context));
  builder.SetInsertPoint(ended);
  builder.CreateCall(region_call("idletune_leave", false), {builder.getInt32(number)});
  if (result->getType()->isVoidTy()) {
    builder.CreateRetVoid();
  } else {
    builder.CreateRet(result);
  }
  builder.SetInsertPoint(thrown);
  llvm::LandingPadInst* pad = builder.CreateLandingPad(
      llvm::StructType::get(builder.getInt8PtrTy(), builder.getInt32Ty()), 0);
  pad->setCleanup(true);
  builder.CreateCall(region_call("idletune_thrown", false), {builder.getInt32(number)});
  builder.CreateResume(pad);
}

void Instrumentation::profile_statically(const std::vector<FoundRegion>& found) {
  StaticJob job;
  job.values = idletune::offload::settings(settings_, "value");
  job.result = idletune::offload::settings(settings_, "result").front();
  job.limit_s = std::atof(idletune::offload::settings(settings_, "limit").front().c_str());
  const std::string error = profile_code(found, job);
  if (!error.empty()) module_.getContext().emitError("idletune: " + error);
}

void Instrumentation::run() {
  std::string error;
  const std::vector<FoundRegion> found =
      find_regions(module_, idletune::offload::settings(settings_, "function"), error);
  if (!error.empty()) return module_.getContext().emitError("idletune: " + error);
  llvm::StripDebugInfo(module_);
  if (!idletune::offload::settings(settings_, "static").empty()) return profile_statically(found);
  // All are copied before any is changed: they may call each other.
  std::vector<Copied> copied;
  for (const FoundRegion& region : found) copied.push_back(copy_region(region));
  for (std::uint32_t i = 0; i < copied.size(); ++i) wrap(copied[i], i);
  llvm::LLVMContext& context = module_.getContext();
  auto* begin = Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                 llvm::GlobalValue::InternalLinkage, "idletune.begin", module_);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", begin));
  llvm::Type* pointer = builder.getInt8PtrTy();
  const auto call = module_.getOrInsertFunction("idletune_register", builder.getVoidTy(), pointer,
                                                pointer, pointer);
  llvm::Value* text = builder.CreatePointerCast(&settings_variable_, pointer);
  for (std::size_t i = 0; i + 1 < registrations_.size(); i += 2) {
    builder.CreateCall(call, {builder.CreatePointerCast(registrations_[i], pointer),
                              builder.CreatePointerCast(registrations_[i + 1], pointer), text});
  }
  if (timing_) {
    const auto timed =
        module_.getOrInsertFunction("idletune_register_timed", builder.getVoidTy(), pointer);
    for (std::size_t i = 0; i < copied.size(); ++i) builder.CreateCall(timed, text);
  }
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module_, begin, 0);
}

class ProfilePass : public llvm::PassInfoMixin<ProfilePass> {
 public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    llvm::GlobalVariable* settings = module.getNamedGlobal("idletune_profile_settings");
    if (settings == nullptr || !settings->hasInitializer()) return llvm::PreservedAnalyses::all();
    Instrumentation(module, *settings).run();
    return llvm::PreservedAnalyses::none();
  }
};

}  // namespace
}  // namespace idletune::offload

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "idletune", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
                  passes.addPass(idletune::offload::ProfilePass());
                });
          }};
}
