#include "tests/lives/solver_device.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/krylov/kernel_sources.hpp"
#include "tests/unit/krylov/stored_product.hpp"

namespace idletune::lives {
namespace {

using krylov::Operation, krylov::SparseFormat;

class SolverBuffer final : public Buffer {
 public:
  // As a driver leaves it: nobody may count on zeros.
  explicit SolverBuffer(std::size_t bytes)
      : numbers_((bytes + 7) / 8, std::numeric_limits<double>::quiet_NaN()), bytes_(bytes) {}
  std::size_t size_bytes() const override { return bytes_; }
  Argument argument() const override {
    return Argument(const_cast<void*>(static_cast<const void*>(numbers_.data())));
  }

 private:
  std::vector<double> numbers_;
  const std::size_t bytes_;
};

std::uint8_t* bytes_of(const Buffer& buffer) {
  std::uint8_t* bytes = nullptr;
  std::memcpy(&bytes, buffer.argument().data(), sizeof bytes);
  return bytes;
}

// The arguments of a launch, one after the other.
class Passed {
 public:
  explicit Passed(Span<const Argument> arguments) : arguments_(arguments) {}
  template <class T>
  T next() {
    T value;
    if (arguments_[at_].size() != sizeof value) std::abort();
    std::memcpy(&value, arguments_[at_++].data(), sizeof value);
    return value;
  }
  std::size_t count() { return static_cast<std::size_t>(next<std::int32_t>()); }
  template <class Real>
  Real* numbers() {
    return next<Real*>();
  }
  std::vector<std::int32_t> indices(std::size_t n) {
    const auto* const from = next<std::int32_t*>();
    return {from, from + n};
  }

 private:
  Span<const Argument> arguments_;
  std::size_t at_ = 0;
};

// As DeviceMatrix::multiply passes it.
krylov::StoredPattern pattern_of(SparseFormat format, Passed& passed) {
  krylov::StoredPattern stored;
  stored.format = format;
  stored.rows = stored.columns = passed.next<std::int32_t>();
  const auto rows = static_cast<std::size_t>(stored.rows);
  std::size_t slots = 0, behind = 0;
  switch (format) {
    case SparseFormat::csr:
      slots = passed.count();
      stored.row_start = passed.indices(rows + 1);
      break;
    case SparseFormat::coo:
      slots = passed.count();
      stored.row = passed.indices(slots);
      break;
    case SparseFormat::dia:
      stored.columns = passed.next<std::int32_t>();
      stored.width = passed.next<std::int32_t>();
      stored.offset = passed.indices(static_cast<std::size_t>(stored.width));
      slots = static_cast<std::size_t>(stored.width) * rows;
      break;
    case SparseFormat::ell:
      stored.width = passed.next<std::int32_t>();
      slots = static_cast<std::size_t>(stored.width) * rows;
      break;
    case SparseFormat::hyb:
      stored.width = passed.next<std::int32_t>();
      behind = passed.count();
      stored.row = passed.indices(behind);
      slots = static_cast<std::size_t>(stored.width) * rows + behind;
      break;
    case SparseFormat::sell:
      slots = passed.count();
      stored.row_start = passed.indices((rows + krylov::kSliceRows - 1) / krylov::kSliceRows + 1);
      stored.row = passed.indices(rows);
      break;
  }
  stored.slots = static_cast<std::int32_t>(slots);
  if (format != SparseFormat::dia) stored.column = passed.indices(slots);
  return stored;
}

template <class Real>
Real sum_of_products(const Real* x, const Real* y, std::size_t n) {
  Real sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// What each of these kernels leaves (kernels/krylov/vectors).
template <class Real>
void run_dots(Passed passed, const Range& range) {
  const std::size_t n = passed.count(), slice = passed.count(), count = passed.count();
  const std::size_t stride = passed.count();
  const Real *const v = passed.numbers<Real>(), *const w = passed.numbers<Real>();
  const std::size_t first = passed.count(), groups = range.global[0] / range.local[0];
  Real* const parts = passed.numbers<Real>();
  const std::size_t products = range.dimensions > 1 ? range.global[1] : 1;
  for (std::size_t k = 0; k < products; ++k) {
    const Real* const x = k < count ? v + k * stride : w;
    for (std::size_t g = 0; g < groups; ++g)
      parts[first + k * groups + g] =
          sum_of_products(x + g * slice, w + g * slice, std::min(slice, n - g * slice));
  }
}

template <class Real>
void run_combine(Passed passed) {
  const std::size_t n = passed.count(), count = passed.count(), stride = passed.count();
  const auto own = passed.next<Real>();
  Real factors[8];
  for (Real& factor : factors) factor = passed.next<Real>();
  const Real* const v = passed.numbers<Real>();
  Real* const w = passed.numbers<Real>();
  for (std::size_t i = 0; i < n; ++i) {
    Real sum = own * w[i];
    for (std::size_t k = 0; k < count; ++k) sum += factors[k] * v[k * stride + i];
    w[i] = sum;
  }
}

template <class Real>
void run_pointwise(Passed passed) {
  const std::size_t n = passed.count();
  const Real *const d = passed.numbers<Real>(), *const x = passed.numbers<Real>();
  Real* const z = passed.numbers<Real>();
  for (std::size_t i = 0; i < n; ++i) z[i] = d[i] * x[i];
}

// All of its sums in the first pair.
template <class Real>
void run_cg_step(Passed passed, const Range& range, bool has_diagonal, bool spoilt) {
  const std::size_t n = passed.count();
  const auto alpha = passed.next<Real>(), beta = passed.next<Real>();
  const Real *const diagonal = passed.numbers<Real>(), *const q = passed.numbers<Real>();
  Real *const x = passed.numbers<Real>(), *const r = passed.numbers<Real>(),
              *const p = passed.numbers<Real>();
  Real* const parts = passed.numbers<Real>();
  std::fill_n(parts, 2 * range.global[0] / range.local[0], Real{0});
  for (std::size_t i = 0; i < n; ++i) {
    if (!spoilt || i != n / 2) x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    const Real z = has_diagonal ? diagonal[i] * r[i] : r[i];
    p[i] = z + beta * p[i];
    parts[0] += r[i] * r[i];
    parts[1] += r[i] * z;
  }
}

int option(std::string_view options, std::string_view key) {
  const std::size_t at = options.find(key);
  return at == std::string_view::npos
             ? 0
             : std::atoi(std::string(options.substr(at + key.size(), 8)).c_str());
}

}  // namespace

class SolverDevice::SolverProgram final : public Program {
 public:
  SolverProgram(SolverDevice& device, Operation operation, const krylov::ProductKernel& kernel,
                bool single)
      : device_(device), operation_(operation), kernel_(kernel), single_(single) {}

  Status enqueue(std::uint32_t, const Range& range, Span<const Argument> arguments,
                 const LaunchOptions&, void**) override {
    return single_ ? run<float>(Passed(arguments), range) : run<double>(Passed(arguments), range);
  }
  std::uint32_t lanes() const override { return 1; }
  std::uint64_t max_work_group_size() const override { return 1024; }
  std::uint64_t local_memory_bytes() const override { return 0; }

 private:
  template <class Real>
  Status run(const Passed& passed, const Range& range) {
    if (operation_ < Operation::dots) return multiply<Real>(passed, range);
    device_.script_.on_other();
    switch (operation_) {
      case Operation::dots: run_dots<Real>(passed, range); break;
      case Operation::combine: run_combine<Real>(passed); break;
      case Operation::pointwise: run_pointwise<Real>(passed); break;
      default: {
        const Result<bool> spoilt = device_.script_.on_step();
        if (!spoilt.ok()) return spoilt.status();
        run_cg_step<Real>(passed, range, kernel_.variant.fused == 2, *spoilt);
      }
    }
    return {};
  }
  template <class Real>
  Status multiply(Passed passed, const Range& range) {
    const krylov::StoredPattern stored = pattern_of(kernel_.format, passed);
    const auto rows = static_cast<std::size_t>(stored.rows);
    const auto columns = static_cast<std::size_t>(stored.columns);
    const auto* const numbers = passed.numbers<Real>();
    const std::vector<double> values(numbers, numbers + stored.slots);
    const auto* const from = passed.numbers<Real>();
    const std::vector<double> x(from, from + columns);
    Real* const to = passed.numbers<Real>();
    std::vector<double> y(rows);
    test::multiply(stored, values, x, y);
    Status status = device_.script_.on_product(kernel_, y);
    for (std::size_t i = 0; i < rows; ++i) to[i] = static_cast<Real>(y[i]);
    if (kernel_.variant.fused == 0 || !status.ok()) return status;
    const Real* const diagonal = passed.numbers<Real>();
    const std::size_t first = passed.count();
    Real* const parts = passed.numbers<Real>() + 2 * first;
    std::fill_n(parts, 2 * range.global[0] / range.local[0], Real{0});
    for (std::size_t i = 0; i < rows; ++i) {
      parts[0] += static_cast<Real>(x[i] * y[i]);
      parts[1] += static_cast<Real>(y[i] * y[i]) * (kernel_.variant.fused == 2 ? diagonal[i] : 1);
    }
    return status;
  }

  SolverDevice& device_;
  const Operation operation_;
  const krylov::ProductKernel kernel_;
  const bool single_;  // numbers of four bytes
};

SolverDevice::SolverDevice(const std::string& driver, SolverScript script)
    : script_(std::move(script)) {
  info_.backend = "played";
  info_.platform = "test";
  info_.name = "board";
  info_.driver = driver;
}

Result<std::unique_ptr<Program>> SolverDevice::compile(const CompileRequest& request) {
  std::size_t operation = 0;
  while (request.entry != krylov::kKernelSources[operation].entry) ++operation;
  krylov::ProductKernel kernel;
  kernel.variant.work_group = option(request.options, "-DWG=");
  kernel.variant.kind = option(request.options, "-DGROUP_PER_ROW=");
  kernel.variant.fused = option(request.options, "-DCG_SUMS=");
  if (const int lanes = option(request.options, "-DLANES="); lanes > 1) kernel.variant.kind = lanes;
  if (operation < krylov::kSparseFormats) {
    kernel.format = static_cast<SparseFormat>(operation);
    if (Status status = script_.on_compile(kernel); !status.ok()) return status;
  }
  return std::unique_ptr<Program>(new SolverProgram(*this, static_cast<Operation>(operation),
                                                    kernel,
                                                    option(request.options, "-DPRECISION=") != 64));
}

Result<std::unique_ptr<Buffer>> SolverDevice::allocate(std::size_t bytes) {
  return std::unique_ptr<Buffer>(std::make_unique<SolverBuffer>(bytes));
}

Status SolverDevice::write(Buffer& buffer, std::size_t offset, Bytes data) {
  if (offset + data.size() > buffer.size_bytes()) std::abort();
  std::copy(data.begin(), data.end(), bytes_of(buffer) + offset);
  script_.on_copy(data.size());
  return {};
}

Status SolverDevice::read(const Buffer& buffer, std::size_t offset, MutableBytes data) {
  if (offset + data.size() > buffer.size_bytes()) std::abort();
  std::copy_n(bytes_of(buffer) + offset, data.size(), data.begin());
  script_.on_copy(data.size());
  return {};
}

Result<RunTimes> SolverDevice::run(Program&, const Range&, Span<const Argument>, Nanoseconds) {
  return Status(StatusCode::unsupported, "solvers launch");
}

Result<Nanoseconds> SolverDevice::elapsed(void*) {
  return Status(StatusCode::unsupported, "no profile");
}

Status SolverQueue::copy(const Buffer& from, std::size_t from_offset, Buffer& to,
                         std::size_t to_offset, std::size_t bytes) {
  if (from_offset + bytes > from.size_bytes() || to_offset + bytes > to.size_bytes()) std::abort();
  std::copy_n(bytes_of(from) + from_offset, bytes, bytes_of(to) + to_offset);
  return {};
}

}  // namespace idletune::lives
