// How good methods are, as smooth surfaces over the problem's sizes. Host side.
#pragma once

#include <vector>

namespace idletune::selection {

// For each method a polynomial of second degree in the logarithms of the sizes, by ridge
// regression, so that few problems suffice and noise is averaged over all of them. Beyond the sizes
// learned from it stays as it is at their edge.
class QualitySurface {
 public:
  // One row per problem. Rows must not be empty, and agree in their lengths.
  QualitySurface(const std::vector<std::vector<double>>& logs,
                 const std::vector<std::vector<float>>& quality);
  std::vector<double> at(const std::vector<double>& logs) const;  // by method

 private:
  std::vector<double> terms(const std::vector<double>& logs) const;

  std::vector<double> lowest_;
  std::vector<double> highest_;
  std::vector<std::vector<double>> coefficients_;  // by method: the constant, then of each term
};

}  // namespace idletune::selection
