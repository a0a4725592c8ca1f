// Operands that many products share, in panels. Packing one is itself a product: each line of a
// panel is a column of the operand (or a row, turned) times the number 1, so that an Inf or NaN
// stays where it is.
#include <algorithm>
#include <cstring>

#include "kernels/blas/gemm_state.hpp"

namespace idletune {
namespace {

using gemm::kMaxSize;
using gemm::kPanel;
using gemm::whole_panels;
using gemm::wrong;

Status no_queue() {
  return Status(StatusCode::unsupported, "packing needs the queue that Gemm::open takes");
}

Status other_storage(GemmArgument operand) {
  return wrong(operand, "% was packed by a Gemm of another storage", gemm::name_of(operand));
}

// Whether its lines are along the depth.
bool lies_turned(const Product& product, bool is_a) {
  const bool by_rows = (product.layout == MatrixLayout::row_major) !=
                       (is_a ? product.transpose_a : product.transpose_b);
  return by_rows == is_a;
}

}  // namespace

Status Gemm::State::make_one() {
  const std::lock_guard<std::mutex> lock(tables_mutex);
  if (one != nullptr) return {};
  const std::uint16_t half_one = 0x3c00;
  const float float_one = 1;
  const void* const from = element_bytes == 2 ? static_cast<const void*>(&half_one) : &float_one;
  std::uint8_t bytes[sizeof float_one];
  std::memcpy(bytes, from, element_bytes);
  Result<std::unique_ptr<Buffer>> made = queue->allocate(element_bytes);
  if (!made.ok()) return made.status();
  Status status = queue->write(**made, 0, Bytes(bytes, element_bytes));
  if (status.ok()) status = queue->wait();
  if (status.ok()) one = std::move(*made);
  return status;
}

Status Gemm::State::check_packable(const Product& product, bool is_a) const {
  const GemmArgument operand = is_a ? GemmArgument::a : GemmArgument::b;
  const MatrixPlace& place = is_a ? product.a : product.b;
  const std::int64_t outer = is_a ? product.m : product.n;
  const bool turned = lies_turned(product, is_a);
  const std::int64_t needed = turned ? product.k : outer;
  const Status status =
      gemm::check_place(operand, is_a ? GemmArgument::lda : GemmArgument::ldb, place, needed);
  if (!status.ok()) return status;
  std::uint64_t bytes = 0;
  return check_operand({place.buffer,
                        {place.offset, turned ? outer : product.k, needed, place.leading},
                        false,
                        0,
                        0},
                       operand, 1, bytes);
}

Result<PackedOperand> Gemm::pack(GemmArgument operand, const Product& product,
                                 const LaunchOptions& options) {
  gemm::last_wrong() = GemmArgument::none;
  PackedOperand packed;
  packed.storage_ = storage();
  packed.is_a_ = operand == GemmArgument::a;
  packed.outer_ = packed.is_a_ ? product.m : product.n;
  packed.depth_ = product.k;
  if (!packed.is_a_ && operand != GemmArgument::b) {
    return wrong(operand, "only a or b can be packed");
  }
  if (state_->queue == nullptr) return no_queue();
  for (const std::int64_t size : {packed.outer_, packed.depth_}) {
    if (size >= 1 && size <= kMaxSize) continue;
    return wrong(operand, "a packed operand has a side of %, expected 1 to %", size, kMaxSize);
  }
  Status status = state_->check_packable(product, packed.is_a_);
  if (status.ok()) status = state_->make_one();
  if (!status.ok()) return status;
  const std::int64_t depth = whole_panels(packed.depth_);
  const std::uint64_t elements = static_cast<std::uint64_t>(depth * whole_panels(packed.outer_));
  if (elements > SIZE_MAX / state_->element_bytes) {
    return Status(StatusCode::out_of_memory, "% elements of a packed operand", elements);
  }
  Result<std::unique_ptr<Buffer>> buffer =
      state_->queue->allocate(static_cast<std::size_t>(elements) * state_->element_bytes);
  if (!buffer.ok()) return buffer.status();
  packed.buffer_ = std::move(*buffer);
  // No other call writes behind the last depth and the last line of panels.
  Product zeros;
  zeros.m = depth;
  zeros.n = kPanel;
  zeros.k = 0;
  zeros.a.leading = zeros.b.leading = zeros.c.leading = kPanel;
  zeros.c.buffer = packed.buffer_->argument();
  LaunchOptions without_event = options;
  without_event.event = nullptr;
  status = multiply_strided(zeros, {whole_panels(packed.outer_) / kPanel, 0, 0, depth * kPanel},
                            without_event);
  if (status.ok()) status = state_->device.order(options.queue, options.queue);
  if (status.ok()) status = pack_again(packed, product, options);
  if (status.ok()) return packed;
  (void)state_->queue->wait();  // whose memory goes
  return status;
}

Status Gemm::pack_again(PackedOperand& packed, const Product& product,
                        const LaunchOptions& options) {
  gemm::last_wrong() = GemmArgument::none;
  const std::int64_t outer = packed.is_a_ ? product.m : product.n;
  const GemmArgument operand = packed.is_a_ ? GemmArgument::a : GemmArgument::b;
  if (outer != packed.outer_ || product.k != packed.depth_) {
    return wrong(operand, "% is % by %, expected the % by % that were packed",
                 gemm::name_of(operand), outer, product.k, packed.outer_, packed.depth_);
  }
  if (packed.storage_ != storage()) return other_storage(operand);
  if (state_->queue == nullptr) return no_queue();
  Status status = state_->check_packable(product, packed.is_a_);
  if (status.ok()) status = state_->make_one();
  if (!status.ok()) return status;
  Product line;
  line.transpose_a = lies_turned(product, packed.is_a_);
  line.m = packed.depth_;
  line.n = line.k = 1;
  line.a = packed.is_a_ ? product.a : product.b;
  line.b = {state_->one->argument(), 0, 1};
  line.c = {packed.buffer_->argument(), 0, kPanel};
  // The first lines of all panels, then the second ones, ...
  const std::int64_t step = line.transpose_a ? line.a.leading : 1;
  LaunchOptions without_event = options;
  without_event.event = nullptr;
  for (std::int64_t i = 0; i < std::min(outer, kPanel) && status.ok(); ++i) {
    const bool last = i + 1 == std::min(outer, kPanel);
    const Strides strides{(outer - i + kPanel - 1) / kPanel, kPanel * step, 0,
                          whole_panels(packed.depth_) * kPanel};
    if (last) status = state_->before_last(options);
    if (status.ok()) status = multiply_strided(line, strides, last ? options : without_event);
    line.a.offset += step;
    line.c.offset += 1;
  }
  return status;
}

Status Gemm::multiply_packed(const Product& product, const PackedOperand& packed,
                             const Strides& strides, const LaunchOptions& options) {
  const std::int64_t outer = packed.is_a_ ? product.m : product.n;
  if (packed.storage_ != storage()) {
    return other_storage(packed.is_a_ ? GemmArgument::a : GemmArgument::b);
  }
  if (outer != packed.outer_ || product.k != packed.depth_) {
    const bool depth = outer == packed.outer_;
    const GemmArgument size = depth          ? GemmArgument::k
                              : packed.is_a_ ? GemmArgument::m
                                             : GemmArgument::n;
    return wrong(size, "% is %, expected % as packed", gemm::name_of(size),
                 depth ? product.k : outer, depth ? packed.depth_ : packed.outer_);
  }
  Product placeable = product;
  MatrixPlace& own_place = packed.is_a_ ? placeable.a : placeable.b;
  own_place.buffer = packed.buffer_->argument();
  own_place.offset = 0;
  own_place.leading = kMaxSize;
  gemm::PlacedProduct placed;
  Status status = gemm::place(placeable, strides.count, placed);
  if (!status.ok()) return status;
  const bool swapped = product.layout == MatrixLayout::column_major;
  placed.operands[swapped ? 1 : 0].stride = strides.a;
  placed.operands[swapped ? 0 : 1].stride = strides.b;
  placed.operands[2].stride = strides.c;
  const std::size_t own = packed.is_a_ == swapped ? 1 : 0;
  const std::int64_t elements = whole_panels(packed.outer_) * whole_panels(packed.depth_);
  gemm::Operand& in_panels = placed.operands[own];
  in_panels.stored = {0, 1, elements, elements};
  in_panels.turned = false;
  in_panels.stride = 0;
  placed.panels = gemm::kPanelsA << own;
  return state_->check_and_enqueue(placed, options);
}

}  // namespace idletune
