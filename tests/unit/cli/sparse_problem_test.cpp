#include "agent/host/cli/sparse_problem.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/package/kernel_package.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;

std::shared_ptr<const KernelPackage> package(const std::string& name) {
  return kernel_tests::open_package(IDLETUNE_SOURCE_FOLDER "/kernels/krylov/" + name + ".xml");
}

std::vector<std::int32_t> indices(const CapturedArguments& captured, const char* name) {
  const CapturedArguments::Array* array = captured.find(name);
  REQUIRE(array != nullptr);
  std::vector<std::int32_t> values(array->data.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), array->data.data(), array->data.size());
  return values;
}

TEST_CASE("a matrix becomes dimensions, features and arrays of a package's format") {
  const auto csr = package("spmv/spmv_csr");
  auto problem = required(cli::sparse_problem(*csr, "5-point:9", 1 << 20));
  CHECK(problem.shape.values()[0] == 9);
  CHECK(problem.shape.values()[2] == 33);
  CHECK(problem.shape.feature_count() == csr->inputs().given_feature_count());
  REQUIRE(problem.captured);
  CHECK(problem.captured->check(*csr).ok());
  CHECK(indices(*problem.captured, "row_start") ==
        std::vector<std::int32_t>{0, 3, 7, 10, 14, 19, 23, 26, 30, 33});
  CHECK(problem.note["family"] == "5-point");
  CHECK(problem.note["format"] == "CSR");
  CHECK(problem.note["features"]["nzmax"] == 5);
  CHECK(problem.note["conversion_ns"] >= 0);
}

TEST_CASE("every product's package takes a matrix, also where its format has no rest") {
  for (const char* format : {"csr", "coo", "dia", "ell", "hyb", "sell"}) {
    for (const char* precision : {"", "_double"}) {
      const std::string name = std::string("spmv/spmv_") + format + precision;
      CAPTURE(name);
      const auto kernel = package(name);
      for (const char* matrix : {"banded:50", "power-law:50", "5-point:1"}) {
        CAPTURE(matrix);
        const auto problem = cli::sparse_problem(*kernel, matrix, 1 << 24);
        CHECK_MESSAGE(problem.ok(), problem.status().to_string());
      }
    }
  }
}

TEST_CASE("of a matrix a kernel of vectors gets the length alone") {
  const auto problem =
      required(cli::sparse_problem(*package("vectors/axpby"), "random:77", 1 << 20));
  CHECK(problem.shape == Shape{77});
  CHECK(!problem.captured);
}

TEST_CASE("what takes too much room, or is for other kernels, is refused in one line") {
  const auto large = cli::sparse_problem(*package("spmv/spmv_ell"), "dense-rows:2000", 1 << 20);
  CHECK(large.code() == StatusCode::out_of_memory);
  const auto other = cli::sparse_problem(*package("../histogram/histogram"), "random:10", 1 << 20);
  CHECK(other.code() == StatusCode::invalid_argument);
  CHECK(cli::sparse_problem(*package("vectors/dot"), "none.mtx", 1 << 20).code() ==
        StatusCode::not_found);
}

TEST_CASE("a problem is named by its file, without folders and endings") {
  CHECK(cli::sparse_problem_name("/a/b.c/ex3.mtx.gz") == "ex3");
  CHECK(cli::sparse_problem_name("random:10:2") == "random:10:2");
}

}  // namespace
