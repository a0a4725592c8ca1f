#include "platform/opencl/session.hpp"

#include <idletune/text.hpp>

#include <cstdlib>
#include <string_view>

namespace idletune::opencl {
namespace {

std::string trimmed(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (end > 0 && (text[end - 1] == '\0' || text[end - 1] == ' ' || text[end - 1] == '\n')) --end;
  while (begin < end && text[begin] == ' ') ++begin;
  return {text.data() + begin, end - begin};
}

constexpr std::size_t kMaxInfoBytes = 1 << 16;

std::string device_text(const Api& api, cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (api.GetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS) return {};
  if (size == 0 || size > kMaxInfoBytes) return {};
  std::string text(size, '\0');
  if (api.GetDeviceInfo(device, what, size, &text[0], nullptr) != CL_SUCCESS) return {};
  return trimmed(text);
}

std::string platform_text(const Api& api, cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  if (api.GetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS) return {};
  if (size == 0 || size > kMaxInfoBytes) return {};
  std::string text(size, '\0');
  if (api.GetPlatformInfo(platform, what, size, &text[0], nullptr) != CL_SUCCESS) return {};
  return trimmed(text);
}

// The driver's answer, or what it is otherwise where it gives none.
template <class T>
T device_value(const Api& api, cl_device_id device, cl_device_info what, T otherwise = {}) {
  T value = otherwise;
  const cl_int error = api.GetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return error == CL_SUCCESS ? value : otherwise;
}

// Versions of driver, device and platform, each named once: vendors put the compiler's version in
// any of the three. Empty where one of them is not told.
std::string driver_text(const Api& api, cl_device_id device, cl_platform_id platform) {
  std::string text = device_text(api, device, CL_DRIVER_VERSION);
  for (const std::string& more : {device_text(api, device, CL_DEVICE_VERSION),
                                  platform_text(api, platform, CL_PLATFORM_VERSION)}) {
    if (more.empty() || text.empty()) return {};
    if (text.find(std::string_view(more)) != std::string::npos) continue;
    text += "; ";
    text += more;
  }
  return text;
}

// Whether the space-separated `list` holds `word`.
bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; at < list.size();) {
    std::size_t end = list.find(' ', at);
    if (end == std::string_view::npos) end = list.size();
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

// The major version of "OpenCL 3.0 ..."; 1 for anything else.
int major_version(const std::string& version) {
  constexpr std::string_view kPrefix = "OpenCL ";
  if (std::string_view(version).substr(0, kPrefix.size()) != kPrefix) return 1;
  const long major = std::strtol(version.c_str() + kPrefix.size(), nullptr, 10);
  return major > 0 ? static_cast<int>(major) : 1;
}

using CreateQueue = decltype(Api::CreateCommandQueueWithProperties);

// The function that makes queues with properties, if this device may be given to it.
CreateQueue queue_creator(const Api& api, cl_platform_id platform, cl_device_id device,
                          std::string_view extensions) {
  // A 1.x platform behind a newer loader has no entry for it, and calling it would crash.
  const bool second = major_version(platform_text(api, platform, CL_PLATFORM_VERSION)) >= 2 &&
                      major_version(device_text(api, device, CL_DEVICE_VERSION)) >= 2;
  if (second && api.CreateCommandQueueWithProperties != nullptr) {
    return api.CreateCommandQueueWithProperties;
  }
  if (!has_word(extensions, "cl_khr_create_command_queue")) return nullptr;
  if (api.GetExtensionFunctionAddressForPlatform == nullptr) return nullptr;
  return reinterpret_cast<CreateQueue>(api.GetExtensionFunctionAddressForPlatform(
      platform, "clCreateCommandQueueWithPropertiesKHR"));
}

cl_command_queue create_low_priority_queue(const Session& session) {
  const Api& api = *session.api;
  const std::string extensions = device_text(api, session.device, CL_DEVICE_EXTENSIONS);
  const auto platform = device_value<cl_platform_id>(api, session.device, CL_DEVICE_PLATFORM);
  const bool announced =
      has_word(extensions, "cl_khr_priority_hints") ||
      has_word(platform_text(api, platform, CL_PLATFORM_EXTENSIONS), "cl_khr_priority_hints");
  if (!announced) return nullptr;
  const CreateQueue create = queue_creator(api, platform, session.device, extensions);
  if (create == nullptr) return nullptr;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                            CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, 0};
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = create(session.context, session.device, properties, &error);
  return error == CL_SUCCESS ? queue : nullptr;
}

}  // namespace

Session::~Session() {
  if (poisoned.load() || api == nullptr) return;
  if (tuning != nullptr) api->ReleaseCommandQueue(tuning);
  if (application != nullptr) api->ReleaseCommandQueue(application);
  if (context != nullptr) api->ReleaseContext(context);
}

Result<std::vector<DeviceHandle>> enumerate_devices(const Api& api) {
  std::vector<DeviceHandle> handles;
  cl_uint count = 0;
  cl_int error = api.GetPlatformIDs(0, nullptr, &count);
  if (error == CL_PLATFORM_NOT_FOUND_KHR || (error == CL_SUCCESS && count == 0)) return handles;
  if (error != CL_SUCCESS) return to_status(error, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  error = api.GetPlatformIDs(count, platforms.data(), nullptr);
  if (error != CL_SUCCESS) return to_status(error, "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    // A platform without usable devices does not hide those of the others.
    if (api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> ids(devices);
    if (devices == 0) continue;
    error = api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    if (error != CL_SUCCESS) continue;
    for (cl_device_id id : ids) handles.push_back({platform, id});
  }
  return handles;
}

// Qualcomm's drivers long called every device "QUALCOMM Adreno(TM)"; which one it is then stands
// in the version alone ("OpenCL 2.0 Adreno(TM) 640").
std::string full_name(std::string_view name, std::string_view version) {
  const std::size_t adreno = version.find("Adreno");
  if (adreno == std::string::npos || name.find("Adreno") == std::string::npos ||
      name.find_first_of("0123456789") != std::string::npos) {
    return std::string(name);
  }
  return joined("QUALCOMM %", version.substr(adreno));
}

DeviceInfo describe(const Api& api, cl_device_id device, std::uint32_t index) {
  DeviceInfo info;
  const auto platform = device_value<cl_platform_id>(api, device, CL_DEVICE_PLATFORM);
  info.backend = "opencl";
  info.platform = platform_text(api, platform, CL_PLATFORM_NAME);
  info.name = full_name(device_text(api, device, CL_DEVICE_NAME),
                        device_text(api, device, CL_DEVICE_VERSION));
  info.vendor = device_text(api, device, CL_DEVICE_VENDOR);
  info.driver = driver_text(api, device, platform);
  info.index = index;
  info.compute_units = device_value<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.local_memory_bytes = device_value<cl_ulong>(api, device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.global_memory_bytes = device_value<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation_bytes = device_value<cl_ulong>(api, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.max_work_group_size = device_value<std::size_t>(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  // The driver fills one size per dimension it has, which is at least three.
  std::size_t sizes[16] = {};
  std::size_t answered = 0;
  info.max_work_item_sizes.fill(info.max_work_group_size);
  if (api.GetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, &answered) ==
          CL_SUCCESS &&
      answered >= 3 * sizeof sizes[0]) {
    for (std::size_t i = 0; i < 3; ++i) info.max_work_item_sizes[i] = sizes[i];
  }
  info.max_groups.fill(2147483647);  // kernels count them in ints
  info.has_compiler =
      device_value<cl_bool>(api, device, CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE) != CL_FALSE;
  info.is_cpu =
      (device_value<cl_device_type>(api, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info.unified_memory =
      device_value<cl_bool>(api, device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
  return info;
}

bool is_profiled(const Api& api, cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  const cl_int error =
      api.GetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  return error == CL_SUCCESS && (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

bool is_out_of_order(const Api& api, cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  const cl_int error =
      api.GetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  return error != CL_SUCCESS || (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

Status keep_order(const Session& session) {
  if (!session.application_out_of_order) return {};
  if (session.api->EnqueueBarrierWithWaitList == nullptr) {
    return {StatusCode::unsupported, "the OpenCL library has no barriers"};
  }
  return to_status(
      session.api->EnqueueBarrierWithWaitList(session.application, 0, nullptr, nullptr),
      "clEnqueueBarrierWithWaitList");
}

Result<void*> hold(const Session& session, void* queue, void* held) {
  const bool own = queue == nullptr || queue == session.application;
  if (!own && queue != held) {
    const cl_int error = session.api->RetainCommandQueue(static_cast<cl_command_queue>(queue));
    if (error != CL_SUCCESS) return to_status(error, "clRetainCommandQueue");
  }
  if (queue != held) let_go(session, held);
  return own ? nullptr : queue;
}

void let_go(const Session& session, void* held) {
  if (held == nullptr || session.poisoned.load()) return;
  session.api->ReleaseCommandQueue(static_cast<cl_command_queue>(held));
}

Status create_tuning_queue(Session& session) {
  session.tuning = create_low_priority_queue(session);
  session.info.low_priority_queue = session.tuning != nullptr;
  cl_int error = CL_SUCCESS;
  if (session.tuning == nullptr) {
    session.tuning = session.api->CreateCommandQueue(session.context, session.device,
                                                     CL_QUEUE_PROFILING_ENABLE, &error);
  }
  session.tuning_profiled = session.tuning != nullptr && error == CL_SUCCESS;  // as was asked for
  if (!session.tuning_profiled) {
    session.tuning = session.api->CreateCommandQueue(session.context, session.device, 0, &error);
  }
  if (session.tuning == nullptr || error != CL_SUCCESS) {
    session.tuning = nullptr;
    return to_status(error != CL_SUCCESS ? error : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
  }
  return {};
}

}  // namespace idletune::opencl
