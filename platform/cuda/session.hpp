// What a device, its programs and its buffers share: the driver, the context and the streams.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>

#include "platform/cuda/driver.hpp"
#include "platform/cuda/nvrtc.hpp"
#include "platform/cuda/profile_tickets.hpp"
#include "platform/os/mutex.hpp"

namespace idletune::cuda {

struct Session {
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Releases what is ours, unless the device is `lost()`: then freeing may block for ever, or has
  // nothing left to free.
  ~Session();

  std::shared_ptr<const Driver> driver;
  std::shared_ptr<const Nvrtc> nvrtc;  // null: none, and no_compiler says why
  Status no_compiler;
  std::string compiler;  // NVRTC's path; without one as it was asked for
  DeviceOrdinal device = 0;
  int architecture = 0;  // compute capability, 10 * major + minor
  ContextHandle context = nullptr;
  bool retained = false;               // `context` is the primary one and holds a reference of ours
  StreamHandle application = nullptr;  // where launches go unless they name a stream
  bool owns_application = false;
  StreamHandle tuning = nullptr;
  EventHandle run_start = nullptr;  // of the tuner's runs
  EventHandle run_end = nullptr;
  std::unique_ptr<ProfileTickets> tickets;
  DeviceInfo info;

  // The status of a call's result. An error that leaves the context unusable is remembered.
  Status checked(Error error, const char* call);
  // device_error once such an error has come up; it names the first one. Any thread.
  Status launchable() const;
  // As launchable(); device_error too after a run that outlived its deadline.
  Status tunable() const;
  // A run has outlived its deadline: it is still on the device.
  void give_up() { hung_.store(true); }
  // Whether what is put on the stream is recorded (a graph) instead of run.
  bool capturing(StreamHandle stream) const;
  // A graph that may outlive the module runs it: it stays as long as the session.
  void keep(ModuleHandle module);
  bool lost() const { return hung_.load() || spoilt_by_.load() != kSuccess; }

 private:
  void destroy_streams_and_events();
  void note_spoiling(Error error, const char* call);

  Mutex captured_mutex_;
  std::vector<ModuleHandle> captured_;
  std::atomic<bool> hung_{false};
  std::atomic<Error> spoilt_by_{kSuccess};
  std::atomic<const char*> spoilt_in_{nullptr};
};

// Whether no further call in the context can succeed after `error` (CUDA's manual: "leaves the
// process in an inconsistent state").
bool spoils_context(Error error);

// Makes the session's context current in this thread and whatever was current before so again at
// the end. For tuning also lets calls pass that a capture of a graph by the application would
// forbid.
class ContextScope {
 public:
  enum class Purpose : std::uint8_t { launch, tuning };
  explicit ContextScope(Session& session, Purpose purpose = Purpose::tuning);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  Error error() const { return error_; }  // when not kSuccess, the context is not current
  Status status() const { return session_.checked(error_, "cuCtxPushCurrent"); }

 private:
  Session& session_;
  Error error_ = kSuccess;
  bool pushed_ = false;
  bool exchanged_ = false;
  CaptureMode mode_ = CaptureMode::relaxed;
};

// Fills device, architecture, NVRTC and info (all but low_priority_queue) of a session that has its
// driver. `index` is the device's ordinal. Error: not_found (no such device), device_error.
Status describe_device(Session& session, std::uint32_t index, const std::string& nvrtc_library);

// Makes tuning stream, events and tickets of a session that is otherwise complete; the context must
// be current. Fills info.low_priority_queue.
Status create_tuning_stream(Session& session);

// A stream of the application's of the highest priority, for sessions that have no application's.
Status create_application_stream(Session& session);

}  // namespace idletune::cuda
