// Calls on modules and their kernels, and how functions are looked up.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/emulated_cuda/driver_state.hpp"
#include "tests/emulated_cuda/memory_cost.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/emulated_cuda/ptx_parser.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

// A device runs what was made for it and for older ones.
void check_target(const Module& module, const Board& board) {
  const std::string target = module.target.substr(0, module.target.find(','));
  int architecture = 0;
  if (std::sscanf(target.c_str(), "sm_%d", &architecture) == 1 &&
      architecture <= board.architecture) {
    return;
  }
  throw Problem{kNoBinaryForGpu, "PTX for '" + module.target + "', the device is sm_" +
                                     std::to_string(board.architecture)};
}

void tell(const std::string& text, unsigned count, const JitOption* options, void** values) {
  char* log = nullptr;
  std::size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::error_log_buffer) log = static_cast<char*>(values[i]);
    if (options[i] == JitOption::error_log_buffer_size_bytes) {
      size = reinterpret_cast<std::uintptr_t>(values[i]);
    }
  }
  if (log != nullptr && size > 0) std::snprintf(log, size, "%s", text.c_str());
}

// Of this thread.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void append_work(const Launch& launch, const Work& work, double seconds) {
  if (state().work_file.empty()) return;
  std::FILE* file = std::fopen(state().work_file.c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s %.0f %.9f\n", launch.kernel->name.c_str(), work.thread_operations,
               seconds);
  std::fclose(file);
}

// What the launch costs; what it does is done.
Work done_by(Program& program, const Launch& launch, Device& device) {
  const bool remembers = shared_clock() != nullptr;
  const Work* known = remembers ? program.remembered.repeat(launch, device.memory) : nullptr;
  if (known != nullptr) return *known;
  const double before = processor_seconds();
  const Work work =
      run_kernel(launch, program.loaded, device.memory, state().findings, device.turn);
  append_work(launch, work, processor_seconds() - before);
  if (remembers) program.remembered.keep(launch, work, device.memory);
  return work;
}

Error load(const char* image, ModuleHandle* handle, unsigned count, JitOption* options,
           void** values) {
  Context& context = *current_context();
  try {
    auto program = std::make_shared<Program>();
    program->context = &context;
    program->module = parse_ptx(image);
    check_target(*program->module, context.device->board);
    program->loaded = load_module(*program->module, context.device->memory, &context);
    state().programs.keep(std::move(program), handle);
    return kSuccess;
  } catch (const Problem& problem) {
    state().findings.remark(problem.text);
    tell(problem.text, count, options, values);
    return problem.error;
  }
}

void run_on(Stream& stream, const std::shared_ptr<Program>& program, const Launch& launch) {
  Device& device = *stream.context->device;
  const emulated_clock* clock = shared_clock();
  if (clock != nullptr) clock->hold();
  device.turn.take();
  if (program->unloaded) {
    state().findings.add("launch: " + launch.kernel->name + " of a module that was unloaded");
  }
  try {
    if (device.spoilt_by == kSuccess && !device.turn.ended()) {
      const double nanoseconds =
          modelled_nanoseconds(device.board, launch, done_by(*program, launch, device));
      stream.nanoseconds += nanoseconds;
      if (clock != nullptr) {
        stream.ends_at = clock->occupy(std::max(clock->now(), stream.ends_at),
                                       static_cast<std::int64_t>(nanoseconds));
      }
    }
  } catch (const Problem& problem) {
    device.spoilt_by = problem.error;
  }
  device.turn.give_back();
  if (clock != nullptr) clock->go_on();
}

Launch launch_of(const Kernel& kernel, void** parameters) {
  Launch launch;
  launch.kernel = &kernel;
  launch.parameters.resize(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(launch.parameters.data() + kernel.parameters[i].offset, parameters[i],
                kernel.parameters[i].bytes);
  }
  return launch;
}

bool lacks_parameters(const Kernel& kernel, void** parameters) {
  if (kernel.parameters.empty()) return false;
  if (parameters == nullptr) return true;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (parameters[i] == nullptr) return true;
  }
  return false;
}

Error find_function(const char* symbol, void** function);

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Error cuModuleLoadDataEx(ModuleHandle* handle, const void* image, unsigned count,
                         JitOption* options, void** values) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const Error refused = refuse_while_capturing();
  if (refused != kSuccess) return refused;
  if (std::memcmp(image, "\177ELF", 4) == 0) return kNoBinaryForGpu;
  Error loaded = kSuccess;
  computed([&] { loaded = load(static_cast<const char*>(image), handle, count, options, values); });
  return loaded;
}

// Waits for all kernels of the device, as drivers do.
Error cuModuleUnload(ModuleHandle handle) {
  const Error refused = refuse_while_capturing();
  if (refused != kSuccess) return refused;
  const auto program = state().programs.take(handle);
  if (program == nullptr) return kInvalidHandle;
  for (const auto& function : state().functions.all()) {
    if (function->program == program) state().functions.take(function.get());
  }
  program->context->device->wait();
  program->unloaded = true;
  return check_context();
}

Error cuModuleGetFunction(FunctionHandle* handle, ModuleHandle module, const char* name) {
  const auto program = state().programs.find(module);
  if (program == nullptr) return kInvalidHandle;
  const Kernel* kernel = program->module->find(name);
  if (kernel == nullptr) return kNotFound;
  state().functions.keep(std::make_shared<Function>(Function{program, kernel}), handle);
  return check_context();
}

Error cuFuncGetAttribute(int* value, FunctionAttribute attribute, FunctionHandle handle) {
  const auto function = state().functions.find(handle);
  if (function == nullptr) return kInvalidHandle;
  const Kernel& kernel = *function->kernel;
  const std::uint64_t most =
      threads_with_registers(function->program->context->device->board, kernel);
  switch (attribute) {
    case FunctionAttribute::max_threads_per_block:
      *value =
          static_cast<int>(kernel.most_threads != 0 ? std::min(kernel.most_threads, most) : most);
      return kSuccess;
    case FunctionAttribute::shared_size_bytes:
      *value = static_cast<int>(kernel.shared_bytes);
      return kSuccess;
    default: return kInvalidValue;
  }
}

Error cuFuncGetParamInfo(FunctionHandle handle, std::size_t index, std::size_t* offset,
                         std::size_t* bytes) {
  const auto function = state().functions.find(handle);
  if (function == nullptr) return kInvalidHandle;
  const auto& parameters = function->kernel->parameters;
  if (index >= parameters.size()) return kInvalidValue;
  *offset = parameters[index].offset;
  *bytes = parameters[index].bytes;
  return kSuccess;
}

Error cuLaunchKernel(FunctionHandle handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     StreamHandle stream_handle, void** parameters, void**) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto function = state().functions.find(handle);
  const auto stream = stream_of(stream_handle);
  if (function == nullptr || stream == nullptr) return kInvalidHandle;
  const Kernel& kernel = *function->kernel;
  if (function->program->context != current_context() || !is_of_current_context(*stream)) {
    state().findings.add("launch: " + kernel.name + " or its stream is of another context");
    return kInvalidHandle;
  }
  if (lacks_parameters(kernel, parameters)) {
    state().findings.add("launch: " + kernel.name + " with too few arguments");
    return kInvalidValue;
  }
  Launch launch = launch_of(kernel, parameters);
  const unsigned grid[3] = {grid_x, grid_y, grid_z};
  const unsigned block[3] = {block_x, block_y, block_z};
  std::copy(grid, grid + 3, launch.grid);
  std::copy(block, block + 3, launch.block);
  launch.dynamic_shared_bytes = shared_bytes;
  launch.context = current_context();
  const std::string over = over_limits(current_context()->device->board, launch);
  if (!over.empty()) {
    state().findings.add("limit: " + over);
    return kInvalidValue;
  }
  stream->add(
      [program = function->program, launch](Stream& self) { run_on(self, program, launch); });
  return kSuccess;
}

Error cuGetProcAddress_v2(const char* symbol, void** function, int, std::uint64_t, int* status) {
  *status = 0;
  return find_function(symbol, function);
}

#pragma GCC visibility pop
}

#define EMULATED_CUDA_DECLARE(name, suffix, parameters) \
  extern "C" Error cu##name##suffix parameters;
IDLETUNE_CUDA_REQUIRED(EMULATED_CUDA_DECLARE)
#undef EMULATED_CUDA_DECLARE
#define EMULATED_CUDA_DECLARE(name, version, parameters) extern "C" Error cu##name parameters;
IDLETUNE_CUDA_OPTIONAL(EMULATED_CUDA_DECLARE)
#undef EMULATED_CUDA_DECLARE

namespace {

Error find_function(const char* symbol, void** function) {
#define EMULATED_CUDA_FIND(name, suffix, parameters)        \
  if (std::strcmp(symbol, "cu" #name) == 0) {               \
    *function = reinterpret_cast<void*>(&cu##name##suffix); \
    return kSuccess;                                        \
  }
  IDLETUNE_CUDA_REQUIRED(EMULATED_CUDA_FIND)
#undef EMULATED_CUDA_FIND
#define EMULATED_CUDA_FIND(name, version, parameters) \
  if (std::strcmp(symbol, "cu" #name) == 0) {         \
    *function = reinterpret_cast<void*>(&cu##name);   \
    return kSuccess;                                  \
  }
  IDLETUNE_CUDA_OPTIONAL(EMULATED_CUDA_FIND)
#undef EMULATED_CUDA_FIND
  *function = nullptr;
  return kNotFound;
}

}  // namespace
