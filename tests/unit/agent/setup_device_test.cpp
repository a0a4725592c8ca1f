// Kernels of several launches, and one with a setup, on a real OpenCL device: an operand that is
// transposed once, from cold to tuned, and faults in each single launch.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/agent/checked_work.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

KernelDescription description_of(const std::string& name) {
  return described(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml");
}

// Whoever packs wins.
KernelDescription packed_product() {
  return slow_where(description_of("packed_product"), "!PACK",
                    "float sum = 0.0f;\n    for (int j = 0; j < k; ++j) sum += a[i * k + j] * w[",
                    300);
}

// c = a * b, or c = a * transposed w, with one of two sets of weights; compared with the host's.
struct ConstantProduct {
  ConstantProduct(RawApplication& owner, std::int64_t m, std::int64_t n, std::int64_t k, bool packs)
      : application(owner),
        shape{m, n, k},
        rows(static_cast<std::size_t>(m)),
        columns(static_cast<std::size_t>(n)),
        depth(static_cast<std::size_t>(k)),
        transposed(packs),
        left(random_values(rows * depth, 1)),
        poison(rows * columns, kNan) {
    a = application.buffer(left);
    c = application.buffer(poison);
    for (std::uint64_t i = 0; i < 2; ++i) {
      weights[i] = random_values(depth * columns, 2 + i);
      w[i] = application.buffer(weights[i]);
    }
  }
  float weight(std::size_t set, std::size_t d, std::size_t j) const {
    return weights[set][transposed ? j * depth + d : d * columns + j];
  }
  std::size_t wrong(TunedKernel& kernel, std::size_t set = 0) {
    application.write(c, poison);
    const Status status = kernel.launch(shape, a, w[set], c);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(c, poison.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::size_t d = 0; d < depth; ++d) {
          sum += static_cast<double>(left[i * depth + d]) * static_cast<double>(weight(set, d, j));
        }
        const double error = std::fabs(static_cast<double>(result[i * columns + j]) - sum);
        count += !(error <= 1e-6 * static_cast<double>(depth));
      }
    }
    return count;
  }

  RawApplication& application;
  const Shape shape;
  const std::size_t rows, columns, depth;
  const bool transposed;
  const std::vector<float> left;
  const std::vector<float> poison;
  std::vector<float> weights[2];
  cl_mem a = nullptr;
  cl_mem c = nullptr;
  cl_mem w[2] = {nullptr, nullptr};
};

bool packs(const Explanation& text) { return text.running_text.find("PACK=1") == 0; }

void tune_until_packed(Agent& agent, TunedKernel& kernel, ConstantProduct& work) {
  const auto end = Clock::now() + kPatience;
  while (!packs(explain(kernel, work.shape)) || explain(kernel, work.shape).setups == 0) {
    CHECK(work.wrong(kernel) == 0);
    // The compiler is somewhere else, and gets only what nobody else wants.
    if (agent.idle(50ms).waiting) std::this_thread::sleep_for(10ms);
    REQUIRE_MESSAGE(Clock::now() < end, agent.explain());
  }
}

// Tries everything; `is_fault` says of which configurations the results are wrong.
template <class IsFault>
void never_adopts(const KernelDescription& description, bool transposed, IsFault is_fault) {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  ConstantProduct work(application, 37, 48, 33, transposed);
  {
    Agent agent = open_agent(eager(folder.file("state"), messages));
    TunedKernel kernel = load(agent, application.device(), packed(description));
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    const Explanation end = tune_all(agent, kernel, work.shape, [&] {
      for (int i = 0; i < 2; ++i) CHECK(work.wrong(kernel) == 0);
    });
    CHECK_FALSE(is_fault(end.running));
  }
  std::size_t faults = 0, correct = 0;
  const journal::JournalSummary kept = journal_of(folder.file("state"));
  kept.state.for_each_measurement([&](const journal::Measurement& measurement) {
    const bool fault = is_fault(measurement.trial.configuration);
    std::string values;
    for (const std::int64_t value : measurement.trial.configuration.values()) {
      values += std::to_string(value) + ' ';
    }
    CAPTURE(values);
    CAPTURE(trial_status_name(measurement.status));
    CHECK((measurement.status == TrialStatus::correct) != fault);
    ++(fault ? faults : correct);
  });
  CHECK(faults >= 4);
  CHECK(correct >= 3);
}

}  // namespace

TEST_CASE(
    "a kernel with a constant operand is tuned from cold to adopted, and every launch is right") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  ConstantProduct work(application, 32, 192, 128, true);
  const std::vector<std::uint8_t> package = packed(packed_product());
  {
    Agent agent = open_agent(eager(folder.file("state"), messages));
    TunedKernel kernel = load(agent, application.device(), package);
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    tune_until_packed(agent, kernel, work);
    for (int i = 0; i < 20; ++i) CHECK(work.wrong(kernel) == 0);
    const Explanation packing = explain(kernel, work.shape);
    CHECK(messages.count(": adopt (") >= 1);  // seen to be faster than what ran
    CHECK(packing.setup_ms > 0);
    CHECK(packing.setup_break_even_launches > 0);
    // Other weights, in turn with the first ones, and other contents of the same buffer.
    for (int i = 0; i < 10; ++i) CHECK(work.wrong(kernel, static_cast<std::size_t>(i % 2)) == 0);
    work.weights[0] = random_values(work.weights[0].size(), 9);
    application.write(work.w[0], work.weights[0]);
    kernel.constants_changed(work.shape);
    for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
  }
  // The next start runs what was found, once its setup pays.
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), package);
  REQUIRE(kernel.prepare(work.shape).ok());
  CHECK(packs(explain(kernel, work.shape)));
  kernel.expect_launches(work.shape, 1e9);
  tune_until_packed(agent, kernel, work);
  for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
}

TEST_CASE("a setup that the launches still expected do not pay for is not made") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  ConstantProduct work(application, 8, 192, 128, true);
  const KernelDescription description = packed_product();
  {
    Agent agent = open_agent(eager(folder.file("state"), messages));
    TunedKernel kernel = load(agent, application.device(), packed(description));
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    tune_until_packed(agent, kernel, work);
  }
  AgentOptions options = eager(folder.file("state"), messages);
  options.unknown_horizon = 0;  // nothing is expected but what is said
  Agent agent = open_agent(options);
  TunedKernel kernel = load(agent, application.device(), packed(description));
  kernel.expect_launches(work.shape, 0);
  for (int i = 0; i < 5; ++i) {
    CHECK(work.wrong(kernel) == 0);
    (void)agent.idle(1ms);
  }
  CHECK(packs(explain(kernel, work.shape)));
  CHECK(explain(kernel, work.shape).setups == 0);
}

TEST_CASE("faults in a setup, in what uses it and in what does not are never adopted") {
  KernelDescription faulty = with_faults(
      description_of("packed_product"),
      {{"if (column < k) packed[column * n + row] = w[row * k + column];",
        "if (column < k && row < n - 1) packed[column * n + row] = w[row * k + column];"},
       {"c[i * n + column] = sum;", "c[i * n + column] = i == m - 1 ? 0.0f : sum;"},
       {"sum += a[i * k + j] * w[column * k + j];",
        "sum += j == k - 1 ? 0.0f : a[i * k + j] * w[column * k + j];"},
       // The second launch finds other contents than the first.
       {"float sum = 0.0f;\n    for (int j = 0; j < k; ++j) sum += a[i * k + j] * packed",
        "((GLOBAL float*)packed)[column] += 1.0f;\n    float sum = 1.0f - 1.0f;\n"
        "    for (int j = 0; j < k; ++j) sum += a[i * k + j] * packed"}});
  faulty.constraints.emplace_back("T == 4 and WG <= 16");
  faulty.parameters[1].default_value = 4;
  never_adopts(faulty, true, [](const Configuration& configuration) {
    const std::int64_t fault = configuration[3];
    return configuration[0] == 1 ? fault == 1 || fault == 2 || fault == 4 : fault == 3;
  });
}

TEST_CASE("faults in each single step of three are never adopted") {
  KernelDescription padded_product = with_faults(
      description_of("padded_product"),
      {{"row < m ? a[row * k + column] : 0.0f", "row < m - 1 ? a[row * k + column] : 0.0f"},
       {"sums[i] += a[(first + i) * k + j] * right",
        "sums[i] += j == k - 1 ? 0.0f : a[(first + i) * k + j] * right"},
       {"column < n && row < m) c[row", "column < n - 1 && row < m) c[row"}});
  padded_product.constraints.emplace_back("T % 4 == 0 and WG <= 4");
  never_adopts(padded_product, false,
               [](const Configuration& configuration) { return configuration[2] != 0; });
}
