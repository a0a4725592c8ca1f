// What a device, its programs and its buffers share: the library and the retained OpenCL handles.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>

#include "platform/opencl/loader.hpp"

namespace idletune::opencl {

struct Session {
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Releases the handles, unless `poisoned`: then a run that never ends is still on the device, and
  // releasing its queue, context, kernel or buffers may block for ever. They are left to the
  // process's end, which had better be _exit: the driver's own exit handlers may wait as well.
  ~Session();

  std::shared_ptr<const Api> api;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue application = nullptr;  // where launches go unless they name a queue
  cl_command_queue tuning = nullptr;
  bool application_profiled = false;
  bool application_out_of_order = false;
  bool tuning_profiled = false;
  DeviceInfo info;
  std::atomic<bool> poisoned{false};
  // Somebody relies on the order of what is enqueued on `application` (an ApplicationQueue).
  std::atomic<bool> ordered{false};
};

// A device of some platform, as the library lists them.
struct DeviceHandle {
  cl_platform_id platform;
  cl_device_id device;
};

// All devices of all platforms; empty where there is no platform.
Result<std::vector<DeviceHandle>> enumerate_devices(const Api& api);

// Asks the driver for everything in DeviceInfo but low_priority_queue.
DeviceInfo describe(const Api& api, cl_device_id device, std::uint32_t index);

// Whether `queue` records profiles. False where the driver does not say.
bool is_profiled(const Api& api, cl_command_queue queue);

// Whether commands of `queue` may overtake each other. True where the driver does not say.
bool is_out_of_order(const Api& api, cl_command_queue queue);

// What is enqueued on session.application next comes after all that was enqueued there before.
Status keep_order(const Session& session);

// A mark is a queue that a reference is held of, so that it outlives its owner's: in place of
// `held`, which may be null. Null for the session's own.
Result<void*> hold(const Session& session, void* queue, void* held);
void let_go(const Session& session, void* held);

// A profiling queue on session.context: of low priority where the driver can, which it notes in
// session.info. Fills session.tuning and session.tuning_profiled.
Status create_tuning_queue(Session& session);

}  // namespace idletune::opencl
