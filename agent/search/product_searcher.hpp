// First pick, re-ranked portfolio, random draws: the order of play of a product.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/scheduler/device_posterior.hpp"
#include "agent/search/random_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// See agent/search/README.md for the method. Memory: some 5 KiB, and 16 bytes per portfolio entry.
class ProductSearcher final : public Searcher {
 public:
  ProductSearcher(const Space& space, const KernelKnowledge& kernel,
                  const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;
  ProposalOrigin recall(const Configuration& configuration) override;

  // Which source this device resembles, by what was told: the decision's view too.
  const DevicePosterior& beliefs() const { return beliefs_; }
  SearchOutlook outlook() const override;
  // False once uniform draws turned out about as good as the portfolio.
  bool trusts_portfolio() const;

 private:
  static constexpr std::size_t kNoEntry = SIZE_MAX;
  std::size_t entry_of(const Configuration& configuration) const;
  std::optional<Proposal> next_entry();
  std::optional<Proposal> next_random();
  bool is_random_turn() const;

  KernelKnowledge kernel_;
  SpaceMapping mapping_;
  ProposedSet taken_;
  RandomDraws draws_;
  std::uint32_t random_every_;
  std::optional<FirstPick> first_pick_;
  DevicePosterior beliefs_;
  std::vector<std::uint64_t> entry_keys_;   // digest of each portfolio entry's configuration here
  std::vector<double> random_times_;        // of correct uniform draws, ns; the first few
  std::vector<double> guided_times_;        // of correct portfolio entries, ns; the first few
  std::vector<std::uint64_t> random_keys_;  // proposals of uniform draws that await their result
  std::uint64_t asks_ = 0;
};

}  // namespace idletune
