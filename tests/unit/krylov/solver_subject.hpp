// What tests of solvers stand on: the first OpenCL device or the CUDA device that is asked for, a
// queue of the application's, and solves that keep what happened.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/opencl.hpp>

#include "tests/unit/cuda/asked_cuda.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::test {

struct Subject {
  std::unique_ptr<Device> device;
  std::unique_ptr<ApplicationQueue> queue;
};

// Where this process and those that it starts keep what they compiled.
inline std::string compiled_programs() {
  constexpr const char* kName = "IDLETUNE_TEST_PROGRAMS";
  static const TemporaryFolder folder;
  if (std::getenv(kName) == nullptr) ::setenv(kName, folder.path().c_str(), 1);
  return std::getenv(kName);
}

inline Subject open_subject() {
  const bool on_cuda = asks_for_cuda();
  opencl::OpenOptions opencl_options;
  opencl_options.cache_folder = compiled_programs();
  auto device = on_cuda ? cuda::open(0, asked_cuda()) : opencl::open(0, opencl_options);
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  MESSAGE("device: " << (*device)->info().name);
  auto queue = on_cuda ? cuda::application_queue(**device) : opencl::application_queue(**device);
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
