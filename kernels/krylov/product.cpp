#include "kernels/krylov/product.hpp"

#include <cmath>
#include <utility>

#include "kernels/krylov/formats.hpp"
#include "kernels/krylov/product_check.hpp"
#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {
namespace {

constexpr KernelVariant kUsual{0, 64};
constexpr StatusCode kUnjudged = StatusCode::busy;  // numbers out of the range say nothing
constexpr double kSumRounding = 64 * 0x1p-53;  // of sums over groups, as a share of their terms

Status unjudged() { return {kUnjudged, ""}; }

FirstRuns::End how_ended(const Result<bool>& right) {
  if (right.ok()) return *right ? FirstRuns::End::well : FirstRuns::End::wrong;
  switch (right.code()) {
    case StatusCode::compile_error:
    case StatusCode::unsupported:
    case kUnjudged:
    case StatusCode::out_of_memory: return FirstRuns::End::did_not_run;
    default: return FirstRuns::End::died;
  }
}

}  // namespace

Product::Product(DeviceKernels& kernels, ApplicationQueue& queue, const SparseMatrix& matrix,
                 const SolverOptions& options)
    : kernels_(kernels),
      queue_(queue),
      matrix_(matrix),
      options_(options),
      choice_(options, model_) {
  if (!options_.fixed_format) options_.format = SparseFormat::csr;
}

Status Product::put(Result<StoredPattern> stored) {
  if (!stored.ok()) return std::move(stored).status();
  const SparseFormat format = stored->format;
  auto form = std::make_unique<DeviceMatrix>(queue_, std::move(*stored), kernels_.number_bytes());
  if (Status status = form->upload(matrix_.values, PowerOfTwo(fit_.exponent)); !status.ok())
    return status;
  forms_[static_cast<std::size_t>(format)] = std::move(form);
  return {};
}

void Product::open_notes(Notes* notes, std::uint64_t structure) {
  first_runs_.open(notes, kernels_.device().info(), kernels_.number_bytes(), structure);
  choice_.refuse(first_runs_.marks());
}

Status Product::start() {
  const Stopwatch watch(kernels_.device());
  Status status =
      model_.open(options_.model, kernels_.device().info().name, kernels_.number_bytes());
  options_.model = {};
  if (!status.ok()) return status;
  fit_ = fitting(matrix_.values, kernels_.number_bytes());
  SparseFormat format = options_.format;
  std::string reason;
  if (choice_.entrants(format).empty()) {
    reason = joined("no kernel of % may run; CSR is used", sparse_format_name(format));
    format = SparseFormat::csr;
  }
  const std::size_t bytes = kernels_.number_bytes();
  if (format != SparseFormat::csr) {
    status = put(krylov::convert(matrix_.pattern, format, bytes, options_.format_limit_bytes));
    if (status.code() == StatusCode::out_of_memory) {
      reason = joined("%; CSR is used", status.message());
      format = SparseFormat::csr;
    }
  }
  if (format == SparseFormat::csr)
    status = put(krylov::convert(matrix_.pattern, format, bytes, UINT64_MAX));
  if (!status.ok()) return status;
  choice_.begins_in(format, watch.seconds(), reason);
  return begin();
}

// With the first kernel that may run and can be compiled.
Status Product::begin() {
  for (;;) {
    const ProductKernel first{choice_.active(), choice_.race().current()};
    Status status(StatusCode::device_error, "%: no kernel may run",
                  sparse_format_name(first.format));
    const bool tried = first_runs_.announce_and_wait(first) != FirstRuns::Answer::never;
    if (tried) {
      const Stopwatch watch(kernels_.device());
      status = kernels_.get(form().operation(), first.variant).status();
      choice_.compiled(watch.seconds());
      if (status.ok()) return status;
      first_runs_.ended(first, how_ended(Result<bool>(status)));
    }
    const ProductChoice::Left left = choice_.failed(tried);
    if (left == ProductChoice::Left::nothing) return status;
    if (left == ProductChoice::Left::rows) return begin_in_rows();
  }
}

// In place of a format that was given.
Status Product::begin_in_rows() {
  const Stopwatch watch(kernels_.device());
  Status status =
      put(krylov::convert(matrix_.pattern, SparseFormat::csr, kernels_.number_bytes(), UINT64_MAX));
  if (!status.ok()) return status;
  choice_.begins_in(SparseFormat::csr, watch.seconds(), choice_.conversion().reason);
  return begin();
}

Status Product::values_changed() {
  fit_ = fitting(matrix_.values, kernels_.number_bytes());
  for (const auto& form : forms_) {
    if (!form) continue;
    Status status = form->upload_values(matrix_.values, PowerOfTwo(fit_.exponent));
    if (!status.ok()) return status;
  }
  return {};
}

Status Product::multiply(const Buffer& x, Buffer& y) {
  if (choice_.race().running()) return measured(x, y);
  choice_.ran();
  return run({choice_.active(), choice_.race().best()}, x, y);
}

Status Product::run(const ProductKernel& kernel, const Buffer& x, Buffer& y,
                    const FusedProduct* fused) {
  return form(kernel.format).multiply(kernels_, kernel.variant, x, y, fused);
}

Status Product::measured(const Buffer& x, Buffer& y) {
  Status status = queue_.wait();
  // Which there was no room for when a format that was given had failed.
  if (status.ok() && !forms_[static_cast<std::size_t>(choice_.active())]) status = begin_in_rows();
  if (!status.ok()) return status;
  const bool first = choice_.race().first_run();
  const std::uint32_t count = choice_.race().in_a_row();
  const ProductKernel kernel{choice_.active(), choice_.race().current()};
  const Stopwatch since_asked(kernels_.device());
  if (first) {
    const std::optional<ProductKernel> known = choice_.known();
    const bool waits = options_.choosing == Choosing::always || !known;
    switch (waits ? first_runs_.announce_and_wait(kernel) : first_runs_.announce(kernel)) {
      case FirstRuns::Answer::begin: break;
      case FirstRuns::Answer::wait: choice_.ran(); return run(*known, x, y);
      case FirstRuns::Answer::never:
        return without_it({StatusCode::device_error, "a kernel that may not run"}, false, x, y);
    }
  }
  const Stopwatch watch(kernels_.device());
  for (std::uint32_t i = 0; i < count && status.ok(); ++i) status = run(kernel, x, y);
  if (status.ok()) status = queue_.wait();
  const double seconds = watch.seconds() / count;
  if (!first) {
    if (status.ok()) choice_.took(seconds * 1e6);
    return status;
  }
  const Result<bool> checked = status.ok() ? right(x, y) : Result<bool>(std::move(status));
  first_runs_.ended(kernel, how_ended(checked));
  const double trial = since_asked.seconds();
  const bool is_right = checked.ok() && *checked;
  choice_.tried(trial, is_right);
  tuning_seconds_ += trial;
  if (checked.code() == kUnjudged) return choice_.ran(), Status();  // its next run is its first
  if (is_right) {
    choice_.took(seconds * 1e6);
    return {};
  }
  if (!checked.ok()) return without_it(checked.status(), true, x, y);
  return without_it({StatusCode::device_error, "%: the device's product is not that of the rows",
                     sparse_format_name(kernel.format)},
                    true, x, y);
}

// The product is due all the same.
Status Product::without_it(Status why, bool tried, const Buffer& x, Buffer& y) {
  switch (choice_.failed(tried)) {
    case ProductChoice::Left::best: return run({choice_.active(), choice_.race().best()}, x, y);
    case ProductChoice::Left::next:
    case ProductChoice::Left::rows: return measured(x, y);
    case ProductChoice::Left::nothing: break;
  }
  return why;
}

// Each work-group leaves a pair of sums: with more groups than the usual kernel has, adding those
// up takes longer than the faster product saves.
ProductKernel Product::fused_kernel(bool diagonal) const {
  ProductKernel kernel{choice_.active(), choice_.race().best()};
  if (form().groups(kernel.variant) > form().groups(kUsual)) kernel.variant = kUsual;
  kernel.variant.fused = diagonal ? 2 : 1;
  return kernel;
}

FirstRuns::Answer Product::may_fuse(bool diagonal) {
  const ProductKernel kernel = fused_kernel(diagonal);
  if (fused_ && same(*fused_, kernel)) return FirstRuns::Answer::begin;
  return first_runs_.announce(kernel);
}

Result<bool> Product::multiply_fused(const FusedProduct& fused, const Buffer& x, Buffer& y) {
  choice_.ran();
  const ProductKernel running = fused_kernel(fused.diagonal != nullptr);
  if (fused_ && same(*fused_, running)) {
    Status status = run(running, x, y, &fused);
    if (!status.ok()) return status;
    return true;
  }
  if (Status status = queue_.wait(); !status.ok()) return status;
  const Stopwatch watch(kernels_.device());
  if (first_runs_.announce(running) != FirstRuns::Answer::begin) return false;
  Status status = run(running, x, y, &fused);
  if (status.ok()) status = queue_.wait();
  Result<bool> fine = status.ok() ? right(x, y) : Result<bool>(std::move(status));
  if (fine.ok() && *fine) fine = right_sums(fused, form().groups(running.variant));
  first_runs_.ended(running, how_ended(fine));
  tuning_seconds_ += watch.seconds();
  if (!fine.ok() || !*fine) return false;
  fused_ = running;
  return true;
}

Result<bool> Product::right(const Buffer& x, const Buffer& y) {
  host_x_.resize(static_cast<std::size_t>(matrix_.pattern.columns));
  host_y_.resize(static_cast<std::size_t>(matrix_.pattern.rows));
  Status status = read_numbers(queue_, x, kernels_.number_bytes(), host_x_);
  if (status.ok()) status = read_numbers(queue_, y, kernels_.number_bytes(), host_y_);
  if (!status.ok()) return status;
  // Empty slots times what is not finite are no zeros.
  double zero = 0;
  for (const double number : host_x_) zero += 0 * number;
  if (zero != 0) return unjudged();
  return is_product(matrix_, host_x_, host_y_, kernels_.number_bytes() == sizeof(double),
                    PowerOfTwo(fit_.exponent));
}

Result<bool> Product::right_sums(const FusedProduct& fused, std::size_t pairs) {
  const auto before = static_cast<std::size_t>(fused.first_part);
  std::vector<double> parts(2 * (before + pairs)), diagonal(host_y_.size(), 1.0);
  const std::size_t bytes = kernels_.number_bytes();
  Status status = read_numbers(queue_, *fused.parts, bytes, parts);
  if (status.ok() && fused.diagonal != nullptr)
    status = read_numbers(queue_, *fused.diagonal, bytes, diagonal);
  if (!status.ok()) return status;
  const double smallest = bytes == sizeof(double) ? 0x1p-1022 : 0x1p-126;
  for (std::size_t sum = 0; sum < 2; ++sum) {
    double expected = 0, magnitude = 0;
    double squares = 0;  // which the device makes first, also where the term is small
    double lost = 0;     // where squares below the range are taken for 0
    for (std::size_t i = 0; i < host_y_.size(); ++i) {
      const double term = host_y_[i] * (sum == 0 ? host_x_[i] : host_y_[i] * diagonal[i]);
      expected += term;
      magnitude += std::fabs(term);
      squares += host_y_[i] * host_y_[i];
      lost += smallest * (1 + std::fabs(diagonal[i]));
    }
    if (!(magnitude + squares < 1 / smallest)) return unjudged();
    for (std::size_t i = before; i < before + pairs; ++i) expected -= parts[2 * i + sum];
    const double rounding = bytes == sizeof(double) ? kSumRounding : kSumRounding * 0x1p29;
    if (!(std::fabs(expected) <= rounding * magnitude + lost)) return false;
  }
  return true;
}

Status Product::look_ahead(const Outlook& outlook) {
  if (background_.started()) {
    // Whose thread would disturb what is measured meanwhile: nothing is.
    if (!background_.done()) return {};
    Result<StoredPattern> stored = background_.take();
    if (Status status = adopt(std::move(stored), background_.seconds()); !status.ok())
      return status;
  }
  for (;;) {
    const Stopwatch watch(kernels_.device());
    switch (choice_.look_ahead(outlook)) {
      case ProductChoice::Wish::nothing: return {};
      case ProductChoice::Wish::features:
        model_.look_at(matrix_.pattern);
        choice_.looked(watch.seconds());
        tuning_seconds_ += watch.seconds();
        break;
      case ProductChoice::Wish::sizes: compute_sizes(); break;
      case ProductChoice::Wish::conversion:
        if (Status status = convert(); !status.ok() || background_.started()) return status;
        break;
    }
  }
}

void Product::compute_sizes() {
  const Stopwatch watch(kernels_.device());
  std::array<std::uint64_t, kSparseFormats> bytes;
  for (std::size_t i = 0; i < kSparseFormats; ++i)
    bytes[i] = stored_bytes(matrix_.pattern, static_cast<SparseFormat>(i), kernels_.number_bytes());
  choice_.sized(bytes,
                2.0 * static_cast<double>(kernels_.number_bytes()) *
                    static_cast<double>(matrix_.pattern.rows),
                watch.seconds());
  tuning_seconds_ += watch.seconds();
}

// Who wants everything tried waits for it; else iterations go on meanwhile.
Status Product::convert() {
  const std::uint64_t limit = options_.format_limit_bytes;
  const std::size_t bytes = kernels_.number_bytes();
  if (options_.own_thread && options_.choosing != Choosing::always &&
      background_.start(matrix_.pattern, choice_.wanted(), bytes, limit))
    return {};
  const Stopwatch watch(kernels_.device());
  auto stored = krylov::convert(matrix_.pattern, choice_.wanted(), bytes, limit);
  const double seconds = watch.seconds();
  tuning_seconds_ += seconds;
  return adopt(std::move(stored), seconds);
}

// Between two iterations, by the calling thread: its numbers may have changed meanwhile.
Status Product::adopt(Result<StoredPattern> stored, double conversion_seconds) {
  const Stopwatch watch(kernels_.device());
  Status status = put(std::move(stored));
  const double seconds = watch.seconds();
  tuning_seconds_ += seconds;
  if (status.code() == StatusCode::out_of_memory) {
    choice_.no_room(status.message());
    return {};
  }
  if (status.ok()) choice_.converted(conversion_seconds + seconds);
  return status;
}

Chosen Product::chosen(bool fused) const {
  Chosen chosen;
  const KernelVariant best = fused ? fused_kernel(false).variant : choice_.race().best();
  chosen.fused = fused;
  chosen.format = choice_.active();
  chosen.group_per_row = best.kind == 1;
  chosen.lanes = static_cast<std::uint32_t>(best.lanes());
  chosen.work_group = static_cast<std::uint32_t>(best.work_group);
  chosen.predicted_us = choice_.predicted_us(chosen.format);
  chosen.measured_us = choice_.race().best_us();
  chosen.times_measured = choice_.race().times_measured();
  return chosen;
}

}  // namespace idletune::krylov
