// What can compute here, as an agent sees it.
#include <idletune/device.hpp>

#include <utility>

#include "agent/api/back_end_options.hpp"
#include "agent/board_command/verbs.hpp"

namespace idletune::board {
namespace {

void tell_device(const DeviceInfo& info, Facts& facts) {
  facts.count("index", info.index);
  facts.text("backend", info.backend);
  facts.text("platform", info.platform);
  facts.text("name", info.name);
  facts.text("vendor", info.vendor);
  facts.text("driver", info.driver);
  facts.count("compute_units", info.compute_units);
  facts.count("local_memory_bytes", info.local_memory_bytes);
  facts.count("global_memory_bytes", info.global_memory_bytes);
  facts.flag("has_compiler", info.has_compiler);
  facts.flag("is_cpu", info.is_cpu);
}

struct Found {
  std::vector<Facts> devices;
  std::vector<Facts> backends;
};

[[maybe_unused]] void add(const char* name, const Result<std::vector<DeviceInfo>>& devices,
                          bool json, Found& found) {
  found.backends.emplace_back(json);
  found.backends.back().text("name", name);
  found.backends.back().flag("available", devices.ok());
  if (!devices.ok()) return found.backends.back().text("message", devices.status().message());
  for (const DeviceInfo& info : *devices) {
    found.devices.emplace_back(json);
    tell_device(info, found.devices.back());
  }
}

}  // namespace

// A board without a driver is an answer, too.
Status list_devices(const Call&, Facts& answer) {
  Found found;
#ifdef IDLETUNE_WITH_OPENCL
  add("opencl", opencl::list(detail::opencl_options()), answer.json(), found);
#endif
#ifdef IDLETUNE_WITH_CUDA
  add("cuda", cuda::list(detail::cuda_options()), answer.json(), found);
#endif
  answer.list("devices", std::move(found.devices));
  answer.list("backends", std::move(found.backends));
  return {};
}

}  // namespace idletune::board
