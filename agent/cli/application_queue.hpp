// What an application does with its own queue or stream, and the verbs that play one.
#pragma once

#include <functional>

#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune::cli {

// Waits until everything launched on a device's application queue or stream is done. Errors:
// device_error.
using WaitForLaunches = std::function<Status()>;

// For a device of open_device, which must outlive it. Errors: those of loading the device's library
// a second time.
Result<WaitForLaunches> waiting_for(Device& device);

}  // namespace idletune::cli
