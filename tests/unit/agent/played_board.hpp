// A board on which every configuration takes a known time, under a scripted clock: trials are
// replayed, launches are counted, nothing runs.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>

#include "agent/api/agent_state.hpp"
#include "agent/host/lab/replayed_trials.hpp"
#include "agent/host/lab/scripted_clock.hpp"
#include "tests/unit/trial/fake_device.hpp"

namespace idletune::test {

// How a configuration behaves at a shape. Without a time where it is launched only.
using Behaviour = std::function<RecordedTrial(const Configuration&)>;

class PlayedBoard {
  // So that a test sees when the engine gives it up.
  class SharedTrials final : public TrialRunner {
   public:
    explicit SharedTrials(std::shared_ptr<TrialRunner> trials) : trials_(std::move(trials)) {}
    Status start(const TrialRequest& request) override { return trials_->start(request); }
    bool poll(Nanoseconds wait, TrialOutcome& out) override { return trials_->poll(wait, out); }
    bool isolated() const override { return trials_->isolated(); }
    bool poisoned() const override { return trials_->poisoned(); }

   private:
    std::shared_ptr<TrialRunner> trials_;
  };

 public:
  // `parameters`: of the kernel, in the order of a Configuration. `entry`: its kernel function.
  PlayedBoard(const std::string& entry, std::vector<std::string> parameters, Behaviour behaviour)
      : behaviour_(std::move(behaviour)) {
    device.device_info.platform = "test";
    device.device_info.name = "board";
    device.device_info.driver = "1";
    device.device_info.max_work_item_sizes = {256, 256, 64};
    device.device_info.max_work_group_size = 256;
    device.kernels[entry] = [](const fake::Launch&) { return Status(); };
    device.launch_script = [this, parameters](const std::string& options) -> Result<Nanoseconds> {
      Configuration configuration;
      for (const std::string& name : parameters) {
        configuration.push_back(fake::option(options, name));
      }
      const Nanoseconds time = behaviour_(configuration).run;
      clock.advance(time + kLaunchOverhead);
      return time;
    };
  }

  detail::Surroundings surroundings() {
    detail::Surroundings played;
    played.clock = &clock;
    played.builds = detail::BuildThread::caller;
    played.board = identity;
    played.quirks = quirks;
    played.read_board = [this] {
      ++sensor_readings;
      return sensors;
    };
    played.make_trial_runner = [this](Device&, const std::shared_ptr<const KernelPackage>&)
        -> Result<std::unique_ptr<TrialRunner>> {
      const auto outcome = [this](const TrialRequest& request) { return outcome_of(request); };
      auto runner = std::make_shared<ReplayedTrials>(outcome, clock, isolated);
      last_runner = runner;
      return std::unique_ptr<TrialRunner>(std::make_unique<SharedTrials>(runner));
    };
    return played;
  }

  static constexpr Nanoseconds kLaunchOverhead = std::chrono::microseconds(5);
  static constexpr Nanoseconds kReferenceRun = std::chrono::milliseconds(1);

  ScriptedClock clock;
  std::shared_ptr<const QuirkTable> quirks;  // null: none
  fake::Device device;
  std::weak_ptr<TrialRunner> last_runner;  // the engine's
  BoardState sensors;
  int sensor_readings = 0;
  std::uint64_t identity = 0;           // which board of its kind it is
  bool isolated = true;                 // trials are, from the next runner on
  std::vector<TrialRequest> requested;  // stages, in order
  // Called when a stage starts; may change what will come of it.
  std::function<void(const TrialRequest&, TrialOutcome&)> on_stage;

 private:
  TrialOutcome outcome_of(const TrialRequest& request) {
    requested.push_back(request);
    TrialOutcome outcome = stage_of(behaviour_(request.configuration), request);
    if (request.stage == TrialStage::prepare) outcome.device = outcome.wall = kReferenceRun;
    if (on_stage) on_stage(request, outcome);
    return outcome;
  }

  const Behaviour behaviour_;
};

}  // namespace idletune::test
