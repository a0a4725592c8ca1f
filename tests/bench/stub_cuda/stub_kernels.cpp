#include "tests/bench/stub_cuda/stub_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/bench/stub_gemm.hpp"

namespace stub_cuda {

long definition(const std::string& image, const char* name, long otherwise) {
  const std::string wanted = std::string("-D") + name + "=";
  const std::size_t at = image.find(wanted);
  return at == std::string::npos ? otherwise : std::atol(image.c_str() + at + wanted.size());
}

namespace {

std::size_t parameter_bytes(const std::string& parameter) {
  if (parameter.find('*') != std::string::npos) return sizeof(DeviceAddress);
  for (const char* wide : {"double", "long"}) {
    if (parameter.find(wide) != std::string::npos) return 8;
  }
  return 4;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// What stands between parentheses; or what that stands for, if it is the name of a macro.
std::string expanded(const std::string& text, std::string parameters) {
  const std::size_t at = text.find("#define " + parameters);
  if (parameters.empty() || at == std::string::npos) return parameters;
  std::size_t end = at;
  do {
    end = std::min(text.find('\n', end + 1), text.size());
  } while (end < text.size() && text[end - 1] == '\\');
  parameters = text.substr(at + 9 + parameters.size(), end - at - 9 - parameters.size());
  std::replace(parameters.begin(), parameters.end(), '\\', ' ');
  return parameters;
}

// The name that the source has for it, and from where on: "#define SOURCE_NAME name".
std::string source_name(const std::string& text, const std::string& name, std::size_t& from) {
  const std::size_t end = text.find(' ' + name + '\n');
  const std::size_t line = end == std::string::npos ? end : text.rfind("#define ", end);
  if (line == std::string::npos || text.find('\n', line) < end) return name;
  from = end;
  return text.substr(line + 8, end - line - 8);
}

}  // namespace

Kernel* find_kernel(Module* module, const std::string& asked) {
  const std::string& text = module->image;
  std::size_t at = 0;
  const std::string name = source_name(text, asked, at);
  for (;; ++at) {
    at = text.find(name + "(", at);
    if (at == std::string::npos) return nullptr;
    if (at > 0 && !is_name_character(text[at - 1])) break;
  }
  const std::size_t open = at + name.size();
  const std::size_t close = text.find(')', open);
  if (close == std::string::npos) return nullptr;
  auto* kernel = new Kernel;
  kernel->module = module;
  std::string parameter;
  for (const char c : expanded(text, text.substr(open + 1, close - open - 1)) + ',') {
    if (c != ',') {
      parameter += c;
      continue;
    }
    if (parameter.find_first_not_of(" \n") != std::string::npos) {
      kernel->parameter_bytes.push_back(parameter_bytes(parameter));
    }
    parameter.clear();
  }
  kernel->is_scale = name == "scale" && kernel->parameter_bytes.size() == 4;
  kernel->is_gemm = idletune::bench::is_gemm(name.c_str()) && kernel->parameter_bytes.size() == 8;
  const long run_us = definition(text, "RUN_US", -1);
  if (run_us >= 0) {
    kernel->run_ns = 1000 * run_us;
  } else if (kernel->is_gemm && setting(CUDA_STUB_GEMM) != 0) {
    kernel->run_ns = idletune::bench::gemm_run_ns(text);
  }
  kernel->behaviour = static_cast<int>(definition(text, "BEHAVIOUR", CUDA_STUB_RIGHT));
  return kernel;
}

bool is_allocated(DeviceAddress address, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  auto next = state().allocations.upper_bound(address);
  if (next == state().allocations.begin()) return false;
  --next;
  return address - next->first <= next->second && bytes <= next->second - (address - next->first);
}

namespace {

template <class T>
T read_argument(void** parameters, int i) {
  T value;
  std::memcpy(&value, parameters[i], sizeof value);
  return value;
}

Error run_scale(const Kernel& kernel, void** parameters) {
  const auto out = read_argument<DeviceAddress>(parameters, 0);
  const auto in = read_argument<DeviceAddress>(parameters, 1);
  const auto factor = read_argument<float>(parameters, 2);
  const auto n = read_argument<int>(parameters, 3);
  const std::size_t bytes = static_cast<std::size_t>(n > 0 ? n : 0) * sizeof(float);
  if (!is_allocated(out, bytes) || !is_allocated(in, bytes)) return kIllegalAddress;
  auto* to = reinterpret_cast<float*>(static_cast<std::uintptr_t>(out));
  const auto* from = reinterpret_cast<const float*>(static_cast<std::uintptr_t>(in));
  for (int i = 0; i < n; ++i) to[i] = factor * from[i];
  if (kernel.behaviour == CUDA_STUB_WRONG && n > 0) to[n - 1] += 1;
  return kSuccess;
}

Error run_gemm(void** parameters) {
  idletune::bench::StubGemm gemm;
  gemm.m = read_argument<int>(parameters, 0);
  gemm.n = read_argument<int>(parameters, 1);
  gemm.k = read_argument<int>(parameters, 2);
  const std::size_t m = static_cast<std::size_t>(gemm.m), n = static_cast<std::size_t>(gemm.n),
                    k = static_cast<std::size_t>(gemm.k);
  const std::size_t elements[3] = {m * k, k * n, m * n};
  float* memory[3];
  for (int i = 0; i < 3; ++i) {
    const auto address = read_argument<DeviceAddress>(parameters, 3 + i);
    if (!is_allocated(address, elements[i] * sizeof(float))) return kIllegalAddress;
    memory[i] = reinterpret_cast<float*>(static_cast<std::uintptr_t>(address));
  }
  gemm.a = memory[0];
  gemm.b = memory[1];
  gemm.c = memory[2];
  gemm.alpha = read_argument<float>(parameters, 6);
  gemm.beta = read_argument<float>(parameters, 7);
  idletune::bench::compute(gemm);
  return kSuccess;
}

}  // namespace

void behave(const Kernel& kernel, Stream& stream, void** parameters) {
  if (kernel.behaviour == CUDA_STUB_ABORT) std::abort();
  if (kernel.behaviour == CUDA_STUB_ENDLESS) stream.endless = true;
  if (kernel.behaviour == CUDA_STUB_ILLEGAL_ADDRESS) state().spoilt_by = kIllegalAddress;
  if (state().spoilt_by.load() != kSuccess) return;
  const Error error = kernel.is_scale ? run_scale(kernel, parameters) : run_gemm(parameters);
  if (error != kSuccess) state().spoilt_by = error;
}

void record(const Kernel& kernel, const Stream& stream, StreamHandle handle,
            const unsigned (&sizes)[7], void** parameters) {
  CudaStubLaunch launch = {};
  launch.stream = handle;
  launch.priority = stream.priority;
  launch.context = current();
  launch.capture_mode = static_cast<int>(capture_mode);
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = sizes[i];
    launch.block[i] = sizes[3 + i];
  }
  launch.shared_bytes = sizes[6];
  launch.argument_count = static_cast<unsigned>(kernel.parameter_bytes.size());
  for (std::size_t i = 0; i < kernel.parameter_bytes.size() && i < 16; ++i) {
    launch.argument_size[i] = kernel.parameter_bytes[i];
    std::memcpy(launch.argument[i], parameters[i], kernel.parameter_bytes[i]);
  }
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().last_launch = launch;
}

void capture(const Kernel& kernel, void** parameters) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().captured.insert(kernel.module);
  for (std::size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    DeviceAddress address = 0;
    if (kernel.parameter_bytes[i] != sizeof address) continue;
    std::memcpy(&address, parameters[i], sizeof address);
    if (state().allocations.count(address) > 0)
      state().captured.insert(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));
  }
}

}  // namespace stub_cuda
