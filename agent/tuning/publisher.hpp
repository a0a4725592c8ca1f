// What launches run: what was adopted, and what counts for a class of shapes.
#pragma once

#include <memory>

#include "agent/tuning/knowledge.hpp"

namespace idletune::detail {

class Publisher : EnginePart {
 public:
  Publisher(EngineCore& core, Knowledge& knowledge) : EnginePart(core), knowledge_(knowledge) {}

  // Compares what is published with what may run, if that has changed, and corrects it.
  void republish(KernelTask& kernel);
  // Classes run what was adopted once its record is on the medium.
  void offer_what_is_kept(KernelTask& kernel);
  void adopt(ShapeTask& task, const Install& install, std::unique_ptr<Variant> variant);
  // `told`: to people. It may come back after some launches, in whatever session.
  void demote(ShapeTask& task, journal::DemotionReason why, const char* told);
  void allow_setup(ShapeTask& task);
  // What ran for a class was compared with the default.
  void note_for_classes(KernelTask& kernel, std::uint64_t variant, bool won);
  // What runs for the shape's class does so at this shape no more.
  void stop_for_class(ShapeTask& task);
  // What ran in launches for the shape does so no more.
  void forget_unproven(ShapeTask& task, const Configuration& configuration);

 private:
  void publish(ShapeTask& task, std::unique_ptr<Variant> variant, Nanoseconds time,
               Nanoseconds setup = {});
  void withdraw(ShapeTask& task);
  void take_back(ShapeTask& task);
  void offer_for_classes(KernelTask& kernel);

  Knowledge& knowledge_;
};

}  // namespace idletune::detail
