// The kernels of kernels/krylov on this machine's OpenCL device: products of a matrix in every
// format against the product of its rows in double precision, inner products and sums of vectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/text.hpp>

#include "agent/trial/step_programs.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/core/random.hpp"
#include "tests/bytes_of.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/covering.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/stored_product.hpp"
#include "tests/unit/repeats.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;
using krylov::SparseFormat;
using krylov::SparseMatrix;
using krylov::StoredPattern;
using test::add_entry;
using test::end_row;

constexpr std::uint64_t kVectorSeed = 20261122;
const std::size_t kVectorGuardElements = guard_elements(16);

std::string xml_of(const std::string& folder, const std::string& name, bool is_double) {
  return IDLETUNE_SOURCE_FOLDER "/kernels/krylov/" + folder + "/" + name +
         (is_double ? "_double.xml" : ".xml");
}

double unit_roundoff(bool is_double) { return is_double ? 0x1p-53 : 0x1p-24; }

// --- matrices ---

struct Named {
  const char* name;
  SparseMatrix matrix;
};

// Some rows are empty, one is full where `dense` says so; a tenth of the entries are zeros.
SparseMatrix random_matrix(std::int32_t rows, std::int32_t columns, double share, bool dense) {
  Random random(static_cast<std::uint64_t>(rows) * 1000 + static_cast<std::uint64_t>(columns));
  SparseMatrix matrix;
  matrix.pattern.columns = columns;
  for (std::int32_t row = 0; row < rows; ++row) {
    const double of_row = dense && row == rows / 2 ? 1 : row % 7 == 3 ? 0 : share;
    for (std::int32_t column = 0; column < columns; ++column) {
      if (random.uniform() >= of_row) continue;
      add_entry(matrix, column, random.uniform() < 0.1 ? 0 : 2 * random.uniform() - 1);
    }
    end_row(matrix);
  }
  return matrix;
}

std::vector<Named> small_matrices() {
  std::vector<Named> all;
  all.push_back({"1 x 1", test::tridiagonal(1, -0.5, 2, 0.25)});
  all.push_back({"tridiagonal", test::tridiagonal(19, -0.5, 2, 0.25)});
  all.push_back({"no entries", random_matrix(5, 3, 0, false)});
  all.push_back({"empty rows and zeros", random_matrix(33, 33, 0.2, false)});
  all.push_back({"one dense row", random_matrix(20, 20, 0.05, true)});
  all.push_back({"wide", random_matrix(5, 40, 0.3, true)});
  all.push_back({"high", random_matrix(40, 5, 0.3, false)});
  all.push_back({"several slices", random_matrix(70, 9, 0.3, true)});
  return all;
}

// --- calls ---

struct Subject {
  Device& device;
  std::shared_ptr<const KernelPackage> package;
  bool is_double;
};

// The arguments of one call on the device, by name: given ones, the others derived.
class KrylovCall {
 public:
  explicit KrylovCall(const Subject& subject) : subject_(subject) {}

  template <class T>
  void give(const std::string& name, const std::vector<T>& values) {
    const Bytes bytes = test::bytes_of(values);
    buffers_[name] = allocate(bytes.size());
    if (!bytes.empty()) REQUIRE(subject_.device.write(*buffers_[name], 0, bytes).ok());
  }
  void give_reals(const std::string& name, const std::vector<double>& values) {
    if (subject_.is_double) return give(name, values);
    give(name, std::vector<float>(values.begin(), values.end()));
  }
  // An output that holds nothing yet, and a guard behind it.
  void give_output(const std::string& name, std::size_t elements) {
    if (test::sees_every_access()) {
      buffers_[name] = allocate(elements * (subject_.is_double ? sizeof(double) : sizeof(float)));
      return;
    }
    std::vector<double> before(elements, std::numeric_limits<double>::quiet_NaN());
    before.insert(before.end(), kVectorGuardElements, kGuard);
    give_reals(name, before);
  }
  // Fails where the guard is damaged.
  std::vector<double> output(const std::string& name, std::size_t elements) {
    std::vector<double> values = reals(name, elements + kVectorGuardElements);
    for (std::size_t i = elements; i < values.size(); ++i) CHECK(values[i] == kGuard);
    values.resize(elements);
    return values;
  }

  void run(const trial::StepPrograms& programs, const LaunchPlan& plan, const Shape& shape,
           const Configuration& configuration) {
    const KernelPackage& package = *subject_.package;
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < package.argument_count(); ++i) {
      const ArgumentSpec& spec = package.argument(i);
      const std::string name(spec.name);
      if (spec.kind == ArgumentKind::scratch) {
        // What is read of it must have been written.
        const std::uint64_t bytes = package.buffer_bytes(i, shape, configuration).value();
        give(name, std::vector<float>(bytes / sizeof(float), kNan));
      }
      if (spec.kind == ArgumentKind::scalar) {
        arguments.push_back(trial::scalar_value(spec, static_cast<std::uint32_t>(i), 1));
      } else if (is_memory(spec.kind)) {
        arguments.push_back(buffers_.at(name)->argument());
      } else {
        arguments.push_back(trial::derived_argument(package, i, shape, configuration).value());
      }
    }
    const auto times =
        trial::run_steps(subject_.device, programs, plan.steps(),
                         {arguments.data(), arguments.size()}, std::chrono::minutes(5));
    REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  }

 private:
  static constexpr double kGuard = -12345;
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  std::unique_ptr<Buffer> allocate(std::size_t bytes) {
    auto buffer = subject_.device.allocate(bytes > 0 ? bytes : 8);
    REQUIRE_MESSAGE(buffer.ok(), buffer.status().to_string());
    return std::move(*buffer);
  }
  template <class T>
  std::vector<T> get(const std::string& name, std::size_t elements) {
    std::vector<T> values(elements);
    const MutableBytes bytes(reinterpret_cast<std::uint8_t*>(values.data()), elements * sizeof(T));
    REQUIRE(subject_.device.read(*buffers_.at(name), 0, bytes).ok());
    return values;
  }
  std::vector<double> reals(const std::string& name, std::size_t elements) {
    if (subject_.is_double) return get<double>(name, elements);
    const std::vector<float> values = get<float>(name, elements);
    return {values.begin(), values.end()};
  }

  const Subject& subject_;
  std::map<std::string, std::unique_ptr<Buffer>> buffers_;
};

std::vector<double> numbers(std::size_t count, std::uint64_t seed, bool is_double) {
  Random random(seed);
  std::vector<double> all(count);
  for (double& number : all) {
    number = 2 * random.uniform() - 1;
    if (!is_double) number = static_cast<double>(static_cast<float>(number));
  }
  return all;
}

// --- products ---

Shape shape_of(const SparseMatrix& matrix, const StoredPattern& stored) {
  std::int32_t longest = 0;
  for (std::size_t row = 0; row + 1 < matrix.pattern.row_start.size(); ++row) {
    longest = std::max(longest, matrix.pattern.row_start[row + 1] - matrix.pattern.row_start[row]);
  }
  const auto entries = static_cast<std::int64_t>(matrix.pattern.entries());
  Shape shape{stored.rows, stored.columns, entries};
  if (stored.format == SparseFormat::csr || stored.format == SparseFormat::coo) {
    shape.push_back(longest);
  } else if (stored.format == SparseFormat::sell) {
    shape.push_back(stored.slots);
    shape.push_back(longest);
  } else {
    shape.push_back(stored.width);
  }
  if (stored.format == SparseFormat::hyb) {
    shape.push_back(static_cast<std::int64_t>(stored.row.size()));
    shape.push_back(longest);
  }
  for (int i = 0; i < 8; ++i) shape.push_feature(1);
  return shape;
}

struct KrylovProduct {
  std::string name;
  SparseMatrix matrix;  // its values as the device holds them
  StoredPattern stored;
  Shape shape;
  std::vector<double> x, slots, expected, magnitude;
};

KrylovProduct product_of(const Named& named, SparseFormat format, bool is_double) {
  KrylovProduct product;
  product.name = named.name;
  product.matrix = named.matrix;
  SparseMatrix& matrix = product.matrix;
  if (!is_double) {
    for (double& value : matrix.values) value = static_cast<double>(static_cast<float>(value));
  }
  auto stored = krylov::convert(matrix.pattern, format, 8, std::uint64_t{1} << 30);
  REQUIRE_MESSAGE(stored.ok(), stored.status().to_string());
  product.stored = std::move(*stored);
  product.shape = shape_of(matrix, product.stored);
  product.slots = test::numbers_of(product.stored, matrix.values);
  product.x = numbers(static_cast<std::size_t>(matrix.pattern.columns), 7, is_double);
  const auto rows = static_cast<std::size_t>(matrix.pattern.rows);
  product.expected.resize(rows);
  product.magnitude.resize(rows);
  krylov::multiply(matrix.pattern, matrix.values, product.x, product.expected);
  std::vector<double> values = matrix.values;
  std::vector<double> x = product.x;
  for (double& value : values) value = std::fabs(value);
  for (double& number : x) number = std::fabs(number);
  krylov::multiply(matrix.pattern, values, x, product.magnitude);
  return product;
}

void check_product(const Subject& subject, const KrylovProduct& product,
                   const trial::StepPrograms& programs, const LaunchPlan& plan,
                   const Configuration& configuration) {
  CAPTURE(product.name);
  run_label() = joined("%|%|%", subject.package->name(), product.name,
                       to_text(subject.package->space(), configuration));
  KrylovCall call(subject);
  call.give("row_start", product.stored.row_start);
  call.give("slice_start", product.stored.row_start);
  call.give("row_of", product.stored.row);
  call.give("column", product.stored.column);
  call.give("offset", product.stored.offset);
  call.give_reals("values", product.slots);
  call.give_reals("x", product.x);
  call.give_output("y", product.expected.size());
  call.run(programs, plan, product.shape, configuration);
  const std::vector<double> y = call.output("y", product.expected.size());
  const auto tolerance = subject.package->reference().tolerance(product.shape);
  REQUIRE(tolerance.ok());
  for (std::size_t row = 0; row < y.size(); ++row) {
    const double terms = static_cast<double>(product.matrix.pattern.row_start[row + 1] -
                                             product.matrix.pattern.row_start[row]);
    CAPTURE(row);
    CHECK(std::fabs(y[row] - product.expected[row]) <=
          2 * (std::sqrt(terms) + 4) * unit_roundoff(subject.is_double) * product.magnitude[row]);
  }
  std::size_t argument = 0;
  while (subject.package->argument(argument).name != "y") ++argument;
  const ArgumentSpec& spec = subject.package->argument(argument);
  CHECK((subject.is_double
             ? judged<double>(spec, *tolerance, y, product.expected)
             : judged<float>(spec, *tolerance, {y.begin(), y.end()}, product.expected)) == "");
}

// Every parameter value, and more configurations where a campaign asks for them.
std::vector<Configuration> configurations_of(const KernelPackage& package) {
  // Groups of a row are cheapest where they are small.
  const auto cost = [](const Configuration& configuration) {
    return static_cast<double>(configuration.values()[0] * configuration.values()[1]);
  };
  return covering_configurations(package.space(),
                                 test::number_from_environment("IDLETUNE_KERNEL_CONFIGURATIONS", 0),
                                 kVectorSeed, cost);
}

void check_format(Device& device, SparseFormat format, const std::string& name, bool is_double) {
  const Subject subject{device, open_package(xml_of("spmv", name, is_double)), is_double};
  CAPTURE(subject.package->name());
  std::vector<KrylovProduct> products;
  for (const Named& named : small_matrices()) {
    products.push_back(product_of(named, format, is_double));
  }
  const auto reference = trial::compile_reference(device, *subject.package);
  REQUIRE_MESSAGE(reference.ok(), reference.status().to_string());
  for (const KrylovProduct& product : products) {
    const auto plan = subject.package->reference().plan(product.shape);
    REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
    check_product(subject, product, *reference, *plan,
                  subject.package->reference().configuration());
  }
  for (const Configuration& configuration : configurations_of(*subject.package)) {
    CAPTURE(to_text(subject.package->space(), configuration));
    const auto programs = trial::compile_steps(device, *subject.package, configuration);
    REQUIRE_MESSAGE(programs.ok(), programs.status().to_string());
    for (const KrylovProduct& product : products) {
      const auto plan = subject.package->plan(product.shape, configuration);
      REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
      check_product(subject, product, *programs, *plan, configuration);
    }
  }
}

// --- vectors ---

void keep_numbers(const std::string& name, const std::vector<double>& values, bool is_double) {
  if (is_double) return keep_output(name, values);
  keep_output(name, std::vector<float>(values.begin(), values.end()));
}

void check_vectors(Device& device, const std::string& name, bool is_double) {
  const Subject subject{device, open_package(xml_of("vectors", name, is_double)), is_double};
  CAPTURE(subject.package->name());
  const double roundoff = unit_roundoff(is_double);
  for (const Configuration& configuration : configurations_of(*subject.package)) {
    CAPTURE(to_text(subject.package->space(), configuration));
    const auto programs = trial::compile_steps(device, *subject.package, configuration);
    REQUIRE_MESSAGE(programs.ok(), programs.status().to_string());
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{37}, std::size_t{530}, std::size_t{17000}}) {
      CAPTURE(n);
      const Shape shape{static_cast<std::int64_t>(n)};
      const auto plan = subject.package->plan(shape, configuration);
      REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
      run_label() = joined("%|%|%", subject.package->name(), n,
                           to_text(subject.package->space(), configuration));
      const std::vector<double> x = numbers(n, 1, is_double);
      std::vector<double> y = numbers(n, 2, is_double);
      KrylovCall call(subject);
      call.give_reals("x", x);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
      if (name == "dot") {
        call.give_reals("y", y);
        call.give_output("sum", 1);
        call.run(*programs, *plan, shape, configuration);
        const std::vector<double> got = call.output("sum", 1);
        keep_numbers("sum", got, is_double);
        CHECK(std::fabs(got[0] - sum) <=
              4 * (std::sqrt(static_cast<double>(n)) + 4) * roundoff * static_cast<double>(n));
        continue;
      }
      y.insert(y.end(), kVectorGuardElements, -12345);
      call.give_reals("y", y);
      call.run(*programs, *plan, shape, configuration);
      const std::vector<double> got = call.output("y", n);
      keep_numbers("y", got, is_double);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(std::fabs(got[i] - (0.75 * x[i] + y[i])) <= 4 * roundoff);
      }
    }
  }
}

}  // namespace

TEST_CASE("every parameter value of krylov_products is right for a tiny shape") {
  const auto device = open_first_device();
  for (const bool is_double : {false, true}) {
    check_format(*device, SparseFormat::csr, "spmv_csr", is_double);
    check_format(*device, SparseFormat::coo, "spmv_coo", is_double);
    check_format(*device, SparseFormat::dia, "spmv_dia", is_double);
    check_format(*device, SparseFormat::ell, "spmv_ell", is_double);
    check_format(*device, SparseFormat::hyb, "spmv_hyb", is_double);
    check_format(*device, SparseFormat::sell, "spmv_sell", is_double);
  }
}

TEST_CASE("every parameter value of krylov_vectors is right for a tiny shape") {
  const auto device = open_first_device();
  for (const bool is_double : {false, true}) {
    check_vectors(*device, "axpby", is_double);
    check_vectors(*device, "dot", is_double);
  }
}

TEST_CASE("what tuning makes up for the kernels of krylov is a legal matrix") {
  struct Made {
    const char* name;
    Shape shape;
  };
  for (const Made& made : {Made{"spmv_csr", {7, 5, 20, 3}}, Made{"spmv_coo", {7, 5, 20, 3}},
                           Made{"spmv_ell", {7, 5, 20, 3}}, Made{"spmv_hyb", {7, 5, 20, 2, 6, 9}},
                           Made{"spmv_csr", {7, 5, 2, 1}}, Made{"spmv_dia", {7, 5, 20, 4}},
                           Made{"spmv_sell", {7, 5, 20, 96, 3}}}) {
    CAPTURE(made.name);
    Shape shape = made.shape;
    for (int i = 0; i < 8; ++i) shape.push_feature(1);
    const auto package = open_package(xml_of("spmv", made.name, false));
    for (std::size_t i = 0; i < package->argument_count(); ++i) {
      const ArgumentSpec& argument = package->argument(i);
      if (argument.kind != ArgumentKind::buffer || argument.type != ScalarType::i32) continue;
      CAPTURE(argument.name);
      const std::uint64_t bytes =
          package->buffer_bytes(i, shape, package->default_configuration()).value();
      std::vector<std::int32_t> filled(bytes / sizeof(std::int32_t));
      trial::fill_elements(trial::fill_at(*package, i, shape, bytes), static_cast<std::uint32_t>(i),
                           1, 0, {reinterpret_cast<std::uint8_t*>(filled.data()), bytes});
      // Columns are of x; rows and row starts ascend to the last one.
      if (argument.name == "column") {
        for (const std::int32_t column : filled) CHECK((column >= 0 && column < 5));
        continue;
      }
      CHECK(std::is_sorted(filled.begin(), filled.end()));
      CHECK(filled.front() >= 0);
      if (argument.name == "row_start") CHECK(filled.back() == made.shape.values()[2]);
      if (argument.name == "row_of") CHECK(filled.back() == 6);
      if (argument.name == "slice_start") CHECK(filled == std::vector<std::int32_t>{0, 96});
    }
  }
}
