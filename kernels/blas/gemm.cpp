#include <idletune/gemm.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "kernels/blas/gemm_state.hpp"
#include "kernels/blas/package_bytes.hpp"
#include "kernels/blas/unpacked.hpp"

namespace idletune {
namespace {

using gemm::dense_size;
using gemm::kMaxProducts;
using gemm::kScattered;
using gemm::kSharedA;
using gemm::kSharedB;
using gemm::name_of;
using gemm::Operand;
using gemm::PlacedProduct;
using gemm::Rectangle;
using gemm::wrong;

// Elements that the buffer must have; nothing where that is out of all bounds.
bool elements_needed(const Operand& operand, std::int64_t count, std::int64_t& elements) {
  std::int64_t further = 0;
  return !__builtin_mul_overflow(count - 1, operand.stride, &further) &&
         !__builtin_add_overflow(further, operand.stored.begin, &elements) &&
         !__builtin_add_overflow(elements, operand.stored.extent(), &elements) &&
         elements <= std::int64_t{1} << 60;
}

}  // namespace

// --- checks --------------------------------------------------------------------------------------

// Whether y lies in the memory of x; then its first element is `apart` behind that of x.
bool Gemm::State::same_memory(const Operand& x, const Operand& y, std::int64_t& apart) const {
  std::int64_t handles[2] = {0, 0};  // behind short ones are zeros
  std::memcpy(&handles[0], x.buffer.data(), sizeof handles[0]);
  std::memcpy(&handles[1], y.buffer.data(), sizeof handles[1]);
  apart = 0;
  if (handles[0] == handles[1]) return true;
  if (addresses) apart = (handles[1] - handles[0]) / element_bytes;
  return addresses;
}

Status Gemm::State::check_overlap(const PlacedProduct& placed, std::size_t operand) const {
  const Operand& c = placed.operands[2];
  const Operand& other = placed.operands[operand];
  std::int64_t apart = 0;
  if (!same_memory(c, other, apart)) return {};
  Rectangle read = other.stored;
  read.begin += apart;
  const std::int64_t all_c = (placed.count - 1) * c.stride + c.stored.extent();
  const std::int64_t all_read = (placed.count - 1) * other.stride + read.extent();
  if (read.begin >= c.stored.begin + all_c || c.stored.begin >= read.begin + all_read) return {};
  if (take_other_columns(c.stored, c.stride, read, other.stride, placed.count)) return {};
  for (std::int64_t i = 0; i < (other.stride == 0 ? 1 : placed.count); ++i) {
    // Products whose C may reach this one's operand.
    const std::int64_t behind = read.begin - c.stored.begin;
    const std::int64_t step = std::max<std::int64_t>(c.stride, 1);
    const std::int64_t first = std::max<std::int64_t>((behind - c.stored.extent()) / step, 0);
    const std::int64_t last = std::min((behind + read.extent()) / step, placed.count - 1);
    for (std::int64_t j = first; j <= last; ++j) {
      Rectangle written = c.stored;
      written.begin += j * c.stride;
      if (overlap(read, written)) {
        return wrong(GemmArgument::c, "c overlaps %, expected memory of its own",
                     name_of(placed.names[operand]));
      }
    }
    read.begin += other.stride;
  }
  return {};
}

// `count` matrices are within their buffer, which has `bytes`.
Status Gemm::State::check_operand(const Operand& operand, GemmArgument argument, std::int64_t count,
                                  std::uint64_t& bytes) const {
  if (operand.stride < 0) {
    return wrong(argument, "the stride of % is %, expected at least 0", name_of(argument),
                 operand.stride);
  }
  std::int64_t elements = 0;
  if (!elements_needed(operand, count, elements)) {
    return wrong(argument, "% would reach beyond 2^60 elements", name_of(argument));
  }
  bytes = static_cast<std::uint64_t>(elements) * element_bytes;
  Status status = device.check_buffer(operand.buffer, bytes);
  if (status.ok()) return status;
  return wrong(argument, "%: %", name_of(argument), status.message());
}

// With alpha 0 only C is the caller's.
Status Gemm::State::check(PlacedProduct& placed) const {
  for (std::size_t i = placed.alpha == 0 ? 2 : 0; i < 3; ++i) {
    Operand& operand = placed.operands[i];
    Status status = check_operand(operand, placed.names[i], placed.count, operand.seen_bytes);
    if (!status.ok()) return status;
  }
  const Operand& c = placed.operands[2];
  if (overlap_each_other(c.stored, placed.count, c.stride)) {
    return wrong(GemmArgument::c, "c: the results overlap with a stride of %, expected them apart",
                 c.stride);
  }
  if (placed.alpha == 0) return {};
  Status status = check_overlap(placed, 0);
  return status.ok() ? check_overlap(placed, 1) : status;
}

// --- launches ------------------------------------------------------------------------------------

Status Gemm::State::launch(const PlacedProduct& placed, std::int64_t links, const Argument& table,
                           const LaunchOptions& options) {
  if (placed.m <= rows_at_once) return launch_rows(placed, links, table, options);
  PlacedProduct part = placed;
  auto& [a, b, c] = part.operands;
  const std::int64_t per_row = (links & gemm::kPanelsA) != 0 ? gemm::whole_panels(placed.k)
                               : a.turned                    ? 1
                                                             : a.stored.leading;
  for (std::int64_t left = placed.m; left > 0; left -= part.m) {
    part.m = std::min(left, rows_at_once);
    if ((links & gemm::kPanelsA) == 0) (a.turned ? a.stored.columns : a.stored.rows) = part.m;
    c.stored.rows = part.m;
    LaunchOptions these = options;
    if (left > part.m) these.event = nullptr;
    Status status = left == part.m ? before_last(options) : Status();
    if (status.ok()) status = launch_rows(part, links, table, these);
    if (!status.ok()) return status;
    a.stored.begin += part.m * per_row;
    c.stored.begin += part.m * c.stored.leading;
  }
  return {};
}

Status Gemm::State::launch_rows(const PlacedProduct& placed, std::int64_t links,
                                const Argument& table, const LaunchOptions& options) {
  std::int32_t pads[3];
  std::int64_t steps[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const Operand& operand = placed.operands[i];
    pads[i] = static_cast<std::int32_t>(operand.stored.leading - operand.stored.columns);
    const bool stays = i < 2 && (links & (std::int64_t{2} << i)) != 0;
    steps[i] = placed.count == 1 || stays ? 0 : operand.stride - dense_size(operand);
  }
  if (links == kScattered) {
    for (std::size_t i = 0; i < 3; ++i) steps[i] = -dense_size(placed.operands[i]);
  }
  const auto& [a, b, c] = placed.operands;
  const Argument arguments[] = {a.buffer,       b.buffer,    c.buffer,       table,
                                placed.alpha,   placed.beta, a.stored.begin, b.stored.begin,
                                c.stored.begin, pads[0],     pads[1],        pads[2],
                                steps[0],       steps[1],    steps[2]};
  // Where a table is needed it is another one than no_table, of which nothing was seen. Nothing is
  // asked of scalars.
  std::uint64_t seen[std::size(arguments)];
  for (std::size_t i = 0; i < 3; ++i) seen[i] = placed.operands[i].seen_bytes;
  seen[3] = links == kScattered ? 0 : sizeof(std::int64_t);
  LaunchOptions seen_there = options;
  seen_there.buffer_bytes = seen;
  return kernel.launch(
      seen_there,
      {placed.m, placed.n, placed.k, placed.count, a.turned ? 1 : 0, b.turned ? 1 : 0, links},
      arguments);
}

// Whether the buffers hold what they would have to if the matrices lay one after another, which the
// kernels' description says: not where those of A or B overlap.
bool Gemm::State::holds_dense(const PlacedProduct& placed) const {
  for (const Operand& operand : placed.operands) {
    const std::int64_t size = dense_size(operand);
    if (operand.stride == 0 || operand.stride >= size) continue;
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(size, placed.count * element_bytes, &elements) ||
        !device.check_buffer(operand.buffer, static_cast<std::uint64_t>(elements)).ok()) {
      return false;
    }
  }
  return true;
}

Status Gemm::State::enqueue_part(const PlacedProduct& placed, const LaunchOptions& options) {
  std::int64_t links = placed.panels;
  if (placed.count > 1) {
    if (placed.operands[0].stride == 0) links |= kSharedA;
    if (placed.operands[1].stride == 0) links |= kSharedB;
  }
  return launch(placed, links, no_table_argument, options);
}

// What has been checked, in as many launches as it takes.
Status Gemm::State::enqueue(PlacedProduct& placed, const LaunchOptions& options) {
  const std::int64_t at_once = holds_dense(placed) ? kMaxProducts : 1;
  const bool several = placed.count > at_once;
  LaunchOptions without_event = options;
  without_event.event = nullptr;
  for (std::int64_t left = placed.count; left > 0;) {
    placed.count = std::min(left, at_once);
    left -= placed.count;
    Status status;
    if (several && left == 0) status = before_last(options);
    if (status.ok()) status = enqueue_part(placed, left > 0 ? without_event : options);
    if (!status.ok()) return status;
    for (Operand& operand : placed.operands) operand.stored.begin += placed.count * operand.stride;
  }
  return {};
}

Status Gemm::State::check_and_enqueue(PlacedProduct& placed, const LaunchOptions& options) {
  if (placed.m == 0 || placed.n == 0 || placed.count == 0) return {};
  if (placed.k == 0 || placed.alpha == 0) gemm::leave_out_products(placed);
  Status status = check(placed);
  return status.ok() ? enqueue(placed, options) : status;
}

Status Gemm::multiply(const Product& product, const LaunchOptions& options) {
  return multiply_strided(product, {}, options);
}

Status Gemm::multiply_strided(const Product& product, const Strides& strides,
                              const LaunchOptions& options) {
  PlacedProduct placed;
  Status status = gemm::place(product, strides.count, placed);
  if (!status.ok()) return status;
  const bool swapped = product.layout == MatrixLayout::column_major;
  placed.operands[swapped ? 1 : 0].stride = strides.a;
  placed.operands[swapped ? 0 : 1].stride = strides.b;
  placed.operands[2].stride = strides.c;
  return state_->check_and_enqueue(placed, options);
}

// --- opening, and what is known of a product -----------------------------------------------------

namespace {

// How many at once, and how many in the last part, if that has fewer; else 0.
struct Parts {
  Parts(std::int64_t all, std::int64_t at_once)
      : most(std::min(all, at_once)), rest(most > 0 ? all % most : 0) {}
  std::int64_t most, rest;
};

}  // namespace

Result<std::vector<Shape>> Gemm::State::shapes(const Product& product, std::int64_t count,
                                               GemmOperands operands) const {
  Product anywhere = product;
  for (MatrixPlace* place : {&anywhere.a, &anywhere.b, &anywhere.c}) {
    *place = {{}, 0, gemm::kMaxSize};
  }
  PlacedProduct placed;
  const Status status = gemm::place(anywhere, count, placed);
  if (!status.ok()) return status;
  std::int64_t shared = 0, panels = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_a = placed.names[i] == GemmArgument::a;
    const bool packed = operands == (is_a ? GemmOperands::a_packed : GemmOperands::b_packed);
    if (packed) placed.operands[i].turned = false;
    if (packed) panels |= gemm::kPanelsA << i;
    if (packed || operands == (is_a ? GemmOperands::a_shared : GemmOperands::b_shared))
      shared |= kSharedA << i;
  }
  const bool lie_anywhere = operands == GemmOperands::anywhere;
  const bool empty = placed.k == 0 || placed.alpha == 0;
  if (empty) {
    gemm::leave_out_products(placed);
    panels = 0;
    shared = kSharedA | kSharedB;
  }
  // As enqueue_scattered() does it.
  const bool scattered = lie_anywhere && queue != nullptr && !empty && placed.count > 1;
  if (lie_anywhere && !scattered) placed.count = std::min<std::int64_t>(placed.count, 1);
  std::vector<Shape> shapes;
  const Parts products(placed.count, kMaxProducts), rows(placed.m, rows_at_once);
  for (const std::int64_t some : {products.most, products.rest}) {
    for (const std::int64_t m : {rows.most, rows.rest}) {
      if ((some == 0 || m == 0) && !shapes.empty()) continue;
      const std::int64_t links = scattered ? kScattered : panels | (some > 1 ? shared : 0);
      shapes.push_back({m, placed.n, placed.k, some, placed.operands[0].turned ? 1 : 0,
                        placed.operands[1].turned ? 1 : 0, links});
    }
  }
  return shapes;
}

Gemm::Gemm(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&&) noexcept = default;
Gemm::~Gemm() = default;

Result<Gemm> Gemm::open(Agent& agent, Device& device, std::unique_ptr<ApplicationQueue> queue,
                        MatrixStorage storage) {
  std::vector<std::uint8_t> package = gemm::unpacked(gemm::package_bytes());
  if (storage == MatrixStorage::half) {
    package = gemm::unpacked(gemm::half_package_bytes(), Bytes(package));
  }
  Result<TunedKernel> kernel = agent.kernel(device, std::move(package));
  if (!kernel.ok()) return kernel.status();
  auto state = std::make_unique<State>(*kernel, device, storage);
  // An agent that tunes already has the device to itself, the application's queue has not.
  Result<std::unique_ptr<Buffer>> no_table = queue != nullptr
                                                 ? queue->allocate(sizeof(std::int64_t))
                                                 : device.allocate(sizeof(std::int64_t));
  if (!no_table.ok()) return no_table.status();
  state->no_table = std::move(*no_table);
  state->no_table_argument = state->no_table->argument();
  state->queue = std::move(queue);
  state->addresses = device.info().backend == "cuda";
  const std::uint64_t groups = device.info().max_groups[1];
  if (groups > 0 && groups < gemm::kMaxSize / gemm::kLeastRows) {
    const std::int64_t rows = static_cast<std::int64_t>(groups) * gemm::kLeastRows;
    state->rows_at_once = rows / gemm::kPanel * gemm::kPanel;
  }
  return Gemm(std::move(state));
}

Status Gemm::prepare(const Product& product, std::int64_t count, GemmOperands operands) {
  const Result<std::vector<Shape>> shapes = state_->shapes(product, count, operands);
  if (!shapes.ok()) return shapes.status();
  Status status;
  for (const Shape& shape : *shapes) {
    if (status.ok()) status = state_->kernel.prepare(shape);
  }
  return status;
}

Result<Explanation> Gemm::explain(const Product& product, std::int64_t count,
                                  GemmOperands operands) const {
  const Result<std::vector<Shape>> shapes = state_->shapes(product, count, operands);
  if (!shapes.ok()) return shapes.status();
  return state_->kernel.explain(shapes->front());
}

MatrixStorage Gemm::storage() const {
  return state_->element_bytes == 2 ? MatrixStorage::half : MatrixStorage::single;
}

GemmArgument Gemm::last_wrong_argument() { return gemm::last_wrong(); }

}  // namespace idletune
