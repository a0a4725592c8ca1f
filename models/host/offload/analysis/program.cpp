#include "models/host/offload/analysis/program.hpp"

namespace idletune::offload {
namespace {

class Writer {
 public:
  explicit Writer(std::vector<std::uint32_t>& words) : words_(words) {}
  void number(std::size_t value) { words_.push_back(static_cast<std::uint32_t>(value)); }
  void text(const std::string& text) {
    number(text.size());
    for (const char letter : text) number(static_cast<unsigned char>(letter));
  }
  void numbers(const std::vector<std::uint32_t>& values) {
    number(values.size());
    words_.insert(words_.end(), values.begin(), values.end());
  }
  void renaming(const Renaming& renaming) {
    numbers(renaming.from);
    numbers(renaming.to);
  }

 private:
  std::vector<std::uint32_t>& words_;
};

class Reader {
 public:
  explicit Reader(const std::uint32_t* words) : next_(words) {}
  std::uint32_t number() { return *next_++; }
  std::string text() {
    std::string text(number(), ' ');
    for (char& letter : text) letter = static_cast<char>(number());
    return text;
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> values(number());
    for (std::uint32_t& value : values) value = number();
    return values;
  }
  Renaming renaming() {
    Renaming renaming;
    renaming.from = numbers();
    renaming.to = numbers();
    return renaming;
  }

 private:
  const std::uint32_t* next_;
};

void write_block(Writer& out, const Block& block) {
  out.number(block.first_operation);
  out.number(block.operations);
  out.number(block.entries.size());
  for (const Block::Entry& entry : block.entries) {
    out.number(entry.from);
    out.renaming(entry.renaming);
  }
  out.renaming(block.leaving);
  out.numbers(block.next);
}

Block read_block(Reader& in) {
  Block block;
  block.first_operation = in.number();
  block.operations = in.number();
  block.entries.resize(in.number());
  for (Block::Entry& entry : block.entries) {
    entry.from = in.number();
    entry.renaming = in.renaming();
  }
  block.leaving = in.renaming();
  block.next = in.numbers();
  return block;
}

void rename(Analysis& analysis, const Renaming& renaming) {
  if (renaming.from.empty()) return;
  analysis.move_together(renaming.from.data(), renaming.to.data(), renaming.from.size());
}

}  // namespace

std::vector<std::uint32_t> Program::encode() const {
  std::vector<std::uint32_t> words;
  Writer out(words);
  out.text(region);
  out.number(values);
  out.number(operations.size());
  for (const Operation& operation : operations) {
    out.number(static_cast<std::size_t>(operation.kind));
    out.number(operation.result);
    out.number(operation.bytes);
    out.number(operation.updates ? 1 : 0);
    out.numbers(operation.sources);
  }
  out.number(blocks.size());
  for (const Block& block : blocks) write_block(out, block);
  for (const BlockPlace& place : places) {
    out.number(place.function);
    out.number(place.begins_function ? 1 : 0);
    out.number(place.loop);
  }
  out.number(loops.size());
  for (const Loop& loop : loops) {
    out.number(loop.parent);
    out.number(loop.header);
    out.number(static_cast<std::size_t>(loop.carried));
    out.numbers(loop.latches);
  }
  out.number(remarks.size());
  for (const std::string& remark : remarks) out.text(remark);
  return words;
}

Program Program::decode(const std::uint32_t* words) {
  Reader in(words);
  Program program;
  program.region = in.text();
  program.values = in.number();
  program.operations.resize(in.number());
  for (Operation& operation : program.operations) {
    operation.kind = static_cast<OperationKind>(in.number());
    operation.result = in.number();
    operation.bytes = in.number();
    operation.updates = in.number() != 0;
    operation.sources = in.numbers();
  }
  program.blocks.resize(in.number());
  for (Block& block : program.blocks) block = read_block(in);
  program.places.resize(program.blocks.size());
  for (BlockPlace& place : program.places) {
    place.function = in.number();
    place.begins_function = in.number() != 0;
    place.loop = in.number();
  }
  program.loops.resize(in.number());
  for (Loop& loop : program.loops) {
    loop.parent = in.number();
    loop.header = in.number();
    loop.carried = static_cast<Carried>(in.number());
    loop.latches = in.numbers();
  }
  program.remarks.resize(in.number());
  for (std::string& remark : program.remarks) remark = in.text();
  return program;
}

std::uint64_t Program::runs(std::uint32_t block, const std::uint64_t* counts) const {
  const std::vector<std::uint32_t>& next = blocks[block].next;
  if (next.empty()) return counts[block];
  std::uint64_t sum = 0;
  for (const std::uint32_t one : next) sum += runs(one, counts);
  return sum;
}

std::vector<std::uint64_t> Program::executions(const std::uint64_t* block_counts) const {
  std::vector<std::uint64_t> counts(operations.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t i = 0; i < blocks[b].operations; ++i) {
      counts[blocks[b].first_operation + i] = block_counts[b];
    }
  }
  return counts;
}

void Tracer::enter(std::uint32_t block) {
  const std::uint32_t before = running_;
  run_block();
  running_ = block;
  for (const Block::Entry& entry : program_.blocks[block].entries) {
    if (entry.from == Block::kAny || entry.from == before) rename(analysis_, entry.renaming);
  }
}

void Tracer::fill(std::uint64_t address, std::uint64_t bytes) {
  // Whatever is loaded of it later: its single bytes.
  for (std::uint64_t i = 0; i < bytes; ++i) dependences_.store(address + i, 1);
}

void Tracer::leave() {
  run_block();
  dependences_.restart();
  running_ = Block::kAny;
}

void Tracer::restart(const std::vector<std::uint64_t>& executions) {
  running_ = Block::kAny;
  addresses_.clear();
  operations_ = 0;
  dependences_.restart();
  analysis_.restart(executions);
}

void Tracer::run_block() {
  if (running_ == Block::kAny) return;
  const Block& block = program_.blocks[running_];
  std::size_t accesses = 0;
  dependences_.enter(running_);
  for (std::uint32_t i = 0; i < block.operations; ++i) {
    const std::uint32_t number = block.first_operation + i;
    std::uint64_t where = 0;
    const Operation& operation = program_.operations[number];
    if (is_access(operation.kind)) {
      if (accesses == addresses_.size()) break;  // an exception left the block
      where = addresses_[accesses++];
    }
    if (operation.kind == OperationKind::load) dependences_.load(where, operation.updates);
    if (operation.kind == OperationKind::store) dependences_.store(where, operation.bytes);
    analysis_.execute_in_burst(number, where);
  }
  operations_ += block.operations;
  addresses_.clear();
  rename(analysis_, block.leaving);
}

}  // namespace idletune::offload
