// The tasks of shapes, and the slots that they have.
#pragma once

#include "agent/tuning/flight.hpp"
#include "agent/tuning/knowledge.hpp"

namespace idletune::detail {

class Shapes : EnginePart {
 public:
  Shapes(EngineCore& core, Knowledge& knowledge, const Flight& flight)
      : EnginePart(core), knowledge_(knowledge), flight_(flight) {}

  // Makes tasks for the shapes that were launched for the first time. Uses no device.
  void notice_new_shapes();
  // The task of a slot, made if need be; null for a slot that is not the one that lookups find.
  ShapeTask* shape_task(KernelTask& kernel, ShapeSlot& slot);
  // Slots of shapes that are not launched any more, where others found none.
  void recycle(KernelTask& kernel);
  void note_shape(ShapeTask& task, Nanoseconds time);

 private:
  bool may_leave(const ShapeTask& task) const;
  void leave(KernelTask& kernel, ShapeSlot& slot);

  Knowledge& knowledge_;
  const Flight& flight_;
};

}  // namespace idletune::detail
