#include "platform/cuda/program.hpp"

#include <idletune/text.hpp>

#include <string>

#include "platform/build_log.hpp"

namespace idletune::cuda {
namespace {

constexpr std::size_t kMostParameters = 2 * kMaxArguments;  // that a launch provides for
constexpr std::size_t kMaxParameterBytes = 4096;

// What a kernel reads that has more parameters than it was given arguments, where the driver cannot
// say how many it has: zeros instead of whatever lies behind the list.
constexpr unsigned char kNoArgument[kMaxParameterBytes] = {};

StatusCode load_failure_code(Error error) {
  switch (error) {
    case kOutOfMemory: return StatusCode::out_of_memory;
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kInvalidPtx:
    case kNotFound: return StatusCode::compile_error;
    case kJitCompilerNotFound:
    case kUnsupportedPtxVersion: return StatusCode::unsupported;
    default: return StatusCode::device_error;
  }
}

Status load_failure(Session& session, Error error, const char* call, const std::string& entry,
                    const std::string& log) {
  std::string message = joined("kernel '%': %", entry, session.checked(error, call).message());
  if (!log.empty()) message += "\n" + log;
  return {load_failure_code(error), std::move(message)};
}

Status check_groups(const DeviceInfo& device, const unsigned (&grid)[3]) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (device.max_groups[i] == 0 || grid[i] <= device.max_groups[i]) continue;
    return {StatusCode::unsupported, "% groups along axis % exceed the device's %", grid[i], i,
            device.max_groups[i]};
  }
  return {};
}

bool divides(const Range& range, unsigned (&grid)[3]) {
  if (range.dimensions < 1 || range.dimensions > 3) return false;
  for (std::uint32_t i = 0; i < range.dimensions; ++i) {
    const std::size_t global = range.global[i];
    const std::size_t local = range.local[i];
    if (local == 0 || global == 0 || global % local != 0) return false;
    const std::size_t groups = global / local;
    if (groups > UINT32_MAX || local > UINT32_MAX) return false;
    grid[i] = static_cast<unsigned>(groups);
  }
  return true;
}

std::string sizes_text(const std::array<std::size_t, 3>& sizes, std::uint32_t dimensions) {
  std::string text;
  for (std::uint32_t i = 0; i < dimensions && i < 3; ++i) {
    if (i > 0) text += " x ";
    text += std::to_string(sizes[i]);
  }
  return text;
}

Status wrong_range(const Range& range) {
  return {
      StatusCode::invalid_argument,
      "global size % in groups of %: expected 1 to 3 dimensions, each a multiple of its group's",
      sizes_text(range.global, range.dimensions), sizes_text(range.local, range.dimensions)};
}

}  // namespace

Result<std::unique_ptr<CudaProgram>> CudaProgram::load(std::shared_ptr<Session> session,
                                                       const std::vector<std::uint8_t>& image,
                                                       const std::string& entry,
                                                       std::uint32_t lanes) {
  const ContextScope scope(*session);
  if (scope.error() != kSuccess) return scope.status();
  std::string log(8192, '\0');
  JitOption options[] = {JitOption::error_log_buffer, JitOption::error_log_buffer_size_bytes};
  void* values[] = {&log[0], reinterpret_cast<void*>(static_cast<std::uintptr_t>(log.size()))};
  ModuleHandle module = nullptr;
  Error error = session->driver->ModuleLoadDataEx(&module, image.data(), 2, options, values);
  if (error != kSuccess) {
    return load_failure(*session, error, "cuModuleLoadDataEx", entry, excerpt_of_build_log(log));
  }
  auto loaded = std::make_shared<Module>();
  loaded->session = std::move(session);
  loaded->handle = module;
  std::unique_ptr<CudaProgram> program(new CudaProgram(std::move(loaded)));
  program->lanes_ = lanes;
  if (Status found = program->find_kernel(entry); !found.ok()) return found;
  return program;
}

Status CudaProgram::find_kernel(const std::string& entry) {
  const Driver& driver = *session_->driver;
  const Error error = driver.ModuleGetFunction(&function_, module_->handle, entry.c_str());
  if (error != kSuccess) {
    return load_failure(*session_, error, "cuModuleGetFunction", entry,
                        error == kNotFound ? "expected it as extern \"C\" __global__" : "");
  }
  int value = 0;
  max_work_group_size_ = session_->info.max_work_group_size;
  if (driver.FuncGetAttribute(&value, FunctionAttribute::max_threads_per_block, function_) ==
          kSuccess &&
      value > 0) {
    max_work_group_size_ = static_cast<std::uint64_t>(value);
  }
  if (driver.FuncGetAttribute(&value, FunctionAttribute::shared_size_bytes, function_) ==
          kSuccess &&
      value > 0) {
    local_memory_bytes_ = static_cast<std::uint64_t>(value);
  }
  read_parameters();
  return {};
}

void CudaProgram::read_parameters() {
  const auto parameter_info = session_->driver->FuncGetParamInfo;
  if (parameter_info == nullptr) return;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Error error = kSuccess;
  for (std::size_t i = 0; i <= kMostParameters; ++i) {
    error = parameter_info(function_, i, &offset, &bytes);
    if (error != kSuccess) break;
    parameter_bytes_.push_back(bytes);
  }
  knows_parameters_ = error == kInvalidValue;  // the one behind the last
}

CudaProgram::Module::~Module() {
  if (session->lost()) return;
  if (captured.load()) {
    session->keep(handle);
    return;
  }
  const ContextScope scope(*session);
  if (scope.error() == kSuccess) (void)session->driver->ModuleUnload(handle);
}

Result<std::unique_ptr<Program>> CudaProgram::another(std::string_view entry) const {
  const ContextScope scope(*session_);
  if (scope.error() != kSuccess) return scope.status();
  std::unique_ptr<CudaProgram> other(new CudaProgram(module_));
  other->lanes_ = lanes_;
  if (Status found = other->find_kernel(std::string(entry)); !found.ok()) return found;
  return std::unique_ptr<Program>(std::move(other));
}

Status CudaProgram::check_arguments(Span<const Argument> arguments) const {
  if (arguments.size() > kMaxArguments ||
      (knows_parameters_ && arguments.size() != parameter_bytes_.size())) {
    return {StatusCode::invalid_argument, "kernel launched with % arguments, expected %",
            arguments.size(),
            knows_parameters_ ? std::to_string(parameter_bytes_.size())
                              : "at most " + std::to_string(kMaxArguments)};
  }
  if (!knows_parameters_) return {};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() == parameter_bytes_[i]) continue;
    return {StatusCode::invalid_argument, "argument %: % bytes, expected %", i, arguments[i].size(),
            parameter_bytes_[i]};
  }
  return {};
}

Status CudaProgram::launch(StreamHandle stream, const Range& range,
                           Span<const Argument> arguments) {
  unsigned grid[3] = {1, 1, 1};
  if (!divides(range, grid)) return wrong_range(range);
  if (Status fit = check_groups(session_->info, grid); !fit.ok()) return fit;
  if (Status fit = check_arguments(arguments); !fit.ok()) return fit;
  unsigned block[3] = {1, 1, 1};
  for (std::uint32_t i = 0; i < range.dimensions; ++i) {
    block[i] = static_cast<unsigned>(range.local[i]);
  }
  void* parameters[kMostParameters];
  std::size_t count = 0;
  for (const Argument& argument : arguments) {
    parameters[count++] = const_cast<void*>(argument.data());
  }
  while (!knows_parameters_ && count < kMostParameters) {
    parameters[count++] = const_cast<unsigned char*>(kNoArgument);
  }
  return session_->checked(
      session_->driver->LaunchKernel(function_, grid[0], grid[1], grid[2], block[0], block[1],
                                     block[2], 0, stream, parameters, nullptr),
      "cuLaunchKernel");
}

// Null where all are in use.
ProfileTicket* CudaProgram::ticket_for(StreamHandle stream) const {
  const Driver& driver = *session_->driver;
  ProfileTicket* ticket = session_->tickets->take();
  if (ticket == nullptr || driver.EventRecord(ticket->start, stream) == kSuccess) return ticket;
  session_->tickets->give_back(ticket);
  return nullptr;
}

Status CudaProgram::enqueue(std::uint32_t lane, const Range& range, Span<const Argument> arguments,
                            const LaunchOptions& options, void** profile) {
  if (profile != nullptr) *profile = nullptr;
  if (lane >= lanes_) {
    return {StatusCode::invalid_argument, "lane %: expected one below %", lane, lanes_};
  }
  if (Status fit = session_->launchable(); !fit.ok()) return fit;
  const ContextScope scope(*session_, ContextScope::Purpose::launch);
  if (scope.error() != kSuccess) return scope.status();
  StreamHandle stream = session_->application;
  if (options.queue != nullptr) stream = static_cast<StreamHandle>(options.queue);
  for (std::uint32_t i = 0; i < options.wait_count; ++i) {
    auto* event = static_cast<EventHandle>(const_cast<void*>(options.wait_list[i]));
    const Error error = session_->driver->StreamWaitEvent(stream, event, 0);
    if (error != kSuccess) return session_->checked(error, "cuStreamWaitEvent");
  }
  EventHandle event = nullptr;
  if (options.event != nullptr) {
    const Error error = session_->driver->EventCreate(&event, kEventWithoutTiming);
    if (error != kSuccess) return session_->checked(error, "cuEventCreate");
  }
  const bool captured = session_->capturing(stream);  // and not to be timed then
  if (captured) module_->captured.store(true);
  ProfileTicket* ticket = profile != nullptr && !captured ? ticket_for(stream) : nullptr;
  Status launched = launch(stream, range, arguments);
  if (ticket != nullptr) {
    // What was launched stays launched, whether it can be timed or not.
    if (launched.ok() && session_->driver->EventRecord(ticket->end, stream) == kSuccess) {
      *profile = ticket;
    } else {
      session_->tickets->give_back(ticket);
    }
  }
  return event != nullptr ? hand_out(event, stream, std::move(launched), options) : launched;
}

Status CudaProgram::hand_out(EventHandle event, StreamHandle stream, Status launched,
                             const LaunchOptions& options) {
  const Driver& driver = *session_->driver;
  if (launched.ok()) {
    launched = session_->checked(driver.EventRecord(event, stream), "cuEventRecord");
  }
  if (launched.ok()) {
    *static_cast<EventHandle*>(options.event) = event;
  } else {
    (void)driver.EventDestroy(event);
  }
  return launched;
}

}  // namespace idletune::cuda
