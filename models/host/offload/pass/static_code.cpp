#include "models/host/offload/pass/static_code.hpp"

#include <algorithm>

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

namespace idletune::offload {
namespace {

using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kLeastExtent = std::uint64_t{1} << 16U;
constexpr std::uint64_t kSpacing = std::uint64_t{1} << 36U;  // longer than any array

// 0: no whole number or address of at most 64 bits.
unsigned width_of(const llvm::Type* type) {
  if (type->isPointerTy()) return 64;
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > 64) return 0;
  return type->getIntegerBitWidth();
}

std::uint64_t cut(std::uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

std::int64_t as_signed(std::uint64_t bits, unsigned width) {
  const unsigned unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

bool holds(llvm::CmpInst::Predicate predicate, std::uint64_t a, std::uint64_t b, unsigned width) {
  return llvm::ICmpInst::compare(llvm::APInt(width, a), llvm::APInt(width, b), predicate);
}

Number divided(unsigned code, std::uint64_t a, std::uint64_t b, unsigned width) {
  if (b == 0) return {};
  const bool is_signed = code == Instruction::SDiv || code == Instruction::SRem;
  const bool rest = code == Instruction::URem || code == Instruction::SRem;
  const llvm::APInt x(width, a), y(width, b);
  const llvm::APInt result =
      is_signed ? (rest ? x.srem(y) : x.sdiv(y)) : (rest ? x.urem(y) : x.udiv(y));
  return known_number(result.getZExtValue());
}

Number binary(unsigned code, std::uint64_t a, std::uint64_t b, unsigned width) {
  switch (code) {
    case Instruction::Add: return known_number(cut(a + b, width));
    case Instruction::Sub: return known_number(cut(a - b, width));
    case Instruction::Mul: return known_number(cut(a * b, width));
    case Instruction::And: return known_number(a & b);
    case Instruction::Or: return known_number(a | b);
    case Instruction::Xor: return known_number(a ^ b);
    case Instruction::Shl: return b < width ? known_number(cut(a << b, width)) : Number{};
    case Instruction::LShr: return b < width ? known_number(a >> b) : Number{};
    case Instruction::AShr:
      if (b >= width) return {};
      return known_number(cut(static_cast<std::uint64_t>(as_signed(a, width) >> b), width));
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: return divided(code, a, b, width);
    default: return {};
  }
}

Number extreme(const llvm::IntrinsicInst& call, std::uint64_t a, std::uint64_t b, unsigned width) {
  const std::int64_t x = as_signed(a, width), y = as_signed(b, width);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::smax: return known_number(x > y ? a : b);
    case llvm::Intrinsic::smin: return known_number(x < y ? a : b);
    case llvm::Intrinsic::umax: return known_number(std::max(a, b));
    case llvm::Intrinsic::umin: return known_number(std::min(a, b));
    case llvm::Intrinsic::abs: return known_number(cut(x < 0 ? std::uint64_t{0} - a : a, width));
    default: return {};
  }
}

Number address(const Step& step, const std::vector<Number>& values) {
  Number sum = values[step.operands.front()];
  sum.bits += step.offset;
  for (std::size_t i = 0; i < step.scales.size(); ++i) {
    const Number& index = values[step.operands[i + 1]];
    sum.known = sum.known && index.known;
    sum.bits += static_cast<std::uint64_t>(as_signed(index.bits, step.widths[i])) * step.scales[i];
  }
  return sum;
}

Number converted(const llvm::CastInst& cast, const Number& value, unsigned from, unsigned to) {
  if (!value.known || from == 0) return {};
  if (isa<llvm::SExtInst>(cast)) {
    return known_number(cut(static_cast<std::uint64_t>(as_signed(value.bits, from)), to));
  }
  const bool keeps = isa<llvm::ZExtInst>(cast) || isa<llvm::TruncInst>(cast) ||
                     isa<llvm::BitCastInst>(cast) || isa<llvm::PtrToIntInst>(cast) ||
                     isa<llvm::IntToPtrInst>(cast) || isa<llvm::AddrSpaceCastInst>(cast);
  return keeps ? known_number(cut(value.bits, to)) : Number{};
}

}  // namespace

Number known_number(std::uint64_t bits) { return {bits, true}; }

Addresses::Addresses(const GivenValues& given) : assumed_(kLeastExtent) {
  for (const auto& [name, value] : given) {
    if (value > 0) assumed_ = std::max(assumed_, 4 * static_cast<std::uint64_t>(value));
  }
  assumed_ = std::min(assumed_, kSpacing / 2);
}

std::uint64_t Addresses::of(const llvm::GlobalVariable& variable, const llvm::DataLayout& layout) {
  const auto found = variables_.find(&variable);
  if (found != variables_.end()) return found->second;
  const std::uint64_t bytes = layout.getTypeAllocSize(variable.getValueType()).getFixedSize();
  return variables_[&variable] = of_unknown(std::max(bytes, std::uint64_t{1}));
}

std::uint64_t Addresses::of_unknown(std::uint64_t bytes) {
  const std::uint64_t base = next_;
  extents_[base] = bytes > 0 ? std::min(bytes, kSpacing / 2) : assumed_;
  next_ += kSpacing;
  return base;
}

std::uint64_t Addresses::extent(std::uint64_t base) const {
  const auto found = extents_.find(base);
  return found == extents_.end() ? kPageBytes : found->second;
}

StaticFunction::StaticFunction(const FunctionCode& code, const Program& program,
                               Addresses& addresses)
    : function_(code.function), layout_(code.function->getParent()->getDataLayout()), values_(1) {
  for (llvm::Argument& argument : function_->args()) add(&argument, addresses);
  for (llvm::BasicBlock* block : code.blocks) {
    for (llvm::Instruction& instruction : *block) add(&instruction, addresses);
  }
  for (llvm::BasicBlock* block : code.blocks) {
    StaticBlock& described = blocks_[block];
    described.number = code.number.at(block);
    described.operations = program.blocks[described.number].operations;
    for (llvm::Instruction& instruction : *block) {
      (isa<llvm::PHINode>(instruction) ? described.phis : described.steps)
          .push_back(step_of(instruction, addresses));
    }
  }
}

std::uint32_t StaticFunction::place_of(const llvm::Value* value) const {
  const auto found = places_.find(value);
  return found == places_.end() ? 0 : found->second;
}

std::uint32_t StaticFunction::add(const llvm::Value* value, Addresses& addresses) {
  const auto found = places_.find(value);
  if (found != places_.end()) return found->second;
  if (isa<llvm::BasicBlock>(value) || value->getType()->isVoidTy()) return 0;
  const auto place = static_cast<std::uint32_t>(values_.size());
  const auto* known = dyn_cast<llvm::Constant>(value);
  values_.push_back(known != nullptr ? constant(*known, addresses) : Number{});
  places_[value] = place;
  return place;
}

Number StaticFunction::constant(const llvm::Constant& constant, Addresses& addresses) const {
  if (const auto* whole = dyn_cast<llvm::ConstantInt>(&constant)) {
    return whole->getBitWidth() <= 64 ? known_number(whole->getZExtValue()) : Number{};
  }
  if (isa<llvm::ConstantPointerNull>(constant)) return known_number(0);
  if (!constant.getType()->isPointerTy()) return {};
  llvm::APInt offset(64, 0);
  const llvm::Value* base = constant.stripAndAccumulateConstantOffsets(layout_, offset, true);
  const auto* variable = dyn_cast<llvm::GlobalVariable>(base);
  if (variable == nullptr) return {};
  return known_number(addresses.of(*variable, layout_) + offset.getZExtValue());
}

Step StaticFunction::step_of(llvm::Instruction& instruction, Addresses& addresses) {
  Step step;
  step.instruction = &instruction;
  step.result = place_of(&instruction);
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (isa<llvm::AtomicRMWInst>(instruction) || isa<llvm::AtomicCmpXchgInst>(instruction)) {
    pointer = instruction.getOperand(0);
  }
  if (pointer != nullptr) step.base = add(llvm::getUnderlyingObject(pointer, 0), addresses);
  if (auto* place = dyn_cast<llvm::GEPOperator>(&instruction)) {
    llvm::MapVector<llvm::Value*, llvm::APInt> indices;
    llvm::APInt offset(64, 0);
    step.operands.push_back(add(place->getPointerOperand(), addresses));
    if (!place->collectOffset(layout_, 64, indices, offset)) return step;
    step.offset = offset.getZExtValue();
    for (const auto& [index, scale] : indices) {
      step.operands.push_back(add(index, addresses));
      step.scales.push_back(scale.getZExtValue());
      step.widths.push_back(width_of(index->getType()));
    }
    return step;
  }
  for (const llvm::Value* operand : instruction.operands()) {
    step.operands.push_back(isa<llvm::MetadataAsValue>(operand) ? 0 : add(operand, addresses));
  }
  return step;
}

Number compute(const Step& step, const std::vector<Number>& values) {
  const Instruction& instruction = *step.instruction;
  const unsigned width = width_of(instruction.getType());
  if (width == 0) return {};
  if (isa<llvm::GetElementPtrInst>(instruction)) return address(step, values);
  const auto operand = [&](std::size_t i) { return values[step.operands[i]]; };
  const auto from = [&] { return width_of(instruction.getOperand(0)->getType()); };
  if (const auto* cast = dyn_cast<llvm::CastInst>(&instruction)) {
    return converted(*cast, operand(0), from(), width);
  }
  if (isa<llvm::FreezeInst>(instruction)) return operand(0);
  if (isa<llvm::SelectInst>(instruction)) {
    if (operand(0).known) return operand(0).bits != 0 ? operand(1) : operand(2);
    const bool same = operand(1).known && operand(2).known && operand(1).bits == operand(2).bits;
    return same ? operand(1) : Number{};
  }
  const bool takes_two = isa<llvm::BinaryOperator>(instruction) ||
                         isa<llvm::ICmpInst>(instruction) || isa<llvm::IntrinsicInst>(instruction);
  if (!takes_two || step.operands.size() < 2) return {};
  const Number a = operand(0), b = operand(1);
  if (!a.known || !b.known || from() == 0) return {};
  if (const auto* comparison = dyn_cast<llvm::ICmpInst>(&instruction)) {
    return known_number(holds(comparison->getPredicate(), a.bits, b.bits, from()) ? 1 : 0);
  }
  if (const auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return extreme(*call, a.bits, b.bits, width);
  }
  return binary(instruction.getOpcode(), a.bits, b.bits, width);
}

}  // namespace idletune::offload
