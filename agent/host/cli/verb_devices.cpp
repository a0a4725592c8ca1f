// `idletune devices`: what can compute here, and what the board says about itself.

#include <idletune/device.hpp>
#ifdef IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#ifdef IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "platform/board/board.hpp"
#include "platform/board/meters.hpp"

namespace idletune::cli {
namespace {

struct DevicesOptions {
  std::string opencl_library;
  std::string cuda_library;
  std::string nvrtc_library;
  std::string sysfs_root = "/sys";
};

// What one back end found, or why it found nothing.
struct BackEnd {
  std::string name;
  bool must_open;  // its library was named
  Status status;
  std::vector<DeviceInfo> devices;
};

BackEnd found_by(const char* name, bool must_open, Result<std::vector<DeviceInfo>> devices) {
  BackEnd found{name, must_open, devices.status(), {}};
  if (devices.ok()) found.devices = std::move(*devices);
  return found;
}

Result<std::vector<DeviceInfo>> list_opencl([[maybe_unused]] const DevicesOptions& options) {
#ifdef IDLETUNE_WITH_OPENCL
  opencl::OpenOptions open_options;
  open_options.library = options.opencl_library;
  return opencl::list(open_options);
#else
  return Status(StatusCode::unsupported, "this build has no OpenCL back end");
#endif
}

Result<std::vector<DeviceInfo>> list_cuda([[maybe_unused]] const DevicesOptions& options) {
#ifdef IDLETUNE_WITH_CUDA
  cuda::OpenOptions open_options;
  open_options.library = options.cuda_library;
  open_options.nvrtc_library = options.nvrtc_library;
  return cuda::list(open_options);
#else
  return Status(StatusCode::unsupported, "this build has no CUDA back end");
#endif
}

std::string in_units(double value, const char* format, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::string(text) + unit;
}

std::string mebibytes(std::uint64_t bytes) {
  return in_units(static_cast<double>(bytes) / (1024.0 * 1024.0), "%.0f", " MiB");
}

std::string kibibytes(std::uint64_t bytes) {
  return in_units(static_cast<double>(bytes) / 1024.0, "%.0f", " KiB");
}

json device_json(const DeviceInfo& info) {
  return joined(IDLETUNE_FIELDS(info, index, backend, platform, name, vendor, driver, compute_units,
                                local_memory_bytes, global_memory_bytes, max_allocation_bytes,
                                max_work_group_size, max_work_item_sizes, has_compiler, is_cpu,
                                unified_memory),
                {{"key", hexadecimal(info.driver_key())}});
}

// Both kinds of sensors, and what they said.
struct BoardSensors {
  explicit BoardSensors(const std::string& root)
      : board(Board::open(root)),
        meters(BoardMeters::open(root)),
        state(board.read()),
        metered(meters.read()) {}
  Board board;
  BoardMeters meters;
  BoardState state;
  MeterState metered;
};

json board_json(const BoardSensors& sensors) {
  const json zones = list_of(sensors.board.thermal_zones(), [](const ThermalZone& zone) {
    return IDLETUNE_FIELDS(zone, type, temperature_c, trip_c);
  });
  const json rails = list_of(sensors.meters.power_rails(), [](const PowerRail& rail) {
    return IDLETUNE_FIELDS(rail, name, power_w);
  });
  const json metered = IDLETUNE_FIELDS(sensors.metered, gpu_clock_hz, gpu_max_clock_hz,
                                       cpu_clock_hz, cpu_max_clock_hz, power_w);
  return joined(joined(IDLETUNE_FIELDS(sensors.state, temperature_c, thermal_margin_c, on_mains,
                                       battery, gpu_load),
                       metered),
                {{"thermal_zones", zones}, {"power_rails", rails}});
}

void print_devices(const CliContext& context, const BackEnd& back_end) {
  if (back_end.devices.empty()) {
    const std::string why = back_end.status.ok() ? "" : ": " + back_end.status.message();
    return context.print(back_end.name + ": no devices" + why + "\n");
  }
  TextTable table({">index", "platform", "device", "driver", ">units", ">local memory", ">memory"});
  for (const DeviceInfo& info : back_end.devices) {
    table.add_row({std::to_string(info.index), info.platform, info.name, fitted(info.driver, 40),
                   std::to_string(info.compute_units), kibibytes(info.local_memory_bytes),
                   mebibytes(info.global_memory_bytes)});
  }
  context.print(table);
}

std::string clock_text(std::uint64_t hertz, std::optional<std::uint64_t> maximum) {
  std::string text = in_units(static_cast<double>(hertz) / 1e6, "%.0f", " MHz");
  if (maximum) text += " of " + in_units(static_cast<double>(*maximum) / 1e6, "%.0f", " MHz");
  return text;
}

void print_board(const CliContext& context, const BoardSensors& sensors) {
  const BoardState& state = sensors.state;
  const MeterState& metered = sensors.metered;
  TextTable table({"board sensor", "value"});
  bool any = false;
  auto add = [&](const std::string& sensor, const std::string& value) {
    table.add_row({sensor, value});
    any = true;
  };
  for (const ThermalZone& zone : sensors.board.thermal_zones()) {
    if (!zone.temperature_c) continue;
    std::string value = in_units(*zone.temperature_c, "%.1f", " °C");
    if (zone.trip_c) value += ", trips at " + in_units(*zone.trip_c, "%.1f", " °C");
    add("heat " + zone.type, value);
  }
  if (state.on_mains) add("mains", *state.on_mains ? "yes" : "no");
  if (state.battery) add("battery", report::percent_text(*state.battery));
  if (state.gpu_load) add("GPU load", report::percent_text(*state.gpu_load));
  if (metered.gpu_clock_hz)
    add("GPU clock", clock_text(*metered.gpu_clock_hz, metered.gpu_max_clock_hz));
  if (metered.cpu_clock_hz)
    add("CPU clock", clock_text(*metered.cpu_clock_hz, metered.cpu_max_clock_hz));
  for (const PowerRail& rail : sensors.meters.power_rails()) {
    if (rail.power_w) add("rail " + rail.name, in_units(*rail.power_w, "%.2f", " W"));
  }
  if (metered.power_w) add("board power", in_units(*metered.power_w, "%.2f", " W"));
  context.print("\n");
  if (!any) return context.print("board: no sensors\n");
  context.print(table);
}

// A machine without OpenCL or CUDA is an answer, not a failure; a library that was named must open.
void list_devices(CliContext& context, const DevicesOptions& options) {
  const BackEnd back_ends[] = {
      found_by("opencl", !options.opencl_library.empty(), list_opencl(options)),
      found_by("cuda", !options.cuda_library.empty(), list_cuda(options))};
  for (const BackEnd& back_end : back_ends) {
    if (back_end.must_open) must(back_end.status);
  }
  const BoardSensors sensors(options.sysfs_root);
  if (!context.json()) {
    for (const BackEnd& back_end : back_ends) {
      if (&back_end != back_ends) context.print("\n");
      print_devices(context, back_end);
    }
    print_board(context, sensors);
    return;
  }
  json devices = json::array();
  json backends = json::array();
  for (const BackEnd& back_end : back_ends) {
    for (const DeviceInfo& info : back_end.devices) devices.push_back(device_json(info));
    backends.push_back({{"name", back_end.name},
                        {"available", back_end.status.ok()},
                        {"message", back_end.status.message()}});
  }
  context.print_json({{"devices", std::move(devices)},
                      {"backends", std::move(backends)},
                      {"board", board_json(sensors)}});
}

}  // namespace

void add_devices_verb(CommandLine& line, CliContext& context) {
  auto options = std::make_shared<DevicesOptions>();
  Verb verb = line.add_verb("devices", "lists devices and the board's sensors");
  verb.option("--opencl-library", options->opencl_library,
              "OpenCL library to open instead of the usual ones")
      .environment("IDLETUNE_OPENCL_LIBRARY");
  verb.option("--cuda-library", options->cuda_library,
              "CUDA driver to open instead of libcuda.so.1")
      .environment("IDLETUNE_CUDA_LIBRARY");
  verb.option("--nvrtc-library", options->nvrtc_library, "NVRTC to open instead of the usual ones")
      .environment("IDLETUNE_NVRTC_LIBRARY");
  verb.option("--sysfs", options->sysfs_root, "Folder that stands in for /sys");
  verb.example("devices --json");
  verb.runs([&context, options] { list_devices(context, *options); });
}

}  // namespace idletune::cli
