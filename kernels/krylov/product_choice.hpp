// Which format, kernel and work group products with a matrix run with, and what is tried next. It
// decides from the times that it is told, without a device: Product carries its wishes out, and
// tests/bench/conversion_pays replays them from recorded times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/kernel_choice.hpp"
#include "kernels/krylov/kernel_marks.hpp"
#include "kernels/krylov/model_choice.hpp"
#include "kernels/krylov/solve_memory.hpp"

namespace idletune::krylov {

// Products still to come, as expected, and at the pessimistic end; and those of the latter that do
// not rest on solves which nobody has announced.
struct Outlook {
  double low = 0;
  double expected = 0;
  double announced = 0;
};

// What a product is expected to take in a format: lognormal, so that ln(us) has this spread.
struct PredictedTime {
  double us = 0;  // the median
  double spread = 0;
  // Of one that takes `csr_us` in CSR: the mean of max(0, csr_us - X) over the X that it may take,
  // since CSR comes back where the format is slower.
  double saving_us(double csr_us) const;
};

class ProductChoice {
 public:
  // `model` must outlive it; it may know nothing.
  ProductChoice(const SolverOptions& options, const ModelChoice& model);

  SparseFormat active() const { return active_; }
  KernelChoice& race() {
    return comparing_ ? rows_again_ : races_[static_cast<std::size_t>(active_)];
  }
  const KernelChoice& race() const {
    return comparing_ ? rows_again_ : races_[static_cast<std::size_t>(active_)];
  }
  double csr_us() const { return (rows_again_.finished() ? rows_again_ : races_[0]).best_us(); }
  double usual_trial_seconds() const { return trials_ > 0 ? trial_seconds_ / trials_ : 0; }
  const Conversion& conversion() const { return conversion_; }

  // What is not to be run, and what an earlier process found out; before anything else.
  void refuse(const KernelMarks& marks) { marks_ = marks; }
  void remember(const SolveMemory& memory);
  // The same for a later one, after so many iterations.
  SolveMemory memory(std::uint32_t iterations) const;

  // The kernels that race in a format, the first one first.
  std::vector<KernelVariant> entrants(SparseFormat format) const;

  // The matrix lies on the device in this format, which took so long: the first one, or the one
  // that was wanted. `reason` says why it is not another one; may be empty.
  void begins_in(SparseFormat format, double seconds, const std::string& reason);
  void converted(double seconds);
  // The format that was wanted has no room.
  void no_room(const std::string& why);

  // A kernel was compiled before anything ran.
  void compiled(double seconds) { trial_seconds_ += seconds; }
  // A product ran that is not measured; one that is, or the mean of as many as the race says.
  void ran();
  void took(double microseconds);
  // Its kernel ran for the first time; with compilation and check that took `seconds`. `right`: the
  // product can be used, and is told to took() next.
  void tried(double seconds, bool right);
  // What runs instead of a kernel that is wrong or does not run.
  enum class Left : std::uint8_t {
    best,    // the fastest of those that were measured
    next,    // another one, for the first time
    rows,    // CSR, which nothing has run in yet: then begins_in()
    nothing  // the default has failed; it is next again
  };
  // `tried`: it ran or was compiled.
  Left failed(bool tried);
  // What can run meanwhile, measured; nothing where nothing is.
  std::optional<ProductKernel> known() const;

  enum class Wish : std::uint8_t {
    nothing,
    features,   // the model is to look at the matrix, then looked()
    sizes,      // sized()
    conversion  // to wanted(): then converted() or no_room()
  };
  // Between two products; to be asked again after a wish was met.
  Wish look_ahead(const Outlook& outlook);
  void looked(double seconds);  // that it took
  void sized(const std::array<std::uint64_t, kSparseFormats>& stored_bytes, double vector_bytes,
             double seconds);
  SparseFormat wanted() const { return wanted_; }

  // Whether there is another format that CSR was converted to; the next products take it or CSR.
  bool is_converted() const { return conversion_.verdict == Conversion::Verdict::converted; }
  void take(bool converted);
  // Whole iterations took so long in that format, and in CSR, which stays.
  void keep_rows(double microseconds, double csr_microseconds);
  // What trying has cost so far, less what it has saved.
  double behind_us() const { return behind_us_; }
  bool decided() const { return decided_; }  // no conversion is thought of any more

  double predicted_us(SparseFormat format) const;

 private:
  bool always() const { return options_.choosing == Choosing::always; }
  double allowed_us(const Outlook& outlook) const;
  void spent(double us, double products);
  bool next_pays(const Outlook& outlook) const;
  double sizing_us() const;
  bool features_pay(const Outlook& outlook) const;
  std::size_t best_format();
  Wish think_of_conversion(const Outlook& outlook);
  Wish weigh(std::size_t best, const Outlook& outlook, bool says);
  void judge_conversion(const Outlook& outlook);

  SolverOptions options_;
  const ModelChoice& model_;
  SparseFormat active_ = SparseFormat::csr;
  SparseFormat wanted_ = SparseFormat::csr;
  SparseFormat first_format_ = SparseFormat::csr;
  std::array<KernelChoice, kSparseFormats> races_;
  KernelChoice rows_again_;  // CSR's best, beside the format that it was converted to
  bool comparing_ = false;   // with that
  std::array<PredictedTime, kSparseFormats> predicted_{};
  std::size_t best_format_ = 0;  // where CSR takes what is predicted for it
  double saving_us_ = 0;         // of that
  std::array<std::uint64_t, kSparseFormats> stored_bytes_{};
  double vector_bytes_ = 0;
  Conversion conversion_;
  SolveMemory remembered_;
  KernelMarks marks_;
  bool decided_ = false;  // nothing more is converted
  bool default_failed_ = false;
  bool sized_ = false;         // predicted_ is known
  double upload_seconds_ = 0;  // of the first format
  double trial_seconds_ = 0;
  std::uint32_t trials_ = 0;
  std::uint32_t products_ = 0;
  std::uint32_t says_at_ = 0;  // why nothing is converted is not written anew before so many
  double most_expected_ = 0;   // products still to come, at least, at any time so far
  double converts_at_ = 0;     // products expected where a conversion was wanted
  double first_us_ = 0;        // a product of the first kernel; 0: not measured
  double behind_us_ = 0;
};

}  // namespace idletune::krylov
