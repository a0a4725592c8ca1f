// What journal and model know of a kernel's shapes, and what is recorded of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/tuning/engine_core.hpp"

namespace idletune::detail {

class Knowledge : EnginePart {
 public:
  explicit Knowledge(EngineCore& core) : EnginePart(core) {}

  // What the digests of the journal stand for.
  void record_names(const KernelPackage& package, const DeviceInfo& device);
  SearchSubject subject_of(const KernelState& kernel, const ShapeSlot& slot) const;
  // A new task learns what is known.
  void load(ShapeTask& task);
  // What runs here since an earlier session, or was suspended; it is built later.
  void recall_adoption(ShapeTask& task);
  // Whether that is the first measurement of the configuration.
  bool record(const ShapeTask& task, const StepResult& result);
  // Refreshes ShapeTask::comebacks from what was measured.
  void look_for_comebacks(ShapeTask& task) const;

  // From now on this model counts (null: none). Shapes go over to it one by one, each when it is
  // between two steps and renew_one() comes by.
  void use_model(const std::shared_ptr<const Model>& model);
  void take_model(KernelTask& kernel, const std::shared_ptr<const Model>& model);
  // One stage of learning; false if none was due.
  bool retrain(Nanoseconds left);
  // One shape goes over to another model or to other data; true if there was one.
  bool renew_one(ShapeTask* preferred);
  // What was refused so far is proposed again.
  void renew(ShapeTask& task);

  std::uint64_t captured_digest(const KernelState& kernel, const Shape& shape) const;
  // A file of that digest lies there, and making it took the application so long.
  void capture_taken(ShapeTask& task, std::uint64_t digest, Nanoseconds took);
  bool notice_capture(ShapeTask& task);
  void drop_capture(ShapeTask& task);

 private:
  void recall(ShapeTask& task);
  void begin_anew(ShapeTask& task);
  std::vector<KnownMeasurement> measurements_of(const ShapeTask& task) const;
  void recall_default(ShapeTask& task);
};

}  // namespace idletune::detail
