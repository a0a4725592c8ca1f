// Walks through a region's code without running it, and tells what a run would tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/host/offload/pass/static_code.hpp"
#include "models/host/offload/pass/static_loops.hpp"
#include "models/host/offload/runtime/region_record.hpp"

namespace idletune::offload {

// What is taken for what the code does not say.
struct Assumptions {
  double taken = 0.5;             // share of decisions that take their first way
  std::uint64_t iterations = 16;  // of loops without a known end, in the mean
  enum class Places { random, in_a_row, one } places = Places::random;
};

// What a walk met that the code does not say.
struct Unknowns {
  std::uint64_t decisions = 0;
  std::uint64_t accesses = 0;
  bool any() const { return decisions + accesses > 0; }
};

class StaticWalk {
 public:
  // Adds to the code what fills and copies are. `used` gets the names that are parameters or
  // variables. All must live as long.
  StaticWalk(RegionCode& code, const GivenValues& given, const Assumptions& assumptions,
             std::set<std::string>& used);

  // Through all of the region once; false if that takes longer than until `deadline`.
  bool run(std::chrono::steady_clock::time_point deadline);
  const RegionRecord& record() const { return *record_; }
  const Unknowns& unknowns() const { return unknowns_; }

 private:
  struct Code {
    std::unique_ptr<StaticFunction> function;
    std::unique_ptr<StaticLoops> loops;
  };
  struct Frame {
    const Code& code;
    std::vector<Number> values;
    LoopPasses passes;
    std::uint64_t stack = 0;  // where its own variables end
    Number returned;
  };

  Number call(const Code& code, const std::vector<Number>& arguments, std::uint64_t stack);
  std::vector<Number> first_arguments();
  void come_to(Frame& frame, const llvm::BasicBlock* block, const llvm::BasicBlock* before);
  void skip(Frame& frame, const EvenLoop& loop);
  void touch_all(const Frame& frame, const EvenLoop& loop, std::uint64_t first,
                 std::uint64_t passes);
  void decide(std::uint32_t block, std::uint64_t way);
  void begin_burst();
  void change();
  void step(Frame& frame, const Step& step);
  void access(Frame& frame, const Step& step);
  Number loaded(const Frame& frame, const Step& step);
  void fill(Frame& frame, const Step& step);
  Number called(Frame& frame, const Step& step);
  Number reserved(Frame& frame, const Step& step);
  const llvm::BasicBlock* next(Frame& frame, const Step& end, std::uint32_t block);
  unsigned guess(const Frame& frame, const llvm::Instruction& end);
  double draw();

  const GivenValues& given_;
  const Assumptions assumptions_;
  std::set<std::string>& used_;
  Addresses addresses_;
  std::map<const llvm::Function*, Code> codes_;
  const llvm::Function* region_ = nullptr;
  std::vector<std::uint64_t> counts_;                                 // of blocks
  std::vector<std::uint8_t> last_;                                    // ways, by block
  std::map<const llvm::Instruction*, std::uint32_t> stores_, loads_;  // of fills and copies
  std::map<std::uint64_t, std::uint64_t> pointed_;  // arrays by where their address is kept
  std::map<const llvm::Instruction*, std::uint64_t> own_arrays_, in_a_row_;
  std::unique_ptr<RegionRecord> record_;
  Bursts bursts_;
  std::int64_t countdown_ = 0;
  bool tracing_ = false;
  std::uint64_t random_ = 0x9E3779B97F4A7C15ULL;
  Unknowns unknowns_;
  std::chrono::steady_clock::time_point deadline_;
  bool late_ = false;
};

}  // namespace idletune::offload
