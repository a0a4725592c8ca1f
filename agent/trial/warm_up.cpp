#include "agent/trial/warm_up.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "agent/trial/tuning_data.hpp"

namespace idletune {
namespace {

constexpr std::size_t kSlackBytes = 4096;  // a tiny buffer's neighbours are not ours to touch
constexpr std::uint32_t kSeed = 1;

struct ScratchArguments {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Argument> arguments;
};

Status add_buffer(Device& device, const KernelPackage& package, std::size_t index,
                  std::uint64_t elements, ScratchArguments& scratch) {
  const ArgumentSpec& spec = package.argument(index);
  const std::size_t bytes = static_cast<std::size_t>(elements) * scalar_size_bytes(spec.type);
  Result<std::unique_ptr<Buffer>> buffer = device.allocate(bytes + kSlackBytes);
  if (!buffer.ok()) return buffer.status();
  std::vector<std::uint8_t> content(bytes);
  trial::fill_elements(spec, static_cast<std::uint32_t>(index), kSeed, 0, MutableBytes(content));
  if (Status status = device.write(**buffer, 0, content); !status.ok()) return status;
  scratch.arguments.push_back((*buffer)->argument());
  scratch.buffers.push_back(std::move(*buffer));
  return {};
}

// True and everything made, or false where the kernel does not have this shape.
Result<bool> make_arguments(Device& device, const KernelPackage& package, const Shape& shape,
                            const Configuration& configuration, ScratchArguments& scratch) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (spec.kind == ArgumentKind::dimension) {
      Result<std::int64_t> value = package.dimension_value(i, shape);
      if (!value.ok()) return false;
      scratch.arguments.push_back(trial::dimension_argument(spec.type, *value));
    } else if (spec.kind == ArgumentKind::scalar) {
      scratch.arguments.push_back(trial::scalar_value(spec, static_cast<std::uint32_t>(i), kSeed));
    } else {
      Result<std::uint64_t> elements = package.buffer_elements(i, shape, configuration);
      if (!elements.ok() || *elements > (std::uint64_t{1} << 20)) return false;
      if (Status status = add_buffer(device, package, i, *elements, scratch); !status.ok()) {
        return status;
      }
    }
  }
  return true;
}

}  // namespace

Shape small_shape(const KernelPackage& package, const Shape& shape,
                  const Configuration* configuration) {
  Shape small;
  for (int bits = 0; bits < 63 && small != shape; ++bits) {
    small = Shape();
    for (const std::int64_t dimension : shape.values()) {
      small.push_back(std::min(std::int64_t{1} << bits, dimension));
    }
    const Result<LaunchPlan> plan = configuration != nullptr ? package.plan(small, *configuration)
                                                             : package.reference_plan(small);
    if (plan.ok()) break;
  }
  return small;
}

Status warm_up(Device& device, const KernelPackage& package, Program& program, const Shape& shape,
               const Result<LaunchPlan>& plan, const Configuration& configuration,
               Nanoseconds deadline) {
  if (!plan.ok()) return {};
  ScratchArguments scratch;
  Result<bool> made = make_arguments(device, package, shape, configuration, scratch);
  if (!made.ok()) return made.status();
  if (!*made) return {};
  Result<RunTimes> run = device.run(program, plan->range, scratch.arguments, deadline);
  if (run.ok()) return {};
  if (run.code() == StatusCode::timeout) {
    // The run may still use them: never freed.
    for (std::unique_ptr<Buffer>& buffer : scratch.buffers) buffer.release();
  }
  return run.status();
}

}  // namespace idletune
