// Faults that show at shapes of some classes only, on a real OpenCL device: what is right at one
// shape and the fastest there is adopted there, and never where it is wrong.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/agent/checked_work.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/kernels/kernel_path.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

using Values = std::vector<float>;

// One problem: what the last buffer holds after a launch, up to `slack`.
struct Problem {
  std::vector<Values> buffers;
  std::vector<double> expected;
  double slack = 0;
};

struct Shown {
  Shape shape;
  std::vector<std::int64_t> faults;  // the values of FAULT that are wrong there
};

struct FaultyKernel {
  KernelDescription description;
  std::function<Problem(const Shape&)> problem;
  std::vector<Shown> shown;  // the first shape shows none
  std::vector<Shape> new_shapes;
};

// The parameters named get one value each; the right code takes longer than the faulty one.
KernelDescription slowly_right(KernelDescription description, const std::string& before,
                               const std::vector<std::pair<std::string, std::int64_t>>& fixed,
                               const std::vector<std::pair<std::string, std::string>>& faults) {
  REQUIRE(description.parameters.size() == fixed.size());
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    REQUIRE(description.parameters[i].name == fixed[i].first);
    description.parameters[i].values = {fixed[i].second};
    description.parameters[i].default_value = fixed[i].second;
  }
  return with_faults(slow_where(std::move(description), "FAULT == 0", before), faults);
}

std::size_t wrong(RawApplication& application, TunedKernel& kernel, const Shape& shape,
                  const Problem& problem, const std::vector<cl_mem>& buffers) {
  application.write(buffers.back(), problem.buffers.back());
  std::vector<Argument> arguments(buffers.begin(), buffers.end());
  const Status status = kernel.launch(LaunchOptions{}, shape, {arguments.data(), arguments.size()});
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  const Values result = application.read(buffers.back(), problem.expected.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double error = std::fabs(static_cast<double>(result[i]) - problem.expected[i]);
    count += !(error <= problem.slack);
  }
  return count;
}

std::vector<cl_mem> buffers_of(RawApplication& application, const Problem& problem) {
  std::vector<cl_mem> buffers;
  for (const Values& values : problem.buffers) buffers.push_back(application.buffer(values));
  return buffers;
}

bool shows(const Shown& shown, std::int64_t fault) {
  return std::find(shown.faults.begin(), shown.faults.end(), fault) != shown.faults.end();
}

// Whatever was tried at a shape was found wrong if and only if it is.
void check_journal(const std::string& state, const FaultyKernel& faulty) {
  std::size_t found = 0, expected = 0;
  for (const Shown& shown : faulty.shown) expected += shown.faults.size();
  journal_of(state).state.for_each_measurement([&](const journal::Measurement& measurement) {
    const Configuration& configuration = measurement.trial.configuration;
    const std::int64_t fault = configuration[configuration.size() - 1];
    CAPTURE(fault);
    for (const Shown& shown : faulty.shown) {
      if (!(shown.shape == measurement.trial.shape)) continue;
      CHECK((measurement.status == TrialStatus::correct) != shows(shown, fault));
      found += measurement.status != TrialStatus::correct;
    }
  });
  CHECK(found == expected);
}

void never_runs_where_wrong(const FaultyKernel& faulty) {
  EagerApplication home;
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), packed(faulty.description));
    for (const Shown& shown : faulty.shown) {
      CAPTURE(agent.explain());
      const Problem problem = faulty.problem(shown.shape);
      const std::vector<cl_mem> buffers = buffers_of(home.application, problem);
      const auto is_right = [&] {
        CHECK(wrong(home.application, kernel, shown.shape, problem, buffers) == 0);
      };
      is_right();  // by what runs at the other shapes, if that is right for the class
      kernel.expect_launches(shown.shape, 1e9);
      const Explanation end = tune_all(agent, kernel, shown.shape, is_right);
      const std::int64_t runs = end.running[end.running.size() - 1];
      CHECK_FALSE(shows(shown, runs));
      CHECK((runs == 0) == (shown.faults.size() == 3));  // what is wrong is faster
    }
    // Of no class here is anything unknown now.
    for (const Shape& shape : faulty.new_shapes) {
      const Problem problem = faulty.problem(shape);
      CHECK(wrong(home.application, kernel, shape, problem,
                  buffers_of(home.application, problem)) == 0);
    }
    CHECK(home.messages.count("too little of its classes") == 0);
  }
  check_journal(home.state(), faulty);
}

Problem transposition(const Shape& shape) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  Problem problem{{random_values(rows * columns, 3), Values(rows * columns, kNan)}, {}, 0};
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      problem.expected.push_back(static_cast<double>(problem.buffers[0][r * columns + c]));
    }
  }
  return problem;
}

Problem row_sums(const Shape& shape) {
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  Problem problem{{random_values(rows * columns, 4), random_values(rows, 5)}, {}, 0};
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = static_cast<double>(problem.buffers[1][r]);
    for (std::size_t c = 0; c < columns; ++c) {
      sum += static_cast<double>(problem.buffers[0][r * columns + c]);
    }
    problem.expected.push_back(sum);
  }
  problem.slack = 1e-6 * static_cast<double>(columns + 1);
  return problem;
}

Problem product(const Shape& shape) {
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  const auto k = static_cast<std::size_t>(shape[2]);
  Problem problem{{random_values(m * k, 6), random_values(k * n, 7), Values(m * n, kNan)}, {}, 0};
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t d = 0; d < k; ++d) {
        sum += static_cast<double>(problem.buffers[0][i * k + d]) *
               static_cast<double>(problem.buffers[1][d * n + j]);
      }
      problem.expected.push_back(sum);
    }
  }
  problem.slack = 1e-6 * static_cast<double>(k + 1);
  return problem;
}

KernelDescription shipped(const std::string& name) { return described(kernel_path(name)); }

}  // namespace

TEST_CASE("a transposition's faults of some classes are never adopted for these") {
  // Tiles of 8 x 32, four columns at once.
  never_runs_where_wrong(
      {slowly_right(shipped("transpose"), "const int first_column =",
                    {{"WGX", 8},
                     {"WGY", 8},
                     {"COLUMNS", 4},
                     {"ROWS", 1},
                     {"VECTOR", 4},
                     {"LOCAL_TILE", 0},
                     {"PADDING", 0},
                     {"ALONG", 0},
                     {"DIAGONAL", 0},
                     {"UNROLL", 1}},
                    {{"lanes[lane] = inside ? in[(size_t)row * columns + column + lane] : 0.0f;",
                      "lanes[lane] = 0.0f * (float)inside;"},
                     {"if (row < rows && column + lane < columns) {",
                      "if (row < rows - (rows % TILE_ROWS != 0) && column + lane < columns) {"},
                     {"if (row < rows && column + lane < columns) {",
                      "if (row < rows && columns >= TILE_COLUMNS && column + lane < columns) {"}}),
       transposition,
       {{{64, 64}, {}}, {{64, 66}, {1}}, {{60, 64}, {2}}, {{64, 20}, {3}}, {{61, 18}, {1, 2, 3}}},
       {{128, 96}, {72, 98}, {44, 96}, {80, 24}, {99, 30}}});
}

TEST_CASE("a reduction's faults of some classes are never adopted for these") {
  // One group of 32 items that loads 128 numbers at once.
  never_runs_where_wrong(
      {slowly_right(
           shipped("reduction"), "const int whole =",
           {{"WG", 32}, {"VECTOR", 4}, {"GROUPS", 1}, {"TREE", 1}, {"ATOMICS", 0}},
           {{"for (int at = whole + item; at < n; at += GROUPS * WG) sum += values[at];", ""},
            {"for (int at = item * VECTOR; at < whole; at += GROUPS * WG * VECTOR) {",
             "for (int at = item * VECTOR; at < whole && at < 128; at += GROUPS * WG * VECTOR) {"},
            {"partial[own] = sum;", "partial[own] = n < WG ? 0.0f : sum;"}}),
       row_sums,
       {{{8, 128}, {}}, {{8, 640}, {2}}, {{8, 126}, {1}}, {{8, 28}, {3}}, {{8, 642}, {1, 2}}},
       {{9, 128}, {7, 768}, {8, 122}, {5, 24}, {6, 1282}}});
}

TEST_CASE("a padded product's faults of some classes are never adopted for these") {
  // Four rows of a work item, groups of 16 columns.
  never_runs_where_wrong(
      {slowly_right(
           described(IDLETUNE_TEST_DATA_FOLDER "/packages/padded_product.xml"), "float sums[T];",
           {{"T", 4}, {"WG", 16}},
           {{"if (column < n && row < m) c[row", "if (column < n && row < m - 1) c[row"},
            {"if (column >= n) return;", "if (column >= n || n < WG) return;"},
            {"if (column >= n) return;", "if (column >= n - (n > WG ? n % WG : 0)) return;"}}),
       product,
       {{{32, 64, 24}, {}},
        {{30, 64, 24}, {1}},
        {{32, 12, 24}, {2}},
        {{32, 72, 24}, {3}},
        {{30, 72, 24}, {1, 3}}},
       {{64, 80, 24}, {62, 80, 24}, {40, 8, 24}, {36, 40, 24}, {26, 56, 24}}});
}
