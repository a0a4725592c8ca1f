// What solves would have taken in all with one matrix, from its recorded times: by the rules of
// kernels/krylov/product_choice, and by others to compare with. Products, conversions and trials
// alone count; what solvers do besides is the same for all. Who chooses knows half of the turns, and
// pays for the other half.
#pragma once

#include <cstdint>

#include "tests/bench/conversion_pays/left_out_models.hpp"
#include "tests/bench/conversion_pays/product_times_table.hpp"

namespace idletune::bench {

enum class Falls : std::uint8_t {
  evenly,  // the logarithm of the residual
  late,    // slowly first, then faster and faster
  in_waves
};

struct Scenario {
  bool cold = false;  // programs are compiled for the first time
  bool told = true;   // the application says how many solves are to come
  Falls falls = Falls::evenly;
  std::uint32_t iterations = 1;  // of each solve
  std::uint32_t solves = 1;
};

struct Totals {  // microseconds
  double ours = 0;
  double fixed_csr = 0;    // in the first kernel
  double always = 0;       // the fastest format, kernel and work group, from the first product on
  double clairvoyant = 0;  // the same, or CSR where that takes less in all
  double foreseeing = 0;   // as the clairvoyant, but begins as ours does, in CSR's first kernel
  krylov::SparseFormat ended_in = krylov::SparseFormat::csr;  // ours
};

// `model`: what the solver is given; null: none.
Totals replay(const ProductTimesTable& table, const TimedMatrix& matrix, const Scenario& scenario,
              const LeftOutModel* model);

}  // namespace idletune::bench
