// A library in front of the emulated device's: it writes down the PTX of each program, and for the
// first launches of each its shape, its arguments, and all memory of the context before and after.
// It is linked to that library, so that what is not here is found there.
// RECORD_FOLDER: gets N.ptx and `launches`, which replay.cpp reads; RECORD_LAUNCHES: how many of each
// program.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using Address = std::uint64_t;
using Bytes = std::vector<char>;

struct Function {
  std::uint32_t program;
  std::string name;
};

std::mutex mutex;
std::map<Address, std::size_t> allocations;
std::map<std::string, std::uint32_t> programs;
std::map<void*, std::uint32_t> modules;
std::map<void*, Function> functions;
std::map<std::uint32_t, long> recorded;

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::fprintf(stderr, "record: %s is not set\n", name);
    std::abort();
  }
  return value;
}

// The device's own function.
template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

std::FILE* opened(const std::string& name) {
  const std::string path = setting("RECORD_FOLDER") + ("/" + name);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::abort();
  }
  return file;
}

std::FILE* launches() {
  static std::FILE* const file = opened("launches");
  return file;
}
void put(const void* data, std::size_t size) { std::fwrite(data, 1, size, launches()); }
void put_number(std::uint64_t number) { put(&number, sizeof number); }
void put_bytes(const void* data, std::size_t size) {
  put_number(size);
  put(data, size);
}

// Of all allocations, in the order of their addresses.
std::vector<Bytes> contents(void* stream) {
  std::vector<Bytes> all;
  for (const auto& [address, size] : allocations) {
    Bytes bytes(size);
    if (call("cuMemcpyDtoHAsync_v2", static_cast<void*>(bytes.data()), address, size, stream) != 0)
      std::fprintf(stderr, "record: memory is not read\n");
    all.push_back(std::move(bytes));
  }
  call("cuStreamSynchronize", stream);
  return all;
}

void put_arguments(void* function, void** arguments) {
  std::vector<std::size_t> sizes;
  std::size_t offset = 0, size = 0;
  while (call("cuFuncGetParamInfo", function, sizes.size(), &offset, &size) == 0)
    sizes.push_back(size);
  put_number(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) put_bytes(arguments[i], sizes[i]);
}

void put_memory(const std::vector<Bytes>& before, const std::vector<Bytes>& after) {
  put_number(before.size());
  std::size_t i = 0;
  for (const auto& [address, size] : allocations) {
    put_number(address);
    put_bytes(before[i].data(), size);
    put_bytes(after[i].data(), size);
    ++i;
  }
}

bool is_recorded(const Function& function, void* stream) {
  static const long most = std::atol(setting("RECORD_LAUNCHES"));
  int capturing = 0;
  call("cuStreamIsCapturing", stream, &capturing);
  return capturing == 0 && recorded[function.program] < most;
}

int load_module(void** module, const void* image, unsigned count, void* options, void* values) {
  const int error = call("cuModuleLoadDataEx", module, image, count, options, values);
  if (error != 0) return error;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string text = static_cast<const char*>(image);
  const auto [program, added] = programs.emplace(text, programs.size());
  if (added) {
    std::FILE* file = opened(std::to_string(program->second) + ".ptx");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  modules[*module] = program->second;
  return 0;
}

int get_function(void** function, void* module, const char* name) {
  const int error = call("cuModuleGetFunction", function, module, name);
  if (error != 0) return error;
  const std::lock_guard<std::mutex> lock(mutex);
  functions[*function] = {modules[module], name};
  return 0;
}

int allocate(Address* address, std::size_t size) {
  const int error = call("cuMemAlloc_v2", address, size);
  if (error != 0) return error;
  const std::lock_guard<std::mutex> lock(mutex);
  allocations[*address] = size;
  return 0;
}

int release(Address address) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    allocations.erase(address);
  }
  return call("cuMemFree_v2", address);
}

int launch(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments,
           void** extra) {
  const auto launched = [&] {
    return call("cuLaunchKernel", function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                shared, stream, arguments, extra);
  };
  const std::lock_guard<std::mutex> lock(mutex);
  const Function& known = functions[function];
  if (!is_recorded(known, stream)) return launched();
  const std::vector<Bytes> before = contents(stream);
  const int error = launched();
  if (error != 0 || call("cuStreamSynchronize", stream) != 0) return error;
  const std::vector<Bytes> after = contents(stream);
  ++recorded[known.program];
  put_number(known.program);
  put_bytes(known.name.data(), known.name.size());
  for (unsigned number : {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared})
    put_number(number);
  put_arguments(function, arguments);
  put_memory(before, after);
  std::fflush(launches());
  return 0;
}

void* replacement(const std::string& name) {
  if (name == "cuModuleLoadDataEx") return reinterpret_cast<void*>(&load_module);
  if (name == "cuModuleGetFunction") return reinterpret_cast<void*>(&get_function);
  if (name == "cuMemAlloc") return reinterpret_cast<void*>(&allocate);
  if (name == "cuMemFree") return reinterpret_cast<void*>(&release);
  if (name == "cuLaunchKernel") return reinterpret_cast<void*>(&launch);
  return nullptr;
}

}  // namespace

extern "C" int cuGetProcAddress_v2(const char* name, void** function, int version,
                                   std::uint64_t flags, int* status) {
  *function = replacement(name);
  if (*function == nullptr)
    return call("cuGetProcAddress_v2", name, function, version, flags, status);
  if (status != nullptr) *status = 0;
  return 0;
}
