// What a searcher needs of something that learns from measurements; learners are linked by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <idletune/configuration.hpp>
#include <idletune/span.hpp>

#include "agent/search/searcher.hpp"
#include "models/space/space.hpp"

namespace idletune {

class MonotonicClock;
namespace journal {
class State;
}
namespace detail {
class Retrainer;
struct KernelTask;
}  // namespace detail

// Proposals for one space. One thread.
class LearnedProposals {
 public:
  virtual ~LearnedProposals() = default;
  // Learns a measurement; a failed one counts as slower than all others. What was told is not
  // proposed. Configurations that are not in the space are ignored.
  virtual void tell(const Configuration& configuration, const Observation& observation) = 0;
  // Not to be proposed (again).
  virtual void exclude(const Configuration& configuration) = 0;
  // What to measure next, neither told, excluded nor proposed before. Nothing: too little is known,
  // or no candidate is left.
  virtual std::optional<Configuration> propose() = 0;
  // The favourites that it was made with mislead.
  virtual void forget_history() {}
};

// A configuration that history likes, and how much (expected q^4, say).
struct Favourite {
  Configuration configuration;  // in the space
  double weight = 0;
};

class SearchLearner {
 public:
  // `favourites` is empty without a history. The space must outlive what is made.
  virtual std::unique_ptr<LearnedProposals> make(const Space& space, std::uint64_t seed,
                                                 Span<const Favourite> favourites) const = 0;
  // What learns the kernel's model anew of what is measured, for the caller to delete; null:
  // nothing does. All three outlive it.
  virtual detail::Retrainer* retrainer(const journal::State& /*journal*/,
                                       const detail::KernelTask& /*kernel*/,
                                       const MonotonicClock& /*clock*/) const {
    return nullptr;
  }

 protected:
  ~SearchLearner() = default;
};

}  // namespace idletune
