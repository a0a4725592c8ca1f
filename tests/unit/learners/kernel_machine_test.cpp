#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/host/learners/kernel_machine.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

// Two vectors, (0, 0) and (1, 2), in two features.
KernelMachine regression() {
  KernelMachine machine;
  machine.columns.resize(2);
  machine.vectors = {0, 0, 1, 2};
  machine.coefficients = {3, -2};
  machine.offsets = {0.5};
  machine.gamma = 0.25;
  return machine;
}

// Classes 4, 7 and 9 at -1, 0 and 1 of one feature; each pair of neighbours is told apart in the
// middle between them.
KernelMachine classification() {
  KernelMachine machine;
  machine.columns.resize(1);
  machine.vectors = {-1, 0, 1};
  machine.coefficients = {1, -1, -1,
                          1, 1,  -1};  // vectors' rows: contests with the first, second ...
  machine.offsets = {0, 0, 0};
  machine.class_numbers = {4, 7, 9};
  machine.class_vectors = {1, 1, 1};
  return machine;
}

void check_refused(const KernelMachine& machine, const std::string& text) {
  const Status status = verify(machine.view());
  CAPTURE(status.message());
  CHECK(status.code() == StatusCode::corrupt);
  CHECK(status.message().find(text) != std::string::npos);
}

double predict(const KernelMachine& machine, std::vector<float> row) {
  return machine.view().predict(row);
}

}  // namespace

TEST_CASE("a kernel machine sums its kernels") {
  const KernelMachine machine = regression();
  REQUIRE(verify(machine.view()).ok());
  CHECK(predict(machine, {0, 0}) == doctest::Approx(3 - 2 * std::exp(-1.25) - 0.5));
  CHECK(predict(machine, {1, 2}) == doctest::Approx(3 * std::exp(-1.25) - 2 - 0.5));
  CHECK(predict(machine, {1e9f, 0}) == doctest::Approx(-0.5));
}

TEST_CASE("every pair of classes votes") {
  const KernelMachine machine = classification();
  REQUIRE(verify(machine.view()).ok());
  CHECK(predict(machine, {-1}) == 4);
  CHECK(predict(machine, {0.1f}) == 7);
  CHECK(predict(machine, {2}) == 9);
}

TEST_CASE("features are scaled, and categories become inputs of their own") {
  const std::vector<InputColumn> columns{{10, 0.5f, 0}, {0, 1, 3}};
  REQUIRE(verify(columns).ok());
  REQUIRE(input_width(columns) == 4);
  float inputs[4];
  code_inputs(columns, std::vector<float>{14, 1}, inputs);
  CHECK((inputs[0] == 2 && inputs[1] == 0 && inputs[2] == 1 && inputs[3] == 0));
  code_inputs(columns, std::vector<float>{14, 3}, inputs);  // a category that was not learned
  CHECK((inputs[1] == 0 && inputs[2] == 0 && inputs[3] == 0));
}

TEST_CASE("columns that are too many or not finite are refused") {
  CHECK(verify(Span<const InputColumn>()).code() == StatusCode::corrupt);
  CHECK(verify(std::vector<InputColumn>{{0, 1, 1024}}).ok());
  CHECK(verify(std::vector<InputColumn>{{0, 1, 1025}}).code() == StatusCode::corrupt);
  CHECK(verify(std::vector<InputColumn>{{0, 1, 0xffffffffu}, {0, 1, 2}}).code() ==
        StatusCode::corrupt);
  CHECK(verify(std::vector<InputColumn>(1025)).code() == StatusCode::corrupt);
  CHECK(verify(std::vector<InputColumn>{{HUGE_VALF, 1, 0}}).code() == StatusCode::corrupt);
  CHECK(verify(std::vector<InputColumn>{{0, std::nanf(""), 0}}).code() == StatusCode::corrupt);
}

TEST_CASE("a kernel machine whose sizes disagree is refused") {
  KernelMachine machine = regression();
  machine.vectors.pop_back();
  check_refused(machine, "cut off");
  machine = regression();
  machine.coefficients.push_back(1);
  check_refused(machine, "number of coefficients");
  machine = regression();
  machine.offsets.clear();
  check_refused(machine, "number of offsets");
  machine = regression();
  machine.class_vectors = {2};
  check_refused(machine, "classes");
  machine = classification();
  machine.class_vectors = {1, 1, 2};
  check_refused(machine, "vectors");
  machine = classification();
  machine.class_vectors = {2, 0xffffffffu, 2};
  check_refused(machine, "vectors");
  machine = classification();
  machine.class_vectors.pop_back();
  check_refused(machine, "disagree");
  machine = classification();
  machine.coefficients.pop_back();
  check_refused(machine, "number of coefficients");
  machine = classification();
  machine.offsets.push_back(0);
  check_refused(machine, "number of offsets");
  machine = classification();
  machine.class_numbers.assign(kMaxMachineClasses + 1, 0);
  check_refused(machine, "too many classes");
}

TEST_CASE("a kernel machine with numbers that are none is refused") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    KernelMachine machine = regression();
    machine.vectors[1] = static_cast<float>(bad);
    check_refused(machine, "not finite");
    machine = regression();
    machine.coefficients[1] = bad;
    check_refused(machine, "not finite");
    machine = regression();
    machine.offsets[0] = bad;
    check_refused(machine, "not finite");
    machine = regression();
    machine.gamma = bad;
    check_refused(machine, "gamma");
  }
  KernelMachine machine = regression();
  machine.gamma = 0;
  check_refused(machine, "gamma");
}
