#include "agent/trial/limits.hpp"

#include <idletune/text.hpp>

#include <array>

#include "models/package/kernel_package.hpp"

namespace idletune::trial {
namespace {

std::uint64_t work_group_size(const PlannedStep& step) {
  return std::uint64_t{step.range.local[0]} * step.range.local[1] * step.range.local[2];
}

Status beyond(const char* what, std::uint64_t value, std::uint64_t limit) {
  return Status(StatusCode::unsupported, "% % exceeds the device's %", what, value, limit);
}

// A limit of 0 is one that the driver does not tell.
bool exceeds(std::uint64_t value, std::uint64_t limit) { return limit != 0 && value > limit; }

Status check_launch(const DeviceInfo& device, const PlannedStep& step) {
  // Local memory of 0 is told: a device without any.
  if (step.local_memory_bytes > device.local_memory_bytes) {
    return beyond("local memory of", step.local_memory_bytes, device.local_memory_bytes);
  }
  if (exceeds(work_group_size(step), device.max_work_group_size)) {
    return beyond("work-group size", work_group_size(step), device.max_work_group_size);
  }
  for (std::size_t i = 0; i < step.range.dimensions; ++i) {
    if (exceeds(step.range.local[i], device.max_work_item_sizes[i])) {
      return beyond(joined("work-group size in dimension %", i).c_str(), step.range.local[i],
                    device.max_work_item_sizes[i]);
    }
    const std::uint64_t groups = step.range.global[i] / step.range.local[i];
    if (exceeds(groups, device.max_groups[i])) {
      return beyond(joined("number of groups in dimension %", i).c_str(), groups,
                    device.max_groups[i]);
    }
  }
  return {};
}

Status check_buffers(const DeviceInfo& device, const KernelPackage& package, const Shape& shape,
                     const Configuration& configuration) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (!is_memory(spec.kind)) continue;
    const Result<std::uint64_t> bytes = package.buffer_bytes(i, shape, configuration);
    if (!bytes) return bytes.status();
    if (exceeds(*bytes, device.max_allocation_bytes)) {
      return beyond(joined("buffer '%' of", spec.name).c_str(), *bytes,
                    device.max_allocation_bytes);
    }
  }
  return {};
}

Status check_quirks(const DeviceInfo& device, const KernelPackage& package,
                    const QuirkTable& quirks, const PlannedStep& step,
                    const Configuration& configuration) {
  if (quirks.size() == 0) return {};
  static constexpr char kLocalNames[][8] = {"local_0", "local_1", "local_2"};
  std::array<QuirkSubject::Value, 5 + kMaxParameters> values;
  std::size_t count = 0;
  const auto add = [&](std::string_view name, std::uint64_t value) {
    values[count++] = {name, static_cast<std::int64_t>(value)};
  };
  add("local_memory_bytes", step.local_memory_bytes);
  add("work_group_size", work_group_size(step));
  for (std::size_t i = 0; i < 3; ++i) add(kLocalNames[i], step.range.local[i]);
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    add(package.space().parameter_name(i), static_cast<std::uint64_t>(configuration[i]));
  }
  const std::string_view reason = quirks.match(device, {package.name(), {values.data(), count}});
  if (reason.empty()) return {};
  return Status(StatusCode::unsupported, "known to fail on this driver: %", reason);
}

}  // namespace

Status admit_dialect(const DeviceInfo& device, const KernelPackage& package) {
  const bool fits = package.dialect() == Dialect::portable ||
                    (package.dialect() == Dialect::opencl ? device.backend != "cuda"
                                                          : device.backend != "opencl");
  if (fits) return {};
  const std::string dialect = package.dialect() == Dialect::opencl ? "opencl" : "cuda";
  return Status(StatusCode::unsupported,
                "kernel '%' has the dialect '%', which % device '%' cannot compile; expected "
                "'portable' or '%'",
                package.name(), dialect, device.backend, device.name, device.backend);
}

Result<LaunchPlan> admitted_plan(const DeviceInfo& device, const KernelPackage& package,
                                 const QuirkTable& quirks, const Shape& shape,
                                 const Configuration& configuration, bool ignore_device_limits) {
  if (Status status = admit_dialect(device, package); !status.ok()) return status;
  if (!package.space().contains(configuration)) {
    return Status(StatusCode::invalid_argument, "the configuration is not in the space of '%'",
                  package.name());
  }
  Result<LaunchPlan> plan = package.plan(shape, configuration);
  if (!plan || ignore_device_limits) return plan;
  for (const PlannedStep& step : plan->all()) {
    Status status = check_launch(device, step);
    if (status.ok()) status = check_quirks(device, package, quirks, step, configuration);
    if (!status.ok()) return status;
  }
  if (Status fit = check_buffers(device, package, shape, configuration); !fit.ok()) return fit;
  return plan;
}

Status admit_programs(const DeviceInfo& device, const StepPrograms& programs,
                      const LaunchPlan& plan) {
  for (const PlannedStep& step : plan.all()) {
    const Program& program = *programs[step.index];
    if (program.local_memory_bytes() > device.local_memory_bytes) {
      return beyond("local memory as compiled of", program.local_memory_bytes(),
                    device.local_memory_bytes);
    }
    if (exceeds(work_group_size(step), program.max_work_group_size())) {
      return beyond("work-group size", work_group_size(step), program.max_work_group_size());
    }
  }
  return {};
}

}  // namespace idletune::trial
