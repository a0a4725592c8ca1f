// A method in double precision without a preconditioner: this repository's in fixed CSR with steps
// apart, of CG fused in each format, and as it chooses; ViennaCL's on the same device; Eigen's on one
// core. All take turns, and a turn is a whole solve of so many iterations. Exits with 1 where
// residuals differ; never because of a time.
#include <Eigen/Sparse>
#include <unsupported/Eigen/IterativeSolvers>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/opencl.hpp>

#include "tests/bench/krylov_contest/systems.hpp"
#include "tests/bench/krylov_contest/viennacl_contestants.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

// Iterations until drivers have generated code: of GMRES a cycle, since ViennaCL's does no less.
unsigned warm_up(krylov::Method method) {
  return method == krylov::Method::gmres ? krylov::SolveOptions().restart : 10;
}
constexpr unsigned kSettled = 400;  // iterations within which choosing has ended
constexpr double kAllowed = 1e-6;   // share by which residuals after the warm-up may differ
constexpr double kNever = 1e-300;   // a tolerance that is not reached

// Device and queue must outlive it.
struct OwnSolver {
  OwnSolver(Device& device, ApplicationQueue& queue, const System& system,
            const krylov::SolverOptions& options, krylov::Method used)
      : method(used),
        b(system.b),
        solver(required(krylov::Solver::make(device, queue, system.matrix, options))) {}
  krylov::SolveReport run(unsigned iterations, double solves_to_come) {
    std::vector<double> x(b.size());
    krylov::SolveOptions options;
    options.method = method;
    options.tolerance = kNever;
    options.max_iterations = iterations;
    options.solves_to_come = solves_to_come;
    return required(solver.solve(b, x, options));
  }
  krylov::Method method;
  const std::vector<double>& b;
  krylov::Solver solver;
};

Named own(const std::string& name, const std::shared_ptr<OwnSolver>& solver) {
  return {name, [solver](unsigned iterations) { return solver->run(iterations, 1e3).residual; }};
}

template <class EigenSolver>
Named eigen(const System& system) {
  const auto matrix = std::make_shared<EigenMatrix>(Eigen::Map<const EigenMatrix>(
      system.matrix.pattern.rows, system.matrix.pattern.columns,
      static_cast<Eigen::Index>(system.matrix.values.size()),
      system.matrix.pattern.row_start.data(), system.matrix.pattern.column.data(),
      system.matrix.values.data()));
  return {"Eigen", [matrix, &system](unsigned iterations) {
            EigenSolver solver(*matrix);
            solver.setTolerance(kNever);
            solver.setMaxIterations(static_cast<Eigen::Index>(iterations));
            const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(
                system.b.data(), static_cast<Eigen::Index>(system.b.size()));
            const Eigen::VectorXd x = solver.solve(b);
            return (b - *matrix * x).norm() / b.norm();
          }};
}

Named eigen(krylov::Method method, const System& system) {
  using Eigen::IdentityPreconditioner;
  if (method == krylov::Method::bicgstab)
    return eigen<Eigen::BiCGSTAB<EigenMatrix, IdentityPreconditioner>>(system);
  if (method == krylov::Method::gmres)
    return eigen<Eigen::GMRES<EigenMatrix, IdentityPreconditioner>>(system);
  return eigen<
      Eigen::ConjugateGradient<EigenMatrix, Eigen::Lower | Eigen::Upper, IdentityPreconditioner>>(
      system);
}

std::vector<Named> contestants(krylov::Method method, Device& device, ApplicationQueue& queue,
                               const System& system, std::string& chosen) {
  std::vector<Named> all = viennacl_contestants(method, system.matrix, system.b);
  const auto solver = [&](const krylov::SolverOptions& options) {
    return std::make_shared<OwnSolver>(device, queue, system, options, method);
  };
  krylov::SolverOptions options;
  options.choosing = krylov::Choosing::none;
  options.fixed_format = true;
  options.steps = krylov::Steps::apart;
  all.push_back(own("fixed CSR", solver(options)));
  options.steps = krylov::Steps::fused;
  for (std::size_t i = 0; method == krylov::Method::cg && i < krylov::kSparseFormats; ++i) {
    options.format = static_cast<krylov::SparseFormat>(i);
    all.push_back(
        own("fused " + std::string(krylov::sparse_format_name(options.format)), solver(options)));
  }
  const auto choosing = solver({});
  for (unsigned done = 0; done < kSettled; done += 100) {
    const krylov::Chosen found = choosing->run(100, 1e4).chosen;
    chosen = std::string(krylov::sparse_format_name(found.format)) +
             (found.fused ? ", fused, " : ", apart, ") + std::to_string(found.work_group);
  }
  all.push_back(own("chosen", choosing));
  all.push_back(eigen(method, system));
  return all;
}

// A line of the table; with the first one its head.
bool contest(krylov::Method method, const System& system, int rounds, unsigned iterations,
             bool first) {
  const auto device = required(opencl::open(0));
  const auto queue = required(opencl::application_queue(*device));
  std::string chosen;
  const std::vector<Named> all = contestants(method, *device, *queue, system, chosen);
  if (first) {
    std::string head = "| matrix | rows | entries |", line = "|---|---|---|";
    for (const Named& named : all) head += " " + named.first + " |", line += "---|";
    std::printf("%s what was chosen |\n%s---|\n", head.c_str(), line.c_str());
  }
  bool right = true;
  const double truth = all.back().second(warm_up(method));  // Eigen's
  for (const auto& [name, run] : all) {
    const double residual = run(warm_up(method));
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
    std::printf(" %.1f [%.1f .. %.1f] |", quantile(of, 0.5), quantile(of, 0.25),
                quantile(of, 0.75));
  }
  std::printf(" %s |\n", chosen.c_str());
  std::fflush(stdout);
  return right;
}

constexpr const char* kMethods[] = {"cg", "bicgstab", "gmres"};  // by krylov::Method

int run(krylov::Method method, const std::vector<System>& systems, int rounds,
        unsigned iterations) {
  std::printf(
      "Microseconds of an iteration of %s, double precision; median of %d solves of %u iterations "
      "[quartiles].\n\n",
      kMethods[static_cast<std::size_t>(method)], rounds, iterations);
  bool right = true;
  for (const System& system : systems) {
    const bool first = &system == systems.data();
    right = contest(method, system, rounds, iterations, first) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  using namespace idletune::bench;
  int rounds = 11;
  unsigned iterations = 100;
  std::size_t method = 0;
  std::vector<System> systems;
  return idletune::bench::ended("krylov_contest", [&] {
    for (int i = 1; i < argc; ++i) {
      const bool value = i + 1 < argc;
      if (std::strcmp(argv[i], "--rounds") == 0 && value) {
        rounds = std::max(1, std::atoi(argv[++i]));
      } else if (std::strcmp(argv[i], "--iterations") == 0 && value) {
        iterations = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
      } else if (std::strcmp(argv[i], "--method") == 0 && value) {
        const auto* const named =
            std::find(std::begin(kMethods), std::end(kMethods), std::string(argv[++i]));
        if (named == std::end(kMethods))
          throw std::runtime_error("--method: cg, bicgstab or gmres");
        method = static_cast<std::size_t>(named - std::begin(kMethods));
      } else if (std::strcmp(argv[i], "--grid") == 0 && value) {
        systems.push_back(grid(std::max(1, std::atoi(argv[++i]))));
      } else if (argv[i][0] != '-') {
        systems.push_back(from_file(argv[i]));
      } else {
        std::fprintf(
            stderr,
            "usage: krylov_contest [--method cg|bicgstab|gmres] [--rounds N] [--iterations N] "
            "[--grid SIDE]... [A.mtx.gz]...\n");
        return 2;
      }
    }
    if (systems.empty()) systems.push_back(grid(64));
    return run(static_cast<idletune::krylov::Method>(method), systems, rounds, iterations);
  });
}
