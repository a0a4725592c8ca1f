// Products with the matrix of a solver: which format, kernel and work group, found out while it
// iterates, and whether another format is worth its conversion.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <idletune/application_queue.hpp>
#include <idletune/krylov.hpp>

#include "kernels/krylov/background_conversion.hpp"
#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/first_runs.hpp"
#include "kernels/krylov/model_choice.hpp"
#include "kernels/krylov/power_of_two.hpp"
#include "kernels/krylov/product_choice.hpp"

namespace idletune::krylov {

class Product {
 public:
  // `matrix` must outlive it.
  Product(DeviceKernels& kernels, ApplicationQueue& queue, const SparseMatrix& matrix,
          const SolverOptions& options);
  // What earlier processes found out; before start().
  void open_notes(Notes* notes, std::uint64_t structure);
  void remember(const SolveMemory& memory) { choice_.remember(memory); }
  KernelMarks marks() const { return first_runs_.marks(); }
  // No product follows at once.
  void rest() { first_runs_.rest(); }
  void refresh_marks() { first_runs_.refresh(); }
  // Puts the matrix onto the device and compiles its first kernel.
  Status start();
  // On the device the matrix is 2^exponent() times as large, which suits the precision.
  int exponent() const { return fit_.exponent; }
  bool far_apart() const { return fit_.far_apart; }  // its numbers are, for the precision
  // The numbers of the matrix have changed.
  Status values_changed();
  // y = A x. What is being measured or checked is waited for.
  Status multiply(const Buffer& x, Buffer& y);
  // Whether the best kernel for what CG fuses may run: `wait`: not yet. With a diagonal or without.
  FirstRuns::Answer may_fuse(bool diagonal);
  // y = A x with that. False: it does not run or is wrong.
  Result<bool> multiply_fused(const FusedProduct& fused, const Buffer& x, Buffer& y);
  std::size_t fused_pairs() const { return form().groups(fused_kernel(false).variant); }
  bool settled() const { return !choice_.race().running(); }  // the next product is not measured
  bool converting() const { return background_.started(); }   // beside the iterations
  // Of several formats, as ProductChoice has them.
  void take(bool converted) { choice_.take(converted); }
  void keep_rows(double us, double csr_us) { choice_.keep_rows(us, csr_us); }
  // Between two iterations: whether the next kernel is tried, or another format taken.
  Status look_ahead(const Outlook& outlook);

  const ProductChoice& choice() const { return choice_; }
  Chosen chosen(bool fused) const;
  double tuning_seconds() const { return tuning_seconds_; }

 private:
  DeviceMatrix& form(SparseFormat format) const {
    return *forms_[static_cast<std::size_t>(format)];
  }
  DeviceMatrix& form() const { return form(choice_.active()); }
  ProductKernel fused_kernel(bool diagonal) const;
  Status put(Result<StoredPattern> stored);
  Status begin();
  Status begin_in_rows();
  Status measured(const Buffer& x, Buffer& y);
  Status without_it(Status why, bool tried, const Buffer& x, Buffer& y);
  Status run(const ProductKernel& kernel, const Buffer& x, Buffer& y,
             const FusedProduct* fused = nullptr);
  Result<bool> right(const Buffer& x, const Buffer& y);
  // Of the numbers that right() has read.
  Result<bool> right_sums(const FusedProduct& fused, std::size_t pairs);
  void compute_sizes();
  Status convert();
  Status adopt(Result<StoredPattern> stored, double conversion_seconds);

  DeviceKernels& kernels_;
  ApplicationQueue& queue_;
  const SparseMatrix& matrix_;
  SolverOptions options_;
  ModelChoice model_;
  ProductChoice choice_;
  FirstRuns first_runs_;
  std::array<std::unique_ptr<DeviceMatrix>, kSparseFormats> forms_;
  Fit fit_;
  double tuning_seconds_ = 0;
  std::optional<ProductKernel> fused_;  // that was checked last
  std::vector<double> host_x_, host_y_;
  BackgroundConversion background_;
};

}  // namespace idletune::krylov
