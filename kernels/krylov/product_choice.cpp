#include "kernels/krylov/product_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr double kHopedGain = 0.2;       // of a further kernel, as a share of the best one's time
constexpr double kHopedOfFinals = 0.05;  // likewise, of the best ones in turns
constexpr double kMostLost = 0.005;      // of the first kernel's time, by all that is tried
constexpr double kMostLostForeseen = 0.01;  // likewise, where a model says what to try
constexpr double kMostLostAtEnd = 0.015;    // likewise, should no solve come that was not announced
constexpr double kSurelyGained = 0.25;      // of what the best kernel is expected to save
constexpr double kReserve = 1.25;      // expected gain over cost that a conversion must promise
constexpr double kWorthALook = 40;     // products for which formats are sized: a few are its price
constexpr std::uint32_t kWords = 16;   // why nothing is converted, while the products double
constexpr double kSizesCost = 10;      // products that sizing the formats takes at most, or
constexpr double kSizesPerUpload = 4;  // as many times what the upload took, if that is more
constexpr double kFeatureCost = 3;     // products that features take beside, at most
constexpr std::size_t kConfirmed = 3;  // of a format, where a model says which
constexpr double kAgain = 4;           // times of CSR beside a new format, one of them to begin
constexpr double kLeastGain = 0.03;    // expected, as a share
constexpr double kConvertPerUpload = 3;  // a conversion's time over that of as many bytes of CSR
// Predicted time over that of as many bytes of CSR, by SparseFormat: rows of one length each suit
// vector units, bisection costs COO some. What it really takes over that, as the spread of a
// logarithm; the same of a model's times.
constexpr double kEffort[kSparseFormats] = {1, 1.9, 1.3, 0.8, 1.2, 0.95};
constexpr double kSpreadOfBytes = 0.4;
constexpr double kSpreadOfModel = 0.15;

constexpr KernelVariant kVariants[] = {{0, 64},  {0, 256}, {0, 16}, {1, 16},  {1, 32},  {0, 128},
                                       {0, 512}, {0, 32},  {1, 64}, {1, 128}, {1, 256}, {1, 512}};
// Of CSR, where neighbouring work items can share a row.
constexpr KernelVariant kOfRows[] = {{0, 64},  {0, 256}, {0, 32}, {4, 64},  {1, 32},  {0, 128},
                                     {0, 512}, {0, 16},  {1, 64}, {16, 64}, {8, 128}, {1, 128}};

std::string text(const char* format, double a, double b, double c = 0, double d = 0) {
  char line[256];
  std::snprintf(line, sizeof line, format, a, b, c, d);
  return line;
}

}  // namespace

double PredictedTime::saving_us(double csr_us) const {
  if (us <= 0 || csr_us <= 0) return 0;
  if (spread <= 0) return std::max(0.0, csr_us - us);
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double d = std::log(csr_us / us) / spread;
  return csr_us * below(d) - us * std::exp(spread * spread / 2) * below(d - spread);
}

ProductChoice::ProductChoice(const SolverOptions& options, const ModelChoice& model)
    : options_(options), model_(model) {
  options_.model = {};
  conversion_.reason = options_.choosing == Choosing::none
                           ? "nothing else was to be tried"
                           : "there were too few products to compare formats";
}

std::vector<KernelVariant> ProductChoice::entrants(SparseFormat format) const {
  // Where the plain kernel was wrong it may be the conversion.
  if (marks_.mark({format, KernelVariant()}) == KernelMark::wrong) return {};
  const bool one = options_.choosing == Choosing::none;
  std::vector<KernelVariant> variants = model_.fastest(format, one ? 1 : kConfirmed);
  if (variants.empty()) {
    const auto& all = format == SparseFormat::csr ? kOfRows : kVariants;
    variants.assign(std::begin(all), one ? std::begin(all) + 1 : std::end(all));
  }
  variants.erase(std::remove_if(variants.begin(), variants.end(),
                                [&](const KernelVariant& each) {
                                  return marks_.refuses({format, each});
                                }),
                 variants.end());
  // The kernel that was the fastest before runs first.
  const auto before =
      std::find_if(variants.begin(), variants.end(),
                   [&](const KernelVariant& each) { return same(each, remembered_.variant); });
  if (remembered_.product_us > 0 && remembered_.format == format && before != variants.end())
    std::rotate(variants.begin(), before, before + 1);
  return variants;
}

void ProductChoice::remember(const SolveMemory& memory) {
  remembered_ = memory;
  if (marks_.refuses({memory.format, memory.variant})) remembered_.product_us = 0;
  if (!memory.reverted || options_.fixed_format || always()) return;
  decided_ = true;
  conversion_.reason = "an earlier process found CSR faster than the format that it converted to";
}

SolveMemory ProductChoice::memory(std::uint32_t iterations) const {
  SolveMemory memory = remembered_;
  memory.iterations = iterations;
  // What an earlier process has found out of another format holds until this one converts, and of
  // the same until it measures.
  const bool began_here = conversion_.verdict == Conversion::Verdict::keep ||
                          conversion_.verdict == Conversion::Verdict::fixed;
  if (began_here && memory.product_us > 0 && (memory.format != active_ || race().best_us() == 0))
    return memory;
  // Of a format that nothing was measured in yet nothing is known.
  memory.format = race().best_us() > 0 || !races_[0].begun() ? active_ : SparseFormat::csr;
  const KernelChoice& known = races_[static_cast<std::size_t>(memory.format)];
  memory.variant = known.best();
  const bool compared =
      wanted_ != SparseFormat::csr && races_[static_cast<std::size_t>(wanted_)].begun();
  memory.reverted = (conversion_.verdict == Conversion::Verdict::reverted && compared) ||
                    (remembered_.reverted && active_ == SparseFormat::csr);
  memory.product_us = known.best_us();
  memory.csr_us = csr_us();
  return memory;
}

void ProductChoice::begins_in(SparseFormat format, double seconds, const std::string& reason) {
  active_ = first_format_ = format;
  upload_seconds_ = seconds;
  race().begin(entrants(format));
  if (!reason.empty()) {
    conversion_.reason = reason;
  } else if (options_.fixed_format) {
    conversion_.verdict = Conversion::Verdict::fixed;
    conversion_.reason = "the format was given";
  }
}

void ProductChoice::converted(double seconds) {
  conversion_.verdict = Conversion::Verdict::converted;
  conversion_.cost_ms = 1e3 * seconds;
  spent(1e6 * seconds, 0);
  conversion_.at_iteration = products_;
  conversion_.reason =
      text("at least %.0f products were still expected, perhaps of %.1f us instead of %.1f us",
           converts_at_, predicted_[static_cast<std::size_t>(wanted_)].us, csr_us());
  active_ = wanted_;
  race().begin(entrants(wanted_), races_[0].usual_row());
}

void ProductChoice::no_room(const std::string& why) { conversion_.reason = why + "; CSR goes on"; }

// So long took what made so many products. The first kernel has to be tried in any case.
void ProductChoice::spent(double us, double products) {
  if (first_us_ > 0 || products == 0) behind_us_ += us - products * first_us_;
}

void ProductChoice::ran() {
  ++products_;
  if (race().best_us() > 0) spent(race().best_us(), 1);
}

void ProductChoice::took(double microseconds) {
  ++products_;
  if (!race().first_run()) spent(microseconds * race().in_a_row(), 1);
  race().took(microseconds);
  first_us_ = races_[static_cast<std::size_t>(first_format_)].first_us();
}

void ProductChoice::tried(double seconds, bool right) {
  ++trials_;
  trial_seconds_ += seconds;
  spent(1e6 * seconds, right ? 1 : 0);
}

std::optional<ProductKernel> ProductChoice::known() const {
  for (const SparseFormat format : {active_, SparseFormat::csr}) {
    const KernelChoice& race = races_[static_cast<std::size_t>(format)];
    if (race.best_us() > 0) return ProductKernel{format, race.best()};
  }
  return std::nullopt;
}

ProductChoice::Left ProductChoice::failed(bool tried) {
  const ProductKernel kernel{active_, race().current()};
  if (is_default(kernel) && !std::exchange(default_failed_, true)) {  // it may do so by chance
    race().begin(entrants(active_));
    return Left::next;
  }
  race().failed();
  if (active_ != SparseFormat::csr && !race().begun()) {
    active_ = SparseFormat::csr;
    conversion_.verdict = tried ? Conversion::Verdict::reverted : Conversion::Verdict::keep;
    conversion_.reason = tried ? "the product in the other format was wrong or did not run"
                               : "the other format's kernels could not be announced";
    if (!race().begun()) {
      race().begin({KernelVariant()});
      return Left::rows;
    }
  }
  if (race().best_us() > 0) return ran(), Left::best;
  if (!race().begun()) race().begin({KernelVariant()});
  return is_default(kernel) && same(race().current(), kernel.variant) ? Left::nothing : Left::next;
}

ProductChoice::Wish ProductChoice::look_ahead(const Outlook& outlook) {
  if (comparing_) race().go_on();
  if (race().running()) return Wish::nothing;
  if (std::exchange(comparing_, false)) active_ = wanted_;
  const bool tries = options_.choosing != Choosing::none;
  if (tries && model_.open() && !model_.looked() && features_pay(outlook)) return Wish::features;
  if (next_pays(outlook)) race().go_on();
  if (race().running()) return Wish::nothing;
  if (active_ == SparseFormat::csr) return think_of_conversion(outlook);
  judge_conversion(outlook);
  return Wish::nothing;
}

void ProductChoice::looked(double seconds) {
  spent(1e6 * seconds, 0);
  predicted_[0].us = 0;
  const std::vector<KernelVariant> next = model_.fastest(active_, kConfirmed);
  if (!next.empty()) race().follow(next);
}

// What may be lost at once: of all products, done and to come, a small share of the first kernel's
// time; and what was gained over that. Finals gain little: other trials may also spend a quarter of
// what is still to be gained. But should all end with the last solve that was announced, little may
// be lost either.
double ProductChoice::allowed_us(const Outlook& outlook) const {
  const double at_end = kMostLostAtEnd * first_us_ * (products_ + outlook.announced);
  const double best = std::min(first_us_, race().best_us());
  const double gained = race().in_finals() ? 0 : kSurelyGained * outlook.low * (first_us_ - best);
  const double lost = model_.looked() ? kMostLostForeseen : kMostLost;
  const double in_the_long_run = lost * first_us_ * (products_ + outlook.low) + gained;
  return std::min(in_the_long_run, at_end) - behind_us_;
}

bool ProductChoice::next_pays(const Outlook& outlook) const {
  if (race().over() || race().best_us() == 0 || always()) return true;
  const bool finals = race().in_finals();
  const double trial = race().extra_us() + (finals ? 0 : 1e6 * usual_trial_seconds());
  const double hoped = finals ? kHopedOfFinals : kHopedGain;
  return hoped * race().best_us() * outlook.low > trial && allowed_us(outlook) > trial;
}

void ProductChoice::sized(const std::array<std::uint64_t, kSparseFormats>& stored_bytes,
                          double vector_bytes, double seconds) {
  spent(1e6 * seconds, 0);
  stored_bytes_ = stored_bytes;
  vector_bytes_ = vector_bytes;
  sized_ = true;
  predicted_[0].us = 0;
  (void)best_format();
}

// By what CSR takes now: its race may have gone on. CSR: nothing else fits.
std::size_t ProductChoice::best_format() {
  if (predicted_[0].us == csr_us()) return best_format_;
  const double expected_csr = model_.product_us(SparseFormat::csr, races_[0].best());
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    const double bytes_per_csr = (static_cast<double>(stored_bytes_[i]) + vector_bytes_) /
                                 (static_cast<double>(stored_bytes_[0]) + vector_bytes_);
    // A format that the model does not know is not tried in hope.
    predicted_[i] = {csr_us() * kEffort[i] * bytes_per_csr, expected_csr > 0 ? 0 : kSpreadOfBytes};
    // What the model says of CSR and what was measured say how it errs about this matrix.
    const double expected = model_.best_us(static_cast<SparseFormat>(i));
    if (i > 0 && expected > 0 && expected_csr > 0)
      predicted_[i] = {csr_us() * expected / expected_csr, kSpreadOfModel};
  }
  predicted_[0] = {csr_us(), 0};
  if (remembered_.format != SparseFormat::csr && remembered_.csr_us > 0 &&
      remembered_.product_us > 0)
    predicted_[static_cast<std::size_t>(remembered_.format)] = {
        csr_us() * remembered_.product_us / remembered_.csr_us, 0};
  best_format_ = 0;
  saving_us_ = 0;
  for (std::size_t i = 1; i < kSparseFormats; ++i) {
    const double saving = predicted_[i].saving_us(csr_us());
    if (saving <= saving_us_ || stored_bytes_[i] > options_.format_limit_bytes ||
        entrants(static_cast<SparseFormat>(i)).empty())
      continue;
    saving_us_ = saving;
    best_format_ = i;
  }
  return best_format_;
}

double ProductChoice::sizing_us() const {
  return std::max(kSizesCost * race().best_us(), kSizesPerUpload * 1e6 * upload_seconds_);
}

bool ProductChoice::features_pay(const Outlook& outlook) const {
  const double us = race().best_us();
  const double cost = kFeatureCost * us + sizing_us();
  return always() || (us > 0 && kHopedGain * us * outlook.low > cost && allowed_us(outlook) > cost);
}

ProductChoice::Wish ProductChoice::think_of_conversion(const Outlook& outlook) {
  if (decided_ || options_.fixed_format || options_.choosing == Choosing::none || csr_us() == 0)
    return Wish::nothing;
  most_expected_ = std::max(most_expected_, outlook.low);
  const bool says = products_ >= says_at_;
  if (says) says_at_ = products_ + products_ / kWords;
  if (!always() && most_expected_ < kWorthALook) {
    if (says)
      conversion_.reason = text(
          "in %.0f products never more than %.0f were still to come, at the lower end; from %.0f "
          "on formats are compared",
          products_, most_expected_, kWorthALook);
    return Wish::nothing;
  }
  if (!always() && outlook.low < kWorthALook) return Wish::nothing;
  if (!sized_) {
    if (always() || allowed_us(outlook) >= sizing_us()) return Wish::sizes;
    if (says) conversion_.reason = "comparing formats costs more than may be lost on it so far";
    return Wish::nothing;
  }
  const std::size_t best = best_format();
  if (saving_us_ >= kLeastGain * csr_us()) return weigh(best, outlook, says);
  decided_ = true;
  conversion_.reason = text("no format is expected to be faster than CSR (%.1f us) by %.0f %%",
                            csr_us(), 100 * kLeastGain);
  return Wish::nothing;
}

ProductChoice::Wish ProductChoice::weigh(std::size_t best, const Outlook& outlook, bool says) {
  const double bytes_per_csr =
      static_cast<double>(stored_bytes_[best]) / static_cast<double>(stored_bytes_[0]);
  const double conversion = 1e-6 * model_.conversion_us(static_cast<SparseFormat>(best));
  const double cost = (conversion > 0 ? conversion + upload_seconds_ * bytes_per_csr
                                      : kConvertPerUpload * upload_seconds_ * bytes_per_csr) +
                      usual_trial_seconds();
  conversion_.cost_ms = 1e3 * cost;
  conversion_.left_low = outlook.low;
  conversion_.left_expected = outlook.expected;
  conversion_.break_even_iterations = 1e6 * cost / saving_us_;
  const bool affordable = always() || allowed_us(outlook) >= 1e6 * cost;
  if (!affordable || (!always() && outlook.low * saving_us_ < kReserve * 1e6 * cost)) {
    if (says)
      conversion_.reason = text(
          affordable ? "in %.0f products never more than %.0f were still to come, at the lower "
                       "end; a conversion, of %.2f ms, pays from %.0f on"
                     : "in %.0f products never more than %.0f were still to come, at the lower "
                       "end; a conversion, of %.2f ms, is more than may be lost on it",
          products_, most_expected_, conversion_.cost_ms,
          kReserve * conversion_.break_even_iterations);
    return Wish::nothing;
  }
  decided_ = true;
  wanted_ = static_cast<SparseFormat>(best);
  conversion_.reason = joined("a conversion to % is under way", sparse_format_name(wanted_));
  converts_at_ = outlook.low;
  return Wish::conversion;
}

// Once the new format was measured, and CSR again where that may be paid for: its former time may be
// one of another clock.
void ProductChoice::judge_conversion(const Outlook& outlook) {
  if (conversion_.verdict != Conversion::Verdict::converted || race().best_us() == 0) return;
  if (!rows_again_.finished() && (always() || allowed_us(outlook) > kAgain * races_[0].row_us())) {
    rows_again_.again(races_[0]);
    comparing_ = true;
    active_ = SparseFormat::csr;
    return;
  }
  const double gain = csr_us() - race().best_us();
  conversion_.break_even_iterations = gain > 0 ? 1e3 * conversion_.cost_ms / gain : 0;
  if (gain > 0) return;
  conversion_.verdict = Conversion::Verdict::reverted;
  conversion_.reason =
      text("%.1f us were measured, but in CSR %.1f us", race().best_us(), csr_us());
  active_ = SparseFormat::csr;
}

void ProductChoice::take(bool converted) {
  if (!is_converted()) return;
  comparing_ = false;
  active_ = converted ? wanted_ : SparseFormat::csr;
}

void ProductChoice::keep_rows(double microseconds, double csr_microseconds) {
  conversion_.verdict = Conversion::Verdict::reverted;
  conversion_.reason =
      text("an iteration took %.1f us, but in CSR %.1f us", microseconds, csr_microseconds);
  active_ = SparseFormat::csr;
}

double ProductChoice::predicted_us(SparseFormat format) const {
  const double expected = model_.product_us(format, race().best());
  return expected > 0 ? expected : predicted_[static_cast<std::size_t>(format)].us;
}

}  // namespace idletune::krylov
