#include "agent/host/cli/open_device.hpp"

#include "agent/api/back_end_options.hpp"

namespace idletune::cli {
namespace {

using OpenedDevice = Result<std::unique_ptr<Device>>;

// No CUDA on this machine, and nobody has said where it would be.
bool is_without_cuda(const Status& status) {
  return environment_cuda_library().empty() &&
         (status.code() == StatusCode::not_found || status.code() == StatusCode::unsupported);
}

}  // namespace

void add_device_options(Verb verb, DeviceChoice& choice) {
  verb.option("--backend", choice.backend,
              "opencl, cuda, or auto: cuda where the kernel and the machine can")
      .one_of({"auto", "opencl", "cuda"});
  verb.option("--device", choice.index, "Its number in 'idletune devices'").shows_default();
}

OpenedDevice open_device(const DeviceChoice& choice, Dialect dialect,
                         const std::string& cache_folder) {
  const bool automatic = choice.backend == "auto";
  if (choice.backend == "opencl" || (automatic && dialect == Dialect::opencl)) {
    return detail::open_opencl(choice.index, cache_folder);
  }
  OpenedDevice device = detail::open_cuda(choice.index, cache_folder);
  const bool may_fall_back = automatic && dialect == Dialect::portable;
  if (device.ok() || !may_fall_back || !is_without_cuda(device.status())) return device;
  return detail::open_opencl(choice.index, cache_folder);
}

std::uint64_t programs_not_kept([[maybe_unused]] const Device& device) {
#ifdef IDLETUNE_WITH_CUDA
  if (device.info().backend == "cuda") return cuda::cache_counters(device).store_errors;
#endif
#ifdef IDLETUNE_WITH_OPENCL
  if (device.info().backend == "opencl") return opencl::cache_counters(device).store_errors;
#endif
  return 0;
}

Result<std::unique_ptr<ApplicationQueue>> queue_of(Device& device) {
#ifdef IDLETUNE_WITH_CUDA
  if (device.info().backend == "cuda") return cuda::application_queue(device);
#endif
#ifdef IDLETUNE_WITH_OPENCL
  if (device.info().backend == "opencl") return opencl::application_queue(device);
#endif
  return Status(StatusCode::unsupported, "this build has no queues of " + device.info().backend);
}

}  // namespace idletune::cli
