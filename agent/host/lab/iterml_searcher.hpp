// IterML (Cui & Feng 2019): iterative pruning of the space by a learner. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "agent/search/searcher.hpp"
#include "agent/search/searchers.hpp"
#include "models/core/random.hpp"
#include "models/host/learners/learner.hpp"

namespace idletune {

struct IterMlOptions {
  std::string learner = "forest";  // "cart", "forest", "knn", "svm", "mlp"
  double pick_ratio = 0.005;       // of the whole space, sampled in each iteration; at least 1
  double cut_ratio = 0.5;          // of what remains, dropped in each iteration; 0 to below 1
  std::size_t iterations = 0;      // 0: until what remains is no larger than one sample
  bool all_samples = false;    // models learn from all samples so far, not this iteration's only
  bool search_dropped = true;  // false: the search ends where the published method ends
};

// Algorithm 1. One iteration picks a sample at random from what remains, measures it, builds a
// model on it, predicts what remains, and drops the share with the lowest predicted performance.
// After the last one what remains is searched exhaustively, in random order (section 2.2). At last
// comes what was dropped, in random order too, so that a search goes on where the pruning lost the
// optimum. If it is asked for more while results are outstanding, it enlarges the sample. Memory: 4
// bytes per configuration of the space and 40 per measurement.
class IterMlSearcher final : public Searcher {
 public:
  static constexpr std::uint64_t kMaxConfigurations = std::uint64_t{1} << 24;

  // Errors: invalid_argument for ratios out of range, an unknown learner, a space without numbers
  // or with more than kMaxConfigurations. The space must outlive the searcher.
  static Result<std::unique_ptr<Searcher>> make(const Space& space, const SearcherOptions& options,
                                                const IterMlOptions& iterml);

  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;

  std::size_t sample_size() const { return sample_size_; }
  std::size_t iteration() const { return iteration_; }         // models built so far
  std::size_t remaining() const { return remaining_.size(); }  // neither proposed nor dropped
  std::size_t dropped() const { return dropped_.size(); }

 private:
  struct Measured {
    std::uint32_t number = 0;
    double time_ns = 0;  // infinity: failed
  };
  IterMlSearcher(const Space& space, const SearcherOptions& options, const IterMlOptions& iterml,
                 std::unique_ptr<learners::Learner> learner);
  std::optional<Proposal> take(std::vector<std::uint32_t>& from, ProposalOrigin origin);
  bool done_pruning() const;
  void prune();
  bool fit();
  void append_row(std::uint32_t number, std::vector<float>& rows) const;

  const Space& space_;
  IterMlOptions options_;
  Random random_;
  std::unique_ptr<learners::Learner> learner_;
  std::size_t sample_size_ = 0;
  std::size_t iteration_ = 0;
  std::size_t picked_ = 0;  // in this iteration
  std::size_t outstanding_ = 0;
  std::vector<std::uint32_t> remaining_;
  std::vector<std::uint32_t> dropped_;
  std::vector<Measured> measured_;  // of this iteration, or all
};

}  // namespace idletune
