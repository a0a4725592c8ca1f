#include <algorithm>
#include <cstring>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/block.hpp"

namespace emulated_cuda {
namespace {

using idletune::cuda::kIllegalAddress;
using idletune::cuda::kMisalignedAddress;

struct Request {
  Warp& warp;
  const Instruction& instruction;
  int thread;
  std::uint64_t address;
  std::size_t bytes;
  Access access;
  const void* value;

  void note(const char* what) const { emulated_cuda::note(warp, instruction, thread, what); }
  // A write that changes nothing is no race: whoever reads sees the same before and after.
  bool changes(const unsigned char* place) const {
    return value == nullptr || std::memcmp(place, value, bytes) != 0;
  }
};

const char* verb(Access access) {
  switch (access) {
    case Access::read: return "reads ";
    case Access::write: return "writes ";
    default: return "changes ";
  }
}

[[noreturn]] void outside(const Request& r, const std::string& where) {
  stop(r.warp, r.instruction, r.thread, kIllegalAddress,
       "illegal address: " + (verb(r.access) + std::to_string(r.bytes)) + " bytes " + where);
}

// Whether another thread's access in this interval comes before or after this one, nobody knows.
bool unordered(const Request& r, std::uint16_t thread, std::uint32_t interval,
               std::uint32_t warp_interval) {
  if (interval != r.warp.block->interval) return false;
  const unsigned me = r.warp.first_thread + static_cast<unsigned>(r.thread);
  if (thread == me) return false;
  return thread / kWarpThreads != me / kWarpThreads || warp_interval == r.warp.interval;
}

void check_shared_read(const Request& r, SharedMark& mark) {
  const Block& block = *r.warp.block;
  const auto me = static_cast<std::uint16_t>(r.warp.first_thread + static_cast<unsigned>(r.thread));
  if (mark.written_in < block.first_interval) {
    r.note("unwritten: reads shared memory that nobody wrote");
  } else if (unordered(r, mark.writer, mark.written_in, mark.writer_interval)) {
    r.note("race: reads shared memory that another thread wrote since the last barrier");
  }
  const bool again = mark.read_in == block.interval;
  const bool same_warp = again && mark.reader / kWarpThreads == me / kWarpThreads;
  mark.several_warps_read = again && (mark.several_warps_read || !same_warp);
  mark.several_readers = same_warp && mark.reader_interval == r.warp.interval &&
                         (mark.several_readers || mark.reader != me);
  mark.reader = me;
  mark.read_in = block.interval;
  mark.reader_interval = r.warp.interval;
}

void check_shared_write(const Request& r, SharedMark& mark, const unsigned char* place) {
  const Block& block = *r.warp.block;
  const bool is_atomic = r.access == Access::atomic;
  const bool both_atomic = is_atomic && mark.by_atomics;
  if (!both_atomic && unordered(r, mark.writer, mark.written_in, mark.writer_interval) &&
      r.changes(place)) {
    r.note("race: writes shared memory that another thread wrote since the last barrier");
  }
  const bool read_by_others =
      (mark.read_in == block.interval &&
       (mark.several_warps_read ||
        (mark.several_readers && mark.reader_interval == r.warp.interval))) ||
      unordered(r, mark.reader, mark.read_in, mark.reader_interval);
  if (read_by_others && r.changes(place)) {
    r.note("race: writes shared memory that another thread read since the last barrier");
  }
  if (is_atomic && mark.written_in < block.first_interval) {
    r.note("unwritten: changes shared memory that nobody wrote");
  }
  mark.by_atomics = is_atomic && (mark.by_atomics || mark.written_in != block.interval);
  mark.writer = static_cast<std::uint16_t>(r.warp.first_thread + static_cast<unsigned>(r.thread));
  mark.written_in = block.interval;
  mark.writer_interval = r.warp.interval;
}

unsigned char* shared_memory(const Request& r) {
  Block& block = *r.warp.block;
  if (r.bytes > block.shared.size() || r.address > block.shared.size() - r.bytes) {
    outside(r, "at " + std::to_string(r.address) + " of " + std::to_string(block.shared.size()) +
                   " bytes of shared memory");
  }
  unsigned char* place = block.shared.data() + r.address;
  const std::size_t last = (r.address + r.bytes - 1) / block.mark_bytes;
  for (std::size_t i = r.address / block.mark_bytes; i <= last; ++i) {
    if (r.access == Access::read) {
      check_shared_read(r, block.marks[i]);
    } else {
      check_shared_write(r, block.marks[i], place);
    }
  }
  return place;
}

unsigned char* local_memory(const Request& r) {
  Block& block = *r.warp.block;
  const std::size_t each = block.kernel->local_bytes;
  if (r.bytes > each || r.address > each - r.bytes) {
    outside(r, "at " + std::to_string(r.address) + " of " + std::to_string(each) +
                   " bytes of local memory");
  }
  const std::size_t at = (r.warp.first_thread + static_cast<unsigned>(r.thread)) * each + r.address;
  const auto written = block.local_written.begin() + static_cast<std::ptrdiff_t>(at);
  const auto behind = written + static_cast<std::ptrdiff_t>(r.bytes);
  if (r.access == Access::write) {
    std::fill(written, behind, 1);
  } else if (std::find(written, behind, 0) != behind) {
    r.note("unwritten: reads local memory that nobody wrote");
  }
  return block.local.data() + at;
}

void check_global_read(const Request& r, GlobalMark& mark) {
  const std::uint32_t me = r.warp.block->number;
  if (mark.writer != 0 && mark.writer != me) {
    r.note("race: reads global memory that another block writes");
  } else if (mark.writer != 0 && r.instruction.read_only) {
    r.note("race: reads through the read-only cache what this kernel writes");
  }
  if (mark.reader == 0) mark.reader = me;
  if (mark.reader != me) mark.reader = kSeveralReaders;
}

void check_global_write(const Request& r, GlobalMark& mark, const unsigned char* place) {
  const std::uint32_t me = r.warp.block->number;
  const bool is_atomic = r.access == Access::atomic;
  const bool both_atomic = is_atomic && mark.by_atomics;
  if (mark.writer != 0 && mark.writer != me && !both_atomic && r.changes(place)) {
    r.note("race: writes global memory that another block writes");
  }
  if (mark.reader != 0 && mark.reader != me && r.changes(place)) {
    r.note("race: writes global memory that another block reads");
  }
  mark.by_atomics = is_atomic && (mark.by_atomics || mark.writer == 0);
  mark.writer = me;
}

Allocation& allocation_of(const Request& r) {
  Block& block = *r.warp.block;
  if (block.last != nullptr && block.last->holds(r.address, r.bytes)) return *block.last;
  const void* context = block.launch->context;
  Allocation* found = block.memory->find(r.address);
  if (found == nullptr || found->context != context) {
    outside(r, block.memory->describe(r.address, context));
  }
  if (!found->holds(r.address, r.bytes)) {
    outside(r, block.memory->describe(r.address + r.bytes - 1, context));
  }
  found->provide_marks(block.kernel->least_access_bytes);
  block.last = found;
  return *found;
}

unsigned char* global_memory(const Request& r) {
  Allocation& allocation = allocation_of(r);
  const Block& block = *r.warp.block;
  const std::size_t at = r.address - allocation.start;
  unsigned char* place = allocation.data.data() + at;
  if (r.access != Access::read && allocation.read_only) {
    stop(r.warp, r.instruction, r.thread, kIllegalAddress, "constant: writes constant memory");
  }
  unsigned char* written = allocation.written.data() + at;
  if (r.access != Access::write && std::find(written, written + r.bytes, 0) != written + r.bytes) {
    r.note("unwritten: reads global memory that nobody wrote");
  }
  if (r.access != Access::write) allocation.read_in = block.launch_number;
  if (r.access != Access::read) {
    allocation.written_in = block.launch_number;
    std::fill(written, written + r.bytes, 1);
  }
  const std::size_t last = (at + r.bytes - 1) / allocation.mark_bytes;
  for (std::size_t i = at / allocation.mark_bytes; i <= last; ++i) {
    GlobalMark& mark = allocation.marks[i];
    if (mark.launch != block.launch_number) mark = GlobalMark{block.launch_number, 0, 0, false};
    if (r.access == Access::read) {
      check_global_read(r, mark);
    } else {
      check_global_write(r, mark, place);
    }
  }
  return place;
}

}  // namespace

unsigned char* checked_memory(Warp& warp, const Instruction& instruction, int thread,
                              std::uint64_t address, std::size_t bytes, Access access,
                              const void* value) {
  Request request{warp, instruction, thread, address, bytes, access, value};
  if (address % bytes != 0) {
    stop(warp, instruction, thread, kMisalignedAddress,
         "misaligned: " + (verb(access) + std::to_string(bytes)) + " bytes at address " +
             std::to_string(address));
  }
  Space space = instruction.space;
  if (space == Space::generic) {
    const std::uint64_t window = address & ~(kSharedWindow - 1);
    space = window == kSharedWindow  ? Space::shared
            : window == kLocalWindow ? Space::local
                                     : Space::global;
    if (space != Space::global) request.address -= window;
  }
  switch (space) {
    case Space::shared: return shared_memory(request);
    case Space::local: return local_memory(request);
    default: return global_memory(request);
  }
}

}  // namespace emulated_cuda
