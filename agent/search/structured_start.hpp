// The first trials on a GPU of whose kind nothing is known: configurations that fill its warps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "agent/search/proposed_set.hpp"
#include "agent/search/searchers.hpp"
#include "models/core/random.hpp"

namespace idletune {

// Proposes kFirst configurations whose work groups have kNarrowest to kWidest items, drawn from the
// space by the seed; then what the other searcher proposes. So a portfolio of processors, whose
// groups have one item, is the last resort. Recalled measurements count as some of the first.
class StructuredStart final : public Searcher {
 public:
  static constexpr int kFirst = 5;
  static constexpr std::uint64_t kNarrowest = 32;  // a warp of NVIDIA's, two of Mali's
  static constexpr std::uint64_t kWidest = 256;    // what every GPU takes

  // `next` and `options.work_groups` are not null.
  StructuredStart(const Space& space, std::unique_ptr<Searcher> next,
                  const SearcherOptions& options);
  std::optional<Proposal> ask() override;
  void tell(const Configuration& configuration, const Observation& observation) override;
  void exclude(const Configuration& configuration) override;
  ProposalOrigin recall(const Configuration& configuration, std::optional<bool> drawn) override;
  // As of draws, while it begins.
  SearchOutlook outlook() const override;

 private:
  std::optional<Configuration> draw();

  const Space& space_;
  std::unique_ptr<Searcher> next_;
  const WorkGroups& groups_;
  ProposedSet taken_;
  Random random_;
  int left_ = kFirst;
};

}  // namespace idletune
