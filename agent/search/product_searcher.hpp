// The searcher that ships: first pick, re-ranked portfolio, learned proposals, random draws.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agent/belief/device_posterior.hpp"
#include "agent/search/portfolio_regression.hpp"
#include "agent/search/random_searcher.hpp"
#include "agent/search/search_learner.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// Method: agent/search/README.md. Memory: that of PortfolioRegression and some 60 KiB. The
// learner's memory comes on top with its first proposal, which takes longer than the others.
class ProductSearcher final : public Searcher {
 public:
  ProductSearcher(const Space& space, const KernelKnowledge& kernel,
                  const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;
  ProposalOrigin recall(const Configuration& configuration, std::optional<bool> drawn) override;

  // Which source this device resembles, by what was told: the decision's view too.
  const DevicePosterior& beliefs() const { return beliefs_; }
  SearchOutlook outlook() const override;
  // False once uniform draws turned out about as good as the portfolio.
  bool trusts_portfolio() const;

 private:
  static constexpr std::size_t kNoEntry = SIZE_MAX;
  // What is measured here before the learner begins.
  struct Measured {
    Configuration configuration;
    Observation observation;
  };
  std::size_t entry_of(const Configuration& configuration) const;
  void take(std::size_t entry);
  void value_entries() const;
  Span<const DevicePosterior::Forecast> upcoming_entries() const;
  bool entries_promise() const;
  void count_ask();
  bool is_random_turn() const;
  bool is_entry_turn() const;
  std::optional<Proposal> next_entry();
  std::optional<Proposal> next_random();
  std::optional<Proposal> next_learned();
  void learn(const Configuration& configuration, const Observation& observation);
  void begin_learning();

  const Space& space_;
  KernelKnowledge kernel_;
  SpaceMapping mapping_;
  ProposedSet taken_;
  RandomDraws draws_;
  std::uint64_t seed_;
  std::uint32_t random_every_;
  std::optional<FirstPick> first_pick_;
  DevicePosterior beliefs_;
  PortfolioRegression regression_;
  // The open entries, the most valuable first; valid while they are current.
  mutable std::array<DevicePosterior::Forecast, SearchForecast::kUpcoming> upcoming_{};
  mutable std::size_t upcoming_count_ = 0;
  mutable bool upcoming_current_ = false;
  std::vector<std::uint64_t> entry_keys_;   // digest of each portfolio entry's configuration here
  std::vector<double> random_times_;        // of uniform draws, ns; the first few
  std::vector<double> guided_times_;        // of portfolio entries, ns; the first few
  std::vector<std::uint64_t> random_keys_;  // proposals of uniform draws that await their result
  std::uint64_t asks_ = 0;
  std::uint64_t guided_ = 0;        // of them, those that were no random turn
  bool distrusted_ = false;         // the portfolio was, when the learner was asked last
  const SearchLearner* learner_;    // null: none
  std::vector<Measured> measured_;  // until the learner begins
  std::unique_ptr<LearnedProposals> learned_;
};

}  // namespace idletune
