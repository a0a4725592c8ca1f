#include "models/host/offload/pass/prepare.hpp"

#include <algorithm>
#include <set>

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "models/host/offload/analysis/function_name.hpp"
#include "models/host/offload/pass/instrument.hpp"

namespace idletune::offload {
namespace {

using llvm::Function;

std::string readable(const Function& function) { return llvm::demangle(function.getName().str()); }

std::vector<Function*> marked(llvm::Module& module) {
  std::vector<Function*> found;
  const llvm::GlobalVariable* notes = module.getNamedGlobal("llvm.global.annotations");
  if (notes == nullptr) return found;
  for (const llvm::Use& entry :
       llvm::cast<llvm::ConstantArray>(notes->getInitializer())->operands()) {
    const auto* note = llvm::cast<llvm::ConstantStruct>(entry);
    auto* function = llvm::dyn_cast<Function>(note->getOperand(0)->stripPointerCasts());
    const auto* text =
        llvm::dyn_cast<llvm::GlobalVariable>(note->getOperand(1)->stripPointerCasts());
    if (function == nullptr || text == nullptr || !text->hasInitializer()) continue;
    const auto* letters = llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer());
    if (letters != nullptr && letters->isCString() &&
        letters->getAsCString() == "idletune.region" && !function->isDeclaration()) {
      found.push_back(function);
    }
  }
  return found;
}

std::string some_names(llvm::Module& module) {
  std::vector<std::string> names;
  for (const Function& function : module) {
    if (!function.isDeclaration() && !function.hasLinkOnceLinkage() &&
        !function.getName().startswith("_GLOBAL_") && !function.getName().startswith("__cxx")) {
      names.push_back(without_arguments(readable(function)));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 8 ? text + ", ..." : text;
}

bool starts_threads(llvm::StringRef name) {
  return name == "pthread_create" || name == "thrd_create" || name.startswith("__kmpc_") ||
         name.startswith("GOMP_") || name.contains("St6thread") || name == "fork";
}

// Follows calls depth first; a function that is on the way to itself is recursive.
class Follower {
 public:
  explicit Follower(std::string& error) : error_(error) {}
  std::vector<Function*> all;

  void follow(Function& function) {
    path_.insert(&function);
    all.push_back(&function);
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) follow_call(function, *call);
        if (!error_.empty()) return;
      }
    }
    path_.erase(&function);
  }

 private:
  void follow_call(const Function& from, llvm::CallBase& call) {
    if (call.isInlineAsm()) {
      error_ = "'" + readable(from) + "' has inline assembly: what it does cannot be followed";
      return;
    }
    auto* callee = llvm::dyn_cast<Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
    if (callee == nullptr) {
      error_ =
          "'" + readable(from) +
          "' calls through a pointer (or a virtual function): what that does cannot be followed";
    } else if (starts_threads(callee->getName())) {
      error_ = "'" + readable(from) + "' starts threads ('" + readable(*callee) +
               "'): a region is what one thread does";
    } else if (path_.count(callee) != 0) {
      error_ = "'" + readable(*callee) + "' is recursive: a region is loops, not recursion";
    } else if (!callee->isDeclaration()) {
      call.setCalledFunction(callee);
      if (std::find(all.begin(), all.end(), callee) == all.end()) follow(*callee);
    }
  }

  std::string& error_;
  std::set<Function*> path_;
};

Function* find_named(llvm::Module& module, const std::string& name, std::string& error) {
  std::vector<Function*> found;
  for (Function& function : module) {
    if (!function.isDeclaration() && is_called(function, name)) found.push_back(&function);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    error =
        "no function '" + name + "' is compiled from the source, which has " + some_names(module);
  } else {
    error = "several functions are called '" + name + "': name one of '" + readable(*found[0]) +
            "', '" + readable(*found[1]) + "'";
  }
  return nullptr;
}

// A copy of a constant, small number of bytes, as loads and stores of at most 8 bytes.
void copy_by_words(llvm::MemTransferInst& copy, std::uint64_t bytes) {
  llvm::IRBuilder<> builder(&copy);
  std::vector<std::pair<llvm::Value*, llvm::Value*>> moved;  // loaded, where to
  for (std::uint64_t at = 0; at < bytes;) {
    std::uint64_t width = 8;
    while (at + width > bytes) width /= 2;
    llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(8 * width));
    const auto place = [&](llvm::Value* base) {
      llvm::Value* address = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), builder.CreatePointerCast(base, builder.getInt8PtrTy()), at);
      return builder.CreatePointerCast(address, type->getPointerTo());
    };
    moved.emplace_back(
        builder.CreateAlignedLoad(type, place(copy.getRawSource()), llvm::MaybeAlign(1)),
        place(copy.getRawDest()));
    at += width;
  }
  for (const auto& [value, to] : moved) builder.CreateAlignedStore(value, to, llvm::MaybeAlign(1));
  copy.eraseFromParent();
}

void simplify(Function& copy) {
  std::vector<llvm::InvokeInst*> invokes;
  for (llvm::BasicBlock& block : copy) {
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(block.getTerminator())) {
      invokes.push_back(invoke);
    }
  }
  for (llvm::InvokeInst* invoke : invokes) llvm::changeToCall(invoke);
  llvm::removeUnreachableBlocks(copy);
  std::vector<llvm::Instruction*> gone;
  std::vector<std::pair<llvm::MemTransferInst*, std::uint64_t>> copies;
  for (llvm::BasicBlock& block : copy) {
    for (llvm::Instruction& instruction : block) {
      if (instruction.isLifetimeStartOrEnd()) gone.push_back(&instruction);
      auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&instruction);
      if (transfer == nullptr) continue;
      const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(transfer->getLength());
      if (bytes != nullptr && bytes->getZExtValue() <= 64) {
        copies.emplace_back(transfer, bytes->getZExtValue());
      }
    }
  }
  for (llvm::Instruction* instruction : gone) instruction->eraseFromParent();
  for (const auto& [transfer, bytes] : copies) copy_by_words(*transfer, bytes);
}

}  // namespace

bool is_called(const Function& function, const std::string& name) {
  const std::string full = readable(function);
  const std::string plain = without_arguments(full);
  if (function.getName() == name || full == name || plain == name) return true;
  const std::string end = "::" + name;
  return plain.size() > end.size() &&
         plain.compare(plain.size() - end.size(), end.size(), end) == 0;
}

std::vector<FoundRegion> find_regions(llvm::Module& module, const std::vector<std::string>& names,
                                      std::string& error) {
  std::vector<Function*> functions = marked(module);
  for (const std::string& name : names) {
    Function* function = find_named(module, name, error);
    if (function == nullptr) return {};
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) {
      functions.push_back(function);
    }
  }
  if (functions.empty()) {
    error =
        "nothing is named with --function nor marked IDLETUNE_OFFLOAD_REGION in the source, "
        "which has " +
        some_names(module);
  }
  std::vector<FoundRegion> regions;
  for (Function* function : functions) {
    if (function->isVarArg()) {
      error = "'" + readable(*function) + "' takes any number of arguments: it cannot be a region";
    }
    Follower follower(error);
    follower.follow(*function);
    if (!error.empty()) return {};
    regions.push_back({function, follower.all});
  }
  return regions;
}

std::vector<Function*> copy_functions(const FoundRegion& region) {
  std::vector<Function*> copies;
  for (Function* function : region.all) {
    llvm::ValueToValueMapTy values;
    Function* copy = llvm::CloneFunction(function, values);
    copy->setName(function->getName() + ".profiled");
    copy->setLinkage(llvm::GlobalValue::InternalLinkage);
    copy->setVisibility(llvm::GlobalValue::DefaultVisibility);
    copy->setComdat(nullptr);
    copies.push_back(copy);
  }
  for (Function* copy : copies) {
    for (llvm::BasicBlock& block : *copy) {
      for (llvm::Instruction& instruction : block) {
        auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call == nullptr) continue;
        const auto to = std::find(region.all.begin(), region.all.end(), call->getCalledFunction());
        if (to != region.all.end()) {
          call->setCalledFunction(copies[static_cast<std::size_t>(to - region.all.begin())]);
        }
      }
    }
  }
  return copies;
}

std::vector<llvm::BasicBlock*> prepare(Function& copy, const std::vector<Function*>& copies) {
  simplify(copy);
  variables_to_registers(copy);
  std::vector<llvm::CallBase*> calls;
  for (llvm::BasicBlock& block : copy) {
    for (llvm::Instruction& instruction : block) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr &&
          std::find(copies.begin(), copies.end(), call->getCalledFunction()) != copies.end()) {
        calls.push_back(call);
      }
    }
  }
  std::vector<llvm::BasicBlock*> continuations;
  for (llvm::CallBase* call : calls) {
    if (auto* plain = llvm::dyn_cast<llvm::CallInst>(call)) {
      plain->setTailCallKind(llvm::CallInst::TCK_None);
    }
    continuations.push_back(llvm::SplitBlock(call->getParent(), call->getNextNode()));
  }
  return continuations;
}

}  // namespace idletune::offload
