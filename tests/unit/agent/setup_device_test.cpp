// Kernels of several launches, and one with a setup, on a real OpenCL device: an operand that is
// transposed once, from cold to tuned, and faults in each single launch.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/agent/checked_work.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

KernelDescription description_of(const std::string& name) {
  return described(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml");
}

// Whoever packs wins.
KernelDescription packed_product() {
  return slow_where(description_of("packed_product"), "!PACK",
                    "float sum = 0.0f;\n    for (int j = 0; j < k; ++j) sum += a[i * k + j] * w[",
                    300);
}

bool packs(const Explanation& text) { return text.running_text.find("PACK=1") == 0; }

void tune_until_packed(Agent& agent, TunedKernel& kernel, ConstantProduct& work) {
  tune_until(
      agent,
      [&] { return packs(explain(kernel, work.shape)) && explain(kernel, work.shape).setups > 0; },
      [&] { CHECK(work.wrong(kernel) == 0); });
}

// Tries everything; `is_fault` says of which configurations the results are wrong.
template <class IsFault>
void never_adopts(const KernelDescription& description, bool transposed, IsFault is_fault) {
  EagerApplication home;
  ConstantProduct work(home.application, 37, 48, 33, transposed);
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), packed(description));
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    const Explanation end = tune_all(agent, kernel, work.shape, [&] {
      for (int i = 0; i < 2; ++i) CHECK(work.wrong(kernel) == 0);
    });
    CHECK_FALSE(is_fault(end.running));
  }
  std::size_t faults = 0, correct = 0;
  const journal::JournalSummary kept = journal_of(home.state());
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
  EagerApplication home;
  ConstantProduct work(home.application, 32, 192, 128, true);
  const std::vector<std::uint8_t> package = packed(packed_product());
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), package);
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    tune_until_packed(agent, kernel, work);
    for (int i = 0; i < 20; ++i) CHECK(work.wrong(kernel) == 0);
    const Explanation packing = explain(kernel, work.shape);
    CHECK(home.messages.count(": adopt (") >= 1);  // seen to be faster than what ran
    CHECK(packing.setup_ms > 0);
    CHECK(packing.setup_break_even_launches > 0);
    // Other weights, in turn with the first ones, and other contents of the same buffer.
    for (int i = 0; i < 10; ++i) CHECK(work.wrong(kernel, static_cast<std::size_t>(i % 2)) == 0);
    work.weights[0] = random_values(work.weights[0].size(), 9);
    home.application.write(work.w[0], work.weights[0]);
    kernel.constants_changed(work.shape);
    for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
  }
  // The next start runs what was found, once its setup pays.
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), package);
  REQUIRE(kernel.prepare(work.shape).ok());
  CHECK(packs(explain(kernel, work.shape)));
  kernel.expect_launches(work.shape, 1e9);
  tune_until_packed(agent, kernel, work);
  for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
}

TEST_CASE("a setup that the launches still expected do not pay for is not made") {
  EagerApplication home;
  ConstantProduct work(home.application, 8, 192, 128, true);
  const KernelDescription description = packed_product();
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), packed(description));
    CHECK(work.wrong(kernel) == 0);
    kernel.expect_launches(work.shape, 1e9);
    tune_until_packed(agent, kernel, work);
  }
  AgentOptions options = eager(home.state(), home.messages);
  options.unknown_horizon = 0;  // nothing is expected but what is said
  Agent agent = open_agent(options);
  TunedKernel kernel = load(agent, home.application.device(), packed(description));
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
