// How good methods are, as smooth surfaces over the problem's sizes. Host side.
#pragma once

#include <cstddef>
#include <vector>

namespace idletune::selection {

// For each method a polynomial of second degree in the logarithms of the sizes, which are first
// moved and scaled to mean 0 and spread 1; least squares with a small penalty (ridge regression,
// Hoerl and Kennard 1970), so that few problems suffice and noise is averaged over all of them.
class QualitySurface {
 public:
  // One row per problem. Rows must not be empty, and agree in their lengths.
  QualitySurface(const std::vector<std::vector<double>>& logs,
                 const std::vector<std::vector<float>>& quality);
  std::vector<double> at(const std::vector<double>& logs) const;  // by method

 private:
  std::vector<double> terms(const std::vector<double>& logs) const;

  std::vector<double> mean_;
  std::vector<double> spread_;
  std::vector<std::vector<double>> weights_;  // by term and method
};

}  // namespace idletune::selection
