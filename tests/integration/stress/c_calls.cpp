// The C interface: every call beside eight launching threads.
#include <idletune/idletune.h>

#include <cstring>

#include "tests/integration/stress/workplace.hpp"

namespace idletune::stress {
namespace {

constexpr std::uint64_t kMaxKernels = 4;  // each costs a compilation

void expect(idletune_status status, std::initializer_list<idletune_status> allowed,
            const char* call) {
  for (const idletune_status one : allowed) {
    if (status == one) return;
  }
  require(status == IDLETUNE_OK,
          std::string(call) + ": " + idletune_status_name(status) + ": " + idletune_last_message());
}

class CAgent {
 public:
  CAgent(const Workplace& workplace, idletune_device* device)
      : workplace_(workplace), device_(device) {
    expect(idletune_open(workplace.model().c_str(), nullptr, &agent_), {}, "idletune_open");
    kernel_ = load();
    calls_ = open_calls();
  }
  ~CAgent() {
    idletune_calls_close(calls_);
    idletune_close(agent_);
  }
  CAgent(const CAgent&) = delete;
  CAgent& operator=(const CAgent&) = delete;

  void launch(Launcher& launcher, const Shape& shape) {
    idletune_argument arguments[2] = {};
    arguments[0].value.buffer = launcher.in();
    arguments[1].value.buffer = launcher.out();
    const std::int64_t n = shape[0];
    expect(idletune_launch(kernel_, &n, 1, arguments, 2, launcher.queue(), nullptr, 0, nullptr), {},
           "idletune_launch");
  }

  std::vector<Call> calls() {
    return {
        {"load_kernel",
         [this](std::uint64_t) {
           if (kernels_loaded_++ < kMaxKernels) (void)load();
         }},
        {"prepare",
         [this](std::uint64_t turn) {
           const std::int64_t n = shape_of(turn % kShapes)[0];
           expect(idletune_prepare(kernel_, &n, 1), {}, "idletune_prepare");
         }},
        {"idle",
         [this](std::uint64_t) { require(idletune_idle(agent_, 3000000) >= 0, "idletune_idle"); }},
        {"start_background",
         [this](std::uint64_t) {
           expect(idletune_start_background(agent_, 1, 0), {IDLETUNE_BUSY},
                  "idletune_start_background");
         }},
        {"stop_background", [this](std::uint64_t) { idletune_stop_background(agent_); }},
        {"explain", [this](std::uint64_t) { explain(); }},
        {"reload_model",
         [this](std::uint64_t turn) {
           workplace_.push_model(turn);
           expect(idletune_reload_model(agent_, nullptr), {IDLETUNE_CORRUPT},
                  "idletune_reload_model");
         }},
        {"reject_model",
         [this](std::uint64_t) {
           expect(idletune_confirm_model(agent_), {IDLETUNE_NOT_FOUND}, "idletune_confirm_model");
           expect(idletune_reject_model(agent_, nullptr), {IDLETUNE_NOT_FOUND},
                  "idletune_reject_model");
         }},
        {"call", [this](std::uint64_t turn) { call(turn); }},
        {"tuner", [](std::uint64_t turn) { ask_and_tell(turn); }},
    };
  }

 private:
  idletune_kernel* load() {
    idletune_kernel* kernel = nullptr;
    expect(idletune_load_kernel(agent_, device_, workplace_.package_file().c_str(), &kernel), {},
           "idletune_load_kernel");
    return kernel;
  }

  idletune_calls* open_calls() {
    const char* const names[] = {"A", "B"};
    const std::size_t counts[] = {3, 3};
    const std::int64_t values[] = {1, 2, 3, 1, 2, 3};
    const char* const dimension = "KIND";
    idletune_call_description description = {};
    description.name = "stressed";
    description.parameter_names = names;
    description.value_counts = counts;
    description.values = values;
    description.parameter_count = 2;
    description.dimension_names = &dimension;
    description.dimension_count = 1;
    idletune_calls* calls = nullptr;
    expect(idletune_calls_open(agent_, &description, &calls), {}, "idletune_calls_open");
    return calls;
  }

  // Some of them fail.
  void call(std::uint64_t turn) {
    const std::int64_t kind = static_cast<std::int64_t>(turn % 4);
    const idletune_problem problem = {&kind, 1, nullptr, 0};
    idletune_call call = {};
    expect(idletune_call_begin(calls_, &problem, &call), {}, "idletune_call_begin");
    require(call.configuration[0] >= 1 && call.configuration[1] <= 3, "a call's configuration");
    const bool wrong = call.configuration[0] == 3 && call.configuration[1] == 2;
    expect(idletune_call_end(calls_, &problem, &call,
                             wrong ? IDLETUNE_ENDED_WRONG : IDLETUNE_ENDED_CORRECT,
                             1000 * (call.configuration[0] + call.configuration[1])),
           {}, "idletune_call_end");
  }

  void explain() {
    char* text = idletune_explain(agent_);
    require(text != nullptr && std::strstr(text, "\"kernels\"") != nullptr, "idletune_explain");
    idletune_free(text);
  }

  // A tuner belongs to one thread; several threads have theirs at once.
  static void ask_and_tell(std::uint64_t seed) {
    const char* const names[] = {"A"};
    const std::size_t counts[] = {3};
    const std::int64_t values[] = {1, 2, 3};
    idletune_tuner* tuner = nullptr;
    expect(idletune_tuner_open("t", names, counts, values, 1, seed, &tuner), {},
           "idletune_tuner_open");
    std::int64_t configuration = 0;
    while (idletune_tuner_ask(tuner, &configuration) == IDLETUNE_OK) {
      idletune_tuner_tell(tuner, &configuration, 100 * configuration);
    }
    require(idletune_tuner_best(tuner, &configuration) == 100 && configuration == 1,
            "idletune_tuner_best");
    idletune_tuner_close(tuner);
  }

  const Workplace& workplace_;
  idletune_device* device_;
  idletune_agent* agent_ = nullptr;
  idletune_kernel* kernel_ = nullptr;
  idletune_calls* calls_ = nullptr;
  std::atomic<std::uint64_t> kernels_loaded_{0};
};

}  // namespace

void stress_c_interface(double seconds) {
  const Workplace workplace;
  idletune_device* device = nullptr;
  expect(idletune_opencl_open(0, &device), {}, "idletune_opencl_open");
  opencl::Handles handles;
  idletune_opencl_handles(device, &handles.context, &handles.device, &handles.queue);
  {
    CAgent agent(workplace, device);
    run_all(
        "C, trials in the helper", seconds, handles,
        [&](Launcher& launcher, const Shape& shape) { agent.launch(launcher, shape); },
        agent.calls(), [] { return true; });
  }
  idletune_device_close(device);
}

}  // namespace idletune::stress
