#include "models/host/offload/pass/region_code.hpp"

#include <algorithm>
#include <optional>

#include <llvm/IR/CFG.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "models/host/offload/pass/region_loops.hpp"

namespace idletune::offload {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

// Instructions that no processor executes: another name or another type of the same bits.
const llvm::Value* same_value(const llvm::Value* value) {
  for (;;) {
    const auto* instruction = dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return value;
    const auto* address = dyn_cast<llvm::GetElementPtrInst>(instruction);
    const bool renames =
        isa<llvm::BitCastInst>(instruction) || isa<llvm::TruncInst>(instruction) ||
        isa<llvm::PtrToIntInst>(instruction) || isa<llvm::IntToPtrInst>(instruction) ||
        isa<llvm::AddrSpaceCastInst>(instruction) || isa<llvm::FreezeInst>(instruction) ||
        isa<llvm::ExtractValueInst>(instruction) || isa<llvm::InsertValueInst>(instruction) ||
        (address != nullptr && address->hasAllConstantIndices());
    if (!renames) return value;
    value = instruction->getOperand(0);
  }
}

OperationKind arithmetic_kind(const llvm::Type* type, OperationKind single) {
  type = type->getScalarType();
  if (type->isFloatTy() || type->isHalfTy() || type->isBFloatTy()) return single;
  return type->isFloatingPointTy() ? OperationKind::double_precision : OperationKind::integer;
}

// What a function of the mathematical library computes, or nothing.
std::optional<OperationKind> library_kind(llvm::StringRef name) {
  using Kind = OperationKind;
  name.consume_front("llvm.");
  const llvm::StringRef base = name.split('.').first;
  static const std::map<std::string, Kind> kinds{{"sqrt", Kind::single_root},
                                                 {"exp", Kind::single_exponential},
                                                 {"exp2", Kind::single_exponential},
                                                 {"expm1", Kind::single_exponential},
                                                 {"log", Kind::single_exponential},
                                                 {"log2", Kind::single_exponential},
                                                 {"log10", Kind::single_exponential},
                                                 {"log1p", Kind::single_exponential},
                                                 {"pow", Kind::single_exponential},
                                                 {"sin", Kind::single_trigonometric},
                                                 {"cos", Kind::single_trigonometric},
                                                 {"sincos", Kind::single_trigonometric},
                                                 {"tan", Kind::single_trigonometric},
                                                 {"fabs", Kind::single_other},
                                                 {"fmin", Kind::single_other},
                                                 {"fmax", Kind::single_other},
                                                 {"minnum", Kind::single_other},
                                                 {"maxnum", Kind::single_other},
                                                 {"floor", Kind::single_other},
                                                 {"ceil", Kind::single_other},
                                                 {"round", Kind::single_other},
                                                 {"trunc", Kind::single_other},
                                                 {"rint", Kind::single_other},
                                                 {"nearbyint", Kind::single_other},
                                                 {"copysign", Kind::single_other},
                                                 {"fmod", Kind::single_divide},
                                                 {"abs", Kind::integer},
                                                 {"smin", Kind::integer},
                                                 {"smax", Kind::integer},
                                                 {"umin", Kind::integer},
                                                 {"umax", Kind::integer},
                                                 {"ctpop", Kind::integer},
                                                 {"ctlz", Kind::integer},
                                                 {"cttz", Kind::integer},
                                                 {"bswap", Kind::integer},
                                                 {"fma", Kind::single_multiply},
                                                 {"fmuladd", Kind::single_multiply}};
  auto found = kinds.find(base.str());
  if (found == kinds.end() && base.endswith("f")) found = kinds.find(base.drop_back().str());
  if (found == kinds.end()) return std::nullopt;
  return found->second;
}

// Declared or not: C calls what has no prototype by another type.
const llvm::Function* callee_of(const llvm::CallBase& call) {
  return cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
}

std::optional<OperationKind> call_kind(const llvm::CallBase& call) {
  const llvm::Function* callee = callee_of(call);
  if (!callee->isDeclaration()) return OperationKind::control;
  const std::optional<OperationKind> library = library_kind(callee->getName());
  if (library) {
    const llvm::Type* type =
        call.arg_size() > 0 ? call.getArgOperand(0)->getType() : call.getType();
    return *library == OperationKind::integer ? *library : arithmetic_kind(type, *library);
  }
  if (callee->isIntrinsic()) return std::nullopt;  // notes for the compiler; copies are apart
  return OperationKind::control;
}

OperationKind binary_kind(const llvm::BinaryOperator& operation) {
  using Kind = OperationKind;
  const unsigned code = operation.getOpcode();
  const Kind single = code == llvm::Instruction::FMul ? Kind::single_multiply
                      : code == llvm::Instruction::FDiv || code == llvm::Instruction::FRem
                          ? Kind::single_divide
                          : Kind::single_other;
  return arithmetic_kind(operation.getType(), single);
}

// Nothing: no operation, or one that is told apart from others (accesses that do two things).
std::optional<OperationKind> kind_of(const llvm::Instruction& instruction) {
  using Kind = OperationKind;
  if (same_value(&instruction) != &instruction) return std::nullopt;
  if (isa<llvm::LoadInst>(instruction)) return Kind::load;
  if (isa<llvm::StoreInst>(instruction)) return Kind::store;
  if (const auto* call = dyn_cast<llvm::CallBase>(&instruction)) return call_kind(*call);
  if (const auto* binary = dyn_cast<llvm::BinaryOperator>(&instruction))
    return binary_kind(*binary);
  if (isa<llvm::PHINode>(instruction) || isa<llvm::AllocaInst>(instruction) ||
      isa<llvm::UnreachableInst>(instruction) || isa<llvm::FenceInst>(instruction)) {
    return std::nullopt;
  }
  if (isa<llvm::SwitchInst>(instruction)) return Kind::decision;
  if (const auto* branch = dyn_cast<llvm::BranchInst>(&instruction)) {
    return branch->isConditional() ? Kind::decision : Kind::control;
  }
  if (instruction.isTerminator()) return Kind::control;
  // Conversions and comparisons: by the side that is floating point, wider ones first.
  const Kind from = instruction.getNumOperands() > 0
                        ? arithmetic_kind(instruction.getOperand(0)->getType(), Kind::single_other)
                        : Kind::integer;
  const Kind to = arithmetic_kind(instruction.getType(), Kind::single_other);
  return std::max(from, to);
}

}  // namespace

FunctionCode& RegionCode::add(llvm::Function& function) {
  FunctionCode& code = codes_[&function];
  code.function = &function;
  order_.push_back(&function);
  return code;
}

std::vector<FunctionCode*> RegionCode::functions() {
  std::vector<FunctionCode*> all;
  for (llvm::Function* function : order_) all.push_back(&codes_[function]);
  return all;
}

ValueNumber RegionCode::number_of(const llvm::Value* value) const {
  const auto found = values_.find(same_value(value));
  return found == values_.end() ? 0 : found->second;
}

void RegionCode::number_values(FunctionCode& code) {
  for (llvm::Argument& argument : code.function->args()) values_[&argument] = program_.values++;
  code.returned = program_.values++;
  for (llvm::BasicBlock& block : *code.function) {
    code.number[&block] = static_cast<std::uint32_t>(program_.blocks.size());
    code.blocks.push_back(&block);
    program_.blocks.emplace_back();
    for (llvm::Instruction& instruction : block) {
      if (!instruction.getType()->isVoidTy() && !isa<llvm::AllocaInst>(instruction)) {
        values_[&instruction] = program_.values++;
      }
    }
  }
}

void RegionCode::describe() {
  for (FunctionCode* code : functions()) number_values(*code);
  for (FunctionCode* code : functions()) {
    for (llvm::BasicBlock* block : code->blocks) describe_block(*code, *block);
  }
  std::uint32_t number = 0;
  for (const FunctionCode* code : functions()) describe_loops(*code, number++, program_);
}

void RegionCode::describe_block(FunctionCode& code, llvm::BasicBlock& block) {
  Block& described = program_.blocks[code.number[&block]];
  described.first_operation = static_cast<std::uint32_t>(program_.operations.size());
  for (llvm::Instruction& instruction : block) {
    if (block.getTerminator() == &instruction && described.leaving.from.empty()) {
      describe_leaving(code, block, described);
      // The jump behind a call is the pass's own.
      if (std::find(code.continuations.begin(), code.continuations.end(),
                    block.getSingleSuccessor()) != code.continuations.end()) {
        break;
      }
    }
    add_operations(code, instruction);
  }
  described.operations =
      static_cast<std::uint32_t>(program_.operations.size()) - described.first_operation;
  describe_entries(code, block, described);
}

void RegionCode::describe_entries(FunctionCode& code, llvm::BasicBlock& block, Block& described) {
  if (std::find(code.continuations.begin(), code.continuations.end(), &block) !=
      code.continuations.end()) {
    const llvm::Instruction* call = block.getSinglePredecessor()->getTerminator()->getPrevNode();
    if (call->getType()->isVoidTy()) return;
    const auto callee = codes_.find(cast<llvm::CallBase>(call)->getCalledFunction());
    described.entries.push_back({Block::kAny, {{callee->second.returned}, {values_[call]}}});
    return;
  }
  std::map<std::uint32_t, Renaming> by_origin;
  for (llvm::PHINode& phi : block.phis()) {
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      Renaming& renaming = by_origin[code.number[phi.getIncomingBlock(i)]];
      if (std::find(renaming.to.begin(), renaming.to.end(), values_[&phi]) != renaming.to.end()) {
        continue;  // a switch that comes here by several cases
      }
      renaming.from.push_back(number_of(phi.getIncomingValue(i)));
      renaming.to.push_back(values_[&phi]);
    }
  }
  for (auto& [from, renaming] : by_origin) described.entries.push_back({from, renaming});
}

void RegionCode::describe_leaving(FunctionCode& code, llvm::BasicBlock& block, Block& described) {
  const llvm::Instruction* end = block.getTerminator();
  if (const auto* ret = dyn_cast<llvm::ReturnInst>(end)) {
    if (ret->getReturnValue() == nullptr) return;
    described.leaving.from.push_back(number_of(ret->getReturnValue()));
    described.leaving.to.push_back(code.returned);
    return;
  }
  const auto* call = llvm::dyn_cast_or_null<llvm::CallBase>(end->getPrevNode());
  if (call == nullptr) return;
  const auto callee = codes_.find(call->getCalledFunction());
  if (callee == codes_.end()) return;
  for (unsigned i = 0; i < call->arg_size() && i < callee->first->arg_size(); ++i) {
    described.leaving.from.push_back(number_of(call->getArgOperand(i)));
    described.leaving.to.push_back(values_[callee->first->getArg(i)]);
  }
}

void RegionCode::add_operations(FunctionCode& code, llvm::Instruction& instruction) {
  const bool updates =
      isa<llvm::AtomicRMWInst>(instruction) || isa<llvm::AtomicCmpXchgInst>(instruction);
  const std::optional<OperationKind> kind = kind_of(instruction);
  if (!kind) return;
  if (const auto* call = dyn_cast<llvm::CallBase>(&instruction)) remark_call(*call);
  Operation operation;
  operation.kind = updates ? OperationKind::load : *kind;
  const auto* load = dyn_cast<llvm::LoadInst>(&instruction);
  operation.updates = updates || (load != nullptr && is_update(*load));
  if (is_access(operation.kind)) {
    code.accesses.push_back(&instruction);
    const auto* store = dyn_cast<llvm::StoreInst>(&instruction);
    llvm::Type* type = store != nullptr ? store->getValueOperand()->getType()
                       : updates        ? instruction.getOperand(1)->getType()
                                        : instruction.getType();
    operation.bytes = static_cast<std::uint32_t>(
        instruction.getModule()->getDataLayout().getTypeStoreSize(type).getFixedSize());
  }
  for (const llvm::Value* source : instruction.operands()) {
    const ValueNumber number = number_of(source);
    if (number != 0) operation.sources.push_back(number);
  }
  const auto result = values_.find(&instruction);
  if (result != values_.end()) operation.result = result->second;
  program_.operations.push_back(operation);
  if (!updates) return;
  operation.kind = OperationKind::store;
  operation.updates = false;
  program_.operations.push_back(operation);
  code.accesses.push_back(&instruction);
}

void RegionCode::remark_call(const llvm::CallBase& call) {
  const llvm::Function* callee = callee_of(call);
  if (!callee->isDeclaration() || callee->isIntrinsic() || library_kind(callee->getName())) return;
  const std::string remark =
      "calls of '" + callee->getName().str() + "' are single operations: its code is not here";
  auto& remarks = program_.remarks;
  if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(remark);
}

std::uint32_t RegionCode::bulk_operation(OperationKind kind) {
  Operation operation;
  operation.kind = kind;
  operation.bytes = 8;
  program_.operations.push_back(operation);
  return static_cast<std::uint32_t>(program_.operations.size() - 1);
}

}  // namespace idletune::offload
