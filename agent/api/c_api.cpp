#include <idletune/idletune.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/c_handles.hpp>
#include <idletune/tuner.hpp>

#include "agent/api/agent_state.hpp"
#include "agent/api/back_end_options.hpp"
#include "platform/os/mutex.hpp"

struct idletune_device {
  std::unique_ptr<idletune::Device> device;
};
struct idletune_kernel {
  idletune::Status admits(const idletune::Shape& shape) const {
    return kernel.kernel_->admits(shape);
  }
  idletune::TunedKernel kernel;
};
struct idletune_agent {
  explicit idletune_agent(idletune::Agent opened) : agent(std::move(opened)) {}
  idletune::Mutex kernels_mutex;
  std::vector<std::unique_ptr<idletune_kernel>> kernels IDLETUNE_GUARDED_BY(kernels_mutex);
  idletune::Agent agent;
};
struct idletune_tuner {
  explicit idletune_tuner(idletune::Tuner opened) : tuner(std::move(opened)) {}
  idletune::Tuner tuner;
};

namespace {

using idletune::Status;
using idletune::StatusCode;

static_assert(IDLETUNE_INTERNAL == static_cast<int>(StatusCode::internal),
              "the C codes follow StatusCode");

thread_local std::string last_message;

idletune_status report(const Status& status) {
  if (!status.ok()) last_message = status.message();
  return static_cast<idletune_status>(status.code());
}

idletune_status missing(const char* what) {
  return report(Status(StatusCode::invalid_argument, "% is NULL", what));
}

// False: `status` is the answer.
bool take(const idletune_kernel* kernel, const idletune_problem* problem, idletune::Problem& made,
          idletune_status& status) {
  if (kernel != nullptr && problem != nullptr && idletune::make_problem(*problem, made))
    return true;
  status = missing(kernel == nullptr ? "kernel" : "shape");
  return false;
}

// The same for a function that has no way to say that the kernel does not have the problem.
bool take_checked(const idletune_kernel* kernel, const idletune_problem* problem,
                  idletune::Problem& made, idletune_status& status) {
  if (!take(kernel, problem, made, status)) return false;
  status = report(kernel->admits(made));
  return status == IDLETUNE_OK;
}

// In the order of idletune_argument_kind, from IDLETUNE_I32 on.
constexpr idletune::ScalarType kScalarKinds[] = {
    idletune::ScalarType::i32, idletune::ScalarType::u32, idletune::ScalarType::i64,
    idletune::ScalarType::u64, idletune::ScalarType::f32, idletune::ScalarType::f64,
    idletune::ScalarType::i8,  idletune::ScalarType::u8,  idletune::ScalarType::i16,
    idletune::ScalarType::u16, idletune::ScalarType::f16};

idletune::Argument make_argument(const idletune_argument& argument) {
  const auto kind = static_cast<std::size_t>(argument.kind);
  if (kind == IDLETUNE_BUFFER) return {argument.value.buffer};
  if (kind > sizeof kScalarKinds / sizeof kScalarKinds[0]) return {};  // refused by every kernel
  return idletune::Argument::scalar(kScalarKinds[kind - IDLETUNE_I32], &argument.value);
}

struct ArgumentList {
  Status take(const idletune_argument* given, size_t count) {
    if (given == nullptr && count > 0) {
      return Status(StatusCode::invalid_argument, "arguments is NULL");
    }
    if (count > idletune::kMaxArguments) {
      return Status(StatusCode::invalid_argument, "% arguments, expected at most %", count,
                    idletune::kMaxArguments);
    }
    for (size_t i = 0; i < count; ++i) arguments[i] = make_argument(given[i]);
    return {};
  }
  idletune::Argument arguments[idletune::kMaxArguments];
};

idletune::Configuration make_configuration(const idletune::Tuner& tuner, const int64_t* values) {
  return idletune::Configuration(
      idletune::Span<const std::int64_t>(values, tuner.parameter_count()));
}

#if IDLETUNE_WITH_OPENCL || IDLETUNE_WITH_CUDA
idletune_status hand_out(idletune::Result<std::unique_ptr<idletune::Device>> opened,
                         idletune_device** device) {
  if (!opened.ok()) return report(opened.status());
  *device = new idletune_device{std::move(*opened)};
  return IDLETUNE_OK;
}
#endif

}  // namespace

namespace idletune {

Agent& agent_of(idletune_agent* agent) { return agent->agent; }
Device& device_of(idletune_device* device) { return *device->device; }
bool make_problem(const idletune_problem& given, Problem& problem) {
  if ((given.dimensions == nullptr && given.dimension_count > 0) ||
      (given.features == nullptr && given.feature_count > 0)) {
    return false;
  }
  problem = Problem(Span<const std::int64_t>(given.dimensions, given.dimension_count),
                    Span<const double>(given.features, given.feature_count));
  return true;
}
idletune_status reported(const Status& status) { return report(status); }

}  // namespace idletune

extern "C" {

const char* idletune_status_name(idletune_status status) {
  return idletune::status_code_name(static_cast<StatusCode>(status));
}

const char* idletune_last_message(void) { return last_message.c_str(); }

#if IDLETUNE_WITH_OPENCL
idletune_status idletune_opencl_adopt(void* context, void* device_id, void* queue,
                                      idletune_device** device) {
  if (device == nullptr) return missing("device");
  return hand_out(
      idletune::opencl::adopt(context, device_id, queue, idletune::detail::opencl_options()),
      device);
}

idletune_status idletune_opencl_open(uint32_t index, idletune_device** device) {
  if (device == nullptr) return missing("device");
  return hand_out(idletune::opencl::open(index, idletune::detail::opencl_options()), device);
}

void idletune_opencl_handles(idletune_device* device, void** context, void** device_id,
                             void** queue) {
  idletune::opencl::Handles handles;
  if (device != nullptr) handles = idletune::opencl::handles(*device->device);
  if (context != nullptr) *context = handles.context;
  if (device_id != nullptr) *device_id = handles.device;
  if (queue != nullptr) *queue = handles.queue;
}
#endif

#if IDLETUNE_WITH_CUDA
idletune_status idletune_cuda_adopt(void* context, void* stream, idletune_device** device) {
  if (device == nullptr) return missing("device");
  return hand_out(idletune::cuda::adopt(context, stream, idletune::detail::cuda_options()), device);
}

idletune_status idletune_cuda_open(uint32_t index, idletune_device** device) {
  if (device == nullptr) return missing("device");
  return hand_out(idletune::cuda::open(index, idletune::detail::cuda_options()), device);
}

void idletune_cuda_handles(idletune_device* device, void** context, void** stream) {
  idletune::cuda::Handles handles;
  if (device != nullptr) handles = idletune::cuda::handles(*device->device);
  if (context != nullptr) *context = handles.context;
  if (stream != nullptr) *stream = handles.stream;
}
#endif

void idletune_device_close(idletune_device* device) { delete device; }

idletune_status idletune_open(const char* model, const char* state, idletune_agent** agent) {
  idletune_options options = {};
  options.model = model;
  options.state = state;
  return idletune_open_with(&options, agent);
}

idletune_status idletune_open_with(const idletune_options* given, idletune_agent** agent) {
  if (given == nullptr) return missing("options");
  if (agent == nullptr) return missing("agent");
  idletune::AgentOptions options;
  options.trust = reinterpret_cast<const idletune::FileTrust*>(given->trust);
  options.learner = reinterpret_cast<const idletune::SearchLearner*>(given->learner);
  options.slots = reinterpret_cast<const idletune::ModelSlots*>(given->slots);
  options.events = reinterpret_cast<idletune::EventSink*>(given->events);
  if (given->model != nullptr) options.model = given->model;
  if (given->state != nullptr) options.state = given->state;
  idletune::Result<idletune::Agent> opened = idletune::Agent::open(options);
  if (!opened.ok()) return report(opened.status());
  *agent = new idletune_agent(std::move(*opened));
  return IDLETUNE_OK;
}

void idletune_close(idletune_agent* agent) { delete agent; }

idletune_status idletune_reload_model(idletune_agent* agent, const char* path) {
  if (agent == nullptr) return missing("agent");
  return report(agent->agent.reload_model(path != nullptr ? path : ""));
}

idletune_status idletune_reject_model(idletune_agent* agent, const char* why) {
  if (agent == nullptr) return missing("agent");
  return report(agent->agent.reject_model(why != nullptr ? why : ""));
}

idletune_status idletune_confirm_model(idletune_agent* agent) {
  if (agent == nullptr) return missing("agent");
  return report(agent->agent.confirm_model());
}

idletune_status idletune_load_kernel(idletune_agent* agent, idletune_device* device,
                                     const char* package_path, idletune_kernel** kernel) {
  if (agent == nullptr) return missing("agent");
  if (device == nullptr) return missing("device");
  if (package_path == nullptr) return missing("package_path");
  if (kernel == nullptr) return missing("kernel");
  idletune::Result<idletune::TunedKernel> loaded =
      agent->agent.kernel(*device->device, std::string(package_path));
  if (!loaded.ok()) return report(loaded.status());
  const idletune::MutexLock lock(agent->kernels_mutex);
  agent->kernels.push_back(std::make_unique<idletune_kernel>(idletune_kernel{*loaded}));
  *kernel = agent->kernels.back().get();
  return IDLETUNE_OK;
}

idletune_status idletune_launch_problem(idletune_kernel* kernel, const idletune_problem* problem,
                                        const idletune_argument* arguments, size_t argument_count,
                                        void* queue, const void* const* wait_list,
                                        uint32_t wait_count, void* event) {
  idletune_status refused = IDLETUNE_OK;
  idletune::Problem made;
  if (!take(kernel, problem, made, refused)) return refused;
  ArgumentList list;
  if (Status status = list.take(arguments, argument_count); !status.ok()) return report(status);
  idletune::LaunchOptions options;
  options.queue = queue;
  options.wait_list = wait_list;
  options.wait_count = wait_count;
  options.event = event;
  return report(kernel->kernel.launch(options, made, {list.arguments, argument_count}));
}

idletune_status idletune_launch(idletune_kernel* kernel, const int64_t* shape, size_t dimensions,
                                const idletune_argument* arguments, size_t argument_count,
                                void* queue, const void* const* wait_list, uint32_t wait_count,
                                void* event) {
  const idletune_problem problem = {shape, dimensions, nullptr, 0};
  return idletune_launch_problem(kernel, &problem, arguments, argument_count, queue, wait_list,
                                 wait_count, event);
}

idletune_status idletune_prepare_problem(idletune_kernel* kernel, const idletune_problem* problem) {
  idletune_status refused = IDLETUNE_OK;
  idletune::Problem made;
  if (!take(kernel, problem, made, refused)) return refused;
  return report(kernel->kernel.prepare(made));
}

idletune_status idletune_prepare(idletune_kernel* kernel, const int64_t* shape, size_t dimensions) {
  const idletune_problem problem = {shape, dimensions, nullptr, 0};
  return idletune_prepare_problem(kernel, &problem);
}

idletune_status idletune_expect_launches_problem(idletune_kernel* kernel,
                                                 const idletune_problem* problem, double launches) {
  idletune_status refused = IDLETUNE_OK;
  idletune::Problem made;
  if (!take_checked(kernel, problem, made, refused)) return refused;
  kernel->kernel.expect_launches(made, launches);
  return IDLETUNE_OK;
}

idletune_status idletune_expect_launches(idletune_kernel* kernel, const int64_t* shape,
                                         size_t dimensions, double launches) {
  const idletune_problem problem = {shape, dimensions, nullptr, 0};
  return idletune_expect_launches_problem(kernel, &problem, launches);
}

idletune_status idletune_constants_changed_problem(idletune_kernel* kernel,
                                                   const idletune_problem* problem) {
  idletune_status refused = IDLETUNE_OK;
  idletune::Problem made;
  if (!take_checked(kernel, problem, made, refused)) return refused;
  kernel->kernel.constants_changed(made);
  return IDLETUNE_OK;
}

idletune_status idletune_constants_changed(idletune_kernel* kernel, const int64_t* shape,
                                           size_t dimensions) {
  const idletune_problem problem = {shape, dimensions, nullptr, 0};
  return idletune_constants_changed_problem(kernel, &problem);
}

idletune_status idletune_capture(idletune_kernel* kernel, const idletune_problem* problem,
                                 const idletune_argument* arguments, size_t argument_count) {
  idletune_status refused = IDLETUNE_OK;
  idletune::Problem made;
  if (!take(kernel, problem, made, refused)) return refused;
  ArgumentList list;
  if (Status status = list.take(arguments, argument_count); !status.ok()) return report(status);
  return report(kernel->kernel.capture(made, {list.arguments, argument_count}));
}

int64_t idletune_idle(idletune_agent* agent, int64_t budget_ns) {
  if (agent == nullptr) return 0;
  return agent->agent.idle(std::chrono::nanoseconds(budget_ns)).used.count();
}

idletune_status idletune_start_background(idletune_agent* agent, double max_duty,
                                          double min_battery) {
  if (agent == nullptr) return missing("agent");
  idletune::BackgroundOptions options;
  options.max_duty = max_duty;
  options.min_battery = min_battery;
  return report(agent->agent.start_background(options));
}

void idletune_stop_background(idletune_agent* agent) {
  if (agent != nullptr) agent->agent.stop_background();
}

char* idletune_explain(idletune_agent* agent) {
  if (agent == nullptr) return nullptr;
  const std::string text = agent->agent.explain();
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void idletune_free(void* text) { std::free(text); }

idletune_status idletune_tuner_open(const char* name, const char* const* names,
                                    const size_t* value_counts, const int64_t* values,
                                    size_t parameter_count, uint64_t seed, idletune_tuner** tuner) {
  if (tuner == nullptr) return missing("tuner");
  if (names == nullptr || value_counts == nullptr || values == nullptr) return missing("an array");
  idletune::TunerOptions options;
  if (name != nullptr) options.name = name;
  options.seed = seed;
  for (size_t i = 0; i < parameter_count; ++i) {
    if (names[i] == nullptr) return missing("a parameter's name");
    options.parameters.push_back({names[i], {values, values + value_counts[i]}});
    values += value_counts[i];
  }
  idletune::Result<idletune::Tuner> opened = idletune::Tuner::open(options);
  if (!opened.ok()) return report(opened.status());
  *tuner = new idletune_tuner(std::move(*opened));
  return IDLETUNE_OK;
}

void idletune_tuner_close(idletune_tuner* tuner) { delete tuner; }

idletune_status idletune_tuner_ask(idletune_tuner* tuner, int64_t* configuration) {
  if (tuner == nullptr) return missing("tuner");
  if (configuration == nullptr) return missing("configuration");
  const std::optional<idletune::Configuration> asked = tuner->tuner.ask();
  if (!asked) {
    return report(Status(StatusCode::not_found, "every configuration has been asked for"));
  }
  for (size_t i = 0; i < asked->size(); ++i) configuration[i] = (*asked)[i];
  return IDLETUNE_OK;
}

idletune_status idletune_tuner_tell(idletune_tuner* tuner, const int64_t* configuration,
                                    int64_t run_time_ns) {
  if (tuner == nullptr) return missing("tuner");
  if (configuration == nullptr) return missing("configuration");
  idletune::Measurement measurement;
  measurement.status =
      run_time_ns > 0 ? idletune::TrialStatus::correct : idletune::TrialStatus::runtime;
  measurement.run_time = std::chrono::nanoseconds(run_time_ns > 0 ? run_time_ns : 0);
  const idletune::Configuration told = make_configuration(tuner->tuner, configuration);
  if (tuner->tuner.tell(told, measurement)) return IDLETUNE_OK;
  return report(Status(StatusCode::invalid_argument, "%: no configuration of the space",
                       tuner->tuner.text(told)));
}

int64_t idletune_tuner_best(const idletune_tuner* tuner, int64_t* configuration) {
  if (tuner == nullptr) return 0;
  const idletune::Configuration best = tuner->tuner.best();
  if (configuration != nullptr) {
    for (size_t i = 0; i < best.size(); ++i) configuration[i] = best[i];
  }
  return tuner->tuner.best_time().count();
}

}  // extern "C"
