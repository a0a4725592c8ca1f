// What people are told: reads everything and changes nothing.
#pragma once

#include <string>
#include <string_view>

#include <idletune/agent.hpp>

#include "agent/tuning/choice.hpp"

namespace idletune::detail {

// Ok, why nothing is kept, or what became of the file.
Status how_journal_is(const journal::Journal& journal);

// Why whoever calls run() did not do so.
struct HeldBack {
  Blocker blocker = Blocker::none;
  std::string_view why;
};

class EngineExplanation {
 public:
  EngineExplanation(const EngineCore& core, const Choice& choice, const HeldBack& held_back)
      : core_(core), choice_(choice), held_back_(held_back) {}

  Explanation explain(const ShapeTask& task) const;
  AgentStatus status() const;
  // Why run() found nothing to do.
  const char* why_nothing() const;

 private:
  void explain_verdict(const ShapeTask& task, Explanation& text) const;
  static const std::string& why_no_trials(const ShapeTask& task);
  Blocker blocker_of(const ShapeTask& task) const;
  std::string advice(const ShapeTask& task, Blocker blocker) const;
  std::string compile_advice(const ShapeTask& task) const;
  const ShapeTask* most_blocked() const;
  std::uint64_t quarantined(const KernelTask& kernel) const;

  const EngineCore& core_;
  const Choice& choice_;
  const HeldBack& held_back_;
};

}  // namespace idletune::detail
