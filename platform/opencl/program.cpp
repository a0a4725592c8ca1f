#include "platform/opencl/program.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "models/core/shared.hpp"
#include "platform/build_log.hpp"

namespace idletune::opencl {
namespace {

std::string build_log(const Session& session, cl_program program) {
  const Api& api = *session.api;
  std::size_t size = 0;
  if (api.GetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      size == 0 || size > kMaxBuildLogBytes) {
    return {};
  }
  std::string log(size, '\0');
  if (api.GetProgramBuildInfo(program, session.device, CL_PROGRAM_BUILD_LOG, size, &log[0],
                              nullptr) != CL_SUCCESS) {
    return {};
  }
  return excerpt_of_build_log(log);
}

Status build_failure(cl_int error, const char* call, const std::string& entry) {
  StatusCode code = StatusCode::compile_error;
  if (error == CL_COMPILER_NOT_AVAILABLE) code = StatusCode::unsupported;
  if (error == CL_OUT_OF_HOST_MEMORY) code = StatusCode::out_of_memory;
  return {code, joined("kernel '%': %", entry, to_status(error, call).message())};
}

template <class T>
T kernel_value(const Session& session, cl_kernel kernel, cl_kernel_work_group_info what) {
  T value{};
  const cl_int error = session.api->GetKernelWorkGroupInfo(kernel, session.device, what,
                                                           sizeof value, &value, nullptr);
  return error == CL_SUCCESS ? value : T{};
}

// Of scalars; bytes behind a short one are 0.
bool is_same(const Argument& a, const Argument& b) {
  std::uint64_t x = 0, y = 0;
  std::memcpy(&x, a.data(), sizeof x);
  std::memcpy(&y, b.data(), sizeof y);
  return x == y && a.size() == b.size();
}

// None is no list: OpenCL refuses one of no events.
const cl_event* wait_events(const LaunchOptions& options) {
  if (options.wait_count == 0) return nullptr;
  return reinterpret_cast<const cl_event*>(const_cast<void* const*>(options.wait_list));
}

}  // namespace

Result<std::unique_ptr<OpenclProgram>> OpenclProgram::build(std::shared_ptr<Session> session,
                                                            cl_program program,
                                                            const CompileRequest& request) {
  const Session& opened = *session;
  std::shared_ptr<const Built> built = shared<const Built>(new Built{std::move(session), program});
  std::unique_ptr<OpenclProgram> self(new OpenclProgram(std::move(built)));
  const std::string entry(request.entry);
  const std::string options(request.options);
  const cl_int error =
      opened.api->BuildProgram(program, 1, &opened.device, options.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) {
    Status failure = build_failure(error, "clBuildProgram", entry);
    const std::string log = build_log(opened, program);
    if (log.empty()) return failure;
    // What the portable dialect says where the device lacks something.
    const bool lacks = std::string_view(log).find("IDLETUNE_UNSUPPORTED") != std::string::npos;
    return {lacks ? StatusCode::unsupported : failure.code(),
            joined("%\n%", failure.message(), log)};
  }
  if (Status made = self->create_kernels(entry, request.lanes); !made.ok()) return made;
  return self;
}

Status OpenclProgram::create_kernels(const std::string& entry, std::uint32_t lanes) {
  kernels_.reserve(std::size_t{lanes} + 1);
  for (std::uint32_t i = 0; i <= lanes; ++i) {
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = session_->api->CreateKernel(built_->program, entry.c_str(), &error);
    if (kernel == nullptr || error != CL_SUCCESS) {
      return build_failure(error != CL_SUCCESS ? error : CL_OUT_OF_RESOURCES, "clCreateKernel",
                           entry);
    }
    kernels_.push_back(kernel);
  }
  lanes_ = lanes;
  const cl_kernel kernel = kernels_.front();
  max_work_group_size_ = kernel_value<std::size_t>(*session_, kernel, CL_KERNEL_WORK_GROUP_SIZE);
  if (max_work_group_size_ == 0) max_work_group_size_ = session_->info.max_work_group_size;
  local_memory_bytes_ = kernel_value<cl_ulong>(*session_, kernel, CL_KERNEL_LOCAL_MEM_SIZE);
  cl_uint arguments = 0;
  const Api& api = *session_->api;
  if (api.GetKernelInfo != nullptr &&
      api.GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr) ==
          CL_SUCCESS) {
    arguments_ = std::min<std::size_t>(arguments, kMaxArguments);
    set_.reset(new Argument[arguments_ * kernels_.size()]);
  }
  return {};
}

Result<std::unique_ptr<Program>> OpenclProgram::another(std::string_view entry) const {
  std::unique_ptr<OpenclProgram> other(new OpenclProgram(built_));
  if (Status made = other->create_kernels(std::string(entry), lanes_); !made.ok()) return made;
  return std::unique_ptr<Program>(std::move(other));
}

OpenclProgram::Built::~Built() {
  if (!session->poisoned.load()) session->api->ReleaseProgram(program);
}

OpenclProgram::~OpenclProgram() {
  if (session_->poisoned.load()) return;
  for (cl_kernel kernel : kernels_) session_->api->ReleaseKernel(kernel);
}

Status OpenclProgram::launch(std::size_t which, cl_command_queue queue, const Range& range,
                             Span<const Argument> arguments, const LaunchOptions& options,
                             cl_event* event) {
  const Api& api = *session_->api;
  cl_kernel kernel = kernels_[which];
  Argument* const set = set_.get() + which * arguments_;
  cl_uint index = 0;
  for (const Argument& argument : arguments) {
    const bool is_scalar = argument.kind() == Argument::Kind::scalar && index < arguments_;
    if (is_scalar && is_same(set[index], argument)) {
      ++index;
      continue;
    }
    const bool is_local = argument.kind() == Argument::Kind::local;
    const cl_int error =
        is_local ? api.SetKernelArg(kernel, index, static_cast<std::size_t>(argument.local_bytes()),
                                    nullptr)
                 : api.SetKernelArg(kernel, index, argument.size(), argument.data());
    if (is_scalar) set[index] = error == CL_SUCCESS ? argument : Argument();
    if (error != CL_SUCCESS) {
      return {StatusCode::invalid_argument, "argument %: %", index,
              to_status(error, "clSetKernelArg").message()};
    }
    ++index;
  }
  if (queue == session_->application && session_->ordered.load(std::memory_order_relaxed)) {
    if (Status status = keep_order(*session_); !status.ok()) return status;
  }
  return to_status(
      api.EnqueueNDRangeKernel(queue, kernel, range.dimensions, nullptr, range.global.data(),
                               range.local.data(), options.wait_count, wait_events(options), event),
      "clEnqueueNDRangeKernel");
}

Status OpenclProgram::enqueue(std::uint32_t lane, const Range& range,
                              Span<const Argument> arguments, const LaunchOptions& options,
                              void** profile) {
  if (profile != nullptr) *profile = nullptr;
  if (lane >= lanes_) {
    return {StatusCode::invalid_argument, "lane %: expected one below %", lane, lanes_};
  }
  auto queue = static_cast<cl_command_queue>(options.queue);
  bool profiled = session_->application_profiled;
  if (queue == nullptr) {
    queue = session_->application;
  } else if (profile != nullptr && queue != session_->application) {
    profiled = is_profiled(*session_->api, queue);
  }
  const bool ticket_wanted = profile != nullptr && profiled;
  auto* out_event = static_cast<cl_event*>(options.event);
  if (!ticket_wanted) return launch(lane, queue, range, arguments, options, out_event);

  cl_event event = nullptr;
  Status launched = launch(lane, queue, range, arguments, options, &event);
  if (!launched.ok()) return launched;
  *profile = event;
  if (out_event != nullptr) {
    session_->api->RetainEvent(event);
    *out_event = event;
  }
  return {};
}

Status OpenclProgram::enqueue_tuning(const Range& range, Span<const Argument> arguments,
                                     cl_event* event) {
  return launch(lanes_, session_->tuning, range, arguments, LaunchOptions{}, event);
}

std::vector<std::uint8_t> OpenclProgram::binary() const {
  const Api& api = *session_->api;
  cl_uint count = 0;
  if (api.GetProgramInfo(built_->program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) !=
          CL_SUCCESS ||
      count == 0) {
    return {};
  }
  // The driver answers for all devices of the context, of which only one was built for.
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  std::vector<unsigned char*> places(count, nullptr);
  if (api.GetProgramInfo(built_->program, CL_PROGRAM_DEVICES, count * sizeof devices[0],
                         devices.data(), nullptr) != CL_SUCCESS ||
      api.GetProgramInfo(built_->program, CL_PROGRAM_BINARY_SIZES, count * sizeof sizes[0],
                         sizes.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  std::vector<std::uint8_t> binary;
  for (cl_uint i = 0; i < count; ++i) {
    if (devices[i] != session_->device || sizes[i] == 0) continue;
    binary.resize(sizes[i]);
    places[i] = binary.data();
  }
  if (binary.empty() ||
      api.GetProgramInfo(built_->program, CL_PROGRAM_BINARIES, count * sizeof places[0],
                         places.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return binary;
}

}  // namespace idletune::opencl
