// A program of a few instructions, and the stream of what it does, for tests of the analysis.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/host/offload/analysis/analysis.hpp"

namespace idletune::offload::test {

class Stream {
 public:
  // Describes an instruction and returns its number. All of them before the first one runs.
  std::uint32_t operation(OperationKind kind, ValueNumber result = 0,
                          std::vector<ValueNumber> sources = {}, std::uint32_t bytes = 0) {
    Operation operation;
    operation.kind = kind;
    operation.result = result;
    operation.sources = std::move(sources);
    operation.bytes = bytes;
    operations_.push_back(operation);
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }
  std::uint32_t load(ValueNumber result, std::uint32_t bytes = 4,
                     std::vector<ValueNumber> sources = {}) {
    return operation(OperationKind::load, result, std::move(sources), bytes);
  }
  std::uint32_t store(std::vector<ValueNumber> sources, std::uint32_t bytes = 4) {
    return operation(OperationKind::store, 0, std::move(sources), bytes);
  }
  std::uint32_t branch() { return operation(OperationKind::decision); }

  // `where` is the address of an access, the successor of a decision.
  void run(std::uint32_t number, std::uint64_t where = 0) {
    const OperationKind kind = operations_[number].kind;
    if (kind == OperationKind::load) analysis().footprint().read(where);
    if (kind == OperationKind::store) analysis().footprint().write(where);
    if (kind == OperationKind::decision) {
      const std::uint64_t decided = analysis().executions()[number];
      if (decided > 0 && where != last_[number]) analysis().change_decision(number, decided);
      last_[number] = where;
    }
    analysis().execute_in_burst(number, where);
  }
  Analysis& analysis() {
    if (!analysis_) analysis_ = std::make_unique<Analysis>(operations_, kValues);
    return *analysis_;
  }
  // Of everything that ran.
  double feature(const std::string& name) { return feature(name, analysis().executions()); }
  double feature(const std::string& name, const std::vector<std::uint64_t>& executions) {
    const auto features = analysis().features(executions);
    for (std::size_t i = 0; i < kStreamFeatures; ++i) {
      if (name == kStreamFeatureNames[i]) return features[i];
    }
    return -1;
  }

 private:
  static constexpr std::size_t kValues = 64;
  std::vector<Operation> operations_;
  std::map<std::uint32_t, std::uint64_t> last_;  // successors of decisions
  std::unique_ptr<Analysis> analysis_;
};

}  // namespace idletune::offload::test
