// What is known of one region while the program runs, and how it is written down.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "models/host/offload/analysis/program.hpp"
#include "models/host/offload/runtime/bursts.hpp"

namespace idletune::offload {

class RegionRecord {
 public:
  RegionRecord(const std::uint32_t* words, const std::uint64_t* counts)
      : program_(Program::decode(words)), counts_(counts) {
    begin_run();
  }

  // Forgets what was seen: another run begins.
  void begin_run();
  // What was not traced lies behind, and `bursts` have begun the next one.
  void begin_burst(const Bursts& bursts) {
    tracer_->restart(executions());
    bursts.weigh(*analysis_);
  }

  const std::string& name() const { return program_.region; }
  Tracer& tracer() { return *tracer_; }
  Analysis& analysis() { return *analysis_; }
  std::uint64_t entries = 0;
  double seconds = 0;    // spent in the region
  bool sampled = false;  // not everything was traced
  // The branch at the end of a block goes another way than before. A count of the block's own has
  // this time already, those of the blocks behind it have not.
  void turn(std::uint32_t block) {
    const Block& described = program_.blocks[block];
    const std::uint64_t runs = program_.runs(block, counts_) - counts_before_[block];
    analysis_->change_decision(described.first_operation + described.operations - 1,
                               described.next.empty() ? runs - 1 : runs);
  }
  void bulk(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint32_t load,
            std::uint32_t store, bool tracing);

  // Without allocating more than a little: it may be called while the program is in trouble.
  void write(std::FILE* file, const std::string& label) const;

  // How often each operation ran so far in this run.
  std::vector<std::uint64_t> executions() const;
  Iterations iterations() const;

 private:
  std::vector<std::uint64_t> all_runs() const;    // of each block, in all runs of the program
  std::vector<std::uint64_t> block_runs() const;  // in this run

  Program program_;
  const std::uint64_t* counts_;               // the program's own, ever growing
  std::vector<std::uint64_t> counts_before_;  // of earlier runs
  std::vector<std::uint64_t> bulk_;           // by operation
  std::unique_ptr<Analysis> analysis_;
  std::unique_ptr<Tracer> tracer_;
};

}  // namespace idletune::offload
