#include "tests/emulated_cuda/remembered_launches.hpp"

#include <algorithm>
#include <utility>

namespace emulated_cuda {
namespace {

constexpr std::size_t kMostKept = 32;

bool equal(const Launch& a, const Launch& b) {
  return a.kernel == b.kernel && a.context == b.context && std::equal(a.grid, a.grid + 3, b.grid) &&
         std::equal(a.block, a.block + 3, b.block) && a.parameters == b.parameters &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

}  // namespace

const Work* RememberedLaunches::repeat(const Launch& launch, DeviceMemory& memory) {
  for (Remembered& known : known_) {
    if (!equal(known.launch, launch) || !still_holds(known, memory)) continue;
    for (Output& output : known.outputs) write(output, *memory.find(output.start), memory);
    return &known.work;
  }
  return nullptr;
}

void RememberedLaunches::keep(const Launch& launch, const Work& work, DeviceMemory& memory) {
  Remembered made{launch, work, {}, {}};
  bool reads_what_it_writes = false;
  for (Allocation* allocation : memory.living()) {
    const bool is_read = allocation->read_in == work.launch_number;
    const bool is_written = allocation->written_in == work.launch_number;
    if (is_written) allocation->version = memory.new_version();
    reads_what_it_writes = reads_what_it_writes || (is_read && is_written);
    if (is_read) made.inputs.push_back({allocation->start, allocation->version});
    if (is_written) made.outputs.push_back(output_of(*allocation, work.launch_number));
  }
  if (reads_what_it_writes) return;
  known_.push_back(std::move(made));
  if (known_.size() > kMostKept) known_.pop_front();
}

RememberedLaunches::Output RememberedLaunches::output_of(Allocation& allocation,
                                                         std::uint32_t launch) {
  Output output{allocation.start, allocation.version, {}};
  const std::size_t each = allocation.mark_bytes;
  for (std::size_t i = 0; i < allocation.marks.size(); ++i) {
    const GlobalMark& mark = allocation.marks[i];
    if (mark.launch != launch || mark.writer == 0) continue;
    const std::size_t offset = i * each;
    const bool goes_on =
        !output.written.empty() &&
        output.written.back().offset + output.written.back().bytes.size() == offset;
    if (!goes_on) output.written.push_back({offset, {}});
    const auto first = allocation.data.begin() + static_cast<std::ptrdiff_t>(offset);
    const std::size_t bytes = std::min(each, allocation.data.size() - offset);
    auto& written = output.written.back().bytes;
    written.insert(written.end(), first, first + static_cast<std::ptrdiff_t>(bytes));
  }
  return output;
}

bool RememberedLaunches::still_holds(const Remembered& known, DeviceMemory& memory) {
  const auto is_same = [&](const Input& input) {
    const Allocation* allocation = memory.find(input.start);
    return allocation != nullptr && allocation->version == input.version;
  };
  const auto is_there = [&](const Output& output) { return memory.find(output.start) != nullptr; };
  return std::all_of(known.inputs.begin(), known.inputs.end(), is_same) &&
         std::all_of(known.outputs.begin(), known.outputs.end(), is_there);
}

void RememberedLaunches::write(Output& output, Allocation& to, DeviceMemory& memory) {
  if (to.version == output.version) return;
  for (const Written& part : output.written) {
    std::copy(part.bytes.begin(), part.bytes.end(),
              to.data.begin() + static_cast<std::ptrdiff_t>(part.offset));
    std::fill_n(to.written.begin() + static_cast<std::ptrdiff_t>(part.offset), part.bytes.size(),
                1);
  }
  to.version = output.version = memory.new_version();
}

}  // namespace emulated_cuda
