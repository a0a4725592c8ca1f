// What the parts of the tuner share: options, journal, surroundings, the account, and what is known
// of devices, kernels and shapes. One thread at a time (AgentState's lock).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <idletune/options.hpp>
#include <idletune/text.hpp>

#include "agent/journal/journal.hpp"
#include "agent/tuning/accounts.hpp"
#include "agent/tuning/surroundings.hpp"
#include "agent/tuning/tuning_task.hpp"

namespace idletune::detail {

// For waits that have no limit.
constexpr Nanoseconds kForever = std::chrono::hours(24);

// Calls the application's log if it is to hear of that level (at most 15).
void tell_pieces(const AgentOptions& options, PieceKinds kinds_and_level, const char* form, ...);
template <class... Pieces>
[[gnu::always_inline]] inline void tell(const AgentOptions& options, std::uint32_t level,
                                        const char* form, const Pieces&... given) {
  tell_pieces(options, pieces::kinds<Pieces...>(level), form, pieces::word(given)...);
}

// Options, journal and surroundings must outlive it.
class EngineCore {
 public:
  EngineCore(const AgentOptions& agent_options, journal::Journal& agent_journal,
             const Surroundings& found);

  Nanoseconds now() const { return surroundings_.clock->now(); }
  KernelTask* task_of(const KernelState& state) const;
  DeviceTask& device_task(const Device& device);
  // Tuning ends on the kernel's device, for this process.
  void end_tuning(KernelTask& kernel, const std::string& why);
  bool ended_everywhere() const;
  void notice_lost_devices();
  bool may_tune(const KernelTask& kernel, TimeSource source) const;
  bool helpers_rest(TimeSource source) const;

  // Launches of the shape that are still to come.
  double expected_launches(const ShapeTask& task) const;
  // In ns: what takes no longer beats what runs by the margin.
  double winning_ns(const ShapeTask& task) const {
    return static_cast<double>(task.running_time.count()) * (1 - options_.adoption_margin);
  }
  StepOptions step_options() const;
  StageContext stage_context(const ShapeTask& task) const;
  StageContext stage_context(const ShapeTask& task, const TrialRequest& request) const;
  // How long the stage takes at most in nine of ten cases.
  Nanoseconds predict(const ShapeTask& task, const TrialRequest& request) const;
  // What a trial of `candidate` beside `incumbent` starts from.
  CandidateContext candidate_context(const ShapeTask& task, const Configuration& candidate,
                                     const Configuration& incumbent) const;
  // Where what the application lends of a problem is kept.
  std::string capture_path(const KernelState& kernel, const Shape& shape) const;
  // In the trace, where there is one.
  HandedOver hand_over(const journal::Trial& trial, Where place) const;
  // Of a variant's first launch, in which many drivers generate code.
  Nanoseconds code_generation_deadline() const { return 10 * options_.run_deadline; }
  // The same beside other work.
  Nanoseconds first_launch_deadline() const {
    return code_generation_deadline() + std::chrono::seconds(5);
  }

  const AgentOptions& options_;
  journal::Journal& journal_;
  const Surroundings& surroundings_;
  Facts facts_;
  Accounts accounts_;
  std::list<std::unique_ptr<DeviceTask>> devices_;
  std::vector<std::unique_ptr<KernelTask>> kernels_;
  // Whose turn it is.
  ShapeTask* current_ = nullptr;    // has a trial under way
  ShapeTask* favourite_ = nullptr;  // had the last step; keeps its turn while its data are prepared
  std::uint32_t streak_ = 0;        // steps of the favourite in a row
  Nanoseconds gap_needed_{0};       // by the last stage that did not fit; 0: none
  Nanoseconds longest_gap_{0}, beyond_gap_{0};
  std::uint64_t runs_ = 0;  // of the engine
};

// One part of the tuner: it may read everything and changes what it owns.
class EnginePart {
 protected:
  explicit EnginePart(EngineCore& core)
      : core_(core),
        options_(core.options_),
        journal_(core.journal_),
        surroundings_(core.surroundings_),
        facts_(core.facts_),
        accounts_(core.accounts_),
        kernels_(core.kernels_) {}
  Nanoseconds now() const { return core_.now(); }

  EngineCore& core_;
  const AgentOptions& options_;
  journal::Journal& journal_;
  const Surroundings& surroundings_;
  Facts& facts_;
  Accounts& accounts_;
  std::vector<std::unique_ptr<KernelTask>>& kernels_;
};

}  // namespace idletune::detail
