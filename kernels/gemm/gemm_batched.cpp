// Products whose matrices lie anywhere: a table on the device says where.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/gemm/gemm_state.hpp"

namespace idletune {
namespace {

using gemm::kMaxProducts;
using gemm::name_of;
using gemm::Operand;
using gemm::PlacedProduct;
using gemm::Rectangle;
using gemm::wrong;

constexpr std::size_t kMaxOffset = std::size_t{1} << 60;

Rectangle moved(const Operand& operand, std::int64_t by) {
  Rectangle rectangle = operand.stored;
  rectangle.begin += by;
  return rectangle;
}

// Of the operands in the kernels' order.
std::array<Span<const std::size_t>, 3> in_order(const PlacedProduct& placed,
                                                const Offsets& offsets) {
  if (placed.names[0] == GemmArgument::a) return {offsets.a, offsets.b, offsets.c};
  return {offsets.b, offsets.a, offsets.c};
}

Offsets part_of(const Offsets& offsets, std::size_t from, std::size_t count) {
  return {offsets.a.subspan(from, count), offsets.b.subspan(from, count),
          offsets.c.subspan(from, count)};
}

}  // namespace

Status Gemm::State::check_offsets(const PlacedProduct& placed, const Offsets& offsets) {
  const auto lists = in_order(placed, offsets);
  for (std::size_t i = placed.alpha == 0 ? 2 : 0; i < 3; ++i) {
    const char* const name = name_of(placed.names[i]);
    const std::size_t furthest = *std::max_element(lists[i].begin(), lists[i].end());
    if (furthest > kMaxOffset) {
      return wrong(placed.names[i], {"an offset of ", name, " is beyond 2^60 elements"});
    }
    const Rectangle reached = moved(placed.operands[i], static_cast<std::int64_t>(furthest));
    const auto bytes = static_cast<std::uint64_t>(reached.begin + reached.extent()) * element_bytes;
    const Status status = device.check_buffer(placed.operands[i].buffer, bytes);
    if (!status.ok()) return wrong(placed.names[i], {name, ": ", status.message()});
  }
  std::vector<std::size_t> written(offsets.c.begin(), offsets.c.end());
  std::sort(written.begin(), written.end());
  const Operand& c = placed.operands[2];
  const auto size = static_cast<std::size_t>(c.stored.extent());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Rectangle own = moved(c, static_cast<std::int64_t>(written[i]));
    for (std::size_t j = i + 1; j < written.size() && written[j] - written[i] < size; ++j) {
      if (overlap(own, moved(c, static_cast<std::int64_t>(written[j])))) {
        return wrong(GemmArgument::c, {"c: the results at offsets ", written[i], " and ",
                                       written[j], " overlap, expected them apart"});
      }
    }
  }
  for (std::size_t i = 0; i < 2 && placed.alpha != 0; ++i) {
    std::int64_t apart = 0;
    if (!same_memory(c, placed.operands[i], apart)) continue;
    for (const std::size_t offset : lists[i]) {
      const Rectangle read = moved(placed.operands[i], static_cast<std::int64_t>(offset) + apart);
      const std::int64_t lowest = read.begin - c.stored.begin - c.stored.extent();
      auto at = std::lower_bound(written.begin(), written.end(),
                                 static_cast<std::size_t>(std::max<std::int64_t>(lowest, 0)));
      for (; at != written.end(); ++at) {
        const Rectangle result = moved(c, static_cast<std::int64_t>(*at));
        if (result.begin >= read.begin + read.extent()) break;
        if (overlap(read, result)) {
          return wrong(GemmArgument::c,
                       {"c overlaps ", name_of(placed.names[i]), ", expected memory of its own"});
        }
      }
    }
  }
  return {};
}

// The tables take turns; `tables_mutex` is held.
Result<Argument> Gemm::State::fill_table(const PlacedProduct& placed, const Offsets& offsets) {
  Table& table = tables[next_table];
  next_table = (next_table + 1) % gemm::kTables;
  // Whatever used it before is done then.
  if (next_table == 1 && !tables[0].values.empty()) {
    Status status = queue->wait();
    if (!status.ok()) return status;
  }
  const auto lists = in_order(placed, offsets);
  table.values.clear();
  for (std::size_t product = 0; product < lists[2].size(); ++product) {
    for (const auto& list : lists) table.values.push_back(static_cast<std::int64_t>(list[product]));
  }
  const std::size_t bytes = table.values.size() * sizeof(std::int64_t);
  if (table.buffer == nullptr || table.buffer->size_bytes() < bytes) {
    Result<std::unique_ptr<Buffer>> larger = queue->allocate(bytes);
    if (!larger.ok()) return larger.status();
    table.buffer = std::move(*larger);
  }
  Status status = queue->write(
      *table.buffer, 0, Bytes(reinterpret_cast<const std::uint8_t*>(table.values.data()), bytes));
  if (!status.ok()) return status;
  return table.buffer->argument();
}

Status Gemm::State::enqueue_table(PlacedProduct placed, const Offsets& offsets,
                                  const LaunchOptions& options) {
  const std::lock_guard<std::mutex> lock(tables_mutex);
  placed.count = static_cast<std::int64_t>(offsets.c.size());
  const Result<Argument> table = fill_table(placed, offsets);
  if (!table.ok()) return table.status();
  void* const own = queue->handle();
  const bool elsewhere = options.queue != nullptr && options.queue != own;
  Status status = elsewhere ? device.order(own, options.queue) : Status();
  if (status.ok()) status = launch(placed, gemm::kScattered, *table, options);
  // So that waiting for our queue is waiting for all that uses tables.
  if (status.ok() && elsewhere) status = device.order(options.queue, own);
  return status;
}

Status Gemm::State::enqueue_scattered(PlacedProduct placed, const Offsets& offsets,
                                      const LaunchOptions& options) {
  for (Operand& operand : placed.operands) operand.stride = 0;
  PlacedProduct overlapping = placed;  // of which the kernels' description asks for more memory
  for (Operand& operand : overlapping.operands) operand.stride = -1;
  const bool tables_used =
      queue != nullptr && placed.alpha != 0 && placed.count > 1 && holds_dense(overlapping);
  const auto at_once = static_cast<std::size_t>(tables_used ? kMaxProducts : 1);
  const auto lists = in_order(placed, offsets);
  LaunchOptions without_event = options;
  without_event.event = nullptr;
  const std::size_t count = offsets.c.size();
  for (std::size_t from = 0; from < count; from += at_once) {
    const bool last = from + at_once >= count;
    Status status;
    if (last && from > 0) status = before_last(options);
    if (!status.ok()) return status;
    const LaunchOptions& these = last ? options : without_event;
    if (tables_used) {
      status = enqueue_table(placed, part_of(offsets, from, at_once), these);
    } else {
      PlacedProduct one = placed;
      one.count = 1;
      for (std::size_t i = placed.alpha == 0 ? 2 : 0; i < 3; ++i) {
        one.operands[i].stored.begin += static_cast<std::int64_t>(lists[i][from]);
      }
      status = enqueue_part(one, these);
    }
    if (!status.ok()) return status;
  }
  return {};
}

Status Gemm::multiply_batched(const Product& product, const Offsets& offsets,
                              const LaunchOptions& options) {
  const std::size_t count = offsets.c.size();
  if (offsets.a.size() != count || offsets.b.size() != count) {
    return wrong(GemmArgument::count,
                 {"there are ", offsets.a.size(), " offsets of a, ", offsets.b.size(), " of b and ",
                  count, " of c, expected as many of each"});
  }
  PlacedProduct placed;
  Status status = gemm::place(product, static_cast<std::int64_t>(count), placed);
  if (!status.ok()) return status;
  if (placed.m == 0 || placed.n == 0 || count == 0) return {};
  if (placed.k == 0 || placed.alpha == 0) gemm::leave_out_products(placed);
  status = state_->check_offsets(placed, offsets);
  return status.ok() ? state_->enqueue_scattered(placed, offsets, options) : status;
}

}  // namespace idletune
