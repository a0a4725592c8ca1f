// Products whose matrices lie anywhere: a table on the device says where.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/blas/gemm_state.hpp"

namespace idletune {
namespace {

using gemm::kMaxOffset;
using gemm::kMaxProducts;
using gemm::name_of;
using gemm::Operand;
using gemm::PlacedProduct;
using gemm::Rectangle;
using gemm::wrong;

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
    const std::uint64_t furthest = *std::max_element(lists[i].begin(), lists[i].end());
    if (furthest > kMaxOffset) {
      return wrong(placed.names[i], "an offset of % is beyond 2^60 elements", name);
    }
    Operand reached = placed.operands[i];
    reached.stored.begin += static_cast<std::int64_t>(furthest);
    reached.stride = 0;
    std::uint64_t bytes = 0;
    const Status status = check_operand(reached, placed.names[i], 1, bytes);
    if (!status.ok()) return status;
  }
  std::vector<std::size_t> written(offsets.c.begin(), offsets.c.end());
  std::sort(written.begin(), written.end());
  const Operand& c = placed.operands[2];
  const auto size = static_cast<std::size_t>(c.stored.extent());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Rectangle own = moved(c, static_cast<std::int64_t>(written[i]));
    for (std::size_t j = i + 1; j < written.size() && written[j] - written[i] < size; ++j) {
      if (overlap(own, moved(c, static_cast<std::int64_t>(written[j])))) {
        return wrong(GemmArgument::c,
                     "c: the results at offsets % and % overlap, expected them apart", written[i],
                     written[j]);
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
          return wrong(GemmArgument::c, "c overlaps %, expected memory of its own",
                       name_of(placed.names[i]));
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
  // A graph that is captured would read the tables of later calls; on our queue it would take the
  // launches of other queues with it.
  const bool tables_used = queue != nullptr && placed.alpha != 0 && placed.count > 1 &&
                           holds_dense(overlapping) && !device.capturing(options.queue) &&
                           !device.capturing(queue->handle());
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
      PlacedProduct single = placed;
      single.count = 1;
      for (std::size_t i = placed.alpha == 0 ? 2 : 0; i < 3; ++i) {
        single.operands[i].stored.begin += static_cast<std::int64_t>(lists[i][from]);
      }
      status = enqueue_part(single, these);
    }
    if (!status.ok()) return status;
  }
  return {};
}

Status Gemm::multiply_batched(const Product& product, const Offsets& offsets,
                              const LaunchOptions& options) {
  return multiply_batched(product, offsets, Span<const float>(&product.alpha, 1),
                          Span<const float>(&product.beta, 1), options);
}

Status Gemm::multiply_batched(const Product& product, const Offsets& offsets,
                              Span<const float> alphas, Span<const float> betas,
                              const LaunchOptions& options) {
  const std::size_t count = offsets.c.size();
  if (offsets.a.size() != count || offsets.b.size() != count) {
    return wrong(GemmArgument::count,
                 "there are % offsets of a, % of b and % of c, expected as many of each",
                 offsets.a.size(), offsets.b.size(), count);
  }
  const bool shared = alphas.size() == 1 && betas.size() == 1;  // of all
  if (!shared && (alphas.size() != count || betas.size() != count)) {
    return wrong(GemmArgument::count, "there are % alphas and % betas, expected % of each",
                 alphas.size(), betas.size(), count);
  }
  PlacedProduct placed;
  Status status = gemm::place(product, static_cast<std::int64_t>(count), placed);
  if (!status.ok()) return status;
  if (placed.m == 0 || placed.n == 0 || count == 0) return {};
  // All is checked before anything is enqueued.
  PlacedProduct whole = placed;
  whole.alpha = std::all_of(alphas.begin(), alphas.end(), [](float alpha) { return alpha == 0; })
                    ? 0.0f
                    : 1.0f;
  if (placed.k == 0 || whole.alpha == 0) gemm::leave_out_products(whole);
  status = state_->check_offsets(whole, offsets);
  for (std::size_t from = 0, to = 0; from < count && status.ok(); from = to) {
    to = shared ? count : from + 1;
    while (to < count && alphas[to] == alphas[from] && betas[to] == betas[from]) ++to;
    PlacedProduct some = placed;
    some.alpha = alphas[from], some.beta = betas[from];
    some.count = static_cast<std::int64_t>(to - from);
    if (placed.k == 0 || some.alpha == 0) gemm::leave_out_products(some);
    LaunchOptions these = options;
    if (to < count) these.event = nullptr;
    if (to == count && from > 0) status = state_->before_last(options);
    if (status.ok())
      status = state_->enqueue_scattered(some, part_of(offsets, from, to - from), these);
  }
  return status;
}

}  // namespace idletune
