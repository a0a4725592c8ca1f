// Solvers of ViennaCL on the first OpenCL device: CG in each of its formats but COO, whose sums need
// work items that run in step, which those of processors do not, and come out another way in every
// run; others in CSR.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <idletune/krylov.hpp>

namespace idletune::bench {

// Runs that many iterations and gives the relative residual that it ended with.
using Run = std::function<double(unsigned iterations)>;
using Named = std::pair<std::string, Run>;

// `b` must outlive them.
std::vector<Named> viennacl_contestants(krylov::Method method, const krylov::SparseMatrix& matrix,
                                        const std::vector<double>& b);

}  // namespace idletune::bench
