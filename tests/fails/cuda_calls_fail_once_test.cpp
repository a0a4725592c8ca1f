// Each call of the CUDA driver fails once while a device, a solver and a GEMM are opened and their
// kernels are compiled, uploaded for, planned and launched. The stub's kernels compute nothing, so
// that products are not looked at, and a solver may say so: nothing crashes or leaks, what failed
// says so and touches nothing of the caller's, and the next call is as if nothing had been.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/gemm.hpp>
#include <idletune/krylov.hpp>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/krylov/built_matrices.hpp"

using namespace idletune;
using namespace idletune::krylov;

namespace {

constexpr int kOutOfMemory = 2;             // CUDA_ERROR_OUT_OF_MEMORY
constexpr int kLaunchOutOfResources = 701;  // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES

SparseMatrix small_matrix() {
  SparseMatrix matrix;
  matrix.pattern.columns = 48;
  for (std::int32_t row = 0; row < matrix.pattern.columns; ++row) {
    if (row % 2 == 1) test::add_entry(matrix, row - 1, -0.5);
    test::add_entry(matrix, row, 2);
    if (row % 2 == 0) test::add_entry(matrix, row + 1, -0.5);
    test::end_row(matrix);
  }
  return matrix;
}

class Application {
 public:
  explicit Application(const test::CudaStub& stub) : options_(stub.options()) {}
  ~Application() { (void)(queue_ != nullptr ? queue_->wait() : Status()); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  Status open() {
    Status status = kept(device_, [&] { return cuda::open(0, options_); });
    if (status.ok()) status = kept(queue_, [&] { return cuda::application_queue(*device_); });
    for (auto& buffer : buffers_) {
      if (status.ok()) status = kept(buffer, [&] { return queue_->allocate(kBytes); });
    }
    return status;
  }
  Status open_solver() {
    if (solver_) return {};
    SolverOptions options;
    options.own_thread = false;
    return kept(solver_, Solver::make(*device_, *queue_, small_matrix(), options));
  }
  Status solve() {
    const std::vector<double> b(48, 1), before(48, 0.25);
    std::vector<double> x = before;
    const auto report = solver_->solve(b, x, {});
    CHECK(x == before);  // a failure, and what a device that computes nothing finds
    return report.status();
  }
  Status product() {
    const std::vector<double> x(48, 1), before(48, -7);
    std::vector<double> y = before;
    const Status status = solver_->multiply(x, y);
    if (!status.ok()) CHECK(y == before);
    return status;
  }
  Status open_gemm() {
    AgentOptions options;
    options.read_environment = false;
    options.model = kNoModel;
    Status status = agent_ ? Status() : kept(agent_, Agent::open(options));
    if (!status.ok() || gemm_) return status;
    auto queue = cuda::application_queue(*device_);
    if (!queue.ok()) return queue.status();
    return kept(gemm_, Gemm::open(*agent_, *device_, std::move(*queue)));
  }
  Status multiply() { return gemm_->multiply(dense()); }
  Status prepare() { return gemm_->prepare(dense(), 3, GemmOperands::anywhere); }
  Status batch() {
    const std::vector<std::size_t> begins = {2 * kSquare, 0, kSquare};
    // More of them than there are tables.
    for (int i = 0; i < 10; ++i) {
      const Status status = gemm_->multiply_batched(dense(), {begins, begins, begins});
      if (!status.ok()) return status;
    }
    return {};
  }
  Status pack() {
    return packed_ ? gemm_->pack_again(*packed_, dense())
                   : kept(packed_, gemm_->pack(GemmArgument::b, dense()));
  }
  Status multiply_packed() { return gemm_->multiply_packed(dense(), *packed_); }

 private:
  static constexpr std::size_t kSide = 12, kSquare = kSide * kSide;
  static constexpr std::size_t kBytes = 3 * kSquare * sizeof(float);

  template <class T, class Make>
  static Status kept(std::unique_ptr<T>& place, const Make& make) {
    if (place != nullptr) return {};
    auto made = make();
    if (made.ok()) place = std::move(*made);
    return made.status();
  }
  template <class T>
  static Status kept(std::optional<T>& place, Result<T> made) {
    if (made.ok()) place.emplace(std::move(*made));
    return made.status();
  }
  Product dense() const {
    Product product;
    product.m = product.n = product.k = kSide;
    product.a = {buffers_[0]->argument(), 0, kSide};
    product.b = {buffers_[1]->argument(), 0, kSide};
    product.c = {buffers_[2]->argument(), 0, kSide};
    return product;
  }

  cuda::OpenOptions options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<ApplicationQueue> queue_;
  std::unique_ptr<Buffer> buffers_[3];
  std::optional<Solver> solver_;
  std::optional<Agent> agent_;
  std::optional<Gemm> gemm_;
  std::optional<PackedOperand> packed_;
};

using Step = Status (Application::*)();

Status live(Application& application, const std::vector<Step>& steps) {
  Status status;
  for (std::size_t i = 0; i < steps.size() && status.ok(); ++i) status = (application.*steps[i])();
  return status;
}

void all_right(Application& application, const std::vector<Step>& steps) {
  const Status status = live(application, steps);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
}

// What a solver may say of kernels that compute nothing, by what their memory held before.
bool is_usual(const Status& status) {
  return status.ok() ||
         status.message().find("the device's product is not that of the rows") != std::string::npos;
}

// In each life the n-th call of `steps` fails, until there is none.
void live_through_each(const char* name, const std::vector<Step>& before,
                       const std::vector<Step>& steps) {
  const test::CudaStub stub;
  CAPTURE(name);
  for (const int error : {kOutOfMemory, kLaunchOutOfResources}) {
    unsigned long said = 0, calls = 0, n = 0;
    for (bool reached = true; reached; reached = n <= calls) {
      ++n;
      std::string failed;
      CAPTURE(n);
      const long objects = stub.new_objects();
      {
        Application application(stub);
        all_right(application, before);
        stub.fail_call(n, error);
        const Status status = live(application, steps);
        calls = stub.counted_calls();
        failed = stub.failed_call() != nullptr ? stub.failed_call() : "";
        stub.fail_call(0, 0);
        CAPTURE(failed);
        CAPTURE(status.to_string());
        if (!status.ok()) CHECK_FALSE(status.message().empty());
        said += is_usual(status) ? 0 : 1;
        const Status again = live(application, steps);
        CHECK_MESSAGE(is_usual(again), again.to_string());
      }
      CAPTURE(failed);
      const bool released =
          failed.find("Free") == std::string::npos && failed.find("Destroy") == std::string::npos &&
          failed.find("Unload") == std::string::npos && failed.find("Release") == std::string::npos;
      if (released) CHECK(stub.new_objects() == objects);
    }
    CHECK(said > 0);
    MESSAGE("figure: ", std::string(name), ", error ", error, ": ", n - 1, " calls, ", said,
            " said");
  }
}

}  // namespace

TEST_CASE("each call of CUDA fails once while a device and its libraries are opened") {
  live_through_each("opening", {},
                    {&Application::open, &Application::open_solver, &Application::open_gemm});
}

TEST_CASE("each call of CUDA fails once in a solve and in a sparse product") {
  const std::vector<Step> open = {&Application::open, &Application::open_solver};
  live_through_each("a solve", open, {&Application::solve});
  live_through_each("a sparse product", open, {&Application::product});
}

TEST_CASE("each call of CUDA fails once in products, batches and packings") {
  const std::vector<Step> open = {&Application::open, &Application::open_gemm};
  live_through_each("a product", open, {&Application::prepare, &Application::multiply});
  live_through_each("ten batches", open, {&Application::batch});
  live_through_each("a packing and a product", open,
                    {&Application::pack, &Application::multiply_packed});
}
