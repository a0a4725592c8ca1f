#include <idletune/calls.hpp>

#include <memory>
#include <utility>

#include "agent/api/agent_state.hpp"
#include "agent/api/parameter_space.hpp"
#include "agent/calls/called_device.hpp"
#include "agent/launch/kernel_state.hpp"
#include "models/package/call_package.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune {
namespace {

Result<std::vector<std::uint8_t>> package_of(const CallDescription& description) {
  Configuration untuned;
  const Result<Space> space = space_of(description.parameters, untuned);
  if (!space.ok()) return space.status();
  return call_package(description.name, *space, untuned, description.dimensions,
                      description.features);
}

// Of calls without dimensions there is one problem, whatever its features.
Problem known(const Problem& problem) {
  if (problem.size() > 0 || problem.overflow()) return problem;
  Problem only{0};
  for (std::size_t i = 0; i < problem.feature_count(); ++i) only.push_feature(problem.feature(i));
  return only;
}

}  // namespace

Result<TunedCalls> open_calls(Agent& agent, const CallDescription& description) {
  const auto refused = [&](const Status& why) {
    return Status(why.code(), "calls '%': %", description.name, why.message());
  };
  if (!(description.max_slowdown > 0 && description.max_slowdown <= 1)) {
    return refused(
        Status(StatusCode::invalid_argument, "max_slowdown: expected more than 0 and at most 1"));
  }
  Result<std::vector<std::uint8_t>> package = package_of(description);
  if (!package.ok()) return refused(package.status());
  detail::AgentState::Called called{std::make_unique<detail::CalledDevice>(description.runs_on),
                                    std::make_unique<detail::CallTrials>(),
                                    {true, description.max_slowdown}};
  Result<detail::KernelState*> kernel =
      agent.state_->kernel(*called.device, std::move(*package), "(calls)", &called);
  if (!kernel.ok()) return refused(kernel.status());
  return TunedCalls(agent.state_.get(), *kernel);
}

Result<TunedCalls::Call> TunedCalls::begin(const Problem& problem) {
  detail::CallBegun begun;
  LaunchOptions options;
  options.event = &begun;
  Status status = kernel_->launch(options, known(problem), {});
  if (!status.ok()) return status;
  return Call{problem, begun.configuration, begun.number};
}

Status TunedCalls::end(const Call& call, const Measurement& measurement) {
  const bool correct = measurement.status == TrialStatus::correct;
  if (!correct) {
    // Before it counts as ended: who told it wrongly may tell it again.
    Status fits = kernel_->package().plan(known(call.problem), call.configuration).status();
    if (fits.ok() && !kernel_->package().space().contains(call.configuration))
      fits = Status(StatusCode::invalid_argument, "no configuration of its parameters");
    if (!fits.ok()) return Status(fits.code(), "calls '%': %", kernel_->name(), fits.message());
  }
  auto& device = static_cast<detail::CalledDevice&>(kernel_->device());
  if (!device.calls().end(call.number, correct ? measurement.run_time : Nanoseconds(0))) {
    return Status(StatusCode::invalid_argument,
                  "calls '%': call % never began, has ended, or was forgotten", kernel_->name(),
                  call.number);
  }
  if (correct || call.configuration == kernel_->package().default_configuration()) return {};
  const bool timed = detail::OpenCalls::is_time(measurement.run_time);
  return agent_->call_failed(*kernel_, known(call.problem), call.configuration,
                             {measurement.status, timed ? measurement.run_time : Nanoseconds(0)});
}

void TunedCalls::expect(const Problem& problem, double calls) {
  kernel_->expect_launches(known(problem), calls);
}
Result<Explanation> TunedCalls::explain(const Problem& problem) const {
  return agent_->explain(*kernel_, known(problem));
}
std::size_t TunedCalls::parameter_count() const {
  return kernel_->package().space().parameter_count();
}
std::string TunedCalls::text(const Configuration& configuration) const {
  return to_text(kernel_->package().space(), configuration);
}

}  // namespace idletune
