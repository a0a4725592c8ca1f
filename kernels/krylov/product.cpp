#include "kernels/krylov/product.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "kernels/krylov/formats.hpp"
#include "kernels/krylov/product_check.hpp"
#include "kernels/krylov/stopwatch.hpp"

namespace idletune::krylov {
namespace {

constexpr double kHopedGain = 0.2;     // of a further kernel, as a share of the best one's time
constexpr double kReserve = 1.25;      // expected gain over cost that a conversion must promise
constexpr double kWorthALook = 40;     // products for which formats are sized: a few are its price
constexpr double kFeatureCost = 10;    // products that features take at most
constexpr std::size_t kConfirmed = 3;  // of a format, where a model says which
constexpr double kLeastGain = 0.03;    // predicted, as a share
constexpr double kConvertPerUpload = 3;  // a conversion's time over that of as many bytes of CSR
// Predicted time over that of as many bytes of CSR, by SparseFormat: bisection costs COO some.
constexpr double kEffort[kSparseFormats] = {1, 1.4, 1, 1, 1.15};

constexpr KernelVariant kVariants[] = {{0, 64},  {0, 256}, {0, 16}, {1, 16},  {1, 32},  {0, 128},
                                       {0, 512}, {0, 32},  {1, 64}, {1, 128}, {1, 256}, {1, 512}};

std::string text(const char* format, double a, double b, double c = 0, double d = 0) {
  char line[256];
  std::snprintf(line, sizeof line, format, a, b, c, d);
  return line;
}

}  // namespace

Product::Product(DeviceKernels& kernels, ApplicationQueue& queue, const SparseMatrix& matrix,
                 const SolverOptions& options)
    : kernels_(kernels), queue_(queue), matrix_(matrix), options_(options) {
  if (!options_.fixed_format) options_.format = SparseFormat::csr;
  conversion_.reason = options_.choosing == Choosing::none
                           ? "nothing else was to be tried"
                           : "there were too few products to compare formats";
}

Status Product::put(SparseFormat format) {
  const auto i = static_cast<std::size_t>(format);
  const std::uint64_t limit =
      format == SparseFormat::csr ? UINT64_MAX : options_.format_limit_bytes;
  auto stored = krylov::convert(matrix_.pattern, format, kernels_.number_bytes(), limit);
  if (!stored.ok()) return stored.status();
  auto form = std::make_unique<DeviceMatrix>(queue_, std::move(*stored), kernels_.number_bytes());
  if (Status status = form->upload(matrix_.values); !status.ok()) return status;
  forms_[i] = std::move(form);
  const bool one = options_.choosing == Choosing::none;
  std::vector<KernelVariant> variants = model_.fastest(format, one ? 1 : kConfirmed);
  if (variants.empty())
    variants.assign(std::begin(kVariants), one ? std::begin(kVariants) + 1 : std::end(kVariants));
  races_[i].begin(std::move(variants));
  active_ = format;
  return {};
}

Status Product::start() {
  const Clock::time_point begin = Clock::now();
  Status status = model_.open(options_.model, kernels_);
  options_.model = {};
  if (!status.ok()) return status;
  status = put(options_.format);
  if (status.code() == StatusCode::out_of_memory && options_.format != SparseFormat::csr) {
    conversion_.reason = joined({status.message(), "; CSR is used"});
    status = put(SparseFormat::csr);
  } else if (options_.fixed_format) {
    conversion_.verdict = Conversion::Verdict::fixed;
    conversion_.reason = "the format was given";
  }
  upload_seconds_ = seconds_since(begin);
  if (!status.ok()) return status;
  return kernels_.get(form().operation(), race().current()).status();
}

Status Product::values_changed() {
  for (const auto& form : forms_) {
    if (!form) continue;
    if (Status status = form->upload_values(matrix_.values); !status.ok()) return status;
  }
  return {};
}

Status Product::multiply(const Buffer& x, Buffer& y) {
  ++products_;
  if (race().running()) return measured(x, y);
  return form().multiply(kernels_, race().best(), x, y);
}

Status Product::measured(const Buffer& x, Buffer& y) {
  if (Status status = queue_.wait(); !status.ok()) return status;
  const bool first = race().first_run();
  const Clock::time_point begin = Clock::now();
  Status status = form().multiply(kernels_, race().current(), x, y);
  if (status.ok()) status = queue_.wait();
  const double seconds = seconds_since(begin);
  if (!first) {
    race().took(seconds * 1e6);
    return status;
  }
  bool fine = status.ok();
  if (fine) {
    const Result<bool> checked = right(x, y);
    if (!checked.ok()) return checked.status();
    fine = *checked;
  }
  ++trials_;
  trial_seconds_ += seconds_since(begin);
  tuning_seconds_ += seconds_since(begin);
  if (fine) {
    race().took(seconds * 1e6);
    return {};
  }
  // What nobody has found right yet must be: of CSR the first kernel, of others CSR.
  race().failed();
  if (race().best_us() > 0) return form().multiply(kernels_, race().best(), x, y);
  if (active_ == SparseFormat::csr || !forms_[0]) {
    if (!status.ok()) return status;
    return {StatusCode::device_error,
            {sparse_format_name(active_), ": the device's product is not that of the rows"}};
  }
  active_ = SparseFormat::csr;
  conversion_.verdict = Conversion::Verdict::reverted;
  conversion_.reason = "the product in the other format was wrong or did not run";
  return form().multiply(kernels_, race().best(), x, y);
}

// Each work-group leaves a pair of sums: with more groups than the usual kernel has, adding those
// up takes longer than the faster product saves.
KernelVariant Product::fused_kernel() const {
  const KernelVariant best = race().best();
  return form().groups(best) <= form().groups(kVariants[0]) ? best : kVariants[0];
}

Result<bool> Product::multiply_fused(const FusedProduct& fused, const Buffer& x, Buffer& y) {
  ++products_;
  const KernelVariant kernel = fused_kernel();
  if (fused_format_ == active_ && same(fused_kernel_, kernel)) {
    const Status status = form().multiply(kernels_, kernel, x, y, &fused);
    if (!status.ok()) return status;
    return true;
  }
  const Clock::time_point begin = Clock::now();
  Status status = form().multiply(kernels_, kernel, x, y, &fused);
  if (status.ok()) status = queue_.wait();
  Result<bool> fine = false;
  if (status.ok()) fine = right(x, y);
  tuning_seconds_ += seconds_since(begin);
  if (!fine.ok() || !*fine) return fine;
  fused_format_ = active_;
  fused_kernel_ = kernel;
  return true;
}

Result<bool> Product::right(const Buffer& x, const Buffer& y) {
  host_x_.resize(static_cast<std::size_t>(matrix_.pattern.columns));
  host_y_.resize(static_cast<std::size_t>(matrix_.pattern.rows));
  Status status = read_numbers(queue_, x, kernels_.number_bytes(), host_x_);
  if (status.ok()) status = read_numbers(queue_, y, kernels_.number_bytes(), host_y_);
  if (!status.ok()) return status;
  return is_product(matrix_, host_x_, host_y_, kernels_.number_bytes() == sizeof(double));
}

Status Product::look_ahead(const Outlook& outlook) {
  if (race().running()) return {};
  consult_model(outlook);
  go_on(outlook);
  if (race().running()) return {};
  if (active_ != SparseFormat::csr) {
    judge_conversion();
    return {};
  }
  return think_of_conversion(outlook);
}

// Features are computed where what a better kernel is hoped to save pays for them.
void Product::consult_model(const Outlook& outlook) {
  if (!model_.open() || model_.looked() || options_.choosing == Choosing::none) return;
  const bool pays = kHopedGain * outlook.low > kFeatureCost;
  if (options_.choosing != Choosing::always && !pays) return;
  const Clock::time_point begin = Clock::now();
  model_.look_at(matrix_.pattern);
  tuning_seconds_ += seconds_since(begin);
  const std::vector<KernelVariant> next = model_.fastest(active_, kConfirmed);
  if (!next.empty()) race().follow(next);
}

void Product::go_on(const Outlook& outlook) {
  if (race().over() || race().best_us() == 0) return race().go_on();
  const double trial =
      kernels_.has(form().operation(), race().next()) || trials_ == 0 ? 0 : usual_trial_seconds();
  const double hoped_us = kHopedGain * race().best_us() * outlook.low;
  if (options_.choosing == Choosing::always || hoped_us > trial * 1e6 + 2 * race().best_us()) {
    race().go_on();
  }
}

void Product::size_formats() {
  const double vectors = 2.0 * static_cast<double>(kernels_.number_bytes()) *
                         static_cast<double>(matrix_.pattern.rows);
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    stored_bytes_[i] =
        stored_bytes(matrix_.pattern, static_cast<SparseFormat>(i), kernels_.number_bytes());
    predicted_us_[i] = csr_us() * kEffort[i] * (static_cast<double>(stored_bytes_[i]) + vectors) /
                       (static_cast<double>(stored_bytes_[0]) + vectors);
    // What the model says of CSR and what was measured say how it errs about this matrix.
    const auto format = static_cast<SparseFormat>(i);
    const double expected_csr = model_.product_us(SparseFormat::csr, races_[0].best());
    const double expected = model_.best_us(format);
    if (i > 0 && expected > 0 && expected_csr > 0)
      predicted_us_[i] = csr_us() * expected / expected_csr;
  }
  sized_ = true;
}

std::size_t Product::best_format() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < kSparseFormats; ++i) {
    const bool fits = stored_bytes_[i] <= options_.format_limit_bytes;
    if (fits && predicted_us_[i] < predicted_us_[best]) best = i;
  }
  return best;
}

Status Product::think_of_conversion(const Outlook& outlook) {
  if (decided_ || options_.fixed_format || options_.choosing == Choosing::none) return {};
  const double csr = csr_us();
  if (csr == 0) return {};
  const bool always = options_.choosing == Choosing::always;
  most_expected_ = std::max(most_expected_, outlook.low);
  if (!always && most_expected_ < kWorthALook) {
    conversion_.reason = text(
        "in %.0f products never more than %.0f were still to come, at the lower end; from %.0f on "
        "formats are compared",
        products_, most_expected_, kWorthALook);
    return {};
  }
  if (!always && outlook.low < kWorthALook) return {};
  if (!sized_) size_formats();
  const std::size_t best = best_format();
  const double gain = csr - predicted_us_[best];
  if (best == 0 || gain < kLeastGain * csr) {
    decided_ = true;
    conversion_.reason = text("no format is expected to be faster than CSR (%.1f us) by %.0f %%",
                              csr, 100 * kLeastGain);
    return {};
  }
  const double bytes_per_csr =
      static_cast<double>(stored_bytes_[best]) / static_cast<double>(stored_bytes_[0]);
  const double conversion = 1e-6 * model_.conversion_us(static_cast<SparseFormat>(best));
  const double cost = (conversion > 0 ? conversion + upload_seconds_ * bytes_per_csr
                                      : kConvertPerUpload * upload_seconds_ * bytes_per_csr) +
                      usual_trial_seconds();
  conversion_.cost_ms = 1e3 * cost;
  conversion_.break_even_iterations = 1e6 * cost / gain;
  if (!always && outlook.low * gain < kReserve * 1e6 * cost) {
    conversion_.reason = text(
        "in %.0f products never more than %.0f were still to come, at the lower end; a conversion, "
        "of "
        "%.2f ms, pays from %.0f on",
        products_, most_expected_, conversion_.cost_ms,
        kReserve * conversion_.break_even_iterations);
    return {};
  }
  return convert(static_cast<SparseFormat>(best), outlook);
}

Status Product::convert(SparseFormat format, const Outlook& outlook) {
  decided_ = true;
  const Clock::time_point begin = Clock::now();
  Status status = put(format);
  const double seconds = seconds_since(begin);
  tuning_seconds_ += seconds;
  if (status.code() == StatusCode::out_of_memory) {
    active_ = SparseFormat::csr;
    conversion_.reason = joined({status.message(), "; CSR goes on"});
    return {};
  }
  conversion_.verdict = Conversion::Verdict::converted;
  conversion_.cost_ms = 1e3 * seconds;
  conversion_.at_iteration = products_;
  const std::size_t i = static_cast<std::size_t>(format);
  conversion_.reason =
      text("at least %.0f products were still expected, of %.1f us instead of %.1f us", outlook.low,
           predicted_us_[i], csr_us());
  return status;
}

// Once the new format was measured.
void Product::judge_conversion() {
  if (conversion_.verdict != Conversion::Verdict::converted || race().best_us() == 0) return;
  const double gain = csr_us() - race().best_us();
  conversion_.break_even_iterations = gain > 0 ? 1e3 * conversion_.cost_ms / gain : 0;
  if (gain > 0) return;
  conversion_.verdict = Conversion::Verdict::reverted;
  conversion_.reason =
      text("%.1f us were measured, but in CSR %.1f us", race().best_us(), csr_us());
  active_ = SparseFormat::csr;
}

Chosen Product::chosen(bool fused) const {
  Chosen chosen;
  const KernelVariant best = fused ? fused_kernel() : race().best();
  chosen.fused = fused;
  chosen.format = active_;
  chosen.group_per_row = best.kind != 0;
  chosen.work_group = static_cast<std::uint32_t>(best.work_group);
  chosen.predicted_us = predicted_us_[static_cast<std::size_t>(active_)];
  if (const double expected = model_.product_us(active_, best); expected > 0)
    chosen.predicted_us = expected;
  chosen.measured_us = race().best_us();
  return chosen;
}

}  // namespace idletune::krylov
