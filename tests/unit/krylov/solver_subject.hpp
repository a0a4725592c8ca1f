// What tests of solvers stand on: the first OpenCL device, a queue of the application's, and solves
// that keep what happened.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/opencl.hpp>

namespace idletune::test {

struct Subject {
  std::unique_ptr<Device> device;
  std::unique_ptr<ApplicationQueue> queue;
};

inline Subject open_subject() {
  auto device = opencl::open(0);
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  auto queue = opencl::application_queue(**device);
  REQUIRE_MESSAGE(queue.ok(), queue.status().to_string());
  return {std::move(*device), std::move(*queue)};
}

inline krylov::Solver make_solver(const Subject& subject, const krylov::SparseMatrix& matrix,
                                  const krylov::SolverOptions& options) {
  auto solver = krylov::Solver::make(*subject.device, *subject.queue, matrix, options);
  REQUIRE_MESSAGE(solver.ok(), solver.status().to_string());
  return std::move(*solver);
}

struct Solved {
  std::vector<double> x;
  std::vector<double> history;  // residual by iteration
  krylov::SolveReport report;
};

// From an x of zeros.
inline Solved solve(krylov::Solver& solver, const std::vector<double>& b,
                    krylov::SolveOptions options = {}) {
  Solved solved;
  solved.x.resize(b.size());
  options.progress = [](void* user, std::uint32_t iteration, double residual) {
    auto& history = *static_cast<std::vector<double>*>(user);
    history.resize(iteration);
    history.push_back(residual);
  };
  options.user = &solved.history;
  auto report = solver.solve(b, solved.x, options);
  REQUIRE_MESSAGE(report.ok(), report.status().to_string());
  solved.report = std::move(*report);
  return solved;
}

}  // namespace idletune::test
