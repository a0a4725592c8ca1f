#include "agent/host/cli/solve_details.hpp"

#include "kernels/krylov/formats.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kCells = 32;         // of a side of the pattern
constexpr int kProducts = 60;              // in each format: every kernel has its turn
constexpr std::size_t kMostPoints = 2000;  // of the curve

json cells_of(const krylov::SparsityPattern& pattern) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto columns = static_cast<std::size_t>(pattern.columns);
  const std::size_t down = std::min(rows, kCells);
  const std::size_t across = std::min(columns, kCells);
  std::vector<std::vector<std::uint64_t>> cells(down, std::vector<std::uint64_t>(across));
  for (std::size_t row = 0; row < rows; ++row) {
    const auto end = static_cast<std::size_t>(pattern.row_start[row + 1]);
    for (auto k = static_cast<std::size_t>(pattern.row_start[row]); k < end; ++k) {
      ++cells[row * down / rows][static_cast<std::size_t>(pattern.column[k]) * across / columns];
    }
  }
  return cells;
}

}  // namespace

std::string chosen_kernel_text(const krylov::Chosen& chosen) {
  if (chosen.group_per_row) return "work group per row";
  return chosen.lanes > 1 ? std::to_string(chosen.lanes) + " work items per row"
                          : "work item per row";
}

void ResidualCurve::watch(krylov::SolveOptions& options) {
  options.progress = take;
  options.user = this;
}

void ResidualCurve::begin_solve() {
  if (kept_.empty()) kept_ = now_;
  now_.clear();
}

void ResidualCurve::take(void* user, std::uint32_t iteration, double residual) {
  auto& self = *static_cast<ResidualCurve*>(user);
  if (self.now_.size() < kMostPoints || iteration % 16 == 0)
    self.now_.emplace_back(iteration, residual);
  if (self.switched_ || self.solver_.conversion().at_iteration == 0) return;
  self.switched_ = true;
  self.kept_.clear();
  self.switched_at_ = iteration > 0 ? iteration - 1 : 0;
  self.to_ = self.solver_.chosen().format;
}

void ResidualCurve::add_to(json& result) const {
  result["curve"] = kept_.empty() ? now_ : kept_;
  result["switched_at"] = or_null(switched_, switched_at_);
  result["switched_to"] = krylov::sparse_format_name(to_);
}

void add_matrix_details(const krylov::SparseMatrix& matrix, krylov::SolverOptions options,
                        Device& device, ApplicationQueue& queue, json& result) {
  result["pattern"] = cells_of(matrix.pattern);
  result["formats"] = json::array();
  const std::vector<double> x(static_cast<std::size_t>(matrix.pattern.columns), 1.0);
  std::vector<double> y(static_cast<std::size_t>(matrix.pattern.rows));
  options.model = {};  // every kernel takes part
  options.choosing = krylov::Choosing::always;
  options.fixed_format = true;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    options.format = static_cast<krylov::SparseFormat>(i);
    auto solver = must(krylov::Solver::make(device, queue, matrix, options));
    const bool room = solver.chosen().format == options.format;
    for (int product = 0; room && product < kProducts; ++product) {
      must(solver.multiply(x, y, kProducts - product));  // behind the last one nothing is noted
    }
    const krylov::Chosen chosen = solver.chosen();
    result["formats"].push_back(
        {{"format", krylov::sparse_format_name(options.format)},
         {"bytes", krylov::stored_bytes(matrix.pattern, options.format,
                                        options.precision == krylov::Precision::f64 ? 8 : 4)},
         {"kernel",
          !room ? std::string()
                : chosen_kernel_text(chosen) + ", groups of " + std::to_string(chosen.work_group)},
         {"measured_us", or_null(room, chosen.measured_us)}});
  }
}

}  // namespace idletune::cli
