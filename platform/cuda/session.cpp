#include "platform/cuda/session.hpp"

#include <idletune/text.hpp>

#include "platform/os/storage.hpp"

namespace idletune::cuda {
namespace {

constexpr std::size_t kMaxVersionFileBytes = 1 << 16;

// The driver's answer, or zero where it gives none.
std::uint32_t attribute(const Session& session, DeviceAttribute what) {
  int value = 0;
  const Error error = session.driver->DeviceGetAttribute(&value, what, session.device);
  return error == kSuccess && value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

std::string version_text(int version) { return joined("%.%", version / 1000, version % 1000 / 10); }

// Versions of everything that has a part in what a kernel becomes.
std::string driver_text(const Session& session) {
  std::string text = "CUDA " + version_text(session.driver->version);
  const auto module = read_file("/proc/driver/nvidia/version", kMaxVersionFileBytes);
  if (module.ok()) {
    const std::string version = kernel_module_version(std::string(module->begin(), module->end()));
    if (!version.empty()) text += ", driver " + version;
  }
  text += session.nvrtc != nullptr ? ", NVRTC " + session.nvrtc->version_text() : ", no NVRTC";
  return joined("%, sm_%", text, session.architecture);
}

void find_compiler(Session& session, const std::string& library) {
  auto nvrtc = Nvrtc::load(library, session.driver->version);
  session.no_compiler = nvrtc.status();
  session.compiler = nvrtc.ok() ? (*nvrtc)->path() : library;
  if (!nvrtc.ok()) return;
  session.nvrtc = std::move(*nvrtc);
  session.no_compiler = session.nvrtc->target_for(session.architecture).status();
}

Status create_stream(Session& session, int priority, StreamHandle& stream) {
  const Driver& driver = *session.driver;
  if (driver.StreamCreateWithPriority(&stream, kStreamNonBlocking, priority) == kSuccess) return {};
  return session.checked(driver.StreamCreate(&stream, kStreamNonBlocking), "cuStreamCreate");
}

// Priorities are smaller the higher they are; both 0 where the device has but one.
struct PriorityRange {
  int least = 0;
  int greatest = 0;
};

PriorityRange priorities(const Driver& driver) {
  PriorityRange range;
  if (driver.CtxGetStreamPriorityRange(&range.least, &range.greatest) != kSuccess) return {};
  return range;
}

int priority_of(const Driver& driver, StreamHandle stream) {
  int priority = 0;  // that of the default streams
  return driver.StreamGetPriority(stream, &priority) == kSuccess ? priority : 0;
}

}  // namespace

bool spoils_context(Error error) {
  switch (error) {
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kContained:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kTensorMemoryLeak:
    case kMpsRpcFailure:
    case kMpsClientTerminated:
    case kExternalDevice:
    case kUnknown: return true;
    default: return false;
  }
}

Session::~Session() {
  if (driver == nullptr || context == nullptr || lost()) return;
  destroy_streams_and_events();
  if (retained) (void)driver->DevicePrimaryCtxRelease(device);
}

void Session::destroy_streams_and_events() {
  const ContextScope scope(*this);
  if (scope.error() != kSuccess) return;
  for (ModuleHandle module : captured_) (void)driver->ModuleUnload(module);
  if (tickets != nullptr) tickets->destroy_events();
  if (run_start != nullptr) (void)driver->EventDestroy(run_start);
  if (run_end != nullptr) (void)driver->EventDestroy(run_end);
  if (tuning != nullptr) (void)driver->StreamDestroy(tuning);
  if (owns_application) (void)driver->StreamDestroy(application);
}

void Session::note_spoiling(Error error, const char* call) {
  Error none = kSuccess;
  if (spoilt_by_.compare_exchange_strong(none, error)) spoilt_in_.store(call);
}

bool Session::capturing(StreamHandle stream) const {
  CaptureStatus capture = CaptureStatus::none;
  return driver->StreamIsCapturing != nullptr &&
         (driver->StreamIsCapturing(stream, &capture) != kSuccess ||
          capture != CaptureStatus::none);
}

void Session::keep(ModuleHandle module) {
  const MutexLock lock(captured_mutex_);
  captured_.push_back(module);
}

Status Session::checked(Error error, const char* call) {
  if (error == kSuccess) return {};
  if (spoils_context(error)) note_spoiling(error, call);
  return driver->to_status(error, call);
}

Status Session::launchable() const {
  const Error error = spoilt_by_.load();
  if (error == kSuccess) return {};
  const char* call = spoilt_in_.load();
  return {StatusCode::device_error, "device '%' is lost to this process: %", info.name,
          driver->describe(error, call != nullptr ? call : "CUDA")};
}

Status Session::tunable() const {
  if (!hung_.load()) return launchable();
  return {StatusCode::device_error,
          "device '%' is busy with a run that outlived its deadline: tuning is over here",
          info.name};
}

ContextScope::ContextScope(Session& session, Purpose purpose) : session_(session) {
  const Driver& driver = *session.driver;
  ContextHandle current = nullptr;
  const bool is_current = driver.CtxGetCurrent(&current) == kSuccess && current == session.context;
  if (!is_current) {
    error_ = driver.CtxPushCurrent(session.context);
    pushed_ = error_ == kSuccess;
  }
  if (purpose == Purpose::tuning && error_ == kSuccess &&
      driver.ThreadExchangeStreamCaptureMode != nullptr) {
    exchanged_ = driver.ThreadExchangeStreamCaptureMode(&mode_) == kSuccess;
  }
}

ContextScope::~ContextScope() {
  const Driver& driver = *session_.driver;
  if (exchanged_) (void)driver.ThreadExchangeStreamCaptureMode(&mode_);
  ContextHandle popped = nullptr;
  if (pushed_) (void)driver.CtxPopCurrent(&popped);
}

Status describe_device(Session& session, std::uint32_t index, const std::string& nvrtc_library) {
  const Driver& driver = *session.driver;
  Error error = driver.DeviceGet(&session.device, static_cast<int>(index));
  if (error != kSuccess) return driver.to_status(error, "cuDeviceGet");
  // Without these nobody knows which device it is.
  int capability[2] = {};
  constexpr DeviceAttribute kParts[2] = {DeviceAttribute::compute_capability_major,
                                         DeviceAttribute::compute_capability_minor};
  for (int i = 0; i < 2; ++i) {
    error = driver.DeviceGetAttribute(&capability[i], kParts[i], session.device);
    if (error != kSuccess) return driver.to_status(error, "cuDeviceGetAttribute");
  }
  session.architecture = 10 * capability[0] + capability[1];
  char name[256] = {};
  error = driver.DeviceGetName(name, sizeof name - 1, session.device);
  if (error != kSuccess) return driver.to_status(error, "cuDeviceGetName");
  find_compiler(session, nvrtc_library);
  DeviceInfo& info = session.info;
  info.name = name;
  std::size_t memory_bytes = 0;
  if (driver.DeviceTotalMem(&memory_bytes, session.device) == kSuccess) {
    info.global_memory_bytes = memory_bytes;
    info.max_allocation_bytes = memory_bytes;
  }
  info.backend = "cuda";
  info.platform = "CUDA";
  info.vendor = "NVIDIA";
  info.driver = driver_text(session);
  info.index = index;
  info.compute_units = attribute(session, DeviceAttribute::multiprocessor_count);
  info.local_memory_bytes = attribute(session, DeviceAttribute::max_shared_memory_per_block);
  info.max_work_group_size = attribute(session, DeviceAttribute::max_threads_per_block);
  info.max_work_item_sizes = {attribute(session, DeviceAttribute::max_block_dim_x),
                              attribute(session, DeviceAttribute::max_block_dim_y),
                              attribute(session, DeviceAttribute::max_block_dim_z)};
  info.max_groups = {attribute(session, DeviceAttribute::max_grid_dim_x),
                     attribute(session, DeviceAttribute::max_grid_dim_y),
                     attribute(session, DeviceAttribute::max_grid_dim_z)};
  info.has_compiler = session.no_compiler.ok();
  info.unified_memory = attribute(session, DeviceAttribute::integrated) != 0;
  return {};
}

Status create_application_stream(Session& session) {
  const int priority = priorities(*session.driver).greatest;
  Status made = create_stream(session, priority, session.application);
  session.owns_application = made.ok();
  return made;
}

Status create_tuning_stream(Session& session) {
  const Driver& driver = *session.driver;
  const int priority = priorities(driver).least;
  if (Status made = create_stream(session, priority, session.tuning); !made.ok()) return made;
  session.info.low_priority_queue =
      priority_of(driver, session.tuning) > priority_of(driver, session.application);
  for (EventHandle* event : {&session.run_start, &session.run_end}) {
    const Error error = driver.EventCreate(event, kEventDefault);
    if (error == kSuccess) continue;
    *event = nullptr;
    return session.checked(error, "cuEventCreate");
  }
  session.tickets = std::make_unique<ProfileTickets>(session.driver);
  return {};
}

}  // namespace idletune::cuda
