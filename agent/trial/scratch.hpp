// The tuner's own buffers for one shape, between guard zones.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

#include "models/package/captured_arguments.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::trial {

// Host memory that reports failure instead of ending the process.
struct HostBytes {
  std::unique_ptr<std::uint8_t[]> data;
  std::size_t size = 0;
  MutableBytes view() { return {data.get(), size}; }
  Bytes view() const { return {data.get(), size}; }
};
Result<HostBytes> allocate_host(std::uint64_t bytes);

// One buffer per argument of the package that is device memory. In device memory each lies as
//   [guard zone][data][guard zone]      where the device has windows,
//   [data][guard zone]                  elsewhere.
// Zones are as wide as the data where there is memory for that, and never narrower than asked for.
// Used by one thread; copies go through the device's blocking read and write.
class Scratch {
 public:
  Scratch(Device& device, const KernelPackage& package, std::uint64_t guard_bytes);

  // Device memory that `fit` holds at least. Errors: out_of_memory when it cannot be counted; those
  // of KernelPackage::buffer_bytes.
  Result<std::uint64_t> needed_bytes(const Shape& shape, const Configuration& configuration) const;
  // Inputs of `captured`, which has passed its check, are what it holds from the next fit() on. It
  // must outlive that; null: there are none.
  void use(const CapturedArguments* captured) { captured_ = captured; }
  // Makes the buffers fit; those whose size stays are kept. Zones may take `spare_bytes` more than
  // needed_bytes(). Errors: out_of_memory, device_error.
  Status fit(const Shape& shape, const Configuration& configuration, std::uint64_t spare_bytes);
  bool fits(const Shape& shape, const Configuration& configuration) const;
  void release();

  // Writes inputs (in, inout) of `seed` and poisons outputs, all or...
  enum class Refill : std::uint8_t {
    everything,
    inout,    // just those whose content runs change
    launches  // all that steps may write: a setup's results stay, and so do inputs
  };
  Status fill(std::uint32_t seed, Refill refill = Refill::everything);
  // Reads inputs and guard zones back. `damage` is empty, or says what was changed, first find
  // only.
  Status find_damage(std::uint32_t seed, std::string& damage);
  // Only what of the guard zones lies next to the data: as many bytes as were asked for.
  Status find_near_damage(std::string& damage);

  // The kernel's arguments, in order.
  Result<std::vector<Argument>> arguments(const Shape& shape, const Configuration& configuration,
                                          std::uint32_t seed) const;

  // Buffers in the order of their arguments.
  std::size_t count() const { return slots_.size(); }
  const ArgumentSpec& spec(std::size_t buffer) const;
  std::uint32_t argument(std::size_t buffer) const { return slots_[buffer].argument; }
  std::uint64_t data_bytes(std::size_t buffer) const { return slots_[buffer].data_bytes; }
  Status read(std::size_t buffer, std::uint64_t offset, MutableBytes out) const;
  // What fill(seed) put there.
  void initial_content(std::size_t buffer, std::uint32_t seed, std::uint64_t offset,
                       MutableBytes out) const;

  // Chunk size of every copy and comparison: a multiple of every element's size.
  static constexpr std::size_t kChunkBytes = std::size_t{128} << 10;

 private:
  struct Slot {
    std::uint32_t argument = 0;
    std::uint64_t data_bytes = 0;
    std::uint64_t front_bytes = 0;  // of the guard zone before the data
    std::uint64_t back_bytes = 0;   // and of that behind it
    ArgumentSpec fill;              // by fill_at
    Bytes captured;                 // instead of that; empty: it is not
    std::unique_ptr<Buffer> whole;
    std::unique_ptr<Buffer> window;  // the data; null without windows
  };
  enum class Zone : std::uint8_t { front, back };

  Result<std::uint64_t> data_bytes_for(std::size_t buffer, const Shape& shape,
                                       const Configuration& configuration) const;
  // How wide zones may become for all that is in the slots, in 1024ths of the data.
  std::uint64_t zone_share(const Shape& shape, const Configuration& configuration,
                           std::uint64_t spare_bytes) const;
  // With zones of at least `zone_bytes`, or as narrow as can be where that cannot be had.
  Status allocate(Slot& slot, std::uint64_t data_bytes, std::uint64_t zone_bytes);
  Status allocate_exactly(Slot& slot);
  void choose_content(Slot& slot, const Shape& shape) const;
  Status write_guards(Slot& slot);
  Status find_guard_damage(std::uint64_t reach_bytes, std::string& damage);
  // Looks at the `reach_bytes` next to the data.
  Status check_guard(const Slot& slot, Zone zone, std::uint64_t reach_bytes, std::string& damage);
  Status check_input(std::size_t buffer, std::uint32_t seed, std::string& damage);
  bool keeps(std::size_t buffer, Refill refill) const;
  Status make_chunks();

  Device& device_;
  const KernelPackage& package_;
  std::uint64_t guard_bytes_;        // behind the data, at least
  std::uint64_t front_guard_bytes_;  // before it; 0 without windows
  std::vector<Slot> slots_;
  const CapturedArguments* captured_ = nullptr;
  HostBytes chunk_;
  HostBytes expected_;
};

}  // namespace idletune::trial
