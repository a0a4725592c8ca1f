// Applications that are killed while they tune kernels of several steps, or with a setup.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "models/core/random.hpp"
#include "tests/unit/agent/application_child.hpp"
#include "tests/unit/agent/deaths.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/repeats.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

constexpr int kKillsOfAState = 5;

struct Kills {
  int all = 0;
  int while_tuning = 0;
  Death deaths;
  int adoptions = 0;  // that some start found
  int demoted = 0;    // in the end
};

// One application after the other on one state, each killed at a random moment; the last one is
// left alone until it has tried everything.
void kill_often(const std::string& package, const Shape& shape, int times, Random& random,
                Kills& kills) {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  bool adopted = false;
  bool accused = false;  // somebody, at some death
  for (int death = 0; death < times; ++death) {
    CAPTURE(death);
    Process process(package, state, "helper", shape);
    CHECK(process.read_until("start ", kPatience));
    // What was adopted starts, unless it was itself under way when its application died.
    if (adopted && !accused) CHECK(process.last("start ") != "start default");
    kills.adoptions += process.last("start ") != "start default";
    const std::uint64_t steps = random.below(4);
    for (std::uint64_t i = 0; i < steps; ++i) (void)process.read_until("log ", kPatience);
    (void)process.read_until("end ", std::chrono::microseconds(random.below(250000)));
    process.kill();
    CAPTURE(process.text());
    CHECK(process.count("log failed") == 0);
    const Death now = death_of(state);
    CHECK(now.accused == now.running);
    ++kills.all;
    accused = accused || now.accused;
    kills.while_tuning += process.last("end ").empty();
    kills.deaths.compiling += now.compiling;
    kills.deaths.running += now.running;
    kills.deaths.accused += now.accused;
    adopted = adopted || !process.last("state ").empty();
  }
  Process last(package, state, "helper", shape);
  CHECK(last.read_until("end ", kPatience));
  CAPTURE(last.text());
  CHECK(last.count("log failed") == 0);
  (void)last.wait();
  // On a busy machine nothing may win, and a comparison may end with the default.
  const bool tuned = last.last("start ") != "start default" || !last.last("state ").empty();
  const bool demoted = last.count("back to the default") > 0;
  CHECK(journal_of(state).state.adoption_count() <= 1);
  if (tuned && !demoted) CHECK(journal_of(state).state.adoption_count() == 1);
  kills.demoted += demoted;
}

// IDLETUNE_TEST_KILLS=50 kills it more often.
void survive_kills(const std::string& name, const Shape& shape, std::uint64_t seed) {
  const auto wanted = static_cast<int>(number_from_environment("IDLETUNE_TEST_KILLS", 3));
  const TemporaryFolder folder;
  const std::string package =
      write_package(folder, described(IDLETUNE_TEST_DATA_FOLDER "/packages/" + name + ".xml"));
  Random random(seed);
  Kills kills;
  while (kills.all < wanted) {
    kill_often(package, shape, std::min(kKillsOfAState, wanted - kills.all), random, kills);
  }
  MESSAGE(name << ": of " << kills.all << " deaths " << kills.while_tuning << " while tuning, "
               << kills.deaths.compiling << " while compiling, " << kills.deaths.running
               << " while running, accused " << kills.deaths.accused << "; " << kills.adoptions
               << " starts found an adoption, " << kills.demoted
               << " lives ended with the default");
  CHECK(kills.while_tuning >= 1);
}

}  // namespace

TEST_CASE("an application that tunes a kernel of three steps survives being killed") {
  survive_kills("padded_product", {37, 96, 50}, 20261122);
}

TEST_CASE("an application that tunes a kernel with a setup survives being killed") {
  survive_kills("packed_product", {32, 192, 128}, 20261123);
}
