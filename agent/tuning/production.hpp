// What the application's own launches tell.
#pragma once

#include <idletune/tuner.hpp>

#include "agent/tuning/steps.hpp"

namespace idletune::detail {

class Production : EnginePart {
 public:
  Production(EngineCore& core, Publisher& publisher, Steps& steps)
      : EnginePart(core), publisher_(publisher), steps_(steps) {}

  // Takes the times of sampled launches.
  void drain_tickets(ShapeTask& task);
  void watch_production(ShapeTask& task);
  // What runs for its class without a slot takes turns with the default at one shape after another.
  void audit_classes(KernelTask& kernel);
  // Takes candidates from the launches that may not run there any more.
  void withdraw_racers(ShapeTask& task);
  bool launches_are_timed() const;
  // The application says that a call failed with that configuration.
  void call_failed(ShapeTask& task, const Configuration& configuration,
                   const Measurement& measurement);

 private:
  void take_sample(ShapeTask& task, const Variant* variant, Nanoseconds time);
  void prove(ShapeTask& task, std::size_t unproven);
  void time_default(ShapeTask& task);
  void judge_class(ShapeTask& task);
  double class_ratio(const ShapeTask& task) const;
  void charge_race(ShapeTask& task);
  void judge_race(ShapeTask& task);
  void end_race(ShapeTask& task);
  void begin_duel(ShapeTask& task, bool loses);
  void end_duel(ShapeTask& task, std::size_t racer, TrialVerdict verdict);
  bool ran_for_long(const ShapeTask& task, const Unproven& each) const;
  std::unique_ptr<Variant> take_racer(ShapeTask& task, std::size_t racer);
  void end_racer(ShapeTask& task, std::size_t racer, TrialVerdict verdict);

  Publisher& publisher_;
  Steps& steps_;
};

}  // namespace idletune::detail
