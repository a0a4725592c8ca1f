// Each call of the OpenCL driver fails once, in each part of an application with sparse solvers and
// products of matrices: nothing crashes, x stays as it was and C is right, or it is said, and the
// next call is right. The driver is this machine's, behind the strict layer.

#include <optional>

#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"
#include "tests/strict_opencl/control.h"
#include "tests/unit/kernels/gemm_calls.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/proven_residual.hpp"
#include "tests/unit/os/temporary_folder.hpp"

#include <idletune/krylov.hpp>

using namespace idletune;
using namespace idletune::krylov;
using Vector = std::vector<double>;

namespace {

constexpr int kOutOfResources = -5;
constexpr int kNoMemory = -4;  // CL_MEM_OBJECT_ALLOCATION_FAILURE: allocated at the first use only
constexpr double kTolerance = 1e-5;

struct Layer {
  const test::LoadedLibrary library{IDLETUNE_STRICT_OPENCL};
  decltype(&strict_fail_call) fail_call = library["strict_fail_call"];
  decltype(&strict_counted_calls) counted_calls = library["strict_counted_calls"];
  decltype(&strict_failed_call) failed_call = library["strict_failed_call"];
  decltype(&strict_live_objects) live_objects = library["strict_live_objects"];
};

Layer& layer() {
  static Layer one;
  return one;
}

// Few iterations: 2 on the diagonal, and -1/2 between the two rows of a pair.
SparseMatrix pairs(std::int32_t rows) {
  SparseMatrix matrix;
  matrix.pattern.columns = rows;
  for (std::int32_t row = 0; row < rows; ++row) {
    const double diagonal = row % 4 < 2 ? 2 : 3;
    if (row % 2 == 1) test::add_entry(matrix, row - 1, -0.5);
    test::add_entry(matrix, row, diagonal);
    if (row % 2 == 0) test::add_entry(matrix, row + 1, -0.5);
    test::end_row(matrix);
  }
  return matrix;
}

// Some thirty iterations.
SparseMatrix band(std::int32_t rows) { return test::tridiagonal(rows, -1, 2.125, -1); }

Status wrong(const char* what) { return {StatusCode::internal, "WRONG: %", what}; }

class Application {
 public:
  explicit Application(bool for_long) : matrix_(for_long ? band(96) : pairs(64)) {}

  Status open() {
    opencl::OpenOptions options;
    options.library = IDLETUNE_STRICT_OPENCL;
    if (compiled_before) options.cache_folder = compiled().file("programs");
    if (device_ == nullptr) {
      auto opened = opencl::open(0, options);
      if (!opened.ok()) return opened.status();
      device_ = std::move(*opened);
    }
    if (queue_ == nullptr) {
      auto made = opencl::application_queue(*device_);
      if (!made.ok()) return made.status();
      queue_ = std::move(*made);
    }
    return {};
  }
  Status open_solver() {
    if (solver_) return {};
    SolverOptions options;
    options.precision = precision;
    options.steps = steps;
    options.choosing = choosing;
    options.own_thread = false;
    options.fixed_format = fixed;
    options.format = SparseFormat::ell;
    auto made = Solver::make(*device_, *queue_, matrix_, options);
    if (!made.ok()) return made.status();
    solver_.emplace(std::move(*made));
    return {};
  }
  Status solve() {
    const Vector b = right_side(), before(b.size(), 0.25);
    Vector x = before;
    SolveOptions options;
    options.method = method;
    options.tolerance = kTolerance;
    auto report = solver_->solve(b, x, options);
    if (!report.ok()) return x == before ? report.status() : wrong("x of a failed solve");
    const test::Residual proven = test::residual_of(matrix_, b, x);
    const bool true_verdict = (report->ended == Ended::converged) ==
                              (proven.share <= 1.05 * kTolerance + proven.rounding);
    if (!true_verdict) return wrong("a verdict");
    return report->ended == Ended::converged ? Status() : wrong(ended_name(report->ended));
  }
  Status product() {
    const Vector x = right_side(), nothing(x.size(), -7);
    Vector y = nothing;
    const Status status = solver_->multiply(x, y);
    if (!status.ok()) return y == nothing ? status : wrong("y of a failed product");
    return y == exact_product(x) ? status : wrong("y");
  }
  Status new_values() {
    SparseMatrix other = matrix_;
    for (double& value : other.values) value *= 2;
    const Status status = solver_->set_values(other.values);
    if (status.ok()) matrix_ = other;
    return status;
  }

  Status open_gemm() {
    if (!agent_) {
      AgentOptions options;
      options.read_environment = false;
      options.model = kNoModel;
      auto opened = Agent::open(options);
      if (!opened.ok()) return opened.status();
      agent_.emplace(std::move(*opened));
    }
    if (!gemm_) {
      auto queue = opencl::application_queue(*device_);
      if (!queue.ok()) return queue.status();
      auto opened = Gemm::open(*agent_, *device_, std::move(*queue));
      if (!opened.ok()) return opened.status();
      gemm_.emplace(std::move(*opened));
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i] != nullptr) continue;
      auto made = queue_->allocate(kElements * sizeof(float));
      if (!made.ok()) return made.status();
      buffers_[i] = std::move(*made);
    }
    const std::vector<float> a = numbers(1), b = numbers(2);
    Status status = write(0, a);
    if (status.ok()) status = write(1, b);
    if (status.ok()) status = write(2, std::vector<float>(kElements, -7));
    return status;
  }
  Status multiply() {
    return checked({0}, [&] { return gemm_->multiply(dense()); });
  }
  Status strided() {
    return checked({0, kSquare}, [&] {
      return gemm_->multiply_strided(dense(), {2, kSquare, kSquare, kSquare});
    });
  }
  Status batch() {
    const std::vector<std::size_t> begins = {2 * kSquare, 0, kSquare};
    // More of them than there are tables.
    for (int i = 0; i < 10; ++i) {
      const Status status = checked(begins, [&] {
        return gemm_->multiply_batched(dense(), {begins, begins, begins});
      });
      if (!status.ok()) return status;
    }
    return {};
  }
  Status pack() {
    if (packed_) return {};
    auto packed = gemm_->pack(GemmArgument::b, dense());
    if (!packed.ok()) return packed.status();
    packed_.emplace(std::move(*packed));
    return queue_->wait();
  }
  Status pack_again() { return gemm_->pack_again(*packed_, dense()); }
  Status multiply_packed() {
    return checked({0}, [&] { return gemm_->multiply_packed(dense(), *packed_); });
  }
  Status close() {
    (void)(queue_ != nullptr ? queue_->wait() : Status());
    packed_.reset();
    for (auto& buffer : buffers_) buffer.reset();
    gemm_.reset();
    agent_.reset();
    solver_.reset();
    queue_.reset();
    device_.reset();
    return {};
  }

  bool compiled_before = true;
  Precision precision = Precision::f64;
  Steps steps = Steps::apart;
  Choosing choosing = Choosing::none;
  Method method = Method::cg;
  bool fixed = false;

 private:
  static const test::TemporaryFolder& compiled() {
    static const test::TemporaryFolder folder;
    return folder;
  }
  static constexpr std::size_t kSide = 12, kSquare = kSide * kSide, kElements = 3 * kSquare;

  Vector right_side() const {
    Vector b(matrix_.pattern.row_start.size() - 1);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + static_cast<double>(i % 5);
    return b;
  }
  Vector exact_product(const Vector& x) const {
    Vector y(x.size());
    for (std::size_t row = 0; row < y.size(); ++row) {
      for (auto k = static_cast<std::size_t>(matrix_.pattern.row_start[row]);
           k < static_cast<std::size_t>(matrix_.pattern.row_start[row + 1]); ++k) {
        y[row] += matrix_.values[k] * x[static_cast<std::size_t>(matrix_.pattern.column[k])];
      }
    }
    return y;
  }
  static std::vector<float> numbers(std::uint64_t seed) {
    Random random(seed);
    std::vector<float> all(kElements);
    for (float& number : all) number = static_cast<float>(random.below(15)) - 7;
    return all;
  }
  Status write(std::size_t buffer, const std::vector<float>& values) {
    Status status = queue_->write(
        *buffers_[buffer], 0,
        Bytes(reinterpret_cast<const std::uint8_t*>(values.data()), kElements * sizeof(float)));
    const Status waited = queue_->wait();
    return status.ok() ? waited : status;
  }
  Product dense() const {
    Product product;
    product.m = product.n = product.k = kSide;
    product.a = {buffers_[0]->argument(), 0, kSide};
    product.b = {buffers_[1]->argument(), 0, kSide};
    product.c = {buffers_[2]->argument(), 0, kSide};
    return product;
  }
  // Of products whose matrices all begin there.
  template <class Call>
  Status checked(const std::vector<std::size_t>& begins, Call call) {
    const std::vector<float> a = numbers(1), b = numbers(2), nothing(kElements, -7);
    std::vector<float> expected = nothing, c = nothing;
    for (const std::size_t begin : begins) {
      for (std::size_t i = 0; i < kSquare; ++i) {
        float& sum = expected[begin + i] = 0;
        for (std::size_t j = 0; j < kSide; ++j) {
          sum += a[begin + i / kSide * kSide + j] * b[begin + j * kSide + i % kSide];
        }
      }
    }
    Status status = write(2, nothing);
    if (status.ok()) status = call();
    if (!status.ok()) return status;
    status = queue_->read(
        *buffers_[2], 0,
        MutableBytes(reinterpret_cast<std::uint8_t*>(c.data()), kElements * sizeof(float)));
    if (!status.ok()) return status;
    return c == expected ? status : wrong("C");
  }

  SparseMatrix matrix_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<ApplicationQueue> queue_;
  std::optional<Solver> solver_;
  std::optional<Agent> agent_;
  std::optional<Gemm> gemm_;
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
  std::optional<PackedOperand> packed_;
};

using Step = Status (Application::*)();
struct Part {
  const char* name;
  std::vector<Step> before;
  std::vector<Step> steps;  // while something fails
  std::vector<Step> after;  // what is right then, after all of `before` and `steps`
  bool is_long = false;     // one in 21 calls
};

void all_right(Application& application, const std::vector<Step>& steps) {
  for (const Step step : steps) {
    const Status status = (application.*step)();
    REQUIRE_MESSAGE(status.ok(), status.to_string());
  }
}

// Whether there was an n-th call.
template <class Prepare>
bool live(const Part& part, int error, unsigned long n, Prepare prepare) {
  const long objects = layer().live_objects();
  Application application(part.is_long);
  prepare(application);
  all_right(application, part.before);
  layer().fail_call(n, error);
  Status said;
  for (std::size_t i = 0; i < part.steps.size() && said.ok(); ++i) {
    said = (application.*part.steps[i])();
  }
  const unsigned long calls = layer().counted_calls();
  const std::string failed = layer().failed_call();
  layer().fail_call(0, 0);
  const std::string name = part.name;
  CAPTURE(name);
  CAPTURE(n);
  CAPTURE(failed);
  CAPTURE(said.to_string());
  CHECK((said.ok() || !said.message().empty()));
  CHECK(said.to_string().find("WRONG") == std::string::npos);
  for (const std::vector<Step>& steps : {part.before, part.steps, part.after}) {
    all_right(application, steps);
  }
  (void)application.close();
  if (failed.find("clRelease") == std::string::npos) CHECK(layer().live_objects() == objects);
  return n <= calls;
}

// Each call by one error; with IDLETUNE_EVERY_CALL by both, and each of the long ones by one.
template <class Prepare>
void live_through_each(const Part& part, Prepare prepare) {
  const bool every = std::getenv("IDLETUNE_EVERY_CALL") != nullptr;
  const unsigned long all = part.is_long ? 2 : 1, some = part.is_long ? 42 : 2;
  const unsigned long step = every ? all : some;
  for (const int error : {kOutOfResources, kNoMemory}) {
    unsigned long n = step > 1 && error == kNoMemory ? 2 : 1;
    while (live(part, error, n, prepare)) n += step;
    MESSAGE("figure: ", std::string(part.name), ", error ", error, ": ", n - 1, " calls");
  }
}

const std::vector<Step> kSolverOpen = {&Application::open, &Application::open_solver};
const std::vector<Step> kGemmOpen = {&Application::open, &Application::open_gemm};

}  // namespace

TEST_CASE("each call of the driver fails once while a device and its libraries are opened") {
  live_through_each({"opening a device, a solver and gemm",
                     {},
                     {&Application::open, &Application::open_solver, &Application::open_gemm},
                     {&Application::solve, &Application::multiply}},
                    [](Application& application) { application.compiled_before = false; });
}

TEST_CASE("each call of the driver fails once in a solve") {
  const std::pair<Method, Precision> ways[] = {{Method::cg, Precision::f64},
                                               {Method::bicgstab, Precision::f32},
                                               {Method::gmres, Precision::mixed}};
  for (const auto& [method, precision] : ways) {
    CAPTURE(static_cast<int>(method));
    live_through_each({"a solve",
                       kSolverOpen,
                       {&Application::solve},
                       {&Application::new_values, &Application::solve}},
                      [method = method, precision = precision](Application& application) {
                        application.method = method;
                        application.precision = precision;
                      });
  }
}

TEST_CASE("each call of the driver fails once in a solve by fused steps, and while one is chosen") {
  for (const Choosing choosing : {Choosing::none, Choosing::always}) {
    CAPTURE(static_cast<int>(choosing));
    live_through_each(
        {"a long solve", kSolverOpen, {&Application::solve}, {&Application::solve}, true},
        [&](Application& application) {
          application.steps = choosing == Choosing::none ? Steps::fused : Steps::faster;
          application.choosing = choosing;
        });
  }
}

TEST_CASE("each call of the driver fails once in a sparse product and in new values") {
  for (const bool fixed : {false, true}) {
    live_through_each({"a sparse product in a format that was given",
                       {&Application::open},
                       {&Application::open_solver, &Application::product},
                       {&Application::product, &Application::solve}},
                      [&](Application& application) { application.fixed = fixed; });
  }
  live_through_each(
      {"new values", kSolverOpen, {&Application::new_values}, {&Application::product}},
      [](Application&) {});
}

TEST_CASE("each call of the driver fails once in products, batches and packings") {
  const Part parts[] = {
      {"a product", kGemmOpen, {&Application::multiply}, {&Application::strided}},
      {"a strided batch", kGemmOpen, {&Application::strided}, {&Application::multiply}},
      {"a batch", kGemmOpen, {&Application::batch}, {&Application::multiply}},
      {"a packing", kGemmOpen, {&Application::pack}, {&Application::multiply_packed}},
      {"a packing again and a packed product",
       {&Application::open, &Application::open_gemm, &Application::pack},
       {&Application::pack_again, &Application::multiply_packed},
       {&Application::multiply}}};
  for (const Part& part : parts) live_through_each(part, [](Application&) {});
}
