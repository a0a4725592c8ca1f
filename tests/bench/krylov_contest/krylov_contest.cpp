// CG in double precision without a preconditioner: this repository's in fixed CSR with steps apart,
// fused in each format, and as it chooses; ViennaCL's in each of its formats on the same device;
// Eigen's on one core. All take turns, and a turn is a whole solve of so many iterations. Exits
// with 1 where residuals differ; never because of a time.
#include <Eigen/Sparse>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/opencl.hpp>

#include "tests/bench/krylov_contest/systems.hpp"
#include "tests/bench/krylov_contest/viennacl_contestants.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

constexpr unsigned kWarmUp = 10;    // iterations until drivers have generated code
constexpr unsigned kSettled = 400;  // iterations within which choosing has ended
constexpr double kAllowed = 1e-6;   // share by which residuals after the warm-up may differ
constexpr double kNever = 1e-300;   // a tolerance that is not reached

// Device and queue must outlive it.
struct OwnSolver {
  OwnSolver(Device& device, ApplicationQueue& queue, const System& system,
            const krylov::SolverOptions& options)
      : b(system.b),
        solver(required(krylov::Solver::make(device, queue, system.matrix, options))) {}
  krylov::SolveReport run(unsigned iterations, double solves_to_come) {
    std::vector<double> x(b.size());
    krylov::SolveOptions options;
    options.tolerance = kNever;
    options.max_iterations = iterations;
    options.solves_to_come = solves_to_come;
    return required(solver.solve(b, x, options));
  }
  const std::vector<double>& b;
  krylov::Solver solver;
};

Named own(const std::string& name, const std::shared_ptr<OwnSolver>& solver) {
  return {name, [solver](unsigned iterations) { return solver->run(iterations, 1e3).residual; }};
}

std::vector<Named> contestants(Device& device, ApplicationQueue& queue, const System& system,
                               std::string& chosen) {
  std::vector<Named> all = viennacl_contestants(system.matrix, system.b);
  krylov::SolverOptions options;
  options.choosing = krylov::Choosing::none;
  options.fixed_format = true;
  options.steps = krylov::Steps::apart;
  all.push_back(own("fixed CSR", std::make_shared<OwnSolver>(device, queue, system, options)));
  options.steps = krylov::Steps::fused;
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    options.format = static_cast<krylov::SparseFormat>(i);
    all.push_back(own("fused " + std::string(krylov::sparse_format_name(options.format)),
                      std::make_shared<OwnSolver>(device, queue, system, options)));
  }
  const auto choosing = std::make_shared<OwnSolver>(device, queue, system, krylov::SolverOptions());
  for (unsigned done = 0; done < kSettled; done += 100) {
    const krylov::Chosen found = choosing->run(100, 1e4).chosen;
    chosen = std::string(krylov::sparse_format_name(found.format)) +
             (found.fused ? ", fused, " : ", apart, ") + std::to_string(found.work_group);
  }
  all.push_back(own("chosen", choosing));
  const auto matrix = std::make_shared<EigenMatrix>(Eigen::Map<const EigenMatrix>(
      system.matrix.pattern.rows, system.matrix.pattern.columns,
      static_cast<Eigen::Index>(system.matrix.values.size()),
      system.matrix.pattern.row_start.data(), system.matrix.pattern.column.data(),
      system.matrix.values.data()));
  all.push_back({"Eigen", [matrix, &system](unsigned iterations) {
                   Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper,
                                            Eigen::IdentityPreconditioner>
                       cg(*matrix);
                   cg.setTolerance(kNever);
                   cg.setMaxIterations(static_cast<Eigen::Index>(iterations));
                   const Eigen::VectorXd x = cg.solve(Eigen::Map<const Eigen::VectorXd>(
                       system.b.data(), static_cast<Eigen::Index>(system.b.size())));
                   return x.size() > 0 ? cg.error() : 0;
                 }});
  return all;
}

double median(std::vector<double> values, double share = 0.5) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Microseconds of an iteration in CSR and the best format of ViennaCL, then of all of ours.
bool contest(const System& system, int rounds, unsigned iterations) {
  const auto device = required(opencl::open(0));
  const auto queue = required(opencl::application_queue(*device));
  std::string chosen;
  const std::vector<Named> all = contestants(*device, *queue, system, chosen);
  bool right = true;
  const double truth = all.back().second(kWarmUp);  // Eigen's
  for (const auto& [name, run] : all) {
    const double residual = run(kWarmUp);
    if (std::fabs(residual - truth) <= kAllowed * truth) continue;
    std::fprintf(stderr, "krylov_contest: %s, %s: a residual of %g, Eigen's is %g\n",
                 system.name.c_str(), name.c_str(), residual, truth);
    right = false;
  }
  std::vector<std::vector<double>> times(all.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % all.size();
      const auto start = std::chrono::steady_clock::now();
      all[turn].second(iterations);
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      times[turn].push_back(took.count() / iterations);
    }
  }
  std::printf("| `%s` | %d | %zu |", system.name.c_str(), system.matrix.pattern.rows,
              system.matrix.values.size());
  for (const std::vector<double>& of : times) {
    std::printf(" %.1f [%.1f .. %.1f] |", median(of), median(of, 0.25), median(of, 0.75));
  }
  std::printf(" %s |\n", chosen.c_str());
  std::fflush(stdout);
  return right;
}

int run(const std::vector<System>& systems, int rounds, unsigned iterations) {
  std::printf(
      "Microseconds of an iteration of CG, double precision; median of %d solves of %u "
      "iterations [quartiles].\n\n"
      "| matrix | rows | entries | ViennaCL CSR | ELL | HYB | sliced ELL | fixed CSR | "
      "fused CSR | COO | DIA | ELL | HYB | SELL | chosen | Eigen | what was chosen |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      rounds, iterations);
  bool right = true;
  for (const System& system : systems) right = contest(system, rounds, iterations) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  using namespace idletune::bench;
  int rounds = 11;
  unsigned iterations = 100;
  std::vector<System> systems;
  try {
    for (int i = 1; i < argc; ++i) {
      const bool value = i + 1 < argc;
      if (std::strcmp(argv[i], "--rounds") == 0 && value) {
        rounds = std::max(1, std::atoi(argv[++i]));
      } else if (std::strcmp(argv[i], "--iterations") == 0 && value) {
        iterations = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
      } else if (std::strcmp(argv[i], "--grid") == 0 && value) {
        systems.push_back(grid(std::max(1, std::atoi(argv[++i]))));
      } else if (argv[i][0] != '-') {
        systems.push_back(from_file(argv[i]));
      } else {
        std::fprintf(stderr,
                     "usage: krylov_contest [--rounds N] [--iterations N] [--grid SIDE]... "
                     "[A.mtx.gz]...\n");
        return 2;
      }
    }
    if (systems.empty()) systems.push_back(grid(64));
    return run(systems, rounds, iterations);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "krylov_contest: %s\n", error.what());
    return 1;
  }
}
