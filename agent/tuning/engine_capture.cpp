// What the application lends of a shape's data.
#include <utility>

#include <idletune/text.hpp>

#include "agent/tuning/tuning_engine.hpp"
#include "models/core/digest.hpp"
#include "models/package/captured_arguments.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {
namespace {

bool has_captured(const KernelPackage& package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).captured) return true;
  }
  return false;
}

}  // namespace

std::string TuningEngine::capture_path(const KernelState& kernel, const Shape& shape) const {
  return joined({options_.state, "/captures/", kernel.name(), "-", digest_of(shape), ".itcapture"});
}

// Of what an earlier call or process was lent; 0: nothing. The rest of the file is looked at where
// it is used.
std::uint64_t TuningEngine::captured_digest(const KernelState& kernel, const Shape& shape) const {
  if (options_.state.empty() || !has_captured(kernel.package())) return 0;
  std::uint8_t beginning[CapturedArguments::kBeginningBytes];
  const bool read = read_beginning(capture_path(kernel, shape), beginning);
  return read ? CapturedArguments::digest_in(beginning) : 0;
}

void TuningEngine::capture_taken(ShapeTask& task, std::uint64_t digest, Nanoseconds took) {
  accounts_.launch_was_slower(task, took);
  if (task.captured == digest) return;
  task.captured = digest;
  task.lent = true;
}

// It cannot be used: damaged, or of another package. The search goes on with made-up data.
void TuningEngine::drop_capture(ShapeTask& task) {
  if (task.captured == 0) return;
  (void)write_file_atomically(capture_path(*task.kernel.state, task.slot.shape), Bytes(),
                              FileSync::no);
  task.captured = 0;
  task.lent = true;
}

// Nothing that was found on other data is taken for granted; what was adopted there goes on running
// and is tried first.
void TuningEngine::begin_anew(ShapeTask& task) {
  task.lent = false;
  task.search = ShapeSearch(subject_of(*task.kernel.state, task.slot), task.kernel.model);
  task.search.estimates().adopt_compile(task.kernel.compile_estimates);
  task.default_time = task.reference_run = Nanoseconds{0};
  task.baseline_failures = 0;
  task.baseline_failed = task.exhausted = false;
  task.kernel.contents.forget();
  recall(task);
}

}  // namespace idletune::detail
