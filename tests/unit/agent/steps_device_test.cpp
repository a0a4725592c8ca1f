// A kernel of several steps with scratch memory on a real OpenCL device, from cold to tuned.
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

// Of tests/data/packages, with a default that loses.
std::vector<std::uint8_t> product(const std::string& name) {
  return packed(slow_where(described(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml"),
                           "T == 4 && WG == 1", "float sums[T];"));
}

bool is_tuned(const TunedKernel& kernel, const ConstantProduct& work) {
  return explain(kernel, work.shape).selection == Selection::tuned;
}

}  // namespace

TEST_CASE("a kernel of three steps is tuned from cold to adopted, and every launch is right") {
  EagerApplication home;
  ConstantProduct ragged(home.application, 37, 96, 50);  // padded, but where T is 1
  ConstantProduct even(home.application, 48, 64, 32);    // one step
  Configuration chosen;
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), product("padded_product"));
    for (ConstantProduct* work : {&ragged, &even}) {
      CHECK(work->wrong(kernel) == 0);
      kernel.expect_launches(work->shape, 1e9);
    }
    tune_until(
        agent, [&] { return is_tuned(kernel, ragged) && is_tuned(kernel, even); },
        [&] { CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0); });
    for (int i = 0; i < 20; ++i) CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0);
    CHECK(home.messages.count(": adopt (") >= 2);  // each was seen to be faster than what ran
  }
  // The next start runs what was found, with scratch of its own.
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), product("padded_product"));
  REQUIRE(kernel.prepare(ragged.shape).ok());
  CHECK(is_tuned(kernel, ragged));
  for (int i = 0; i < 5; ++i) CHECK(ragged.wrong(kernel) + even.wrong(kernel) == 0);
  // Another shape of the class runs it at its first launch, a larger one as soon as the tuner has
  // taken memory for it.
  ConstantProduct smaller(home.application, 37, 80, 34);
  CHECK(smaller.wrong(kernel) == 0);
  CHECK(explain(kernel, smaller.shape).selection == Selection::shape_class);
  ConstantProduct larger(home.application, 53, 96, 50);
  CHECK(larger.wrong(kernel) == 0);
  (void)agent.idle(0ms);
  CHECK(larger.wrong(kernel) == 0);
  CHECK(explain(kernel, larger.shape).selection == Selection::shape_class);
  CHECK(ragged.wrong(kernel) + smaller.wrong(kernel) == 0);
}

TEST_CASE("a family of two kernels is tuned as one, and every launch is right") {
  EagerApplication home;
  ConstantProduct work(home.application, 37, 96, 50);
  const auto family = product("product");
  {
    Agent agent = home.open();
    TunedKernel kernel = load(agent, home.application.device(), family);
    CHECK(work.wrong(kernel) == 0);  // by the member of three steps
    kernel.expect_launches(work.shape, 1e9);
    tune_until(
        agent, [&] { return is_tuned(kernel, work); }, [&] { CHECK(work.wrong(kernel) == 0); });
    for (int i = 0; i < 5; ++i) CHECK(work.wrong(kernel) == 0);
    CHECK(agent.explain().find("ALGORITHM=") != std::string::npos);
  }
  Agent agent = home.open();
  TunedKernel kernel = load(agent, home.application.device(), family);
  REQUIRE(kernel.prepare(work.shape).ok());
  CHECK(is_tuned(kernel, work));
  CHECK(work.wrong(kernel) == 0);
}
