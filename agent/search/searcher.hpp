// Searchers propose configurations (ask) and learn from what came of them (tell).
#pragma once

#include <cstdint>
#include <optional>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

namespace idletune {

enum class ProposalOrigin : std::uint8_t { first_pick = 0, portfolio = 1, random = 2, learned = 3, application = 4 };

struct Proposal {
  Configuration configuration;
  ProposalOrigin origin = ProposalOrigin::random;
};

struct Observation {
  TrialStatus status = TrialStatus::correct;
  Nanoseconds run_time{0};      // representative device time (median); 0 unless correct
  Nanoseconds compile_time{0};
};

// Bounded memory, deterministic under its seed, used by one thread. Never proposes the same
// configuration twice, nor one that `exclude` named.
class Searcher {
 public:
  virtual ~Searcher() = default;
  virtual std::optional<Proposal> ask() = 0;  // nothing: the space is exhausted
  virtual void tell(const Configuration& configuration, const Observation& observation) = 0;
  // Already measured, quarantined or otherwise not to be proposed.
  virtual void exclude(const Configuration& configuration) = 0;
};

}  // namespace idletune
