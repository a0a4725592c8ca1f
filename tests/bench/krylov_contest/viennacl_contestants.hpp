// CG of ViennaCL on the first OpenCL device, in each of its formats but COO: that one's sums need
// work items that run in step, which those of processors do not, and come out another way in every
// run.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <idletune/krylov.hpp>

namespace idletune::bench {

// Runs that many iterations of CG and gives the relative residual that it ended with.
using RunCg = std::function<double(unsigned iterations)>;
using Named = std::pair<std::string, RunCg>;

// `b` must outlive them.
std::vector<Named> viennacl_contestants(const krylov::SparseMatrix& matrix,
                                        const std::vector<double>& b);

}  // namespace idletune::bench
