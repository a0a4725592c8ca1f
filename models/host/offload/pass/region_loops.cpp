#include "models/host/offload/pass/region_loops.hpp"

#include <algorithm>
#include <set>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>

namespace idletune::offload {
namespace {

using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;
using Values = std::set<const Value*>;

// What may be done in any order, or grouped in any way.
enum class Family { none, keeps, sum, product, conjunction, disjunction, parity, extreme };

bool is_extreme(llvm::StringRef name) {
  name.consume_front("llvm.");
  const llvm::StringRef base = name.split('.').first;
  static const std::set<std::string> kNames{"fmin",   "fmax", "fminf", "fmaxf", "minnum",
                                            "maxnum", "smin", "smax",  "umin",  "umax"};
  return kNames.count(base.str()) != 0;
}

Family family_of_call(const llvm::CallBase& call, const Values& cycle) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return Family::none;
  if (is_extreme(callee->getName())) return Family::extreme;
  const bool fused =
      callee->getName().startswith("llvm.fmuladd") || callee->getName().startswith("llvm.fma");
  const bool sums =
      fused && cycle.count(call.getArgOperand(0)) == 0 && cycle.count(call.getArgOperand(1)) == 0;
  return sums ? Family::sum : Family::none;
}

// Of one instruction among those that hand a value from one iteration to the next.
Family family_of(const Value& value, const Values& cycle) {
  if (isa<llvm::PHINode>(value) || isa<llvm::SelectInst>(value) || isa<llvm::CastInst>(value))
    return Family::keeps;
  if (const auto* call = dyn_cast<llvm::CallBase>(&value)) return family_of_call(*call, cycle);
  if (isa<llvm::GetElementPtrInst>(value)) return Family::sum;
  const auto* operation = dyn_cast<llvm::BinaryOperator>(&value);
  if (operation == nullptr) return Family::none;
  switch (operation->getOpcode()) {
    case Instruction::Add:
    case Instruction::FAdd: return Family::sum;
    case Instruction::Sub:
    case Instruction::FSub:
      return cycle.count(operation->getOperand(1)) == 0 ? Family::sum : Family::none;
    case Instruction::Mul:
    case Instruction::FMul: return Family::product;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      return cycle.count(operation->getOperand(1)) == 0 ? Family::product : Family::none;
    case Instruction::And: return Family::conjunction;
    case Instruction::Or: return Family::disjunction;
    case Instruction::Xor: return Family::parity;
    default: return Family::none;
  }
}

// Everything in the loop that the value's makers are made of, or that is made of it.
Values closure(const llvm::Loop& loop, const Value& start, bool forward) {
  Values found;
  std::vector<const Value*> left{&start};
  const auto take = [&](const Value* next) {
    const auto* instruction = dyn_cast<Instruction>(next);
    if (instruction != nullptr && loop.contains(instruction) && found.insert(next).second)
      left.push_back(next);
  };
  while (!left.empty()) {
    const Value* value = left.back();
    left.pop_back();
    if (forward) {
      for (const llvm::User* user : value->users()) take(user);
    } else {
      for (const Value* operand : llvm::cast<Instruction>(value)->operands()) take(operand);
    }
  }
  return found;
}

// What hands the value of `phi` from one iteration to the next; empty if nothing does.
Values cycle_of(const llvm::Loop& loop, const llvm::PHINode& phi) {
  const Values after = closure(loop, phi, true);
  const Values before = closure(loop, phi, false);
  Values cycle;
  std::set_intersection(after.begin(), after.end(), before.begin(), before.end(),
                        std::inserter(cycle, cycle.end()));
  return cycle;
}

// A counter: every iteration adds (or multiplies by) the same, so that any iteration can tell.
bool is_counter(const llvm::Loop& loop, const Values& cycle) {
  std::size_t paths = 0;
  for (const Value* value : cycle) {
    if (isa<llvm::SelectInst>(value) || isa<llvm::CallBase>(value)) return false;
    if (isa<llvm::PHINode>(value)) {
      ++paths;
      continue;
    }
    for (const Value* operand : llvm::cast<Instruction>(value)->operands()) {
      if (cycle.count(operand) == 0 && !loop.isLoopInvariant(operand)) return false;
    }
  }
  return paths == 1;
}

// The same by how it is computed; `loads`: also where memory is read, which might have changed.
bool same_code(const Value* a, const Value* b, bool loads, int depth = 6) {
  if (a == b) return true;
  const auto* first = dyn_cast<Instruction>(a);
  const auto* second = dyn_cast<Instruction>(b);
  if (depth == 0 || first == nullptr || second == nullptr ||
      (first->mayReadFromMemory() && !(loads && isa<llvm::LoadInst>(first))) ||
      isa<llvm::PHINode>(first) || isa<llvm::AllocaInst>(first) ||
      !first->isSameOperationAs(second)) {
    return false;
  }
  for (unsigned i = 0; i < first->getNumOperands(); ++i) {
    if (!same_code(first->getOperand(i), second->getOperand(i), loads, depth - 1)) return false;
  }
  return true;
}

// A comparison of the best so far with what may become it.
bool compares_candidates(const Instruction& user, const Values& cycle) {
  if (!isa<llvm::CmpInst>(user)) return false;
  return std::any_of(user.op_begin(), user.op_end(), [&](const llvm::Use& operand) {
    return cycle.count(operand) == 0 &&
           std::any_of(cycle.begin(), cycle.end(), [&](const Value* one) {
             const auto& operands = llvm::cast<Instruction>(one)->operands();
             return std::any_of(operands.begin(), operands.end(), [&](const llvm::Use& candidate) {
               return same_code(candidate, operand, true);
             });
           });
  });
}

Carried carried_by(const llvm::Loop& loop, const llvm::PHINode& phi) {
  const Values cycle = cycle_of(loop, phi);
  if (cycle.count(&phi) == 0) return Carried::nothing;
  Family family = Family::keeps;
  for (const Value* value : cycle) {
    const Family one = family_of(*value, cycle);
    if (one == Family::keeps) continue;
    if (one == Family::none || (family != Family::keeps && family != one)) return Carried::value;
    family = one;
  }
  if (is_counter(loop, cycle)) return Carried::nothing;
  for (const Value* value : cycle) {
    for (const llvm::User* user : value->users()) {
      const auto* used = dyn_cast<Instruction>(user);
      if (used == nullptr || !loop.contains(used) || cycle.count(user) != 0) continue;
      if (family != Family::keeps || !compares_candidates(*used, cycle)) return Carried::value;
    }
  }
  return Carried::reduction;
}

}  // namespace

bool is_update(const llvm::LoadInst& load) {
  constexpr int kLongest = 8;  // sums of that many
  Values chain{&load};
  Family family = Family::keeps;
  const Value* value = &load;
  for (int i = 0; i < kLongest && value->hasOneUse(); ++i) {
    const auto* user = dyn_cast<Instruction>(*value->user_begin());
    if (const auto* store = llvm::dyn_cast_or_null<llvm::StoreInst>(user)) {
      return store->getValueOperand() == value &&
             same_code(store->getPointerOperand(), load.getPointerOperand(), false);
    }
    if (user == nullptr || isa<llvm::PHINode>(user)) return false;
    const Family one = family_of(*user, chain);
    if (one == Family::none || (one != Family::keeps && family != Family::keeps && one != family))
      return false;
    if (one != Family::keeps) family = one;
    chain.insert(user);
    value = user;
  }
  return false;
}

void describe_loops(const FunctionCode& code, std::uint32_t function, Program& program) {
  llvm::DominatorTree tree(*code.function);
  llvm::LoopInfo loops(tree);
  std::map<const llvm::Loop*, std::uint32_t> number;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    number[loop] = static_cast<std::uint32_t>(program.loops.size());
    Loop described;
    if (loop->getParentLoop() != nullptr) described.parent = number[loop->getParentLoop()];
    described.header = code.number.at(loop->getHeader());
    for (const llvm::PHINode& phi : loop->getHeader()->phis())
      described.carried = std::max(described.carried, carried_by(*loop, phi));
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) {
      if (latch->getSingleSuccessor() == nullptr) {
        described.latches.clear();
        break;
      }
      described.latches.push_back(code.number.at(latch));
    }
    program.loops.push_back(described);
  }
  program.places.resize(program.blocks.size());
  for (llvm::BasicBlock* block : code.blocks) {
    const llvm::Loop* loop = loops.getLoopFor(block);
    program.places[code.number.at(block)] = {function, block == &code.function->getEntryBlock(),
                                             loop == nullptr ? Loop::kNone : number[loop]};
  }
}

}  // namespace idletune::offload
