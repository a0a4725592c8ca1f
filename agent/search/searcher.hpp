// Searchers propose configurations (ask) and learn from what came of them (tell).
#pragma once

#include <cstdint>
#include <optional>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

#include "agent/belief/search_forecast.hpp"

namespace idletune {

enum class ProposalOrigin : std::uint8_t {
  first_pick = 0,
  portfolio = 1,
  random = 2,
  learned = 3,
  application = 4
};

struct Proposal {
  Configuration configuration;
  ProposalOrigin origin = ProposalOrigin::random;
};

struct Observation {
  TrialStatus status = TrialStatus::correct;
  Nanoseconds run_time{0};  // representative device time (median); 0 unless correct
  Nanoseconds compile_time{0};
  // Could not even be compiled for this shape.
  bool impossible() const {
    return status == TrialStatus::constraints && compile_time.count() == 0;
  }
  // Without a time to compare by.
  bool failed() const { return status != TrialStatus::correct || run_time.count() <= 0; }
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
  // A configuration that an earlier session of this searcher proposed and measured; it will not be
  // proposed again. Call it in the order of the proposals, and `tell` after each. Returns what it
  // was proposed as. `drawn`: whether it was a uniform draw. Nothing: nobody knows; then what this
  // searcher would draw was one, unless it is an entry of the portfolio.
  virtual ProposalOrigin recall(const Configuration& configuration, std::optional<bool> /*drawn*/) {
    exclude(configuration);
    return ProposalOrigin::random;
  }
  // What the next proposals will be like, for the decision whether they pay. Valid until the next
  // call of another function. Without a model: uniform draws only.
  virtual SearchOutlook outlook() const { return {}; }
};

}  // namespace idletune
