// The C++ interface: every call beside eight launching threads.
#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>

#include <array>

#include "tests/integration/stress/workplace.hpp"

namespace idletune::stress {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMaxKernels = 4;  // each costs a compilation

bool is_one_of(const Status& status, std::initializer_list<StatusCode> codes) {
  for (const StatusCode code : codes) {
    if (status.code() == code) return true;
  }
  return status.ok();
}

void expect(const Status& status, std::initializer_list<StatusCode> codes, const char* call) {
  require(is_one_of(status, codes), std::string(call) + ": " + status.to_string());
}

// One agent, and every call of it.
class AgentCalls {
 public:
  AgentCalls(Device& device, const Workplace& workplace, bool in_process)
      : device_(device), workplace_(workplace), agent_(open(in_process)) {
    auto loaded = agent_.kernel(device, package());
    require(loaded.status(), "kernel");
    kernel_ = std::make_unique<TunedKernel>(*loaded);
  }

  void launch(Launcher& launcher, const Shape& shape) {
    const Argument arguments[] = {launcher.in(), launcher.out()};
    LaunchOptions options;
    options.queue = launcher.queue();
    require(kernel_->launch(options, shape, Span<const Argument>(arguments, 2)), "launch");
  }

  std::vector<Call> calls() {
    return {
        {"kernel", [this](std::uint64_t) { load(); }},
        {"prepare",
         [this](std::uint64_t turn) {
           expect(kernel_->prepare(shape_of(turn % kShapes)), {StatusCode::out_of_memory},
                  "prepare");
         }},
        {"expect_launches",
         [this](std::uint64_t turn) { kernel_->expect_launches(shape_of(turn % kShapes), 1e6); }},
        {"explain", [this](std::uint64_t turn) { look_at(turn % kAdoptedShapes); }},
        {"explain_json",
         [this](std::uint64_t) {
           require(agent_.explain().find("\"kernels\"") != std::string::npos, "explain");
         }},
        {"status", [this](std::uint64_t) { require(agent_.status().storage, "status"); }},
        {"idle", [this](std::uint64_t) { (void)agent_.idle(3ms); }},
        {"tune_now", [this](std::uint64_t) { (void)agent_.tune_now(20ms); }},
        {"start_background",
         [this](std::uint64_t) {
           BackgroundOptions options;
           options.max_duty = 1;
           expect(agent_.start_background(options), {StatusCode::busy}, "start_background");
         }},
        {"stop_background", [this](std::uint64_t) { agent_.stop_background(); }},
        {"reload_model",
         [this](std::uint64_t turn) {
           workplace_.push_model(turn);
           expect(agent_.reload_model(), {StatusCode::corrupt}, "reload_model");
         }},
        {"confirm_model",
         [this](std::uint64_t) {
           expect(agent_.confirm_model(), {StatusCode::not_found}, "confirm_model");
         }},
        {"reject_model",
         [this](std::uint64_t) {
           expect(agent_.reject_model("stress"), {StatusCode::not_found}, "reject_model");
         }},
        {"flush", [this](std::uint64_t) { require(agent_.flush(), "flush"); }},
        {"allow_in_place",
         [this](std::uint64_t turn) {
           InPlaceOptions options;
           options.allowed = turn % 2 == 0;
           kernel_->allow_in_place(options);
         }},
        {"shapes",
         [this](std::uint64_t) {
           require(kernel_->shapes().size() <= kMaxShapes, "shapes");
           require(kernel_->name() == "stress", "name");
         }},
    };
  }

  // Shapes that have been seen to run what was adopted earlier, or something found since.
  std::size_t taken_over() const {
    std::size_t count = 0;
    for (const std::atomic<bool>& seen : adopted_runs_) count += seen;
    return count;
  }

 private:
  Agent open(bool in_process) const {
    AgentOptions options;
    options.model = workplace_.model();
    options.state =
        workplace_.state_with_adoptions(device_.info(), in_process ? "in_process" : "isolated");
    options.in_process = in_process ? trials_in_process() : nullptr;
    options.model_check_interval = 10ms;
    options.max_shapes = kMaxShapes;
    options.overhead_limit = 1;  // tuning is what is wanted here
    auto opened = Agent::open(options);
    require(opened.status(), "Agent::open");
    return std::move(*opened);
  }

  void load() {
    if (kernels_loaded_++ >= kMaxKernels) return;
    const auto loaded = agent_.kernel(device_, workplace_.package_file());
    require(loaded.status(), "kernel");
  }

  void look_at(std::size_t shape) {
    const auto explanation = kernel_->explain(shape_of(shape));
    if (!explanation.ok()) return expect(explanation.status(), {StatusCode::not_found}, "explain");
    if (explanation->selection != Selection::fallback) adopted_runs_[shape] = true;
  }

  Device& device_;
  const Workplace& workplace_;
  Agent agent_;
  std::unique_ptr<TunedKernel> kernel_;
  std::atomic<std::uint64_t> kernels_loaded_{0};
  std::array<std::atomic<bool>, kAdoptedShapes> adopted_runs_{};
};

}  // namespace

void stress_agent(double seconds, bool in_process) {
  const Workplace workplace;
  auto device = opencl::open(0);
  require(device.status(), "opencl::open");
  AgentCalls agent(**device, workplace, in_process);
  run_all(
      in_process ? "C++, trials in this process" : "C++, trials in the helper", seconds,
      opencl::handles(**device),
      [&](Launcher& launcher, const Shape& shape) { agent.launch(launcher, shape); }, agent.calls(),
      [&] { return agent.taken_over() > 16; });
}

}  // namespace idletune::stress
