// The package of kernels/sgemm, compressed, as a part of the library.
#pragma once

#include <idletune/span.hpp>

namespace idletune::gemm {

Bytes package_bytes();

}  // namespace idletune::gemm
