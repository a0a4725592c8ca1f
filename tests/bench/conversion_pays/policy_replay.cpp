#include "tests/bench/conversion_pays/policy_replay.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/progress_forecast.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using krylov::KernelVariant;
using krylov::Outlook;
using krylov::ProductChoice;
using krylov::SparseFormat;
using Wish = krylov::ProductChoice::Wish;

constexpr double kTarget = 1e-8;
constexpr double kFeatureProducts = 3;  // that features take: the most of what was measured

const TimedKernel& find(const std::vector<TimedKernel>& kernels, SparseFormat format,
                        KernelVariant variant) {
  for (const TimedKernel& kernel : kernels) {
    if (kernel.format == format && krylov::same(kernel.variant, variant)) return kernel;
  }
  throw std::runtime_error(std::string("no times of ") + krylov::sparse_format_name(format) + " " +
                           std::to_string(variant.kind) + " " + std::to_string(variant.work_group) +
                           ": record them anew");
}

// Of the norm after `done` of `all` iterations, at the last one the target.
double residual(Falls falls, double done, double all) {
  const double share = done / all;
  double way = share;
  if (falls == Falls::late) way = share * share;
  if (falls == Falls::in_waves && done < all) way = share * (1 + 0.2 * std::sin(0.7 * done));
  return std::exp(std::log(kTarget) * way);
}

class Replay {
 public:
  Replay(const ProductTimesTable& table, const TimedMatrix& matrix, const Scenario& scenario,
         const LeftOutModel* model)
      : table_(table),
        matrix_(matrix),
        scenario_(scenario),
        left_out_(model),
        choice_(options(), model_) {
    if (model == nullptr) return;
    require(model_.open(model->bytes, model->device, sizeof(double)));
    if (!model_.open()) throw std::runtime_error("a model says nothing of its device");
  }

  double run() {
    choice_.begins_in(SparseFormat::csr, 1e-6 * matrix_.formats[0].put_us, "");
    const double first = program_us(choice_.race().current());
    us_ += first;
    choice_.compiled(1e-6 * first);
    for (std::uint32_t solve = 0; solve < scenario_.solves; ++solve) {
      const double left = scenario_.solves - solve - 1.0;
      if (settled()) {
        us_ += paid_us(choice_.race().best()) * (left + 1) * scenario_.iterations;
        break;
      }
      one_solve(solve, left);
    }
    return us_;
  }
  SparseFormat ended_in() const { return choice_.active(); }

 private:
  static krylov::SolverOptions options() { return {}; }
  double program_us(KernelVariant variant) const {
    const TimedKernel& program = find(table_.programs, choice_.active(), variant);
    return scenario_.cold ? program.cold_us : program.warm_us;
  }
  const TimedKernel& product_of(KernelVariant variant) {
    if (found_ == nullptr || found_->format != choice_.active() ||
        !krylov::same(found_->variant, variant))
      found_ = &find(matrix_.products, choice_.active(), variant);
    return *found_;
  }
  // What is paid, in other turns than those that the choice is told of.
  double paid_us(KernelVariant variant) { return product_of(variant).other_us; }

  void one_solve(std::uint32_t solve, double left) {
    const double usual = solve > 0 ? scenario_.iterations : 0;
    krylov::ProgressForecast forecast(
        kTarget, 1e6, usual, krylov::solves_reckoned_with(scenario_.told ? left : -1, solve));
    forecast.add(1);
    for (std::uint32_t i = 0; i < scenario_.iterations; ++i) {
      if (settled()) {
        us_ += paid_us(choice_.race().best()) * (scenario_.iterations - i);
        return;
      }
      product();
      // Where a solve has ended nothing is thought of any more.
      if (i + 1 == scenario_.iterations) return;
      forecast.add(residual(scenario_.falls, i + 1, scenario_.iterations));
      look_ahead(forecast.outlook());
    }
  }

  void product() {
    if (!choice_.race().running()) {
      us_ += paid_us(choice_.race().best());
      return choice_.ran();
    }
    const KernelVariant variant = choice_.race().current();
    const double took = product_of(variant).us;
    us_ += paid_us(variant) * choice_.race().in_a_row();
    if (choice_.race().first_run()) {
      const bool compiled =
          choice_.active() == SparseFormat::csr && us_ == paid_us(variant) + first_us();
      const double rest = matrix_.check_us + (compiled ? 0 : program_us(variant));
      us_ += rest;
      choice_.tried(1e-6 * (took + rest), true);
    }
    choice_.took(took);
  }
  // Nothing is left to try or to think of.
  bool settled() const {
    return choice_.race().over() && choice_.decided() &&
           (!choice_.is_converted() || choice_.race().best_us() < choice_.csr_us());
  }
  double first_us() const { return program_us(choice_.race().current()); }

  void look_ahead(const Outlook& outlook) {
    for (;;) {
      switch (choice_.look_ahead(outlook)) {
        case Wish::nothing: return;
        case Wish::features: look_at(); break;
        case Wish::sizes: size(); break;
        case Wish::conversion: {
          const TimedFormat& wanted = matrix_.formats[static_cast<std::size_t>(choice_.wanted())];
          us_ += wanted.put_us;
          if (wanted.put_us > 0) {
            choice_.converted(1e-6 * wanted.put_us);
          } else {
            choice_.no_room("no room");
          }
        }
      }
    }
  }

  void look_at() {
    const double cost = kFeatureProducts * matrix_.products.front().us + matrix_.sizes_us;
    us_ += cost;
    model_.choose(left_out_->inputs);
    choice_.looked(1e-6 * cost);
  }

  void size() {
    std::array<std::uint64_t, krylov::kSparseFormats> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      // What was not recorded cannot be replayed.
      bytes[i] = matrix_.formats[i].put_us > 0 ? matrix_.formats[i].bytes : UINT64_MAX;
    }
    us_ += matrix_.sizes_us;
    choice_.sized(bytes, 16.0 * matrix_.rows, 1e-6 * matrix_.sizes_us);
  }

  const ProductTimesTable& table_;
  const TimedMatrix& matrix_;
  const Scenario& scenario_;
  const LeftOutModel* left_out_;
  krylov::ModelChoice model_;
  ProductChoice choice_;
  double us_ = 0;
  const TimedKernel* found_ = nullptr;  // the last one
};

}  // namespace

Totals replay(const ProductTimesTable& table, const TimedMatrix& matrix, const Scenario& scenario,
              const LeftOutModel* model) {
  const double products = static_cast<double>(scenario.iterations) * scenario.solves;
  const auto in_all = [&](const TimedKernel& product, bool paid) {
    const TimedKernel& program = find(table.programs, product.format, product.variant);
    const double put = product.format == SparseFormat::csr
                           ? 0
                           : matrix.formats[static_cast<std::size_t>(product.format)].put_us;
    return put + (scenario.cold ? program.cold_us : program.warm_us) + matrix.check_us +
           products * (paid ? product.other_us : product.us);
  };
  Totals totals;
  const TimedKernel* fastest = &matrix.products.front();
  totals.fixed_csr = in_all(*fastest, true);
  const double start = totals.fixed_csr - products * fastest->other_us;
  const TimedKernel* cheapest = fastest;
  for (const TimedKernel& product : matrix.products) {
    if (in_all(product, false) < in_all(*cheapest, false)) cheapest = &product;
    if (product.us < fastest->us) fastest = &product;
  }
  totals.clairvoyant = in_all(*cheapest, true);
  totals.foreseeing = std::min(totals.fixed_csr, start + totals.clairvoyant);
  totals.always = in_all(*fastest, true);
  Replay ours(table, matrix, scenario, model);
  totals.ours = ours.run();
  totals.ended_in = ours.ended_in();
  return totals;
}

}  // namespace idletune::bench
