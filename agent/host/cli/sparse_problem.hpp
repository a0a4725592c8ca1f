// Sparse matrices as problems of kernels: dimensions, features and index arrays of the format that
// a package is for.
#pragma once

#include <idletune/krylov.hpp>

#include "agent/host/report/common.hpp"
#include "models/package/captured_arguments.hpp"

namespace idletune::cli {

// What is told of a matrix in the note `kNote` of a history.
struct SparseProblem {
  static constexpr char kNote[] = "matrix";

  Shape shape;
  std::optional<CapturedArguments> captured;  // none: the package has no index arrays
  nlohmann::ordered_json note;  // name, family, format, bytes, twelve features, times of the host
};

// The files of Matrix Market below a folder, sorted; else the text itself: a file or a made-up
// matrix. Error: not_found (a folder without any).
Result<std::vector<std::string>> sparse_problems_of(const std::string& text);

// Of a file its name without folder and endings.
std::string sparse_problem_name(const std::string& text);

// The matrix in the format that the package's name says (spmv_csr, spmv_ell_double), or for a
// package with the dimension N alone its vectors. Errors: those of read_matrix, generated_pattern
// and convert (out_of_memory: it takes more than `limit_bytes` in this format), invalid_argument (a
// package for something else; names what it wants).
Result<SparseProblem> sparse_problem(const KernelPackage& package, const std::string& text,
                                     std::uint64_t limit_bytes);

}  // namespace idletune::cli
