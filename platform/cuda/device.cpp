#include <idletune/cuda.hpp>
#include <idletune/text.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "platform/completion_wait.hpp"
#include "platform/cuda/buffer.hpp"
#include "platform/cuda/program.hpp"
#include "platform/cuda/programs.hpp"
#include "platform/cuda/session.hpp"
#include "platform/request_checks.hpp"

namespace idletune::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// Memory that is mapped together of pieces (cuMemMap) is told piece by piece; their sizes are
// multiples of the device's granularity, of which none is known to be less than this.
constexpr std::size_t kMappedBytes = std::size_t{64} << 10;
constexpr std::size_t kWindowAlignmentBytes = 256;  // of everything that cuMemAlloc gives

// Between two events that have both been reached; 0 where the figure cannot be true.
Result<Nanoseconds> time_between(Session& session, EventHandle start, EventHandle end) {
  float milliseconds = 0;
  const Error error = session.driver->EventElapsedTime(&milliseconds, start, end);
  if (error != kSuccess) return session.checked(error, "cuEventElapsedTime");
  const double nanoseconds = std::round(static_cast<double>(milliseconds) * 1e6);
  const bool possible = nanoseconds >= 1 && nanoseconds < 9e18;
  return Nanoseconds(possible ? static_cast<Nanoseconds::rep>(nanoseconds) : 0);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<Session> session, const OpenOptions& options)
      : session_(std::move(session)), programs_(session_, options) {}

  const DeviceInfo& info() const override { return session_->info; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override;
  bool fits(const PrebuiltBinary& binary) const override { return programs_.fits(binary); }
  void keep_programs_in(const std::string& folder) override { programs_.keep_in(folder); }
  DeviceSource source() const override {
    return {session_->driver->path, session_->compiler, programs_.cache().folder(),
            programs_.cache().limit_bytes()};
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Status check_buffer(const Argument& argument, std::uint64_t bytes) const override;
  Result<std::unique_ptr<Buffer>> window(Buffer& parent, std::size_t offset,
                                         std::size_t bytes) override;
  std::size_t window_alignment_bytes() const override { return kWindowAlignmentBytes; }
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override;
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override;
  Status copy_out(const Argument& buffer, MutableBytes data) override;
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds deadline) override;
  Status order(void* before, void* then) override;
  Result<void*> mark(void* queue, void* mark) override;
  Status order_after(void* mark, void* before, void* then) override;
  void forget_mark(void* mark) override;
  bool capturing(void* queue) const override {
    // A default stream is one of the context that is current.
    const ContextScope scope(*session_, ContextScope::Purpose::launch);
    return session_->capturing(queue != nullptr ? static_cast<StreamHandle>(queue)
                                                : session_->application);
  }
  Result<Nanoseconds> elapsed(void* profile) override;
  void discard(void* profile) override;
  Nanoseconds now() const override { return Clock::now().time_since_epoch(); }
  Status usable() const override { return session_->tunable(); }

  const std::shared_ptr<Session>& session() const { return session_; }
  const CacheCounters& counters() const { return programs_.counters(); }

 private:
  Status check_copy(const Buffer& buffer, std::size_t offset, std::size_t size) const;
  Status start_run(CudaProgram& program, const Range& range, Span<const Argument> arguments);
  Status wait_for_run(Clock::time_point start, Nanoseconds deadline);

  std::shared_ptr<Session> session_;
  Programs programs_;
};

Result<std::unique_ptr<Program>> CudaDevice::compile(const CompileRequest& request) {
  if (Status fit = session_->tunable(); !fit.ok()) return fit;
  if (Status asked = check_request(request); !asked.ok()) return asked;
  auto program = programs_.get(request);
  if (!program.ok()) return program.status();
  return std::unique_ptr<Program>(std::move(*program));
}

Result<std::unique_ptr<Buffer>> CudaDevice::allocate(std::size_t bytes) {
  if (Status fit = session_->tunable(); !fit.ok()) return fit;
  return allocate_buffer(session_, bytes);
}

// Memory that the driver does not know as an allocation (host memory that the GPU reads, say) may
// be right: only what is known to be too small is refused.
Status CudaDevice::check_buffer(const Argument& argument, std::uint64_t bytes) const {
  std::uintptr_t value = 0;
  std::memcpy(&value, argument.data(), sizeof value);
  const auto address = static_cast<DeviceAddress>(value);
  if (address == 0) {
    return {StatusCode::invalid_argument, "got a null pointer, expected a device address"};
  }
  const ContextScope scope(*session_, ContextScope::Purpose::launch);
  if (scope.error() != kSuccess) return scope.status();
  std::uint64_t left = 0;
  for (bool more = true; more && left < bytes;) {
    const auto at = static_cast<DeviceAddress>(address + left);
    DeviceAddress start = 0;
    std::size_t size = 0;
    more = session_->driver->MemGetAddressRange(&start, &size, at) == kSuccess;
    if (more) left = start + size - address;
    more = more && size > 0 && size % kMappedBytes == 0;
  }
  if (left == 0 || left >= bytes) return {};
  return {StatusCode::invalid_argument, "got % bytes of device memory, expected at least %", left,
          bytes};
}

Result<std::unique_ptr<Buffer>> CudaDevice::window(Buffer& parent, std::size_t offset,
                                                   std::size_t bytes) {
  if (Status fit = check_copy(parent, offset, bytes); !fit.ok()) return fit;
  return std::unique_ptr<Buffer>(
      new CudaBuffer(session_, address_of(parent) + offset, bytes, CudaBuffer::Ownership::window));
}

Status CudaDevice::check_copy(const Buffer& buffer, std::size_t offset, std::size_t size) const {
  Status fit = session_->tunable();
  return fit.ok() ? check_range(buffer, offset, size) : fit;
}

Status CudaDevice::write(Buffer& buffer, std::size_t offset, Bytes data) {
  if (Status fit = check_copy(buffer, offset, data.size()); !fit.ok()) return fit;
  if (data.empty()) return {};
  const ContextScope scope(*session_);
  if (scope.error() != kSuccess) return scope.status();
  const Driver& driver = *session_->driver;
  const Error error = driver.MemcpyHtoDAsync(address_of(buffer) + offset, data.data(), data.size(),
                                             session_->tuning);
  if (error != kSuccess) return session_->checked(error, "cuMemcpyHtoDAsync");
  return session_->checked(driver.StreamSynchronize(session_->tuning), "cuStreamSynchronize");
}

Status CudaDevice::read(const Buffer& buffer, std::size_t offset, MutableBytes data) {
  if (Status fit = check_copy(buffer, offset, data.size()); !fit.ok()) return fit;
  if (data.empty()) return {};
  const ContextScope scope(*session_);
  if (scope.error() != kSuccess) return scope.status();
  const Driver& driver = *session_->driver;
  const Error error = driver.MemcpyDtoHAsync(data.data(), address_of(buffer) + offset, data.size(),
                                             session_->tuning);
  if (error != kSuccess) return session_->checked(error, "cuMemcpyDtoHAsync");
  return session_->checked(driver.StreamSynchronize(session_->tuning), "cuStreamSynchronize");
}

Status CudaDevice::copy_out(const Argument& buffer, MutableBytes data) {
  std::uintptr_t address = 0;
  std::memcpy(&address, buffer.data(), sizeof address);
  const ContextScope scope(*session_);
  if (scope.error() != kSuccess) return scope.status();
  if (session_->capturing(session_->application)) {
    return {StatusCode::busy, "the stream is being captured: nothing can be copied behind it"};
  }
  const Driver& driver = *session_->driver;
  const Error error = driver.MemcpyDtoHAsync(data.data(), static_cast<DeviceAddress>(address),
                                             data.size(), session_->application);
  if (error != kSuccess) return session_->checked(error, "cuMemcpyDtoHAsync");
  return session_->checked(driver.StreamSynchronize(session_->application), "cuStreamSynchronize");
}

Status CudaDevice::start_run(CudaProgram& program, const Range& range,
                             Span<const Argument> arguments) {
  const Driver& driver = *session_->driver;
  Status status =
      session_->checked(driver.EventRecord(session_->run_start, session_->tuning), "cuEventRecord");
  if (status.ok()) status = program.launch(session_->tuning, range, arguments);
  if (!status.ok()) return status;
  return session_->checked(driver.EventRecord(session_->run_end, session_->tuning),
                           "cuEventRecord");
}

// Gives the session up on timeout.
Status CudaDevice::wait_for_run(Clock::time_point start, Nanoseconds deadline) {
  CompletionWait wait(start, deadline);
  for (;;) {
    const Error error = session_->driver->EventQuery(session_->run_end);
    if (error == kSuccess) return {};
    if (error != kNotReady) {
      return {StatusCode::device_error, "kernel run failed: %",
              session_->checked(error, "cuEventQuery").message()};
    }
    if (wait.again()) continue;
    session_->give_up();
    return {StatusCode::timeout, "kernel run outlived its deadline of % ms",
            deadline.count() / 1000000};
  }
}

Result<RunTimes> CudaDevice::run(Program& program, const Range& range,
                                 Span<const Argument> arguments, Nanoseconds deadline) {
  if (Status fit = session_->tunable(); !fit.ok()) return fit;
  const ContextScope scope(*session_);
  if (scope.error() != kSuccess) return scope.status();
  const Clock::time_point start = Clock::now();
  Status status = start_run(static_cast<CudaProgram&>(program), range, arguments);
  if (status.ok()) status = wait_for_run(start, deadline);
  if (!status.ok()) return status;
  RunTimes times;
  times.wall = Clock::now() - start;
  const Result<Nanoseconds> measured =
      time_between(*session_, session_->run_start, session_->run_end);
  if (!measured.ok()) return measured.status();
  times.device = *measured;
  return times;
}

Status CudaDevice::order(void* before, void* then) {
  auto* first = before != nullptr ? static_cast<StreamHandle>(before) : session_->application;
  auto* second = then != nullptr ? static_cast<StreamHandle>(then) : session_->application;
  if (first == second) return {};  // streams keep their order
  const ContextScope scope(*session_, ContextScope::Purpose::launch);
  if (scope.error() != kSuccess) return scope.status();
  const Driver& driver = *session_->driver;
  EventHandle done = nullptr;
  Status status =
      session_->checked(driver.EventCreate(&done, kEventWithoutTiming), "cuEventCreate");
  if (!status.ok()) return status;
  status = session_->checked(driver.EventRecord(done, first), "cuEventRecord");
  if (status.ok()) {
    status = session_->checked(driver.StreamWaitEvent(second, done, 0), "cuStreamWaitEvent");
  }
  (void)driver.EventDestroy(done);  // the driver keeps what a stream still waits for
  return status;
}

// A mark is an event: the stream may be destroyed, or another one of the thread that asks.
Result<void*> CudaDevice::mark(void* queue, void* mark) {
  const auto stream = static_cast<StreamHandle>(queue);
  if (stream == nullptr || stream == session_->application) {
    forget_mark(mark);
    return nullptr;
  }
  const ContextScope scope(*session_, ContextScope::Purpose::launch);
  if (scope.error() != kSuccess) return scope.status();
  const Driver& driver = *session_->driver;
  auto event = static_cast<EventHandle>(mark);
  Error error = event != nullptr ? kSuccess : driver.EventCreate(&event, kEventWithoutTiming);
  if (error != kSuccess) return session_->checked(error, "cuEventCreate");
  error = driver.EventRecord(event, stream);
  if (error == kSuccess) return static_cast<void*>(event);
  if (mark == nullptr) (void)driver.EventDestroy(event);
  return session_->checked(error, "cuEventRecord");
}

Status CudaDevice::order_after(void* mark, void* before, void* then) {
  if (mark == nullptr) return order(before, then);
  const ContextScope scope(*session_, ContextScope::Purpose::launch);
  if (scope.error() != kSuccess) return scope.status();
  const auto stream = then != nullptr ? static_cast<StreamHandle>(then) : session_->application;
  return session_->checked(
      session_->driver->StreamWaitEvent(stream, static_cast<EventHandle>(mark), 0),
      "cuStreamWaitEvent");
}

void CudaDevice::forget_mark(void* mark) {
  if (mark == nullptr || session_->lost()) return;
  const ContextScope scope(*session_);
  if (scope.error() == kSuccess)
    (void)session_->driver->EventDestroy(static_cast<EventHandle>(mark));
}

Result<Nanoseconds> CudaDevice::elapsed(void* profile) {
  if (profile == nullptr) {
    return {StatusCode::unsupported, "elapsed: that launch could not be timed"};
  }
  auto* ticket = static_cast<ProfileTicket*>(profile);
  Status status = session_->launchable();
  if (status.ok()) {
    const ContextScope scope(*session_);
    const Error error =
        scope.error() != kSuccess ? scope.error() : session_->driver->EventQuery(ticket->end);
    if (error == kNotReady) return {StatusCode::busy, "elapsed: the launch has not finished yet"};
    if (error == kSuccess) {
      Result<Nanoseconds> time = time_between(*session_, ticket->start, ticket->end);
      session_->tickets->give_back(ticket);
      return checked_time(std::move(time));
    }
    status = session_->checked(error, "cuEventQuery");
  }
  session_->tickets->give_back(ticket);
  return status;
}

void CudaDevice::discard(void* profile) {
  if (profile != nullptr) session_->tickets->give_back(static_cast<ProfileTicket*>(profile));
}

Result<std::uint32_t> device_count(const Driver& driver) {
  if (!driver.has_devices) return std::uint32_t{0};
  int count = 0;
  const Error error = driver.DeviceGetCount(&count);
  if (error != kSuccess) return driver.to_status(error, "cuDeviceGetCount");
  return static_cast<std::uint32_t>(count > 0 ? count : 0);
}

// A session with the description of the device at `index`; its context is still to come.
Result<std::shared_ptr<Session>> described(std::shared_ptr<const Driver> driver,
                                           std::uint32_t index, const OpenOptions& options) {
  auto session = std::make_shared<Session>();
  session->driver = std::move(driver);
  if (Status status = describe_device(*session, index, options.nvrtc_library); !status.ok()) {
    return status;
  }
  return session;
}

Result<std::unique_ptr<Device>> open_described(std::shared_ptr<Session> session,
                                               const OpenOptions& options) {
  const Error error = session->driver->DevicePrimaryCtxRetain(&session->context, session->device);
  if (error != kSuccess) {
    session->context = nullptr;
    return session->checked(error, "cuDevicePrimaryCtxRetain");
  }
  session->retained = true;
  const ContextScope scope(*session);
  if (scope.error() != kSuccess) return scope.status();
  if (Status made = create_application_stream(*session); !made.ok()) return made;
  if (Status made = create_tuning_stream(*session); !made.ok()) return made;
  return std::unique_ptr<Device>(new CudaDevice(std::move(session), options));
}

constexpr auto kPerThread = std::uintptr_t{2};  // CU_STREAM_PER_THREAD

// The default streams of a context have these numbers for handles.
bool is_default_stream(StreamHandle stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= kPerThread;
}

// The context that adopt() is to use.
Result<ContextHandle> context_for(const Driver& driver, void* context, StreamHandle stream) {
  if (context != nullptr) return static_cast<ContextHandle>(context);
  ContextHandle found = nullptr;
  const Error error = is_default_stream(stream) ? driver.CtxGetCurrent(&found)
                                                : driver.StreamGetCtx(stream, &found);
  if (error != kSuccess) return driver.to_status(error, "adopt: context of the stream");
  if (found != nullptr) return found;
  return {StatusCode::invalid_argument,
          "adopt: expected a context: none was given and none is current in this thread"};
}

// Of the context that is current.
Result<std::uint32_t> index_of_current(const Driver& driver) {
  DeviceOrdinal wanted = 0;
  const Error error = driver.CtxGetDevice(&wanted);
  if (error != kSuccess) return driver.to_status(error, "adopt: cuCtxGetDevice");
  const Result<std::uint32_t> count = device_count(driver);
  if (!count.ok()) return count.status();
  for (std::uint32_t i = 0; i < *count; ++i) {
    DeviceOrdinal device = 0;
    if (driver.DeviceGet(&device, static_cast<int>(i)) == kSuccess && device == wanted) return i;
  }
  return {StatusCode::not_found, "adopt: the context's device is none of % that the driver lists",
          *count};
}

Status check_stream(const Driver& driver, ContextHandle context, StreamHandle stream) {
  if (is_default_stream(stream)) return {};
  ContextHandle of_stream = nullptr;
  const Error error = driver.StreamGetCtx(stream, &of_stream);
  if (error != kSuccess) return driver.to_status(error, "adopt: cuStreamGetCtx");
  if (of_stream == context) return {};
  return {StatusCode::invalid_argument, "adopt: expected a stream of the given context"};
}

bool is_cuda(const Device& device) { return device.info().backend == "cuda"; }

Status no_devices() { return {StatusCode::not_found, "the CUDA driver finds no device"}; }

}  // namespace

Result<std::unique_ptr<Device>> adopt(void* context, void* stream, const OpenOptions& options) {
  auto driver = load_driver(options.library);
  if (!driver.ok()) return driver.status();
  if (!(*driver)->has_devices) return no_devices();
  if (reinterpret_cast<std::uintptr_t>(stream) == kPerThread) {
    return {StatusCode::invalid_argument,
            "adopt: got CU_STREAM_PER_THREAD, expected a stream that all threads share"};
  }
  auto* own_stream = static_cast<StreamHandle>(stream);
  const Result<ContextHandle> own_context = context_for(**driver, context, own_stream);
  if (!own_context.ok()) return own_context.status();
  auto session = std::make_shared<Session>();
  session->driver = *driver;
  session->context = *own_context;
  const ContextScope scope(*session);
  if (scope.error() != kSuccess) return scope.status();
  if (Status fit = check_stream(**driver, *own_context, own_stream); !fit.ok()) return fit;
  session->application = own_stream;
  const Result<std::uint32_t> index = index_of_current(**driver);
  if (!index.ok()) return index.status();
  Status ready = describe_device(*session, *index, options.nvrtc_library);
  if (ready.ok()) ready = create_tuning_stream(*session);
  if (!ready.ok()) return ready;
  return std::unique_ptr<Device>(new CudaDevice(session, options));
}

Result<std::unique_ptr<Device>> open(std::uint32_t index, const OpenOptions& options) {
  auto driver = load_driver(options.library);
  if (!driver.ok()) return driver.status();
  const Result<std::uint32_t> count = device_count(**driver);
  if (!count.ok()) return count.status();
  if (index >= *count) {
    return {StatusCode::not_found, "CUDA device %: there are %", index, *count};
  }
  auto session = described(*driver, index, options);
  if (!session.ok()) return session.status();
  return open_described(std::move(*session), options);
}

Result<std::unique_ptr<Device>> open_matching(const DeviceInfo& wanted,
                                              const OpenOptions& options) {
  auto driver = load_driver(options.library);
  if (!driver.ok()) return driver.status();
  const Result<std::uint32_t> count = device_count(**driver);
  if (!count.ok()) return count.status();
  std::shared_ptr<Session> match;
  for (std::uint32_t i = 0; i < *count; ++i) {
    auto session = described(*driver, i, options);
    if (!session.ok()) return session.status();
    const DeviceInfo& info = (*session)->info;
    if (info.name != wanted.name || info.driver != wanted.driver) continue;
    if (match == nullptr || i == wanted.index) match = std::move(*session);
  }
  if (match == nullptr) {
    return {StatusCode::not_found, "CUDA device '%' with driver '%': none of % devices matches",
            wanted.name, wanted.driver, *count};
  }
  return open_described(std::move(match), options);
}

Result<std::vector<DeviceInfo>> list(const OpenOptions& options) {
  auto driver = load_driver(options.library);
  if (!driver.ok()) return driver.status();
  const Result<std::uint32_t> count = device_count(**driver);
  if (!count.ok()) return count.status();
  std::vector<DeviceInfo> devices;
  for (std::uint32_t i = 0; i < *count; ++i) {
    auto session = described(*driver, i, options);
    if (!session.ok()) return session.status();
    devices.push_back(std::move((*session)->info));
  }
  return devices;
}

std::shared_ptr<Session> session_of(Device& device) {
  return is_cuda(device) ? static_cast<CudaDevice&>(device).session() : nullptr;
}

Result<std::unique_ptr<Buffer>> allocate_buffer(const std::shared_ptr<Session>& session,
                                                std::size_t bytes) {
  if (Status fit = check_allocation(session->info, bytes); !fit.ok()) return fit;
  const ContextScope scope(*session);
  if (scope.error() != kSuccess) return scope.status();
  DeviceAddress address = 0;
  const Error error = session->driver->MemAlloc(&address, bytes);
  if (error != kSuccess) {
    const Status failure = session->checked(error, "cuMemAlloc");
    return {error == kOutOfMemory ? StatusCode::out_of_memory : failure.code(),
            joined("allocate: % bytes: %", bytes, failure.message())};
  }
  return std::unique_ptr<Buffer>(
      new CudaBuffer(session, address, bytes, CudaBuffer::Ownership::own));
}

Handles handles(Device& device) {
  const std::shared_ptr<Session> session = session_of(device);
  if (session == nullptr) return {};
  return {session->context, session->application};
}

CacheCounters cache_counters(const Device& device) {
  if (!is_cuda(device)) return {};
  return static_cast<const CudaDevice&>(device).counters();
}

}  // namespace idletune::cuda
