// An application that is killed while it tunes on a real OpenCL device.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "models/core/random.hpp"
#include "tests/unit/agent/application_child.hpp"
#include "tests/unit/agent/deaths.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/repeats.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

// IDLETUNE_TEST_KILLS=30 kills it more often.
TEST_CASE("an application killed ten times keeps its adoptions and accuses only what ran") {
  const auto kills = static_cast<int>(number_from_environment("IDLETUNE_TEST_KILLS", 10));
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::string package = write_package(folder, small_gemm());
  const Shape shape{128, 128, 64};
  Random random(20261121);
  std::string told;  // "<milliseconds> <configuration>"
  int adoptions = 0;
  int deaths_while_tuning = 0;
  Death deaths;
  for (int death = 0; death < kills; ++death) {
    CAPTURE(death);
    Process process(package, state, "helper", shape);
    CHECK(process.read_until("start ", kPatience));
    CAPTURE(process.text());
    const std::string start = process.last("start ").substr(6);
    // Unless it was itself under way when its application died.
    if (!told.empty() && deaths.accused == 0) {
      // The same, or a faster one adopted in the moment between its adoption and the death.
      CHECK(start != "default");
      CHECK(std::atof(start.c_str()) <= std::atof(told.c_str()) + 1e-9);
    }
    if (start != "default") told = start;
    // A random moment: so many steps later, and up to a quarter of a second more.
    const std::uint64_t steps = random.below(4);
    for (std::uint64_t i = 0; i < steps; ++i) CHECK(process.read_until("log ", kPatience));
    (void)process.read_until("end ", std::chrono::microseconds(random.below(250000)));
    process.kill();
    const Death now = death_of(state);
    CHECK(now.accused == now.running);
    deaths.compiling += now.compiling;
    deaths.running += now.running;
    deaths.accused += now.accused;
    deaths_while_tuning += process.last("end ").empty();
    if (const std::string state_line = process.last("state "); !state_line.empty()) {
      told = state_line.substr(6);
    }
    for (const std::string& line : process.lines) adoptions += line.compare(0, 6, "state ") == 0;
  }
  const journal::JournalSummary kept = journal_of(state);
  MESSAGE(adoptions << " adoptions told of, " << kept.state.measurement_count()
                    << " measurements and " << kept.state.dangers().suspect_count()
                    << " suspects kept; of " << kills << " deaths " << deaths.compiling
                    << " while compiling, " << deaths.running << " while running, accused "
                    << deaths.accused);
  CHECK(deaths.compiling >= 1);
  CHECK(deaths_while_tuning >= kills / 2);  // on a busy machine a life may end by itself
  CHECK(adoptions >= 1);
  CHECK(kept.state.measurement_count() > 1);
  Process last(package, state, "helper", shape);
  CHECK(last.read_until("start ", kPatience));
  if (last.last("start ") == "start default") CHECK(last.read_until("state ", kPatience));
  last.kill();
  CAPTURE(last.text());
  CHECK(journal_of(state).state.adoption_count() == 1);
}
