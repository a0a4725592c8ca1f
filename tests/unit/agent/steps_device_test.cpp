// A kernel of several steps with scratch memory on a real OpenCL device, from cold to tuned.
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

// c = a * b, compared with the host's.
struct PaddedProduct {
  PaddedProduct(RawApplication& owner, std::int64_t m, std::int64_t n, std::int64_t k)
      : application(owner), shape{m, n, k}, product(owner, m, n, k) {}
  std::size_t wrong(TunedKernel& kernel) {
    application.write(product.c, product.poison);
    const Status status = kernel.launch(shape, product.a, product.b, product.c);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(product.c, product.poison.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double scaled = static_cast<double>(kAlpha) * static_cast<double>(result[i]);
      count += !(std::fabs(scaled - product.expected[i]) <= 2 * product.slack[i]);
    }
    return count;
  }

  RawApplication& application;
  const Shape shape;
  Product product;
};

// Of tests/data/packages, with a default that loses.
std::vector<std::uint8_t> product(const std::string& name) {
  return packed(slow_where(described(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml"),
                           "T == 4 && WG == 1", "float sums[T];"));
}

}  // namespace

TEST_CASE("a kernel of three steps is tuned from cold to adopted, and every launch is right") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  PaddedProduct ragged(application, 37, 96, 50);  // padded, but where T is 1
  PaddedProduct even(application, 48, 64, 32);    // one step
  Configuration chosen;
  {
    Agent agent = open_agent(eager(folder.file("state"), messages));
    TunedKernel kernel = load(agent, application.device(), product("padded_product"));
    for (PaddedProduct* work : {&ragged, &even}) {
      CHECK(work->wrong(kernel) == 0);
      kernel.expect_launches(work->shape, 1e9);
    }
    const auto end = Clock::now() + kPatience;
    const auto tuned = [&](const PaddedProduct& work) {
      return explain(kernel, work.shape).selection == Selection::tuned;
    };
    while (!tuned(ragged) || !tuned(even)) {
      CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0);
      // The compiler is somewhere else, and gets only what nobody else wants.
      if (agent.idle(50ms).waiting) std::this_thread::sleep_for(10ms);
      REQUIRE_MESSAGE(Clock::now() < end, agent.explain() << messages.text());
    }
    for (int i = 0; i < 20; ++i) CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0);
    CHECK(messages.count(": adopt (") >= 2);  // each was seen to be faster than what ran
  }
  // The next start runs what was found, with scratch of its own.
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), product("padded_product"));
  REQUIRE(kernel.prepare(ragged.shape).ok());
  CHECK(explain(kernel, ragged.shape).selection == Selection::tuned);
  for (int i = 0; i < 5; ++i) CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0);
  // Another shape of the class runs it at its first launch, a larger one as soon as the tuner has
  // taken memory for it.
  PaddedProduct smaller(application, 37, 80, 34);
  CHECK(smaller.wrong(kernel) == 0);
  CHECK(explain(kernel, smaller.shape).selection == Selection::shape_class);
  PaddedProduct larger(application, 53, 96, 50);
  CHECK(larger.wrong(kernel) == 0);
  (void)agent.idle(0ms);
  CHECK(larger.wrong(kernel) == 0);
  CHECK(explain(kernel, larger.shape).selection == Selection::shape_class);
  CHECK(ragged.wrong(kernel) + smaller.wrong(kernel) == 0);
}

TEST_CASE("a family of two kernels is tuned as one, and every launch is right") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  PaddedProduct work(application, 37, 96, 50);
  const auto family = product("product");
  {
    Agent agent = open_agent(eager(folder.file("state"), messages));
    TunedKernel kernel = load(agent, application.device(), family);
    CHECK(work.wrong(kernel) == 0);  // by the member of three steps
    kernel.expect_launches(work.shape, 1e9);
    const auto end = Clock::now() + kPatience;
    while (explain(kernel, work.shape).selection != Selection::tuned) {
      CHECK(work.wrong(kernel) == 0);
      if (agent.idle(50ms).waiting) std::this_thread::sleep_for(10ms);
      REQUIRE_MESSAGE(Clock::now() < end, agent.explain() << messages.text());
    }
    for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
    CHECK(agent.explain().find("ALGORITHM=") != std::string::npos);
  }
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), family);
  REQUIRE(kernel.prepare(work.shape).ok());
  CHECK(explain(kernel, work.shape).selection == Selection::tuned);
  CHECK(work.wrong(kernel) == 0);
}
