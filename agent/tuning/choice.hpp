// Which shape is next, and what is done for it.
#pragma once

#include <optional>

#include "agent/tuning/flight.hpp"
#include "agent/tuning/knowledge.hpp"

namespace idletune::detail {

class Choice : EnginePart {
 public:
  Choice(EngineCore& core, Knowledge& knowledge, Flight& flight)
      : EnginePart(core), knowledge_(knowledge), flight_(flight) {}

  // How much a shape wants to be worked on, the strongest last.
  enum class Want : std::uint8_t {
    nothing,
    saving,      // its default or first pick would be next, but the ledger does not allow it yet
    search,      // further configurations
    beginning,   // to know its default, or to try its first pick
    unfinished,  // to finish what was begun
  };
  // The shape whose next stage is to be started; null: none. `only`: no other.
  ShapeTask* choose(TimeSource source, ShapeTask* only);
  // A stage that no gap of late would hold keeps nobody else from tuning. False: another gap may.
  bool pass_over(ShapeTask& task) const;
  double worth(const ShapeTask& task, Want want) const;
  StepPrice price(const ShapeTask& task) const;

 private:
  bool passed_over(const ShapeTask& task) const { return task.passed_over == core_.runs_; }
  ShapeTask* most_wanting(TimeSource source, ShapeTask* only);
  ShapeTask* left_to_confirm(TimeSource source);
  Want want(ShapeTask& task, TimeSource source);
  Want want_of_decision(ShapeTask& task, Nanoseconds charge);
  Blocker held_by(const ShapeTask& task, TimeSource source) const;
  Want want_of_return(ShapeTask& task, TimeSource source, bool missed);
  Comeback* comeback(ShapeTask& task);
  void update_decision(ShapeTask& task, const StepPrice& step);
  Nanoseconds gap_needed(const ShapeTask& task) const;
  bool begin_work(ShapeTask& task, TimeSource source);
  bool propose(ShapeTask& task, TimeSource source);
  std::optional<Proposal> take_proposal(ShapeTask& task, TimeSource source);
  std::optional<Configuration> suspect(const ShapeTask& task, bool missed) const;
  bool is_adopted(const ShapeTask& task, const Configuration& configuration) const;
  std::optional<Proposal> take_suspect(ShapeTask& task, bool missed);
  Admission admission(ShapeTask& task, const Configuration& configuration,
                      bool measured = false) const;

  Knowledge& knowledge_;
  Flight& flight_;
};

}  // namespace idletune::detail
