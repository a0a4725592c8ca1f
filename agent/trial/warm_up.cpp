#include "agent/trial/warm_up.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "agent/trial/tuning_data.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune {
namespace {

constexpr std::size_t kSlackBytes = 4096;  // a tiny buffer's neighbours are not ours to touch
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;  // of host memory
constexpr std::uint32_t kSeed = 1;

struct ScratchArguments {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Argument> arguments;
  std::uint64_t bytes_left = 0;
};

Status fill(Device& device, const ArgumentSpec& spec, std::uint32_t index, std::size_t bytes,
            Buffer& buffer) {
  std::vector<std::uint8_t> content(std::min(bytes, kChunkBytes));
  for (std::size_t offset = 0; offset < bytes; offset += content.size()) {
    const MutableBytes part(content.data(), std::min(content.size(), bytes - offset));
    // Drawn numbers may repeat; drawing as many as a large buffer has takes long.
    if (offset == 0 || spec.fill >= Fill::index) {
      trial::fill_elements(spec, index, kSeed, offset / scalar_size_bytes(spec.type), part);
    }
    if (Status status = device.write(buffer, offset, part); !status.ok()) return status;
  }
  return {};
}

Status add_buffer(Device& device, const ArgumentSpec& spec, std::uint32_t index, std::size_t bytes,
                  ScratchArguments& scratch) {
  Result<std::unique_ptr<Buffer>> buffer = device.allocate(bytes + kSlackBytes);
  if (!buffer.ok()) return buffer.status();
  if (Status status = fill(device, spec, index, bytes, **buffer); !status.ok()) return status;
  scratch.arguments.push_back((*buffer)->argument());
  scratch.buffers.push_back(std::move(*buffer));
  return {};
}

// True and everything made, or false where the kernel does not have this shape or it is too large.
Result<bool> make_arguments(Device& device, const KernelPackage& package, const Shape& shape,
                            const Configuration& configuration, ScratchArguments& scratch) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    const auto index = static_cast<std::uint32_t>(i);
    if (is_memory(spec.kind)) {
      const Result<std::uint64_t> bytes = package.buffer_bytes(i, shape, configuration);
      if (!bytes.ok() || *bytes > scratch.bytes_left) return false;
      scratch.bytes_left -= *bytes;
      Status status = add_buffer(device, trial::fill_at(package, i, shape, *bytes), index,
                                 static_cast<std::size_t>(*bytes), scratch);
      if (!status.ok()) return status;
    } else if (spec.kind == ArgumentKind::scalar) {
      scratch.arguments.push_back(trial::scalar_value(spec, index, kSeed));
    } else {
      const Result<Argument> derived = trial::derived_argument(package, i, shape, configuration);
      if (!derived.ok()) return false;
      push(scratch.arguments, *derived);
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
    for (std::size_t i = 0; i < shape.feature_count(); ++i) small.push_feature(shape.feature(i));
    const Result<LaunchPlan> plan = configuration != nullptr ? package.plan(small, *configuration)
                                                             : package.reference().plan(small);
    if (plan.ok()) break;
  }
  return small;
}

Status warm_up(Device& device, const KernelPackage& package, const trial::StepPrograms& programs,
               const Shape& shape, const Result<LaunchPlan>& plan,
               const Configuration& configuration, Nanoseconds deadline,
               std::uint64_t scratch_limit_bytes, Nanoseconds* occupied) {
  if (!plan.ok()) return {};
  ScratchArguments scratch;
  scratch.bytes_left = scratch_limit_bytes;
  Result<bool> made = make_arguments(device, package, shape, configuration, scratch);
  if (!made.ok()) return made.status();
  if (!*made) return {};
  Nanoseconds used{0};
  Status status;
  for (const Span<const PlannedStep> steps : {plan->setup(), plan->steps()}) {
    const Result<RunTimes> run =
        trial::run_steps(device, programs, steps, scratch.arguments, deadline);
    status = run.status();
    if (!run.ok()) break;
    used += run->device.count() > 0 ? run->device : run->wall;
  }
  if (status.code() == StatusCode::out_of_memory) {
    status = Status(StatusCode::device_error, status.message());
  }
  if (status.code() == StatusCode::timeout) {
    used += deadline;
    // The run may still use them: never freed.
    for (std::unique_ptr<Buffer>& buffer : scratch.buffers) static_cast<void>(buffer.release());
  }
  if (occupied != nullptr) *occupied += used;
  return status;
}

}  // namespace idletune
