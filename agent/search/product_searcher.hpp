// First pick, re-ranked portfolio, random draws: the order of play of a product.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/search/random_searcher.hpp"
#include "agent/search/searchers.hpp"

namespace idletune {

// See agent/search/README.md for the method. Memory: a few dozen bytes per portfolio entry and source.
class ProductSearcher final : public Searcher {
 public:
  static constexpr std::size_t kMaxEntries = 1024;  // of the portfolio; further ones are not used

  ProductSearcher(const Space& space, const KernelKnowledge& kernel, const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override { taken_.add(configuration); }

  // How much each source is believed to resemble this device; they and `weight_of_none` add up to 1.
  std::vector<double> source_weights() const;
  double weight_of_none() const;
  // False once uniform draws turned out about as good as the portfolio.
  bool trusts_portfolio() const;

 private:
  struct Entry {
    std::size_t number = 0;  // in the model's portfolio
    bool told = false;
    bool failed = false;
    double log_time = 0;
  };
  void weigh_sources();
  double expected_value(const Entry& entry) const;
  std::optional<Proposal> next_entry();
  std::optional<Proposal> next_random();
  bool is_random_turn() const;

  KernelKnowledge kernel_;
  SpaceMapping mapping_;
  ProposedSet taken_;
  RandomDraws draws_;
  std::uint32_t random_every_;
  std::optional<FirstPick> first_pick_;
  std::vector<Entry> entries_;
  std::vector<double> weights_;        // per source, then "none of these"
  std::vector<double> random_times_;   // of correct uniform draws, ns; the first few
  std::vector<double> guided_times_;   // of correct portfolio entries, ns; the first few
  std::vector<std::uint64_t> random_keys_;  // proposals of uniform draws that await their result
  std::uint64_t asks_ = 0;
  bool portfolio_done_ = false;
};

}  // namespace idletune
