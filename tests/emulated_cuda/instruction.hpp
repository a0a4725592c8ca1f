// A kernel as the emulated device runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_cuda/values.hpp"

namespace emulated_cuda {

struct Warp;
struct Instruction;

using Mask = std::uint32_t;  // a bit for each thread of a warp
inline constexpr int kWarpThreads = 32;
inline constexpr Mask kAllThreads = ~Mask{0};

// Does the instruction for the threads of the mask, of which there is at least one.
using Handler = void (*)(Warp&, const Instruction&, Mask);

// A register, a special one, or a constant: a value for each thread of a warp, or of a predicate a
// mask.
struct Operand {
  std::uint32_t offset = 0;  // in bytes, in the warp's registers or in the kernel's constants
  std::uint32_t mark = 0;    // which of Warp::written tells who wrote it; 0: it is always there
  bool is_constant = false;
  bool is_wide = false;  // 8 bytes for each thread instead of 4
  bool is_predicate = false;
  bool negated = false;  // of predicates
};

// How the program counter goes on.
enum class Flow : std::uint8_t { next, branch, branch_index, leave, barrier };
// What the instruction costs in the model of time.
enum class Cost : std::uint8_t { simple, fp32, fp64, special, integer_division, memory, none };
// When registers that nobody wrote are read: the result is unwritten, too (compilers compute with such
// values, and drop the results); only if all sources are (of values that are put together, a half
// may never be used); only if that source is which is chosen; or it is a finding, because memory or
// the way that the kernel takes depends on it.
enum class Unwritten : std::uint8_t { passed_on, if_all, if_chosen, finding };

inline constexpr std::size_t kMostElements = 4;  // of a vector

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::next;
  Cost cost = Cost::simple;
  Unwritten unwritten = Unwritten::passed_on;
  Type type = Type::none;
  Type from = Type::none;  // of conversions
  Space space = Space::generic;
  std::uint8_t operation = 0;  // comparison, atomic operation, ...: the handler knows
  std::uint8_t variant = 0;
  std::uint8_t elements = 1;  // of a vector in memory
  bool flush_subnormal = false;
  bool saturate = false;
  bool has_result = true;
  bool has_second_result = false;
  bool loads_vector = false;  // `vector` is the result
  bool read_only = false;     // ld.global.nc
  bool is_guarded = false;
  Operand guard, result, second_result, a, b, c, members;
  std::array<Operand, kMostElements> vector;
  std::int64_t immediate = 0;
  std::vector<int> targets;          // instructions that it may go to
  std::vector<std::uint32_t> reads;  // marks of registers
  std::vector<std::uint32_t> writes;
  int line = 0;              // of the PTX
  std::uint32_t source = 0;  // which of Module::source_places
};

struct Parameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t shared_bytes = 0;
  std::size_t local_bytes = 0;     // of each thread
  std::size_t register_bytes = 0;  // of a warp, of the emulated device
  std::size_t marks = 1;           // registers, and one that stands for what is always there
  std::size_t constant_bytes = 0;
  std::uint64_t most_threads = 0;      // .maxntid; 0: not said
  std::uint64_t exact_threads = 0;     // .reqntid; 0: not said
  std::uint64_t most_registers = 0;    // .maxnreg; 0: not said
  std::uint64_t named_registers = 0;   // of 32 bits, as declared
  std::size_t least_access_bytes = 8;  // of loads and stores
  std::vector<Instruction> code;
  struct Constant {
    Operand operand;
    std::uint64_t value;
    int variable;  // of the module, whose address is added; -1: none
  };
  std::vector<Constant> constants;
  std::map<std::string, Operand> special_registers;  // "%tid.x"
  const struct Module* module = nullptr;
};

// A variable of a module in global or constant memory.
struct GlobalVariable {
  std::string name;
  Space space = Space::global;
  std::vector<unsigned char> initial;
};

struct Module {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<GlobalVariable> variables;
  std::map<unsigned, std::string> files;   // of .file
  std::vector<std::string> source_places;  // of .loc; number 0: none known
  std::string version, target;
  const Kernel* find(const std::string& name) const;
};

}  // namespace emulated_cuda
