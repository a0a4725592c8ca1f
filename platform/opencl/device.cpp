#include <idletune/opencl.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "models/core/shared.hpp"
#include "platform/completion_wait.hpp"
#include "platform/opencl/buffer.hpp"
#include "platform/opencl/program.hpp"
#include "platform/opencl/programs.hpp"
#include "platform/opencl/session.hpp"
#include "platform/request_checks.hpp"

namespace idletune::opencl {
namespace {

using Clock = std::chrono::steady_clock;

// START to END of a completed command; 0 where the driver's figures cannot be true.
Result<Nanoseconds> device_time(const Api& api, cl_event event) {
  cl_ulong start = 0, end = 0;
  cl_int error =
      api.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
  if (error == CL_SUCCESS) {
    error = api.GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  }
  if (error == CL_PROFILING_INFO_NOT_AVAILABLE) return Nanoseconds(0);
  if (error != CL_SUCCESS) return to_status(error, "clGetEventProfilingInfo");
  if (end <= start || end - start > static_cast<cl_ulong>(Nanoseconds::max().count())) {
    return Nanoseconds(0);
  }
  return Nanoseconds(static_cast<Nanoseconds::rep>(end - start));
}

Status failed_run(cl_int status) {
  return {StatusCode::device_error, "kernel run failed: % (%)", error_name(status), status};
}

// Where sub-buffers may start; 0 where there are none.
std::size_t sub_buffer_alignment_bytes(const Session& session) {
  cl_uint bits = 0;
  if (session.api->CreateSubBuffer == nullptr) return 0;
  const cl_int error = session.api->GetDeviceInfo(session.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN,
                                                  sizeof bits, &bits, nullptr);
  return error == CL_SUCCESS ? bits / 8 : 0;
}

// Every object of a driver behind the ICD loader begins with the address of the driver's functions.
// Where the context, the device and the queue begin alike, a handle that does not is no object of
// theirs, and the loader would call into what it takes for functions.
bool may_be_object(const Session& session, const void* handle) {
  const auto first_word = [](const void* object) {
    const void* word = nullptr;
    std::memcpy(&word, object, sizeof word);
    return word;
  };
  const void* functions = first_word(session.context);
  return functions == nullptr || functions != first_word(session.device) ||
         functions != first_word(session.application) || functions == first_word(handle);
}

class OpenclDevice final : public Device {
 public:
  OpenclDevice(std::shared_ptr<Session> session, const OpenOptions& options)
      : session_(std::move(session)),
        programs_(session_, options),
        window_alignment_bytes_(sub_buffer_alignment_bytes(*session_)) {}

  const DeviceInfo& info() const override { return session_->info; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  bool fits(const PrebuiltBinary& binary) const override { return programs_.fits(binary); }
  void keep_programs_in(const std::string& folder) override { programs_.keep_in(folder); }
  DeviceSource source() const override {
    return {session_->api->path, {}, programs_.cache().folder(), programs_.cache().limit_bytes()};
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status check_buffer(const Argument& argument, std::uint64_t bytes) const override;
  Result<std::unique_ptr<Buffer>> window(Buffer& parent, std::size_t offset,
                                         std::size_t bytes) override;
  std::size_t window_alignment_bytes() const override { return window_alignment_bytes_; }
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Status copy_out(const Argument& buffer, MutableBytes data) override;
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override;
  Status order(void* before, void* then) override;
  Result<void*> mark(void* queue, void* mark) override { return hold(*session_, queue, mark); }
  void forget_mark(void* mark) override { let_go(*session_, mark); }
  Result<Nanoseconds> elapsed(void* profile) override;
  void discard(void* profile) override;
  Nanoseconds now() const override { return Clock::now().time_since_epoch(); }
  Status usable() const override;

  const std::shared_ptr<Session>& session() const { return session_; }
  const CacheCounters& counters() const { return programs_.counters(); }

 private:
  Status check_copy(const Buffer& buffer, std::size_t offset, std::size_t size) const;
  Status wait_for(cl_event event, Clock::time_point start, Nanoseconds deadline);

  std::shared_ptr<Session> session_;
  Programs programs_;
  // What was seen to be a buffer of the context, so that launches need not ask for that again.
  // Where the application released one, the handle may be something else: then the driver refuses
  // it.
  mutable std::array<std::atomic<const void*>, 16> known_buffers_{};
  std::size_t window_alignment_bytes_;
};

Status OpenclDevice::usable() const {
  if (!session_->poisoned.load()) return {};
  return {StatusCode::device_error,
          "device '%' is busy with a run that outlived its deadline: tuning is over here",
          session_->info.name};
}

Result<std::unique_ptr<Program>> OpenclDevice::compile(const CompileRequest& request) {
  if (Status fit = usable(); !fit.ok()) return fit;
  if (Status asked = check_request(request); !asked.ok()) return asked;
  auto program = programs_.get(request);
  if (!program.ok()) return program.status();
  return std::unique_ptr<Program>(std::move(*program));
}

Result<std::unique_ptr<Buffer>> OpenclDevice::allocate(std::size_t bytes) {
  if (Status fit = usable(); !fit.ok()) return fit;
  return allocate_buffer(session_, bytes);
}

Result<std::unique_ptr<Buffer>> OpenclDevice::window(Buffer& parent, std::size_t offset,
                                                     std::size_t bytes) {
  if (Status fit = check_copy(parent, offset, bytes); !fit.ok()) return fit;
  if (window_alignment_bytes_ == 0) {
    return {StatusCode::unsupported, "window: this OpenCL library has no sub-buffers"};
  }
  const cl_buffer_region region = {offset, bytes};
  cl_int error = CL_SUCCESS;
  cl_mem memory = session_->api->CreateSubBuffer(memory_of(parent), CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  if (memory == nullptr || error != CL_SUCCESS) {
    return creation_failure(error, "clCreateSubBuffer");
  }
  return std::unique_ptr<Buffer>(new OpenclBuffer(session_, memory, bytes));
}

Status OpenclDevice::check_buffer(const Argument& argument, std::uint64_t bytes) const {
  void* handle = nullptr;
  std::memcpy(&handle, argument.data(), sizeof handle);
  std::atomic<const void*>& known =
      known_buffers_[reinterpret_cast<std::uintptr_t>(handle) / 64 % known_buffers_.size()];
  const bool is_known = known.load(std::memory_order_relaxed) == handle;
  if (argument.kind() == Argument::Kind::typed_pointer || handle == nullptr ||
      (!is_known && !may_be_object(*session_, handle))) {
    return {StatusCode::invalid_argument, "got an address, expected a cl_mem"};
  }
  const Api& api = *session_->api;
  const auto memory = static_cast<cl_mem>(handle);
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_context context = session_->context;
  std::size_t size = 0;
  cl_int error = CL_SUCCESS;
  if (!is_known) error = api.GetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (!is_known && error == CL_SUCCESS) {
    error = api.GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, nullptr);
  }
  if (error == CL_SUCCESS) {
    error = api.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr);
  }
  if (error != CL_SUCCESS) {
    return {StatusCode::invalid_argument, to_status(error, "clGetMemObjectInfo").message()};
  }
  if (type != CL_MEM_OBJECT_BUFFER) {
    return {StatusCode::invalid_argument, "got an image or a pipe, expected a buffer"};
  }
  if (context != session_->context) {
    return {StatusCode::invalid_argument, "got a buffer of another context"};
  }
  known.store(handle, std::memory_order_relaxed);
  if (size >= bytes) return {};
  return {StatusCode::invalid_argument, "got a buffer of % bytes, expected at least %", size,
          bytes};
}

Status OpenclDevice::check_copy(const Buffer& buffer, std::size_t offset, std::size_t size) const {
  Status fit = usable();
  return fit.ok() ? check_range(buffer, offset, size) : fit;
}

Status OpenclDevice::write(Buffer& buffer, std::size_t offset, Bytes data) {
  if (Status fit = check_copy(buffer, offset, data.size()); !fit.ok()) return fit;
  if (data.empty()) return {};
  return to_status(
      session_->api->EnqueueWriteBuffer(session_->tuning, memory_of(buffer), CL_TRUE, offset,
                                        data.size(), data.data(), 0, nullptr, nullptr),
      "clEnqueueWriteBuffer");
}

Status OpenclDevice::read(const Buffer& buffer, std::size_t offset, MutableBytes data) {
  if (Status fit = check_copy(buffer, offset, data.size()); !fit.ok()) return fit;
  if (data.empty()) return {};
  return to_status(
      session_->api->EnqueueReadBuffer(session_->tuning, memory_of(buffer), CL_TRUE, offset,
                                       data.size(), data.data(), 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
}

Status OpenclDevice::copy_out(const Argument& buffer, MutableBytes data) {
  cl_mem memory = nullptr;
  std::memcpy(&memory, buffer.data(), sizeof memory);
  Status status = order(nullptr, nullptr);
  if (!status.ok()) return status;
  return to_status(session_->api->EnqueueReadBuffer(session_->application, memory, CL_TRUE, 0,
                                                    data.size(), data.data(), 0, nullptr, nullptr),
                   "clEnqueueReadBuffer");
}

// Sets `poisoned` on timeout.
Status OpenclDevice::wait_for(cl_event event, Clock::time_point start, Nanoseconds deadline) {
  CompletionWait wait(start, deadline, info().is_cpu ? processor_time_of_process : nullptr);
  for (;;) {
    cl_int status = CL_QUEUED;
    const cl_int error = session_->api->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                     sizeof status, &status, nullptr);
    if (error != CL_SUCCESS) return to_status(error, "clGetEventInfo");
    if (status < 0) return failed_run(status);
    if (status == CL_COMPLETE) return {};
    if (wait.again()) continue;
    session_->poisoned.store(true);
    return {StatusCode::timeout, "kernel run outlived its deadline of % ms",
            deadline.count() / 1000000};
  }
}

Result<RunTimes> OpenclDevice::run(Program& program, const Range& range,
                                   Span<const Argument> arguments, Nanoseconds deadline) {
  if (Status fit = usable(); !fit.ok()) return fit;
  cl_event event = nullptr;
  const Clock::time_point start = Clock::now();
  auto& own = static_cast<OpenclProgram&>(program);
  if (Status enqueued = own.enqueue_tuning(range, arguments, &event); !enqueued.ok()) {
    return enqueued;
  }
  Status ended = to_status(session_->api->Flush(session_->tuning), "clFlush");
  if (ended.ok()) ended = wait_for(event, start, deadline);
  RunTimes times;
  times.wall = Clock::now() - start;
  if (ended.code() == StatusCode::timeout) return ended;  // the event is leaked with the queue
  if (ended.ok() && session_->tuning_profiled) {
    auto measured = device_time(*session_->api, event);
    if (measured.ok()) times.device = *measured;
    ended = measured.status();
  }
  session_->api->ReleaseEvent(event);
  if (!ended.ok()) return ended;
  return times;
}

Status OpenclDevice::order(void* before, void* then) {
  const Api& api = *session_->api;
  auto* first = before != nullptr ? static_cast<cl_command_queue>(before) : session_->application;
  auto* second = then != nullptr ? static_cast<cl_command_queue>(then) : session_->application;
  const bool overtaking = second == session_->application ? session_->application_out_of_order
                                                          : is_out_of_order(api, second);
  if (first == second && !overtaking) return {};
  if (api.EnqueueBarrierWithWaitList == nullptr || api.EnqueueMarkerWithWaitList == nullptr) {
    return {StatusCode::unsupported, "the OpenCL library has neither barriers nor markers"};
  }
  if (first == second) {
    return to_status(api.EnqueueBarrierWithWaitList(second, 0, nullptr, nullptr),
                     "clEnqueueBarrierWithWaitList");
  }
  cl_event done = nullptr;
  Status status = to_status(api.EnqueueMarkerWithWaitList(first, 0, nullptr, &done),
                            "clEnqueueMarkerWithWaitList");
  if (!status.ok()) return status;
  // Otherwise the marker may never leave for the device, and the other queue would wait for ever.
  status = to_status(api.Flush(first), "clFlush");
  if (status.ok()) {
    status = to_status(api.EnqueueBarrierWithWaitList(second, 1, &done, nullptr),
                       "clEnqueueBarrierWithWaitList");
  }
  api.ReleaseEvent(done);
  return status;
}

Result<Nanoseconds> OpenclDevice::elapsed(void* profile) {
  if (profile == nullptr) {
    return {StatusCode::unsupported, "elapsed: the queue of that launch has no profiling"};
  }
  auto event = static_cast<cl_event>(profile);
  cl_int status = CL_QUEUED;
  const cl_int error = session_->api->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                   sizeof status, &status, nullptr);
  if (error == CL_SUCCESS && status > CL_COMPLETE) {
    return {StatusCode::busy, "elapsed: the launch has not finished yet"};
  }
  Result<Nanoseconds> time = error != CL_SUCCESS
                                 ? Result<Nanoseconds>(to_status(error, "clGetEventInfo"))
                             : status < 0 ? Result<Nanoseconds>(failed_run(status))
                                          : device_time(*session_->api, event);
  session_->api->ReleaseEvent(event);
  return checked_time(std::move(time));
}

void OpenclDevice::discard(void* profile) {
  if (profile != nullptr) session_->api->ReleaseEvent(static_cast<cl_event>(profile));
}

Status check_handles(const Api& api, cl_context context, cl_device_id device,
                     cl_command_queue queue) {
  std::size_t size = 0;
  cl_int error = api.GetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size);
  if (error != CL_SUCCESS) return to_status(error, "adopt: clGetContextInfo");
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  error = api.GetContextInfo(context, CL_CONTEXT_DEVICES, devices.size() * sizeof(cl_device_id),
                             devices.data(), nullptr);
  if (error != CL_SUCCESS) return to_status(error, "adopt: clGetContextInfo");
  if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
    return {StatusCode::invalid_argument, "adopt: expected a device of the context"};
  }
  if (queue == nullptr) return {};
  cl_context queue_context = nullptr;
  cl_device_id queue_device = nullptr;
  error = api.GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context,
                                  nullptr);
  if (error == CL_SUCCESS) {
    error = api.GetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device,
                                    nullptr);
  }
  if (error != CL_SUCCESS) return to_status(error, "adopt: clGetCommandQueueInfo");
  if (queue_context == context && queue_device == device) return {};
  return {StatusCode::invalid_argument, "adopt: expected a queue of the given context and device"};
}

// Completes a session that has its library, context, device and info: the queues. `queue` is
// retained; null makes one.
Result<std::unique_ptr<Device>> complete(std::shared_ptr<Session> session, cl_command_queue queue,
                                         const OpenOptions& options) {
  const DeviceInfo& info = session->info;
  if (info.name.empty() || info.driver.empty() || info.max_work_group_size == 0 ||
      info.local_memory_bytes == 0) {
    return {StatusCode::device_error, "clGetDeviceInfo: it is not said which device it is"};
  }
  cl_int error = CL_SUCCESS;
  if (queue != nullptr) {
    error = session->api->RetainCommandQueue(queue);
    if (error != CL_SUCCESS) return to_status(error, "clRetainCommandQueue");
    session->application_profiled = is_profiled(*session->api, queue);
    session->application_out_of_order = is_out_of_order(*session->api, queue);
  } else {
    queue = session->api->CreateCommandQueue(session->context, session->device,
                                             CL_QUEUE_PROFILING_ENABLE, &error);
    if (queue == nullptr || error != CL_SUCCESS) {
      return creation_failure(error, "clCreateCommandQueue");
    }
    session->application_profiled = true;
  }
  session->application = queue;
  if (Status made = create_tuning_queue(*session); !made.ok()) return made;
  return std::unique_ptr<Device>(new OpenclDevice(std::move(session), options));
}

Result<std::unique_ptr<Device>> open_handle(std::shared_ptr<const Api> api,
                                            const DeviceHandle& handle, DeviceInfo info,
                                            const OpenOptions& options) {
  auto session = new_shared<Session>();
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(handle.platform), 0};
  cl_int error = CL_SUCCESS;
  cl_context context = api->CreateContext(properties, 1, &handle.device, nullptr, nullptr, &error);
  if (context == nullptr || error != CL_SUCCESS) return creation_failure(error, "clCreateContext");
  session->api = std::move(api);
  session->context = context;
  session->device = handle.device;
  session->info = std::move(info);
  return complete(std::move(session), nullptr, options);
}

std::uint32_t index_of(const Api& api, cl_device_id device) {
  auto all = enumerate_devices(api);
  if (!all.ok()) return 0;
  for (std::size_t i = 0; i < all->size(); ++i) {
    if ((*all)[i].device == device) return static_cast<std::uint32_t>(i);
  }
  return 0;
}

bool is_opencl(const Device& device) { return device.info().backend == "opencl"; }

}  // namespace

Result<std::unique_ptr<Device>> adopt(void* context, void* device_id, void* queue,
                                      const OpenOptions& options) {
  if (context == nullptr || device_id == nullptr) {
    return {StatusCode::invalid_argument, "adopt: expected a context and a device, got null"};
  }
  auto api = load(options.library);
  if (!api.ok()) return api.status();
  auto* own_context = static_cast<cl_context>(context);
  auto* own_device = static_cast<cl_device_id>(device_id);
  auto* own_queue = static_cast<cl_command_queue>(queue);
  if (Status fit = check_handles(**api, own_context, own_device, own_queue); !fit.ok()) return fit;
  auto session = new_shared<Session>();
  const cl_int error = (*api)->RetainContext(own_context);
  if (error != CL_SUCCESS) return to_status(error, "clRetainContext");
  session->api = *api;
  session->context = own_context;
  session->device = own_device;
  session->info = describe(**api, own_device, index_of(**api, own_device));
  return complete(std::move(session), own_queue, options);
}

Result<std::unique_ptr<Device>> open(std::uint32_t index, const OpenOptions& options) {
  auto api = load(options.library);
  if (!api.ok()) return api.status();
  auto handles = enumerate_devices(**api);
  if (!handles.ok()) return handles.status();
  if (index >= handles->size()) {
    return {StatusCode::not_found, "OpenCL device %: there are %", index, handles->size()};
  }
  const DeviceHandle& handle = (*handles)[index];
  return open_handle(*api, handle, describe(**api, handle.device, index), options);
}

Result<std::unique_ptr<Device>> open_matching(const DeviceInfo& wanted,
                                              const OpenOptions& options) {
  auto api = load(options.library);
  if (!api.ok()) return api.status();
  auto handles = enumerate_devices(**api);
  if (!handles.ok()) return handles.status();
  const DeviceHandle* match = nullptr;
  DeviceInfo match_info;
  for (std::uint32_t i = 0; i < handles->size(); ++i) {
    DeviceInfo info = describe(**api, (*handles)[i].device, i);
    if (info.platform != wanted.platform || info.name != wanted.name ||
        info.driver != wanted.driver) {
      continue;
    }
    if (match != nullptr && i != wanted.index) continue;
    match = &(*handles)[i];
    match_info = std::move(info);
  }
  if (match == nullptr) {
    return {StatusCode::not_found,
            "OpenCL device '%' of platform '%' with driver '%': none of % devices matches",
            wanted.name,
            wanted.platform,
            wanted.driver,
            handles->size()};
  }
  return open_handle(*api, *match, std::move(match_info), options);
}

Result<std::vector<DeviceInfo>> list(const OpenOptions& options) {
  auto api = load(options.library);
  if (!api.ok()) return api.status();
  auto handles = enumerate_devices(**api);
  if (!handles.ok()) return handles.status();
  std::vector<DeviceInfo> devices;
  for (std::uint32_t i = 0; i < handles->size(); ++i) {
    devices.push_back(describe(**api, (*handles)[i].device, i));
  }
  return devices;
}

std::shared_ptr<Session> session_of(Device& device) {
  return is_opencl(device) ? static_cast<OpenclDevice&>(device).session() : nullptr;
}

Result<std::unique_ptr<Buffer>> allocate_buffer(const std::shared_ptr<Session>& session,
                                                std::size_t bytes) {
  if (Status fit = check_allocation(session->info, bytes); !fit.ok()) return fit;
  cl_int error = CL_SUCCESS;
  cl_mem memory =
      session->api->CreateBuffer(session->context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  if (memory == nullptr || error != CL_SUCCESS) {
    return {StatusCode::out_of_memory, "allocate: % bytes: %", bytes,
            creation_failure(error, "clCreateBuffer").message()};
  }
  return std::unique_ptr<Buffer>(new OpenclBuffer(session, memory, bytes));
}

Handles handles(Device& device) {
  const std::shared_ptr<Session> session = session_of(device);
  if (session == nullptr) return {};
  return {session->context, session->device, session->application};
}

CacheCounters cache_counters(const Device& device) {
  if (!is_opencl(device)) return {};
  return static_cast<const OpenclDevice&>(device).counters();
}

}  // namespace idletune::opencl
