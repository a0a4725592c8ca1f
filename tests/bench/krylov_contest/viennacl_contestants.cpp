#include "tests/bench/krylov_contest/viennacl_contestants.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#define VIENNACL_WITH_OPENCL
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/ell_matrix.hpp>
#include <viennacl/hyb_matrix.hpp>
#include <viennacl/linalg/bicgstab.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/gmres.hpp>
#include <viennacl/sliced_ell_matrix.hpp>
#include <viennacl/vector.hpp>

#include <cstddef>
#include <map>
#include <memory>

namespace idletune::bench {
namespace {

constexpr double kNever = 1e-30;  // a tolerance that is not reached

using Rows = std::vector<std::map<unsigned, double>>;

template <class Matrix, class MakeTag>
Named contestant(const std::string& name, const Rows& rows, const std::vector<double>& b,
                 MakeTag make_tag) {
  const auto matrix = std::make_shared<Matrix>();
  viennacl::copy(rows, *matrix);
  const auto right = std::make_shared<viennacl::vector<double>>(b.size());
  viennacl::copy(b, *right);
  return {"ViennaCL " + name, [matrix, right, make_tag](unsigned iterations) {
            const auto tag = make_tag(iterations);
            const viennacl::vector<double> x = viennacl::linalg::solve(*matrix, *right, tag);
            viennacl::backend::finish();
            return tag.error();
          }};
}

}  // namespace

std::vector<Named> viennacl_contestants(krylov::Method method, const krylov::SparseMatrix& matrix,
                                        const std::vector<double>& b) {
  const krylov::SparsityPattern& pattern = matrix.pattern;
  Rows rows(static_cast<std::size_t>(pattern.rows));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (auto k = static_cast<std::size_t>(pattern.row_start[row]);
         k < static_cast<std::size_t>(pattern.row_start[row + 1]); ++k) {
      rows[row][static_cast<unsigned>(pattern.column[k])] = matrix.values[k];
    }
  }
  using Csr = viennacl::compressed_matrix<double>;
  if (method == krylov::Method::bicgstab) {
    return {contestant<Csr>("CSR", rows, b, [](unsigned iterations) {
      return viennacl::linalg::bicgstab_tag(kNever, iterations, iterations);
    })};
  }
  if (method == krylov::Method::gmres) {
    const unsigned restart = krylov::SolveOptions().restart;
    return {contestant<Csr>("CSR", rows, b, [restart](unsigned iterations) {
      return viennacl::linalg::gmres_tag(kNever, iterations, restart);
    })};
  }
  const auto cg = [](unsigned iterations) { return viennacl::linalg::cg_tag(kNever, iterations); };
  return {contestant<Csr>("CSR", rows, b, cg),
          contestant<viennacl::ell_matrix<double>>("ELL", rows, b, cg),
          contestant<viennacl::hyb_matrix<double>>("HYB", rows, b, cg),
          contestant<viennacl::sliced_ell_matrix<double>>("sliced ELL", rows, b, cg)};
}

}  // namespace idletune::bench
