// A device that compiles and runs kernels: OpenCL or CUDA. One interface.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/prebuilt.hpp>
#include <idletune/range.hpp>
#include <idletune/result.hpp>
#include <idletune/scalar.hpp>
#include <idletune/span.hpp>

namespace idletune {

using Nanoseconds = std::chrono::nanoseconds;

struct DeviceInfo {
  std::string backend;   // "opencl", "cuda"
  std::string platform;  // the driver's platform name
  std::string name;
  std::string vendor;
  std::string driver;       // driver (and compiler) version: part of every key
  std::uint32_t index = 0;  // position among the backend's devices
  std::uint32_t compute_units = 0;
  std::uint64_t local_memory_bytes = 0;
  std::uint64_t global_memory_bytes = 0;
  std::uint64_t max_allocation_bytes = 0;
  std::uint64_t max_work_group_size = 0;
  std::array<std::uint64_t, 3> max_work_item_sizes{};
  std::array<std::uint64_t, 3> max_groups{};  // of a launch along each axis; 0: not limited
  bool has_compiler = true;
  bool is_cpu = false;
  bool unified_memory = false;
  bool low_priority_queue = false;  // the tuning queue really has a lower priority

  // Identity of the hardware (backend, platform, name, vendor, compute units).
  std::uint64_t device_key() const;
  // Identity of hardware and driver: results under another value are hints only.
  std::uint64_t driver_key() const;
};

// How a device was opened, for another process that is to open the same.
struct DeviceSource {
  std::string library;                  // path of OpenCL's or of CUDA's driver; empty: is searched
  std::string compiler;                 // path of NVRTC, likewise
  std::string cache_folder;             // of compiled programs; empty: they are not kept
  std::uint64_t cache_limit_bytes = 0;  // upper bound of what is kept there
};

// A kernel argument: a device handle (cl_mem, CUdeviceptr), a scalar, or local memory. A plain
// 16-byte value; the handle stays the caller's.
class Argument {
 public:
  enum class Kind : std::uint8_t {
    none = 0,
    scalar = 1,
    memory = 2,         // a handle
    typed_pointer = 3,  // a handle that came as a pointer to numbers: no cl_mem is one
    local = 4           // memory of each work-group; made by idletune, not by applications
  };

  Argument() = default;
  // A scalar; its type must be that of the kernel's parameter (write 1.0f for a float). Integers of
  // either sign may stand for each other where they have the same size, as in C.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Argument(T value) {  // NOLINT: implicit on purpose, launch(shape, a, b, 1.0f)
    set(type_of<T>(), &value, sizeof value);
  }
  Argument(Half value) { set(ScalarType::f16, &value.bits, sizeof value.bits); }  // NOLINT
  // An OpenCL memory object (cl_mem) or a device pointer.
  template <class T>
  Argument(T* handle)  // NOLINT
      : kind_(std::is_arithmetic_v<T> ? Kind::typed_pointer : Kind::memory) {
    std::memcpy(bytes_, &handle, sizeof handle);
    size_ = sizeof handle;
  }
  // The scalar of `type` whose bytes begin at `value`.
  static Argument scalar(ScalarType type, const void* value) {
    Argument argument;
    argument.set(type, value, scalar_size_bytes(type));
    return argument;
  }
  static Argument local_memory(std::uint64_t bytes) {
    Argument argument;
    std::memcpy(argument.bytes_, &bytes, sizeof bytes);
    argument.kind_ = Kind::local;
    return argument;
  }

  // The handle's or the scalar's bytes.
  const void* data() const { return bytes_; }
  std::size_t size() const { return size_; }  // of data(); 0 for local memory
  Kind kind() const { return kind_; }
  ScalarType type() const { return type_; }  // of a scalar
  bool is_buffer() const { return kind_ == Kind::memory || kind_ == Kind::typed_pointer; }
  // Of local memory.
  std::uint64_t local_bytes() const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, bytes_, sizeof bytes);
    return bytes;
  }

 private:
  template <class T>
  static constexpr ScalarType type_of() {
    static_assert(sizeof(T) <= 8, "no kernel takes a scalar that large");
    if constexpr (std::is_floating_point_v<T>) {
      return sizeof(T) == 4 ? ScalarType::f32 : ScalarType::f64;
    } else if constexpr (std::is_signed_v<T>) {
      return sizeof(T) == 1   ? ScalarType::i8
             : sizeof(T) == 2 ? ScalarType::i16
             : sizeof(T) == 4 ? ScalarType::i32
                              : ScalarType::i64;
    } else {
      return sizeof(T) == 1   ? ScalarType::u8
             : sizeof(T) == 2 ? ScalarType::u16
             : sizeof(T) == 4 ? ScalarType::u32
                              : ScalarType::u64;
    }
  }
  void set(ScalarType type, const void* value, std::size_t size) {
    std::memcpy(bytes_, value, size);
    type_ = type;
    size_ = static_cast<std::uint8_t>(size);
    kind_ = Kind::scalar;
  }
  alignas(8) unsigned char bytes_[8] = {};
  std::uint8_t size_ = 0;
  ScalarType type_ = ScalarType::i32;
  Kind kind_ = Kind::none;
};

// Where and how the application wants a launch to happen. All handles stay the caller's.
struct LaunchOptions {
  void* queue = nullptr;                   // cl_command_queue or CUstream; null: the adopted one
  const void* const* wait_list = nullptr;  // cl_event or CUevent [wait_count]
  std::uint32_t wait_count = 0;
  void* event = nullptr;  // cl_event* or CUevent*: receives an event the caller releases;
                          // may be null
  // What the caller has just seen that buffers hold at least, in bytes, one number per argument of
  // the launch: where that is enough, the driver is not asked again. Null: it is asked.
  const std::uint64_t* buffer_bytes = nullptr;
};

// Device memory; freed by the destructor. Not copyable.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t size_bytes() const = 0;
  virtual Argument argument() const = 0;
};

// A compiled kernel function. It holds `lanes` independent kernel objects, because setting
// arguments on a shared one races: two threads may enqueue at the same time iff they use different
// lanes.
class Program {
 public:
  virtual ~Program() = default;
  // The application's launch: sets the arguments and enqueues on `options.queue` (or the adopted
  // queue). No allocation of ours, no wait, no file. `profile`, if not null, asks for a ticket to
  // be given to Device::elapsed later (the production watch); set to null where profiling is off.
  virtual Status enqueue(std::uint32_t lane, const Range& range, Span<const Argument> arguments,
                         const LaunchOptions& options, void** profile) = 0;
  virtual std::uint32_t lanes() const = 0;
  virtual std::uint64_t max_work_group_size() const = 0;  // for this kernel on this device
  virtual std::uint64_t local_memory_bytes() const = 0;   // static use, as the driver reports it
  // What the driver gives of it to be loaded again; empty where it gives nothing.
  virtual std::vector<std::uint8_t> binary() const { return {}; }
  // Another kernel function of the same source and options, with as many lanes. Nothing is compiled
  // again. Errors: compile_error (there is none of that name), unsupported.
  virtual Result<std::unique_ptr<Program>> another(std::string_view entry) const {
    return Status(StatusCode::unsupported,
                  "kernel '%': this device has one kernel function per program", entry);
  }
};

struct CompileRequest {
  std::string_view source;
  std::string_view entry;    // kernel function
  std::string_view options;  // "-DMWG=64 ..." and the package's own
  std::uint32_t lanes = 1;   // 1 to 256
  // Binaries of just this source, entry and options, intact; loaded instead of compiling where one
  // fits the device.
  Span<const PrebuiltBinary> prebuilt{};
  bool keep = true;  // in the program cache, if there is one and it is not there yet
};

struct RunTimes {
  Nanoseconds device{0};  // START to END as the device's own clock saw it; 0 if it has none
  Nanoseconds wall{0};    // enqueue to completion as the host's clock saw it
};

// All functions may be called from any one thread at a time; Program::enqueue additionally from any
// thread per its lanes rule.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual DeviceSource source() const { return {}; }
  // Compiles, or takes what was compiled before: from the request's prebuilt binaries or from the
  // binary cache. Blocks; CPU work only. Errors: compile_error with the first lines of the build
  // log; unsupported where it would have to compile and has no compiler.
  virtual Result<std::unique_ptr<Program>> compile(const CompileRequest& request) = 0;
  // Whether `binary` was made for this device (and driver, where that matters). Any thread.
  virtual bool fits(const PrebuiltBinary& binary) const {
    (void)binary;
    return false;
  }
  // From now on compiled programs are kept in `folder` (created, one level, if missing), unless the
  // device was made with a folder of its own.
  virtual void keep_programs_in(const std::string& folder) { (void)folder; }
  virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;  // any thread
  // Whether what the application passes as a buffer is one of at least `bytes` bytes, as far as the
  // driver can tell. The error says what it got and what was expected: invalid_argument. Any
  // thread; allocates only where it fails.
  virtual Status check_buffer(const Argument& argument, std::uint64_t bytes) const {
    (void)argument, (void)bytes;
    return {};
  }
  // Blocking copies on the tuning queue; [offset, offset + size) must lie inside the buffer.
  virtual Status write(Buffer& buffer, std::size_t offset, Bytes data) = 0;
  virtual Status read(const Buffer& buffer, std::size_t offset, MutableBytes data) = 0;
  // Copies the beginning of what the application passes as a buffer, which check_buffer has seen,
  // behind what the adopted queue was given; waits for that. Any thread. Error: busy (capturing).
  virtual Status copy_out(const Argument& buffer, MutableBytes data) {
    (void)buffer, (void)data;
    return Status(StatusCode::unsupported, "this device copies none of the application's buffers");
  }
  // A window of `bytes` bytes into `parent`, at `offset`, that kernels see as a buffer of its own
  // (an OpenCL sub-buffer, a shifted device pointer): guard zones can then lie in front of it as
  // well. `offset` is a multiple of window_alignment_bytes(). The window must be destroyed before
  // its parent; copies go through the parent. Error: unsupported, device_error.
  virtual Result<std::unique_ptr<Buffer>> window(Buffer& parent, std::size_t offset,
                                                 std::size_t bytes) {
    (void)parent, (void)offset, (void)bytes;
    return Status(StatusCode::unsupported, "this device has no windows into buffers");
  }
  virtual std::size_t window_alignment_bytes() const { return 0; }  // 0: the device has no windows
  // Runs once on the tuner's own (low-priority) queue and waits at most `deadline`. Errors:
  // timeout (the run is still on the device: the caller must stop using it), device_error.
  virtual Result<RunTimes> run(Program& program, const Range& range, Span<const Argument> arguments,
                               Nanoseconds deadline) = 0;
  // What is enqueued on `then` from now on begins after everything that was enqueued on `before`;
  // null: the adopted queue. Waits for nothing. For one and the same queue this matters where it is
  // out of order. Any thread. Errors: unsupported, device_error.
  virtual Status order(void* before, void* then) {
    if (before == then) return {};
    return Status(StatusCode::unsupported, "this device has no order among queues");
  }
  // Remembers what `queue` (null: the adopted one) has been given so far, for order_after(), also
  // where the queue will be gone by then. `mark` is what this gave before, in whose place the new
  // one comes, or null; null is also the answer for a queue that lives as long as the device. Any
  // thread. Error: device_error, and the old mark stays.
  virtual Result<void*> mark(void* queue, void* mark) {
    (void)queue;
    return mark;
  }
  // order(), of what `before` had been given when it was marked. The mark stays.
  virtual Status order_after(void* mark, void* before, void* then) {
    (void)mark;
    return order(before, then);
  }
  virtual void forget_mark(void* mark) { (void)mark; }
  // Whether launches on `queue` (null: the adopted one) are now recorded, to be run later and more
  // than once, instead of run. Any thread.
  virtual bool capturing(void* queue) const {
    (void)queue;
    return false;
  }
  // Device time of a profiled application launch; releases the ticket unless the answer is `busy`
  // (not finished yet, ask again). `unsupported` where the queue has no profiling. Any thread, one
  // for each ticket.
  virtual Result<Nanoseconds> elapsed(void* profile) = 0;
  // Drops a ticket unread. May be called from any thread; allocates nothing of ours.
  virtual void discard(void* profile) { (void)profile; }
  // device_error once nothing but a new process can tune on this device: a run never ended, or an
  // error has spoilt the driver's state for good. The message names the cause. Any thread.
  virtual Status usable() const { return {}; }
  // The clock that trials on this device are measured by: steady_clock.
  virtual Nanoseconds now() const = 0;
};

}  // namespace idletune
