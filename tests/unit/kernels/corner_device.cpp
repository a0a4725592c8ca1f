#include "tests/unit/kernels/corner_device.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <idletune/text.hpp>

#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::test {
namespace {

// CUDA's words for a host compiler; the dialect's CUDA side does the rest.
constexpr char kPrefix[] = R"cpp(
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(x)
  struct IdletunePlace {
    unsigned x, y, z;
  };
  static IdletunePlace threadIdx, blockIdx, blockDim, gridDim;
  struct float2 {
    float x, y;
  };
  struct alignas(16) float4 {
    float x, y, z, w;
  };
  struct double2 {
    double x, y;
  };
  static inline float2 make_float2(float x, float y) { return {x, y}; }
  static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
  static inline double2 make_double2(double x, double y) { return {x, y}; }
  static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
  static inline double rsqrt(double x) { return 1 / sqrt(x); }
  static inline void __syncthreads() {}
  template <class T>
  T __shfl_down_sync(unsigned, T x, int) {
    return x;
  }
  template <class T>
  T __shfl_sync(unsigned, T x, int) {
    return x;
  }
  template <class T>
  T atomicAdd(T* p, T x) {
    T old = *p;
    *p += x;
    return old;
  }
  template <class T>
  T min(T a, T b) {
    return b < a ? b : a;
  }
  template <class T>
  T max(T a, T b) {
    return a < b ? b : a;
  }
#define asm(...)
)cpp";

constexpr char kSuffix[] = R"cpp(
  template <class... A, size_t... I>
  static void idletune_call(void (*kernel)(A...), const void* const* values,
                            std::index_sequence<I...>) {
    kernel(*static_cast<const std::remove_const_t<A>*>(values[I])...);
  }
  template <class... A>
  static void idletune_item(void (*kernel)(A...), const void* const* values) {
    idletune_call(kernel, values, std::index_sequence_for<A...>());
  }
  extern "C" void idletune_group(const unsigned* place, const void* const* values) {
    blockIdx = {place[0], place[1], place[2]};
    gridDim = {place[3], place[4], place[5]};
    blockDim = {place[6], place[7], place[8]};
    const bool last = place[0] != 0 || place[1] != 0 || place[2] != 0;
    const bool only = place[9] != 0;
    if (only && last) threadIdx = {blockDim.x - 1, blockDim.y - 1, blockDim.z - 1};
    if (only && !last) threadIdx = {0, 0, 0};
    if (only) return idletune_item(IDLETUNE_ENTRY, values);
    for (unsigned z = 0; z < blockDim.z; ++z)
      for (unsigned y = 0; y < blockDim.y; ++y)
        for (unsigned x = 0; x < blockDim.x; ++x) {
          threadIdx = {x, y, z};
          idletune_item(IDLETUNE_ENTRY, values);
        }
  }
)cpp";

constexpr std::size_t kAround = std::size_t{1} << 40;
constexpr std::size_t kPage = 4096;

class CornerBuffer final : public Buffer {
 public:
  static std::unique_ptr<Buffer> make(std::size_t bytes) {
    const std::size_t inside = (bytes + kPage - 1) / kPage * kPage;
    void* all = ::mmap(nullptr, inside + 2 * kAround, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* first = static_cast<unsigned char*>(all) + kAround;
    if (::mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) return nullptr;
    return std::unique_ptr<Buffer>(new CornerBuffer(all, inside, bytes));
  }
  ~CornerBuffer() override { ::munmap(all_, inside_ + 2 * kAround); }
  std::size_t size_bytes() const override { return bytes_; }
  // The last element ends where nothing begins, as far as vectors' alignment lets it.
  unsigned char* data() const {
    return static_cast<unsigned char*>(all_) + kAround + (inside_ - bytes_) / 16 * 16;
  }
  Argument argument() const override { return {static_cast<void*>(data())}; }

 private:
  CornerBuffer(void* all, std::size_t inside, std::size_t bytes)
      : all_(all), inside_(inside), bytes_(bytes) {}
  void* all_;
  std::size_t inside_, bytes_;
};

using Group = void (*)(const unsigned*, const void* const*);

sigjmp_buf left;
volatile sig_atomic_t running = 0;
const void* volatile touched = nullptr;
void leave(int number, siginfo_t* info, void*) {
  if (running == 0) {
    if (number != SIGALRM) ::signal(number, SIG_DFL);
    return;
  }
  touched = info->si_addr;
  siglongjmp(left, number);
}

// Rings once.
void set_alarm(std::uint32_t milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000) * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

// The first two, the last two and the middle of `count`.
std::vector<std::size_t> corners_of(std::size_t count) {
  std::vector<std::size_t> places = {0, 1, count / 2, count - 2, count - 1};
  places.erase(
      std::remove_if(places.begin(), places.end(), [&](std::size_t p) { return p >= count; }),
      places.end());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Result<std::unique_ptr<Program>> compiled(const std::string& source, const std::string& entry,
                                          const std::string& options, CornerOptions corners);

class CornerProgram final : public Program {
 public:
  CornerProgram(Group group, std::string source, std::string options, CornerOptions corners)
      : group_(group),
        source_(std::move(source)),
        options_(std::move(options)),
        corners_(corners) {}
  Result<std::unique_ptr<Program>> another(std::string_view entry) const override {
    return compiled(source_, std::string(entry), options_, corners_);
  }
  std::uint32_t lanes() const override { return 64; }  // used one after another
  std::uint64_t max_work_group_size() const override { return 1024; }
  std::uint64_t local_memory_bytes() const override { return 0; }
  Status enqueue(std::uint32_t, const Range& range, Span<const Argument> arguments,
                 const LaunchOptions&, void** profile) override {
    if (profile != nullptr) *profile = nullptr;
    std::vector<const void*> values;
    for (const Argument& argument : arguments) values.push_back(argument.data());
    std::array<unsigned, 10> place{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      place[3 + axis] = static_cast<unsigned>(range.global[axis] / range.local[axis]);
      place[6 + axis] = static_cast<unsigned>(range.local[axis]);
    }
    place[9] = corners_.ends_only ? 1 : 0;
    set_alarm(corners_.milliseconds);
    const Status ran = run_corners(place, values, arguments);
    set_alarm(0);
    return ran;
  }

 private:
  Status run_corners(std::array<unsigned, 10> place, const std::vector<const void*>& values,
                     Span<const Argument> arguments) {
    for (std::size_t z : corners_of(place[5])) {
      for (std::size_t y : corners_of(place[4])) {
        for (std::size_t x : corners_of(place[3])) {
          const bool first = x + y + z == 0;
          const bool last = x + 1 == place[3] && y + 1 == place[4] && z + 1 == place[5];
          if (corners_.ends_only && !first && !last) continue;
          place[0] = static_cast<unsigned>(x);
          place[1] = static_cast<unsigned>(y);
          place[2] = static_cast<unsigned>(z);
          const int signal = run_group(place, values);
          if (signal == SIGALRM) return {StatusCode::timeout, "the launch has long loops"};
          if (signal != 0) return outside(place, arguments);
        }
      }
    }
    return {};
  }
  // 0, or the signal that ended it.
  int run_group(const std::array<unsigned, 10>& place, const std::vector<const void*>& values) {
    const int signal = sigsetjmp(left, 1);
    if (signal == 0) {
      running = 1;
      group_(place.data(), values.data());
    }
    running = 0;
    return signal;
  }
  static Status outside(const std::array<unsigned, 10>& place, Span<const Argument> arguments) {
    const auto at = reinterpret_cast<std::intptr_t>(touched);
    std::string nearest = "no buffer";
    std::intptr_t smallest = kAround;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].is_buffer()) continue;
      const std::intptr_t from = at - reinterpret_cast<std::intptr_t>(memory_of(arguments[i]));
      if (std::abs(from) >= smallest) continue;
      smallest = std::abs(from);
      nearest = joined("byte % of argument %", from, i);
    }
    return {
        StatusCode::device_error, "group % % % touches %", place[0], place[1], place[2], nearest};
  }
  Group group_;
  std::string source_, options_;
  CornerOptions corners_;
};

Result<std::unique_ptr<Program>> compiled(const std::string& source, const std::string& entry,
                                          const std::string& options, CornerOptions corners) {
  const TemporaryFolder folder;
  const std::string base = folder.path() + "/kernel";
  std::ofstream(base + ".cpp") << kPrefix << source << "\n#define IDLETUNE_ENTRY " << entry << "\n"
                               << kSuffix;
  // C++14: of the headers there is half as much to read.
  const std::string command = std::string(IDLETUNE_CXX_COMPILER) +
                              " -std=c++14 -O1 -fwrapv -w -fPIC -shared " + options + " -o " +
                              base + ".so " + base + ".cpp 2> " + base + ".log";
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(base + ".log");
    return {StatusCode::compile_error, std::string(std::istreambuf_iterator<char>(log), {})};
  }
  void* library = ::dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {StatusCode::compile_error, ::dlerror()};
  auto group = reinterpret_cast<Group>(::dlsym(library, "idletune_group"));
  return std::unique_ptr<Program>(new CornerProgram(group, source, options, corners));
}

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGALRM};

class CornerDevice final : public Device {
 public:
  CornerDevice(const DeviceInfo& info, CornerOptions corners) : info_(info), corners_(corners) {
    struct sigaction action {};
    action.sa_sigaction = leave;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
  }
  ~CornerDevice() override {
    for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  }
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    return compiled(std::string(request.source), std::string(request.entry),
                    std::string(request.options), corners_);
  }
  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override {
    auto buffer = CornerBuffer::make(bytes);
    if (buffer == nullptr) return {StatusCode::out_of_memory, "no addresses are left"};
    return buffer;
  }
  Status write(Buffer& buffer, std::size_t offset, Bytes data) override {
    std::memcpy(memory_of(buffer.argument()) + offset, data.data(), data.size());
    return {};
  }
  Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) override {
    std::memcpy(data.data(), memory_of(buffer.argument()) + offset, data.size());
    return {};
  }
  Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                       Nanoseconds) override {
    if (Status ran = program.enqueue(0, range, arguments, {}, nullptr); !ran.ok()) return ran;
    return RunTimes{};
  }
  Result<Nanoseconds> elapsed(void*) override {
    return Status(StatusCode::unsupported, "nothing is timed");
  }
  Nanoseconds now() const override { return Nanoseconds(0); }

 private:
  DeviceInfo info_;
  CornerOptions corners_;
};

}  // namespace

std::unique_ptr<Device> open_corner_device(const DeviceInfo& info, CornerOptions options) {
  return std::make_unique<CornerDevice>(info, options);
}

unsigned char* memory_of(const Argument& buffer) {
  unsigned char* place = nullptr;
  std::memcpy(&place, buffer.data(), sizeof place);
  return place;
}

}  // namespace idletune::test
