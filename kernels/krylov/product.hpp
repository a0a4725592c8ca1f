// Products with the matrix of a solver: which format, kernel and work group, found out while it
// iterates, and whether another format is worth its conversion.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <idletune/application_queue.hpp>
#include <idletune/krylov.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/kernel_race.hpp"
#include "kernels/krylov/model_choice.hpp"

namespace idletune::krylov {

// Products still to come, as expected, and at the pessimistic end.
struct Outlook {
  double low = 0;
  double expected = 0;
};

class Product {
 public:
  // `matrix` must outlive it.
  Product(DeviceKernels& kernels, ApplicationQueue& queue, const SparseMatrix& matrix,
          const SolverOptions& options);
  // Puts the matrix onto the device and compiles its first kernel.
  Status start();
  // The numbers of the matrix have changed.
  Status values_changed();
  // y = A x. What is being measured or checked is waited for.
  Status multiply(const Buffer& x, Buffer& y);
  // The same with what CG has fused with it, by the best kernel for that. False: it does not
  // run or is wrong.
  Result<bool> multiply_fused(const FusedProduct& fused, const Buffer& x, Buffer& y);
  std::size_t fused_pairs() const { return form().groups(fused_kernel()); }
  bool settled() const { return !race().running(); }  // the next product is not measured
  double usual_trial_seconds() const { return trials_ > 0 ? trial_seconds_ / trials_ : 0; }
  // Between two iterations: whether the next kernel is tried, or another format taken.
  Status look_ahead(const Outlook& outlook);

  Chosen chosen(bool fused) const;
  double csr_us() const { return races_[0].best_us(); }
  const Conversion& conversion() const { return conversion_; }
  double tuning_seconds() const { return tuning_seconds_; }

 private:
  KernelRace& race() { return races_[static_cast<std::size_t>(active_)]; }
  const KernelRace& race() const { return races_[static_cast<std::size_t>(active_)]; }
  DeviceMatrix& form() const { return *forms_[static_cast<std::size_t>(active_)]; }
  KernelVariant fused_kernel() const;
  Status put(SparseFormat format);
  Status measured(const Buffer& x, Buffer& y);
  Result<bool> right(const Buffer& x, const Buffer& y);
  void consult_model(const Outlook& outlook);
  void go_on(const Outlook& outlook);
  void size_formats();
  std::size_t best_format() const;
  Status think_of_conversion(const Outlook& outlook);
  Status convert(SparseFormat format, const Outlook& outlook);
  void judge_conversion();

  DeviceKernels& kernels_;
  ApplicationQueue& queue_;
  const SparseMatrix& matrix_;
  SolverOptions options_;
  ModelChoice model_;
  SparseFormat active_ = SparseFormat::csr;
  std::array<std::unique_ptr<DeviceMatrix>, kSparseFormats> forms_;
  std::array<KernelRace, kSparseFormats> races_;
  std::array<double, kSparseFormats> predicted_us_{};
  std::array<std::uint64_t, kSparseFormats> stored_bytes_{};
  Conversion conversion_;
  bool decided_ = false;       // nothing more is converted
  bool sized_ = false;         // predicted_us_ is known
  double upload_seconds_ = 0;  // of the CSR
  double tuning_seconds_ = 0;
  double trial_seconds_ = 0;  // of those, in trials of kernels
  std::uint32_t trials_ = 0;
  std::uint32_t products_ = 0;
  double most_expected_ = 0;  // products still to come, at least, at any time so far
  SparseFormat fused_format_ = SparseFormat::csr;  // of the fused kernel that was checked
  KernelVariant fused_kernel_{0, 0, 0};
  std::vector<double> host_x_, host_y_;
};

}  // namespace idletune::krylov
