// Operands that many products share, in panels. Packing one is itself a product: a panel is the
// operand's columns (or its rows, turned) times the identity.
#include <cstring>
#include <vector>

#include "kernels/gemm/gemm_state.hpp"

namespace idletune {
namespace {

using gemm::kMaxSize;
using gemm::kPanel;
using gemm::whole_panels;
using gemm::wrong;

// A product that writes panels in their order.
Product into(const Buffer& panels, const Argument& identity) {
  Product product;
  product.n = product.k = kPanel;
  product.b = {identity, 0, kPanel};
  product.c = {panels.argument(), 0, kPanel};
  return product;
}

Status other_storage(GemmArgument operand) {
  return wrong(operand, {gemm::name_of(operand), " was packed by a Gemm of another storage"});
}

}  // namespace

Status Gemm::State::make_identity() {
  const std::lock_guard<std::mutex> lock(tables_mutex);
  if (identity != nullptr) return {};
  const std::uint16_t half_one = 0x3c00;
  const float one = 1;
  std::vector<std::uint8_t> bytes(kPanel * kPanel * element_bytes);
  for (std::size_t i = 0; i < bytes.size(); i += (kPanel + 1) * element_bytes) {
    const void* const from = element_bytes == 2 ? static_cast<const void*>(&half_one) : &one;
    std::memcpy(&bytes[i], from, element_bytes);
  }
  Result<std::unique_ptr<Buffer>> made = queue->allocate(bytes.size());
  if (!made.ok()) return made.status();
  Status status = queue->write(**made, 0, Bytes(bytes));
  if (status.ok()) status = queue->wait();
  if (status.ok()) identity = std::move(*made);
  return status;
}

Result<PackedOperand> Gemm::pack(GemmArgument operand, const Product& product,
                                 const LaunchOptions& options) {
  PackedOperand packed;
  packed.storage_ = storage();
  packed.is_a_ = operand == GemmArgument::a;
  packed.outer_ = packed.is_a_ ? product.m : product.n;
  packed.depth_ = product.k;
  if (!packed.is_a_ && operand != GemmArgument::b) {
    return wrong(operand, {"only a or b can be packed"});
  }
  if (state_->queue == nullptr) {
    return Status(StatusCode::unsupported, "packing needs the queue that Gemm::open takes");
  }
  for (const std::int64_t size : {packed.outer_, packed.depth_}) {
    if (size >= 1 && size <= kMaxSize) continue;
    return wrong(operand, {"a packed operand has a side of ", size, ", expected 1 to ", kMaxSize});
  }
  const std::int64_t depth = whole_panels(packed.depth_);
  const std::uint64_t elements = static_cast<std::uint64_t>(depth * whole_panels(packed.outer_));
  if (elements > SIZE_MAX / state_->element_bytes) {
    return Status(StatusCode::out_of_memory, {elements, " elements of a packed operand"});
  }
  Result<std::unique_ptr<Buffer>> buffer =
      state_->queue->allocate(static_cast<std::size_t>(elements) * state_->element_bytes);
  if (!buffer.ok()) return buffer.status();
  packed.buffer_ = std::move(*buffer);
  Status status = state_->make_identity();
  if (status.ok() && depth > packed.depth_) {
    // No other call writes behind the last depth of a panel.
    Product zeros = into(*packed.buffer_, {});
    zeros.m = depth - packed.depth_;
    zeros.k = 0;
    zeros.a.leading = kPanel;
    zeros.c.offset = packed.depth_ * kPanel;
    LaunchOptions without_event = options;
    without_event.event = nullptr;
    status = multiply_strided(zeros, {whole_panels(packed.outer_) / kPanel, 0, 0, depth * kPanel},
                              without_event);
  }
  if (status.ok()) status = pack_again(packed, product, options);
  if (!status.ok()) return status;
  return packed;
}

Status Gemm::pack_again(PackedOperand& packed, const Product& product,
                        const LaunchOptions& options) {
  const std::int64_t outer = packed.is_a_ ? product.m : product.n;
  const GemmArgument operand = packed.is_a_ ? GemmArgument::a : GemmArgument::b;
  if (outer != packed.outer_ || product.k != packed.depth_) {
    return wrong(operand,
                 {gemm::name_of(operand), " is ", outer, " by ", product.k, ", expected the ",
                  packed.outer_, " by ", packed.depth_, " that were packed"});
  }
  const bool by_rows = (product.layout == MatrixLayout::row_major) !=
                       (packed.is_a_ ? product.transpose_a : product.transpose_b);
  Product panels = into(*packed.buffer_, state_->identity->argument());
  panels.transpose_a = by_rows == packed.is_a_;
  panels.m = packed.depth_;
  panels.a = packed.is_a_ ? product.a : product.b;
  const std::int64_t needed = panels.transpose_a ? packed.depth_ : outer;
  const std::int64_t lines = panels.transpose_a ? outer : packed.depth_;
  Status status = gemm::check_place(operand, packed.is_a_ ? GemmArgument::lda : GemmArgument::ldb,
                                    panels.a, needed);
  if (status.ok()) {
    std::uint64_t bytes = 0;
    status = state_->check_operand(
        {panels.a.buffer, {panels.a.offset, lines, needed, panels.a.leading}, false, 0, 0}, operand,
        1, bytes);
  }
  if (!status.ok()) return status;
  const std::int64_t stride = panels.transpose_a ? kPanel * panels.a.leading : kPanel;
  const Strides strides{outer / kPanel, stride, 0, whole_panels(packed.depth_) * kPanel};
  Product last = panels;
  last.k = outer % kPanel;
  last.a.offset += strides.count * stride;
  last.c.offset += strides.count * strides.c;
  LaunchOptions first = options;
  if (last.k > 0) first.event = nullptr;
  if (strides.count > 0) status = multiply_strided(panels, strides, first);
  if (!status.ok() || last.k == 0) return status;
  if (strides.count > 0) status = state_->before_last(options);
  return status.ok() ? multiply(last, options) : status;
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
    return wrong(size, {gemm::name_of(size), " is ", depth ? product.k : outer, ", expected ",
                        depth ? packed.depth_ : packed.outer_, " as packed"});
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
