// The methods: each iterates from an x of zeros until it ends, and says how in the report.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/device_vectors.hpp"
#include "kernels/krylov/product.hpp"
#include "kernels/krylov/progress_forecast.hpp"
#include "kernels/krylov/step_choice.hpp"

namespace idletune::krylov {

// One solve: what a method works with.
class Iterations {
 public:
  // `diagonal`: its reciprocals, for Jacobi; null without a preconditioner.
  Iterations(DeviceVectors& vectors, Product& product, const Buffer* diagonal,
             const SolveOptions& options, double norm_of_b, const ProgressForecast& forecast,
             StepChoice& steps, SolveReport& report);

  Status cg(const Buffer& b, Buffer& x);
  Status bicgstab(const Buffer& b, Buffer& x);
  Status gmres(const Buffer& b, Buffer& x);

 private:
  void multiply(const Buffer& x, Buffer& y);
  // M r, in `own`; r itself without a preconditioner.
  const Buffer& preconditioned(const Buffer& r, const std::unique_ptr<Buffer>& own);
  void residual(const Buffer& b, const Buffer& x, Buffer& r);
  // Whether the method ends with this residual; else the next iteration may begin.
  bool done(double norm);
  bool end(Ended how, const char* why);
  Status status() const { return vectors_.status(); }

  // What CG has between two iterations; q, z and pairs hold nothing then.
  struct CgState {
    Buffer& x;
    std::unique_ptr<Buffer> r, p, q, own_z;
    Buffer* z = nullptr;  // r without a preconditioner
    std::unique_ptr<Buffer> pairs = nullptr;
    std::size_t pairs_size = 0;
    double rr = 0, rz = 0;
  };
  // One step, or as many fused ones as can be; whether the method has ended.
  bool step_apart(CgState& cg);
  bool steps_fused(CgState& cg);
  bool fuses();
  void choose_steps();
  bool fused_product(CgState& cg);
  bool is_positive(double pq, double rz);

  struct Basis;
  struct Length {
    double value = 0;
    double noise = 0;  // no longer than this it is rounding
  };
  Length orthogonalise(Basis& basis, std::size_t count);
  bool cycle(Basis& basis, double norm);
  void add_solution(Basis& basis, Buffer& total, Buffer& x);

  DeviceVectors& vectors_;
  Product& product_;
  const Buffer* diagonal_;
  const SolveOptions& options_;
  double norm_of_b_;
  ProgressForecast forecast_;
  StepChoice& steps_;
  SolveReport& report_;
};

}  // namespace idletune::krylov
