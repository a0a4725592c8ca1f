// Linear regression with a penalty on large coefficients (Hoerl and Kennard 1970). Host side.
#pragma once

#include <cstddef>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::learners {

// The constant, then a coefficient per column, for inputs as they are. Inside, columns have mean 0
// and standard deviation 1 (constant ones count 0), and the penalty is on the coefficients of
// those: scikit-learn's StandardScaler and Ridge. `rows` has `columns` numbers per target. Errors:
// invalid_argument (no row, sizes, a penalty that is not above 0, a number that is not finite).
Result<std::vector<double>> ridge_regression(Span<const double> rows, std::size_t columns,
                                             Span<const double> targets, double penalty);

}  // namespace idletune::learners
