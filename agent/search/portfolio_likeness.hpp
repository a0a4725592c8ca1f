// What any configuration may take, by how much it looks like those that were good elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/span.hpp>

#include "agent/search/rank_coding.hpp"
#include "models/space/space.hpp"

namespace idletune {

// Histories know the times of the portfolio's entries only. About any other configuration they tell
// whether its values are more frequent among the entries than in the space. The product of these
// ratios (naive Bayes), shrunk towards 1, is what is expected of it. Method and constants:
// agent/search/README.md. Memory: 4 bytes per value of a parameter. Making one takes some 1,000
// samples of the space, which must outlive it.
class PortfolioLikeness {
 public:
  PortfolioLikeness(const Space& space, std::uint64_t seed);

  // An entry counts that much (q^4, say).
  void add(const Configuration& entry, double weight);
  // After the last of them; before the first log_time().
  void complete();
  // ln of the run time, up to a constant. The configuration is in the space.
  float log_time(const Configuration& configuration) const;

 private:
  void count_space(std::uint64_t seed);

  const Space& space_;
  RankCoding coding_;
  std::vector<std::uint32_t> first_;  // of each column's values in the following
  std::vector<float> share_;          // of the space that has this value
  std::vector<float> effect_;         // first the weight of entries with this value, then ln time
  mutable std::vector<std::uint16_t> codes_;
  double weight_ = 0;  // of all entries
};

}  // namespace idletune
