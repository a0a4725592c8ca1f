// What the page of a solve shows besides its report.
#pragma once

#include "agent/host/report/common.hpp"

#include <idletune/krylov.hpp>

namespace idletune::cli {

// The residuals of one solve: the first, or the one in which the format changed. Watches by being
// the user of SolveOptions::progress.
class ResidualCurve {
 public:
  explicit ResidualCurve(const krylov::Solver& solver) : solver_(solver) {}
  void watch(krylov::SolveOptions& options);
  void begin_solve();
  // "curve", "switched_at" and "switched_to".
  void add_to(json& result) const;

 private:
  static void take(void* user, std::uint32_t iteration, double residual);

  const krylov::Solver& solver_;
  std::vector<std::pair<std::uint32_t, double>> now_, kept_;
  bool switched_ = false;
  std::uint32_t switched_at_ = 0;
  krylov::SparseFormat to_ = krylov::SparseFormat::csr;
};

// "4 work items per row".
std::string chosen_kernel_text(const krylov::Chosen& chosen);

// "pattern": entries of the cells of a grid. "formats": bytes and the fastest measured product of
// each, with the precision and the notes of `options`: what these say is not to be run is not, but
// what is found out is not noted. Errors: those of Solver::make and multiply.
void add_matrix_details(const krylov::SparseMatrix& matrix, krylov::SolverOptions options,
                        Device& device, ApplicationQueue& queue, json& result);

}  // namespace idletune::cli
