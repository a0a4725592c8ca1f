// The packages of kernels/blas/sgemm and kernels/blas/hgemm, compressed, as parts of the library.
#pragma once

#include <idletune/span.hpp>

namespace idletune::gemm {

Bytes package_bytes();
Bytes half_package_bytes();  // beside the former

}  // namespace idletune::gemm
