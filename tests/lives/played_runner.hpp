// The runner double: stages take the time that whoever plays says, and end as it says.
#pragma once

#include <functional>

#include "agent/trial/trial.hpp"
#include "tests/lives/played_time.hpp"

namespace idletune::lives {

class PlayedRunner final : public TrialRunner {
 public:
  struct Script {
    std::function<TrialOutcome(const TrialRequest&)> starts;  // with what will come of it
    std::function<void(const TrialRequest&, const TrialOutcome&)> ended;
    std::function<void()> gone;
  };
  PlayedRunner(PlayedTime& time, bool isolated, Script script)
      : time_(time), isolated_(isolated), script_(std::move(script)) {}
  ~PlayedRunner() override { script_.gone(); }

  Status start(const TrialRequest& request) override {
    if (running_) return Status(StatusCode::busy, "a stage is running");
    if (poisoned_) return Status(StatusCode::device_error, "an earlier run outlived its deadline");
    running_ = true;
    request_ = request;
    const Nanoseconds started = time_.now();
    outcome_ = script_.starts(request);
    end_ = time_.now() + outcome_.wall;
    // While it is frozen; who runs it in this process cannot tell.
    (isolated_ ? outcome_.frozen : outcome_.wall) += time_.now() - started;
    return {};
  }
  bool poll(Nanoseconds wait, TrialOutcome& outcome) override {
    if (!running_) return false;
    const Nanoseconds left = end_ - time_.now();
    time_.pass(std::min(wait, left));
    if (end_ > time_.now()) return false;
    running_ = false;
    poisoned_ = poisoned_ || (!isolated_ && outcome_.status == TrialStatus::timeout);
    outcome = outcome_;
    script_.ended(request_, outcome);
    return true;
  }
  bool isolated() const override { return isolated_; }
  bool poisoned() const override { return poisoned_; }

 private:
  PlayedTime& time_;
  const bool isolated_;
  const Script script_;
  TrialRequest request_;
  TrialOutcome outcome_;
  Nanoseconds end_{0};
  bool running_ = false;
  bool poisoned_ = false;
};

}  // namespace idletune::lives
