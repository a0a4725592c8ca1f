#include "agent/trial/step_programs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "models/package/kernel_package.hpp"

namespace idletune::trial {

Result<std::unique_ptr<Program>> compile_entry(Device& device, const KernelPackage& package,
                                               std::string_view entry,
                                               const Configuration& configuration,
                                               std::uint32_t lanes, bool keep) {
  const std::string options = package.compile_options(configuration);
  CompileRequest request;
  request.source = package.source();
  request.entry = entry;
  request.options = options;
  request.lanes = lanes;
  request.prebuilt = package.prebuilt(configuration);
  request.keep = keep;
  return device.compile(request);
}

Result<StepPrograms> compile_steps(Device& device, const KernelPackage& package,
                                   const Configuration& configuration, std::uint32_t lanes,
                                   bool keep) {
  StepPrograms programs;
  for (std::size_t i = 0; i < package.step_count(); ++i) {
    const std::string_view entry = package.step(i).entry;
    Result<std::unique_ptr<Program>> program =
        i == 0 ? compile_entry(device, package, entry, configuration, lanes, keep)
               : programs.front()->another(entry);
    if (!program.ok()) return program.status();
    programs.push_back(std::move(*program));
  }
  return programs;
}

Result<StepPrograms> compile_reference(Device& device, const KernelPackage& package) {
  if (!package.reference().is_own_kernel()) {
    return compile_steps(device, package, package.reference().configuration());
  }
  Result<std::unique_ptr<Program>> program = compile_entry(
      device, package, package.reference().entry(), package.reference().configuration());
  if (!program.ok()) return program.status();
  StepPrograms programs;
  programs.push_back(std::move(*program));
  return programs;
}

Span<const Argument> arguments_of_step(const StepSpec& step, const Argument* all, Argument* out) {
  for (std::size_t i = 0; i < step.arguments.size(); ++i) out[i] = all[step.arguments[i]];
  return {out, step.arguments.size()};
}

Result<RunTimes> run_steps(Device& device, const StepPrograms& programs,
                           Span<const PlannedStep> steps, Span<const Argument> arguments,
                           Nanoseconds deadline) {
  RunTimes total;
  bool timed = true;
  Argument own[kMaxArguments];
  for (const PlannedStep& step : steps) {
    const Result<RunTimes> times =
        device.run(*programs[step.index], step.range,
                   arguments_of_step(step.spec, arguments.data(), own), deadline);
    if (!times.ok()) return times.status();
    timed = timed && times->device.count() > 0;
    total.device += times->device;
    total.wall += times->wall;
    deadline = std::max(Nanoseconds(1), deadline - times->wall);
  }
  if (!timed) total.device = Nanoseconds{0};
  return total;
}

}  // namespace idletune::trial
