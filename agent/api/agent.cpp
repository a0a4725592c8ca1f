// The public handles: thin, so that everything they promise is visible in one place.
#include <idletune/agent.hpp>

#include "agent/api/agent_state.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune {

const char* selection_name(Selection selection) {
  switch (selection) {
    case Selection::fallback: return "default";
    case Selection::first_pick: return "first_pick";
    case Selection::tuned: return "tuned";
    case Selection::shape_class: return "shape_class";
  }
  return "unknown";
}

Agent::Agent(std::unique_ptr<detail::AgentState> state) : state_(std::move(state)) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

Result<Agent> Agent::open(const AgentOptions& options) {
  Result<std::unique_ptr<detail::AgentState>> state = detail::AgentState::open(options);
  if (!state.ok()) return state.status();
  return Agent(std::move(*state));
}

Result<TunedKernel> Agent::kernel(Device& device, const std::string& package_path) {
  Result<std::vector<std::uint8_t>> file =
      read_pushed_file(package_path, KernelPackage::kMaxBytes, state_->models().trust());
  if (!file.ok()) return file.status();
  Result<detail::KernelState*> kernel = state_->kernel(device, std::move(*file), package_path);
  if (!kernel.ok()) return kernel.status();
  return TunedKernel(state_.get(), *kernel);
}

Result<TunedKernel> Agent::kernel(Device& device, std::vector<std::uint8_t> package) {
  Result<detail::KernelState*> kernel = state_->kernel(device, std::move(package), "(memory)");
  if (!kernel.ok()) return kernel.status();
  return TunedKernel(state_.get(), *kernel);
}

IdleReport Agent::idle(std::chrono::nanoseconds budget) {
  return state_->idle(budget, detail::TimeSource::idle);
}
IdleReport Agent::tune_now(std::chrono::nanoseconds budget) {
  return state_->idle(budget, detail::TimeSource::foreground);
}
Status Agent::start_background(const BackgroundOptions& options) {
  return state_->start_background(options);
}
void Agent::stop_background() { state_->stop_background(); }
Status Agent::reload_model(const std::string& path) { return state_->models().reload(path); }
Status Agent::confirm_model() { return state_->models().confirm(); }
Status Agent::reject_model(const std::string& why) { return state_->models().reject(why); }
AgentStatus Agent::status() const { return state_->status(); }
std::string Agent::explain() const { return state_->explain_json(); }
Status Agent::flush() { return state_->flush(); }

Status TunedKernel::launch(const LaunchOptions& options, const Shape& shape,
                           Span<const Argument> arguments) {
  return kernel_->launch(options, shape, arguments);
}
Status TunedKernel::prepare(const Shape& shape) { return agent_->prepare(*kernel_, shape); }
void TunedKernel::expect_launches(const Shape& shape, double launches) {
  kernel_->expect_launches(shape, launches);
}
void TunedKernel::constants_changed(const Shape& shape) { kernel_->constants_changed(shape); }
Status TunedKernel::capture(const Shape& shape, Span<const Argument> arguments) {
  return agent_->capture(*kernel_, shape, arguments);
}
void TunedKernel::allow_in_place(const InPlaceOptions& options) {
  agent_->allow_in_place(*kernel_, options);
}
Result<Explanation> TunedKernel::explain(const Shape& shape) const {
  return agent_->explain(*kernel_, shape);
}
std::vector<Shape> TunedKernel::shapes() const { return agent_->shapes(*kernel_); }
const std::string& TunedKernel::name() const { return kernel_->name(); }

}  // namespace idletune
