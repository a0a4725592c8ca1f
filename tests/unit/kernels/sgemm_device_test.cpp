// kernels/blas/sgemm, a family, on this machine's OpenCL device against double precision on the host:
// dense matrices as the tuner has them, and matrices that lie anywhere.
#include <algorithm>
#include <array>
#include <limits>

#include "agent/trial/step_programs.hpp"
#include "models/core/random.hpp"
#include "models/core/scalar.hpp"
#include "tests/unit/kernels/kernel_check.hpp"
#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

constexpr std::uint64_t kSgemmSeed = 20261122;
constexpr float kSgemmGuard = -12344.0f;  // a half, too

enum Link : std::int64_t {
  kNone = 0,
  kScattered = 1,
  kSharedA = 2,
  kSharedB = 4,
  kPanelsA = 8,
  kPanelsB = 16
};

// Where an element of a matrix in panels lies.
std::size_t in_panels(std::size_t index, std::size_t k, std::size_t depth) {
  return index / 16 * 16 * ((depth + 15) / 16 * 16) + k * 16 + index % 16;
}

// One stored matrix per product: op(X) is rows x columns.
struct Placement {
  std::size_t rows = 0, columns = 0;
  bool turned = false;
  std::size_t offset = 0;
  std::size_t pad = 0;
  std::vector<std::size_t> begins;  // of each product's matrix, `offset` not counted
  Link panels = kNone;              // the operand's, or none

  std::size_t leading() const { return (turned ? rows : columns) + pad; }
  std::size_t extent() const {
    if (panels != kNone) return (rows + 15) / 16 * 16 * ((columns + 15) / 16 * 16);
    return ((turned ? columns : rows) - 1) * leading() + minor();
  }
  std::size_t minor() const { return turned ? rows : columns; }
  std::size_t at(std::size_t product, std::size_t row, std::size_t column) const {
    if (panels == kPanelsA) return offset + in_panels(row, column, columns);
    if (panels == kPanelsB) return offset + in_panels(column, row, rows);
    return offset + begins[product] + (turned ? column : row) * leading() + (turned ? row : column);
  }
  std::size_t size() const {
    return offset + *std::max_element(begins.begin(), begins.end()) + extent();
  }
};

Outputs expected_products(const Shape& shape, const Inputs& in) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(shape[i]); };
  const std::size_t m = size(0), n = size(1), k = size(2);
  const double alpha = in.scalar("alpha");
  const double beta = in.scalar("beta");
  const auto index_a = [&](std::size_t row, std::size_t i) {
    if ((shape[6] & kPanelsA) != 0) return in_panels(row, i, k);
    return shape[4] == 1 ? i * m + row : row * k + i;
  };
  const auto index_b = [&](std::size_t i, std::size_t column) {
    if ((shape[6] & kPanelsB) != 0) return in_panels(column, i, k);
    return shape[5] == 1 ? column * k + i : i * n + column;
  };
  Outputs out;
  for (std::size_t product = 0; product < size(3); ++product) {
    const std::size_t a = (shape[6] & kSharedA) != 0 ? 0 : product * m * k;
    const std::size_t b = (shape[6] & kSharedB) != 0 ? 0 : product * k * n;
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        Sum sum;
        sum.add(beta * in.at("c", (product * m + row) * n + column));
        for (std::size_t i = 0; i < k; ++i) {
          sum.add(alpha * in.at("a", a + index_a(row, i)) * in.at("b", b + index_b(i, column)));
        }
        out["c"].add(sum, k);
      }
    }
  }
  return out;
}

const KernelCheck kSgemmCheck{
    "sgemm",
    {{1, 1, 1, 1, 0, 0, 0},
     {7, 3, 65, 2, 1, 0, 0},
     {64, 128, 32, 1, 1, 0, 0},
     {33, 70, 17, 2, 0, 1, 4},
     {1, 130, 263, 1, 0, 0, 0},
     {1, 19, 259, 1, 0, 1, 0},
     {61, 2, 5, 3, 1, 1, 2},
     {35, 70, 17, 1, 1, 0, 16},
     {3, 50, 67, 2, 0, 0, 20},
     {50, 3, 67, 1, 0, 1, 8}},
    {9, 21, 11, 1, 0, 0, 0},
    expected_products,
    {"for (; d < tile_depth; ++d)", "for (++d; d < tile_depth; ++d)"},
    {{5, 18, 9, 2, 1, 1, 0}, {2, 3, 256, 1, 0, 1, 0}, {3, 18, 9, 1, 0, 0, 16}}};

std::uint16_t to_half(float value) {
  std::uint16_t half = 0;
  store_number(ScalarType::f16, static_cast<double>(value), &half);
  return half;
}
float from_half(std::uint16_t half) {
  const double value = load_number(ScalarType::f16, &half);
  return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
}

std::unique_ptr<Buffer> upload_as(Device& device, ScalarType type,
                                  const std::vector<float>& values) {
  if (type == ScalarType::f32) return upload(device, values);
  std::vector<std::uint16_t> halves;
  for (const float value : values) halves.push_back(to_half(value));
  return upload(device, halves);
}
std::vector<float> download_as(Device& device, ScalarType type, const Buffer& buffer,
                               std::size_t size) {
  if (type == ScalarType::f32) return download(device, buffer, size);
  std::vector<float> values;
  for (const std::uint16_t half : download<std::uint16_t>(device, buffer, size)) {
    values.push_back(from_half(half));
  }
  return values;
}

// A problem whose matrices lie anywhere, its data, and what must come out.
struct Placed {
  Placed(const Shape& problem, ScalarType stored, Random& random) : shape(problem), type(stored) {
    const auto size = [&](std::size_t i) { return static_cast<std::size_t>(problem[i]); };
    if ((problem[6] & kPanelsA) != 0) a.panels = kPanelsA;
    if ((problem[6] & kPanelsB) != 0) b.panels = kPanelsB;
    place(a, size(0), size(2), problem[4] == 1, (problem[6] & kSharedA) != 0, random);
    place(b, size(2), size(1), problem[5] == 1, (problem[6] & kSharedB) != 0, random);
    place(c, size(0), size(1), false, false, random);
    alpha = random.below(8) == 0 ? 0.0f : static_cast<float>(2 * random.uniform() - 1);
    beta = random.below(3) == 0 ? 0.0f : static_cast<float>(2 * random.uniform() - 1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    fill(a, a_values, alpha == 0.0f ? nan : 1.0f, nan, random);
    fill(b, b_values, alpha == 0.0f ? nan : 1.0f, nan, random);
    fill(c, c_values, beta == 0.0f ? nan : 1.0f, kSgemmGuard, random);
    for (std::size_t i = 0; i < size(3); ++i) {
      for (const Placement* p : {&a, &b, &c}) {
        table.push_back(static_cast<std::int64_t>(p->begins[i]));
      }
    }
  }

  // Elements of C that are not what they must be, and all else that was changed.
  std::size_t wrong(const std::vector<float>& result) const {
    std::vector<float> expected = c_values;
    std::size_t count = 0;
    for (std::size_t product = 0; product < c.begins.size(); ++product) {
      for (std::size_t row = 0; row < c.rows; ++row) {
        for (std::size_t column = 0; column < c.columns; ++column) {
          const std::size_t at = c.at(product, row, column);
          Sum sum;
          if (beta != 0.0f) sum.add(static_cast<double>(beta * c_values[at]));
          for (std::size_t k = 0; alpha != 0.0f && k < a.columns; ++k) {
            sum.add(static_cast<double>(alpha) *
                    static_cast<double>(a_values[a.at(product, row, k)]) *
                    static_cast<double>(b_values[b.at(product, k, column)]));
          }
          double bound = rounding_bound(static_cast<double>(a.columns), sum.magnitude);
          if (type == ScalarType::f16)
            bound += std::max(std::fabs(sum.value) / 2000, 1.0 / (1 << 24));
          if (!(std::fabs(static_cast<double>(result[at]) - sum.value) <= bound)) ++count;
          expected[at] = result[at];
        }
      }
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (std::memcmp(&result[i], &expected[i], sizeof(float)) != 0) ++count;
    }
    return count;
  }

  Shape shape;
  ScalarType type;
  Placement a, b, c;
  std::vector<float> a_values, b_values, c_values;
  std::vector<std::int64_t> table;
  float alpha = 0, beta = 0;

 private:
  void place(Placement& p, std::size_t rows, std::size_t columns, bool turned, bool shared,
             Random& random) const {
    p.rows = rows, p.columns = columns, p.turned = turned;
    p.offset = random.below(9);
    p.pad = random.below(6);
    const std::size_t apart = p.extent() + random.below(7);
    const auto batch = static_cast<std::size_t>(shape[3]);
    for (std::size_t i = 0; i < batch; ++i) p.begins.push_back(shared ? 0 : i * apart);
    if ((shape[6] & kScattered) != 0)
      std::rotate(p.begins.begin(), p.begins.end() - 1, p.begins.end());
  }

  void fill(const Placement& p, std::vector<float>& values, float scale, float elsewhere,
            Random& random) const {
    values.assign(p.size() + 16, p.panels == kNone ? elsewhere : 0.0f);
    for (std::size_t product = 0; product < p.begins.size(); ++product) {
      for (std::size_t row = 0; row < p.rows; ++row) {
        for (std::size_t column = 0; column < p.columns; ++column) {
          float& value = values[p.at(product, row, column)];
          value = scale * static_cast<float>(2 * random.uniform() - 1);
          if (type == ScalarType::f16) value = from_half(to_half(value));
        }
      }
    }
  }
};

// How much further a product's matrix lies behind the one before than dense ones do.
std::int64_t step_of(const Placement& p, bool shared, bool scattered) {
  const auto dense = static_cast<std::int64_t>(shared ? 0 : p.rows * p.columns);
  if (scattered) return -dense;
  return (p.begins.size() > 1 ? static_cast<std::int64_t>(p.begins[1]) : dense) - dense;
}

std::size_t run_placed(Device& device, const KernelPackage& package,
                       const trial::StepPrograms& programs, const LaunchPlan& plan,
                       const Configuration& configuration, const Placed& placed) {
  const auto a = upload_as(device, placed.type, placed.a_values);
  const auto b = upload_as(device, placed.type, placed.b_values);
  const auto c = upload_as(device, placed.type, placed.c_values);
  const auto table = upload(device, placed.table);
  const auto i32 = [](std::int64_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto i64 = [](std::size_t value) { return Argument(static_cast<std::int64_t>(value)); };
  const Shape& s = placed.shape;
  const bool scattered = (s[6] & kScattered) != 0;
  std::vector<Argument> arguments{i32(s[0]),
                                  i32(s[1]),
                                  i32(s[2]),
                                  i32(s[4] + 2 * s[5] + 4 * s[6]),
                                  a->argument(),
                                  b->argument(),
                                  c->argument(),
                                  table->argument(),
                                  Argument(placed.alpha),
                                  Argument(placed.beta),
                                  i64(placed.a.offset),
                                  i64(placed.b.offset),
                                  i64(placed.c.offset),
                                  i32(static_cast<std::int64_t>(placed.a.pad)),
                                  i32(static_cast<std::int64_t>(placed.b.pad)),
                                  i32(static_cast<std::int64_t>(placed.c.pad)),
                                  Argument(step_of(placed.a, (s[6] & kSharedA) != 0, scattered)),
                                  Argument(step_of(placed.b, (s[6] & kSharedB) != 0, scattered)),
                                  Argument(step_of(placed.c, false, scattered))};
  std::vector<std::unique_ptr<Buffer>> scratch;
  for (std::size_t i = arguments.size(); i < package.argument_count(); ++i) {
    const auto bytes = required(package.buffer_bytes(i, s, configuration));
    auto buffer =
        required(device.allocate(static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 4))));
    arguments.push_back(buffer->argument());
    scratch.push_back(std::move(buffer));
  }
  const auto times =
      trial::run_steps(device, programs, plan.steps(), {arguments.data(), arguments.size()},
                       std::chrono::minutes(5));
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  return placed.wrong(download_as(device, placed.type, *c, placed.c_values.size()));
}

Shape random_problem(Random& random) {
  const auto side = [&]() -> std::int64_t {
    constexpr std::array<std::int64_t, 8> kSides{1, 2, 7, 31, 32, 33, 64, 67};
    return kSides[random.below(kSides.size())];
  };
  const auto bit = [&] { return static_cast<std::int64_t>(random.below(2)); };
  const std::int64_t m = side(), n = side(), k = side();
  const auto batch = 1 + static_cast<std::int64_t>(random.below(3));
  const auto links = static_cast<std::int64_t>(random.below(8));
  const std::int64_t turned_a = bit(), turned_b = bit();
  // A matrix in panels is neither turned nor one of several.
  switch (random.below(6)) {
    case 0: return {m, n, k, batch, 0, turned_b, links | kPanelsA | kSharedA};
    case 1: return {m, n, k, batch, turned_a, 0, links | kPanelsB | kSharedB};
    default: return {m, n, k, batch, turned_a, turned_b, links};
  }
}

// Ten calls of each of the configurations that together contain every parameter value, or of every
// `step`th of them.
void check_anywhere(const std::string& name, ScalarType type, std::size_t step) {
  constexpr int kCallsEach = 10;
  const auto package = open_package(test::kernel_path(name));
  const auto device = open_first_device();
  Random random(kSgemmSeed);
  std::size_t calls = 0;
  // The same as elsewhere: compiling them takes most of the time.
  const auto configurations = configurations_to_check(package->space());
  for (std::size_t at = 0; at < configurations.size(); at += step) {
    const Configuration& configuration = configurations[at];
    CAPTURE(to_text(package->space(), configuration));
    trial::StepPrograms programs;
    for (int i = 0; i < kCallsEach; ++i) {
      const Placed placed(random_problem(random), type, random);
      const auto plan = package->plan(placed.shape, configuration);
      if (plan.status().code() == StatusCode::unsupported) continue;  // says the description
      REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
      if (!fits(*device, *plan)) break;
      if (programs.empty()) {
        programs = required(trial::compile_steps(*device, *package, configuration));
      }
      CAPTURE(calls);
      CHECK(run_placed(*device, *package, programs, *plan, configuration, placed) == 0);
      ++calls;
    }
  }
  MESSAGE(calls << " calls of every " << step << ". of " << configurations.size()
                << " configurations");
  CHECK(calls * step > 100);
}

}  // namespace

IDLETUNE_KERNEL_TESTS("sgemm", kSgemmCheck)

TEST_CASE("every value of sgemm's parameters is right for matrices that lie anywhere") {
  check_anywhere("sgemm", ScalarType::f32, 1);
}

// The kernels are those of sgemm with another type.
TEST_CASE("configurations of hgemm are right for halves that lie anywhere") {
  check_anywhere("hgemm", ScalarType::f16, 3);
}
