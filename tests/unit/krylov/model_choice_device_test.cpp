// A solver that a model tells what to try, on this machine's OpenCL device.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/product_times.hpp>

#include "models/host/learn/model_contents.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/solver_subject.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using ByteVector = std::vector<std::uint8_t>;

struct Said {
  SparseFormat format;
  std::int64_t work_group;
  float log2_us;
};

// A model that expects the same of every matrix.
ByteVector model_of(const std::string& device, const std::vector<Said>& all) {
  std::vector<std::int64_t> candidates;
  std::vector<float> coefficients;
  for (const Said& said : all) {
    candidates.push_back(static_cast<std::int64_t>(said.format));
    candidates.push_back(0);
    candidates.push_back(said.work_group);
    coefficients.push_back(said.log2_us);
    coefficients.resize(coefficients.size() + kProductInputs, 0.0f);
  }
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<model_schema::ProductTimes>> devices{
      model_schema::CreateProductTimesDirect(builder, device.c_str(), 8, &candidates, &coefficients,
                                             nullptr)};
  builder.Finish(model_schema::CreateProductTimesSectionDirect(builder, &devices));
  ModelKernel kernel;
  kernel.name = kProductsEntry;
  kernel.parameters = {"FORMAT", "GROUP_PER_ROW", "WG"};
  kernel.sections.push_back(
      {static_cast<std::uint32_t>(model_schema::SectionKind::products),
       model_schema::kSectionVersion,
       {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()}});
  ModelContents contents;
  contents.kernels.push_back(std::move(kernel));
  return write_model(contents);
}

SparseMatrix matrix_of_500() { return test::tridiagonal(500, -1, 2.5, -1); }

// After so many products that everything there is to try was tried.
Result<Solver> multiplied(const test::Subject& subject, const ByteVector& model) {
  SolverOptions options;
  options.choosing = Choosing::always;
  options.model = model;
  auto solver = Solver::make(*subject.device, *subject.queue, matrix_of_500(), options);
  if (!solver.ok()) return solver;
  const std::vector<double> x(500, 1.0);
  std::vector<double> y(500);
  for (int i = 0; i < 60; ++i) {
    const Status status = solver->multiply(x, y, 1000);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    CHECK(y[1] == 0.5);
  }
  return solver;
}

TEST_CASE("iterations go on in rows while another format is made, on a thread or between two") {
  const test::Subject subject = test::open_subject();
  const ByteVector model = model_of(subject.device->info().name,
                                    {{SparseFormat::csr, 64, 9}, {SparseFormat::ell, 32, 1}});
  for (const bool own_thread : {true, false}) {
    CAPTURE(own_thread);
    SolverOptions options;
    options.own_thread = own_thread;
    options.model = model;
    Solver solver = test::make_solver(subject, matrix_of_500(), options);
    const std::vector<double> x(500, 1.0);
    std::vector<double> y(500);
    bool under_way = false;
    int products = 0;
    while (solver.conversion().verdict == Conversion::Verdict::keep && ++products < 100000) {
      REQUIRE(solver.multiply(x, y, 1e9).ok());
      CHECK(y[1] == 0.5);
      under_way = under_way || solver.conversion().reason.find("under way") != std::string::npos;
      // New numbers meanwhile are those that the other format gets.
      if (under_way) REQUIRE(solver.set_values(matrix_of_500().values).ok());
    }
    CHECK(solver.conversion().verdict != Conversion::Verdict::keep);
    CHECK(solver.conversion().cost_ms > 0);
    CHECK(under_way == own_thread);
    for (int i = 0; i < 10; ++i) REQUIRE(solver.multiply(x, y, 1e9).ok());
    CHECK(y[1] == 0.5);
  }
}

TEST_CASE("a solver converts to the format that a model expects to be faster, and only to it") {
  const test::Subject subject = test::open_subject();
  const std::string device = subject.device->info().name;
  const auto to_ell = multiplied(subject, model_of(device, {{SparseFormat::csr, 64, 5},
                                                            {SparseFormat::csr, 128, 5},
                                                            {SparseFormat::dia, 64, 6},
                                                            {SparseFormat::ell, 32, 1},
                                                            {SparseFormat::coo, 64, 9},
                                                            {SparseFormat::hyb, 64, 9},
                                                            {SparseFormat::sell, 64, 9}}));
  REQUIRE(to_ell.ok());
  CHECK(to_ell->conversion().verdict != Conversion::Verdict::keep);
  const Chosen chosen = to_ell->chosen();  // CSR where ELL was measured to be slower
  CHECK((chosen.format == SparseFormat::ell || chosen.format == SparseFormat::csr));
  if (chosen.format == SparseFormat::ell) {
    CHECK(chosen.work_group == 32);
    CHECK(chosen.predicted_us == 2);
  }
  const auto still = multiplied(subject, model_of(device, {{SparseFormat::csr, 64, 1},
                                                           {SparseFormat::csr, 128, 1},
                                                           {SparseFormat::dia, 64, 6},
                                                           {SparseFormat::ell, 32, 6},
                                                           {SparseFormat::coo, 64, 9},
                                                           {SparseFormat::hyb, 64, 9},
                                                           {SparseFormat::sell, 64, 9}}));
  REQUIRE(still.ok());
  CHECK(still->conversion().verdict == Conversion::Verdict::keep);
  CHECK((still->chosen().work_group == 64 || still->chosen().work_group == 128));
  CHECK(still->chosen().predicted_us == 2);
}

TEST_CASE("a model of another device is done without, a damaged one refused") {
  const test::Subject subject = test::open_subject();
  const ByteVector other = model_of("another", {{SparseFormat::ell, 32, 1}});
  CHECK(multiplied(subject, other).ok());
  ByteVector damaged = other;
  damaged[damaged.size() / 2] ^= 0xff;
  CHECK(multiplied(subject, damaged).code() == StatusCode::corrupt);
}

}  // namespace
