// Whether a product that a device computed is one, by the rows of the matrix on the host.
#pragma once

#include <cstddef>

#include <idletune/application_queue.hpp>
#include <idletune/krylov.hpp>

#include "kernels/krylov/power_of_two.hpp"

namespace idletune::krylov {

// The first numbers.size() numbers of a buffer; waits.
Status read_numbers(ApplicationQueue& queue, const Buffer& from, std::size_t number_bytes,
                    Span<double> numbers);

// Whether y = A x up to what adding in another order may change. Of a large matrix a thousand rows,
// spread evenly, and the last one; rows whose terms leave the precision's range are not looked at.
// The device's entries are `scale` times those of A.
bool is_product(const SparseMatrix& matrix, Span<const double> x, Span<const double> y,
                bool is_double, const PowerOfTwo& scale = PowerOfTwo());

}  // namespace idletune::krylov
