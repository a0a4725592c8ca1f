#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/stopwatch.hpp"

#include <string>
#include <utility>

namespace idletune::krylov {

Result<Program*> DeviceKernels::get(Operation operation, KernelVariant variant) {
  for (const Kept& kept : kept_) {
    if (kept.operation == operation && same(kept.variant, variant)) return kept.program.get();
  }
  const KernelSource& source = kKernelSources[static_cast<std::size_t>(operation)];
  const std::string text = joined("%%%%", kDialectText[0], kDialectText[1],
                                  operation < Operation::dots ? kRowLanesText : "", source.text);
  const std::string options =
      joined("-DWG=% -DLANES=% -DGROUP_PER_ROW=% -DCG_SUMS=%%", variant.work_group, variant.lanes(),
             variant.kind == 1 ? 1 : 0, variant.fused,
             precision_ == Precision::f64 ? " -DPRECISION=64" : "");
  CompileRequest request;
  request.source = text;
  request.entry = source.entry;
  request.options = options;
  request.lanes = 1;
  const Stopwatch watch(device_);
  auto program = device_.compile(request);
  compile_seconds_ += watch.seconds();
  if (!program.ok()) return program.status();
  if (static_cast<std::uint64_t>(variant.work_group) > (*program)->max_work_group_size()) {
    return {StatusCode::unsupported, "%: a work group of %, expected at most %", source.entry,
            variant.work_group, (*program)->max_work_group_size()};
  }
  kept_.push_back({operation, variant, std::move(*program)});
  return kept_.back().program.get();
}

Range range_of(std::size_t items, std::int32_t work_group) {
  const auto group = static_cast<std::size_t>(work_group);
  Range range;
  range.global[0] = (items + group - 1) / group * group;
  range.local[0] = group;
  return range;
}

}  // namespace idletune::krylov
