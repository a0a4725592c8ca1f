// What a few measured samples make of a model that was learned elsewhere. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/offload/predictor.hpp"

namespace idletune::offload {

struct FewMeasured {
  std::size_t measured = 0;
  std::size_t groups = 0;   // of the set
  double error_median = 0;  // of |predicted - T| / T, T the GPU's time
  double coverage80 = 0;
  double coverage90 = 0;
  double width80 = 0;          // median ratio of the interval's ends; infinite: too few for one
  double ratio_geometric = 1;  // of the choices over the better device
  double unknown = 0;          // share of samples whose 90 % interval holds the break-even
  double wrong = 0;            // share of the answered ones that name the slower device
};

// `predicted`: of each sample of the set ln(CPU's time / GPU's time), by a model that has seen none
// of them. A draw measures one sample each of so many groups; their mean error is added to what is
// predicted for the samples of the other groups, and intervals come from the errors that remain
// when each of the measured is left out (jackknife+, Barber et al. 2021): they need 4 samples for
// 80 %, 9 for 90 %. Over all draws, by seeds from `seed` on. Errors: invalid_argument if nothing
// is measured, or no group is left to be tried on.
Result<FewMeasured> with_few_measured(const SampleSet& set, const std::vector<double>& predicted,
                                      GroupBy group, std::size_t measured, std::size_t draws,
                                      std::uint64_t seed);

}  // namespace idletune::offload
