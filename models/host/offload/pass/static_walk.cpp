#include "models/host/offload/pass/static_walk.hpp"

#include <algorithm>

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace idletune::offload {
namespace {

using llvm::dyn_cast;
using llvm::isa;

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kStackTop = std::uint64_t{1} << 46U;
constexpr std::uint64_t kStackBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kFewestSkipped = 4;
constexpr std::uint64_t kBlockBytes = 128;

// "space::name" of a global variable is "name" to who gives values.
std::string plain_name(const llvm::GlobalVariable& variable) {
  const std::string name = llvm::demangle(variable.getName().str());
  const std::size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

bool reserves_memory(llvm::StringRef name) {
  return name == "malloc" || name == "calloc" || name == "aligned_alloc" || name == "_Znwm" ||
         name == "_Znam";
}

}  // namespace

StaticWalk::StaticWalk(RegionCode& code, const GivenValues& given, const Assumptions& assumptions,
                       std::set<std::string>& used)
    : given_(given), assumptions_(assumptions), used_(used), addresses_(given) {
  for (const FunctionCode* function : code.functions()) {
    Code& own = codes_[function->function];
    own.function = std::make_unique<StaticFunction>(*function, code.program(), addresses_);
    own.loops = std::make_unique<StaticLoops>(*own.function);
    if (region_ == nullptr) region_ = function->function;
    for (llvm::BasicBlock* block : function->blocks) {
      for (llvm::Instruction& instruction : *block) {
        if (!isa<llvm::MemIntrinsic>(instruction)) continue;
        loads_[&instruction] = isa<llvm::MemTransferInst>(instruction)
                                   ? code.bulk_operation(OperationKind::load)
                                   : kNone;
        stores_[&instruction] = code.bulk_operation(OperationKind::store);
      }
    }
  }
  counts_.resize(code.program().blocks.size());
  last_.resize(counts_.size());
  const std::vector<std::uint32_t> words = code.program().encode();
  record_ = std::make_unique<RegionRecord>(words.data(), counts_.data());
}

double StaticWalk::draw() {
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  return static_cast<double>(random_ >> 11U) * 0x1p-53;
}

bool StaticWalk::run(std::chrono::steady_clock::time_point deadline) {
  deadline_ = deadline;
  record_->entries = 1;
  record_->analysis().footprint().set_own(kStackTop - kStackBytes, kStackTop);
  begin_burst();
  const std::vector<Number> arguments = first_arguments();
  call(codes_.at(region_), arguments, kStackTop);
  if (tracing_) record_->tracer().leave();
  return !late_;
}

std::vector<Number> StaticWalk::first_arguments() {
  std::vector<Number> arguments;
  for (const llvm::Argument& argument : region_->args()) {
    const auto given = given_.find(argument.getName().str());
    Number value;
    if (argument.getType()->isPointerTy()) {
      value = known_number(addresses_.of_unknown());
    } else if (given != given_.end() && argument.getType()->isIntegerTy()) {
      used_.insert(given->first);
      const unsigned width = argument.getType()->getIntegerBitWidth();
      value = known_number(static_cast<std::uint64_t>(given->second));
      if (width < 64) value.bits &= (std::uint64_t{1} << width) - 1;
    }
    arguments.push_back(value);
  }
  return arguments;
}

Number StaticWalk::call(const Code& code, const std::vector<Number>& arguments,
                        std::uint64_t stack) {
  Frame frame{code, code.function->first_values(), {}, stack, {}};
  for (const llvm::Argument& argument : code.function->function().args()) {
    if (argument.getArgNo() < arguments.size()) {
      frame.values[code.function->place_of(&argument)] = arguments[argument.getArgNo()];
    }
  }
  const llvm::BasicBlock* block = &code.function->function().getEntryBlock();
  const llvm::BasicBlock* before = nullptr;
  while (block != nullptr && !late_) {
    come_to(frame, block, before);
    const StaticBlock& described = code.function->block(block);
    for (const Step& one : described.steps) {
      if (!one.instruction->isTerminator()) step(frame, one);
    }
    before = block;
    block = late_ ? nullptr : next(frame, described.steps.back(), described.number);
  }
  return frame.returned;
}

void StaticWalk::come_to(Frame& frame, const llvm::BasicBlock* block,
                         const llvm::BasicBlock* before) {
  const StaticBlock& described = frame.code.function->block(block);
  std::vector<Number> values;
  for (const Step& phi : described.phis) {
    const int from = llvm::cast<llvm::PHINode>(phi.instruction)->getBasicBlockIndex(before);
    values.push_back(from < 0 ? Number{}
                              : frame.values[phi.operands[static_cast<std::size_t>(from)]]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    frame.values[described.phis[i].result] = values[i];
  }
  const llvm::Loop* loop = frame.code.loops->info().getLoopFor(block);
  if (loop != nullptr && loop->getHeader() == block) {
    std::uint64_t& passes = frame.passes[loop];
    passes = before != nullptr && loop->contains(before) ? passes + 1 : 0;
    const EvenLoop* even = tracing_ ? nullptr : frame.code.loops->at(block);
    if (even != nullptr) skip(frame, *even);
  }
  countdown_ -= static_cast<std::int64_t>(described.operations);
  if (countdown_ < 0) change();
  ++counts_[described.number];
  if (tracing_) record_->tracer().enter(described.number);
}

// Counts what the next iterations would count, and goes on behind them.
void StaticWalk::skip(Frame& frame, const EvenLoop& loop) {
  std::uint64_t& passed = frame.passes[loop.loop];
  const Number all = frame.code.loops->evaluate(loop.passes, frame.values, frame.passes);
  const std::uint64_t room = static_cast<std::uint64_t>(std::max<std::int64_t>(countdown_, 0)) /
                             std::max<std::uint64_t>(loop.operations, 1);
  if (!all.known || all.bits < passed + kFewestSkipped || room < kFewestSkipped) return;
  const std::uint64_t passes = std::min(all.bits - passed, room);
  for (const EvenLoop::Access& access : loop.accesses) {
    if (!frame.code.loops->evaluate(access.address, frame.values, frame.passes).known) return;
  }
  touch_all(frame, loop, passed, passes);
  for (const StaticBlock* block : loop.blocks) ++counts_[block->number];
  decide(frame.code.function->block(loop.leaves).number, loop.stays);
  for (const StaticBlock* block : loop.blocks) counts_[block->number] += passes - 1;
  countdown_ -= static_cast<std::int64_t>(passes * loop.operations);
  passed += passes;
  std::vector<Number> carried;
  for (const auto& [place, expression] : loop.carried) {
    carried.push_back(expression == nullptr
                          ? Number{}
                          : frame.code.loops->evaluate(expression, frame.values, frame.passes));
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    frame.values[loop.carried[i].first] = carried[i];
  }
}

// One access per block of memory is enough: of steps that no stride carries beyond the next one.
// Behind the first step, what lies ahead has been there before what follows it.
void StaticWalk::touch_all(const Frame& frame, const EvenLoop& loop, std::uint64_t first,
                           std::uint64_t passes) {
  LoopPasses at = frame.passes;
  struct Line {
    std::uint64_t start, stride;
    bool writes, gaps;
  };
  std::vector<Line> lines;
  std::uint64_t stride = passes;
  for (const EvenLoop::Access& access : loop.accesses) {
    at[loop.loop] = first;
    const Number start = frame.code.loops->evaluate(access.address, frame.values, at);
    at[loop.loop] = first + 1;
    const Number second = frame.code.loops->evaluate(access.address, frame.values, at);
    lines.push_back({start.bits, second.bits - start.bits, access.writes, access.gaps});
    const std::uint64_t step =
        std::min(lines.back().stride, std::uint64_t{0} - lines.back().stride);
    if (step > 0) stride = std::min(stride, std::max(kBlockBytes / step, std::uint64_t{1}));
  }
  const auto is_ahead = [](const Line& a, const Line& b) {
    if (a.stride != b.stride) return a.stride < b.stride;
    return static_cast<std::int64_t>(a.stride) < 0 ? a.start < b.start : a.start > b.start;
  };
  Footprint& footprint = record_->analysis().footprint();
  for (std::uint64_t i = 0;;) {
    for (const Line& line : lines) {
      const std::uint64_t address = line.start + i * line.stride;
      line.writes ? footprint.write(address, line.gaps) : footprint.read(address);
    }
    if (i + 1 >= passes) return;
    if (i == 0) std::stable_sort(lines.begin(), lines.end(), is_ahead);
    i = std::min(i + stride, passes - 1);
  }
}

void StaticWalk::decide(std::uint32_t block, std::uint64_t way) {
  const auto number = static_cast<std::uint8_t>(way % 255 + 1);
  if (last_[block] == number) return;
  last_[block] = number;
  record_->turn(block);
}

void StaticWalk::begin_burst() {
  countdown_ = static_cast<std::int64_t>(bursts_.begin());
  record_->begin_burst(bursts_);
  tracing_ = true;
}

void StaticWalk::change() {
  late_ = late_ || std::chrono::steady_clock::now() > deadline_;
  if (!tracing_) return begin_burst();
  const std::uint64_t traced = record_->tracer().operations();
  if (traced < bursts_.length()) {
    countdown_ = static_cast<std::int64_t>(bursts_.length() - traced);
    return;
  }
  record_->sampled = true;
  tracing_ = false;
  countdown_ = static_cast<std::int64_t>(bursts_.gap());
}

void StaticWalk::step(Frame& frame, const Step& step) {
  const llvm::Instruction& instruction = *step.instruction;
  Number result;
  if (isa<llvm::LoadInst>(instruction) || isa<llvm::StoreInst>(instruction) ||
      isa<llvm::AtomicRMWInst>(instruction) || isa<llvm::AtomicCmpXchgInst>(instruction)) {
    access(frame, step);
    if (isa<llvm::LoadInst>(instruction)) result = loaded(frame, step);
  } else if (isa<llvm::MemIntrinsic>(instruction)) {
    fill(frame, step);
  } else if (isa<llvm::AllocaInst>(instruction)) {
    result = reserved(frame, step);
  } else if (isa<llvm::CallBase>(instruction) && !isa<llvm::IntrinsicInst>(instruction)) {
    result = called(frame, step);
  } else {
    result = compute(step, frame.values);
  }
  if (step.result != 0) frame.values[step.result] = result;
}

void StaticWalk::access(Frame& frame, const Step& step) {
  const bool loads = isa<llvm::LoadInst>(step.instruction);
  const bool stores = isa<llvm::StoreInst>(step.instruction);
  Number address = frame.values[step.operands[stores ? 1 : 0]];
  if (!address.known) {
    ++unknowns_.accesses;
    const Number base = frame.values[step.base];
    std::uint64_t& own = own_arrays_[step.instruction];
    if (!base.known && own == 0) own = addresses_.of_unknown();
    const std::uint64_t array = base.known ? base.bits : own;
    llvm::Type* type =
        stores ? step.instruction->getOperand(0)->getType() : step.instruction->getType();
    const llvm::DataLayout& layout = region_->getParent()->getDataLayout();
    const std::uint64_t bytes =
        std::max<std::uint64_t>(layout.getTypeStoreSize(type).getFixedSize(), 1);
    const std::uint64_t elements = std::max(addresses_.extent(array) / bytes, std::uint64_t{1});
    std::uint64_t element = 0;
    if (assumptions_.places == Assumptions::Places::random) {
      element = static_cast<std::uint64_t>(draw() * static_cast<double>(elements));
    } else if (assumptions_.places == Assumptions::Places::in_a_row) {
      element = in_a_row_[step.instruction]++ % elements;
    }
    address = known_number(array + element * bytes);
  }
  Footprint& footprint = record_->analysis().footprint();
  if (!stores) footprint.read(address.bits);
  if (!loads) footprint.write(address.bits, frame.code.loops->leaves_gaps(step.instruction));
  if (!tracing_) return;
  record_->tracer().access(address.bits);
  if (!loads && !stores) record_->tracer().access(address.bits);
}

// Memory holds nothing that is known, but pointers: each leads to an array of its own.
Number StaticWalk::loaded(const Frame& frame, const Step& step) {
  const auto* variable = dyn_cast<llvm::GlobalVariable>(step.instruction->getOperand(0));
  if (variable != nullptr) {
    const auto given = given_.find(plain_name(*variable));
    if (given != given_.end()) {
      used_.insert(given->first);
      return known_number(static_cast<std::uint64_t>(given->second));
    }
  }
  if (!step.instruction->getType()->isPointerTy()) return {};
  const Number kept = frame.values[step.operands[0]];
  std::uint64_t& array = kept.known ? pointed_[kept.bits] : own_arrays_[step.instruction];
  if (array == 0) array = addresses_.of_unknown();
  return known_number(array);
}

void StaticWalk::fill(Frame& frame, const Step& step) {
  constexpr std::uint64_t kAssumedBytes = 64;
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20U;  // between looks at the time
  const Number to = frame.values[step.operands[0]];
  const bool copies = isa<llvm::MemTransferInst>(step.instruction);
  const Number from = copies ? frame.values[step.operands[1]] : known_number(0);
  const Number bytes = frame.values[step.operands[2]];
  if (!to.known || !from.known || !bytes.known) ++unknowns_.accesses;
  std::uint64_t& own = own_arrays_[step.instruction];
  if (own == 0) own = addresses_.of_unknown();
  const std::uint64_t all = bytes.known ? bytes.bits : kAssumedBytes;
  for (std::uint64_t at = 0; at < all && !late_; at += kPiece) {
    record_->bulk((to.known ? to.bits : own) + at,
                  (from.known ? from.bits : own + kAssumedBytes) + at, std::min(all - at, kPiece),
                  loads_[step.instruction], stores_[step.instruction], tracing_);
    late_ = std::chrono::steady_clock::now() > deadline_;
  }
}

Number StaticWalk::called(Frame& frame, const Step& step) {
  const auto& call = llvm::cast<llvm::CallBase>(*step.instruction);
  const llvm::Function* callee = call.getCalledFunction();
  const auto code = codes_.find(callee);
  std::vector<Number> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    arguments.push_back(frame.values[step.operands[i]]);
  if (code != codes_.end()) return this->call(code->second, arguments, frame.stack);
  if (callee == nullptr || !reserves_memory(callee->getName())) return {};
  Number bytes = arguments.empty() ? Number{} : arguments.back();
  if (callee->getName() == "calloc" && bytes.known) {
    bytes = {bytes.bits * arguments.front().bits, arguments.front().known};
  }
  return known_number(addresses_.of_unknown(bytes.known ? bytes.bits : 0));
}

Number StaticWalk::reserved(Frame& frame, const Step& step) {
  const auto& place = llvm::cast<llvm::AllocaInst>(*step.instruction);
  const Number count = frame.values[step.operands[0]];
  const llvm::DataLayout& layout = place.getModule()->getDataLayout();
  const std::uint64_t bytes = layout.getTypeAllocSize(place.getAllocatedType()).getFixedSize();
  frame.stack -= (bytes * (count.known ? count.bits : 1) + 63) / 64 * 64;
  return known_number(frame.stack);
}

// Null: the function ends.
const llvm::BasicBlock* StaticWalk::next(Frame& frame, const Step& end, std::uint32_t block) {
  const llvm::Instruction& instruction = *end.instruction;
  if (isa<llvm::ReturnInst>(instruction) && !end.operands.empty()) {
    frame.returned = frame.values[end.operands[0]];
  }
  const unsigned ways = instruction.getNumSuccessors();
  if (ways == 0) return nullptr;
  unsigned way = 0;
  if (const auto* cases = dyn_cast<llvm::SwitchInst>(&instruction)) {
    const Number value = frame.values[end.operands[0]];
    way = value.known ? cases
                            ->findCaseValue(llvm::ConstantInt::get(
                                cases->getContext(),
                                llvm::APInt(cases->getCondition()->getType()->getIntegerBitWidth(),
                                            value.bits)))
                            ->getSuccessorIndex()
                      : guess(frame, instruction);
    decide(block, way);
  } else if (ways == 2) {
    const Number condition = frame.values[end.operands[0]];
    way = condition.known ? (condition.bits != 0 ? 0 : 1) : guess(frame, instruction);
    decide(block, way);
  }
  return instruction.getSuccessor(way);
}

// A loop goes on as often as is assumed; other decisions go either way.
unsigned StaticWalk::guess(const Frame& frame, const llvm::Instruction& end) {
  ++unknowns_.decisions;
  const unsigned ways = end.getNumSuccessors();
  if (ways > 2) return static_cast<unsigned>(draw() * ways);
  const llvm::Loop* loop = frame.code.loops->info().getLoopFor(end.getParent());
  if (loop != nullptr &&
      loop->contains(end.getSuccessor(0)) != loop->contains(end.getSuccessor(1))) {
    const unsigned leaves = loop->contains(end.getSuccessor(0)) ? 1 : 0;
    return draw() * static_cast<double>(assumptions_.iterations) < 1 ? leaves : 1 - leaves;
  }
  return draw() < assumptions_.taken ? 0 : 1;
}

}  // namespace idletune::offload
