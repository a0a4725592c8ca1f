// What the first launches of a start cost an application that calls kernel() and launches, without
// prepare(): beside the steady launch, by mode and by what the journal knows. Prints a table.
// Nothing asserts a time.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "models/core/median.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/tuning_loop/application.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::bench {
namespace {

constexpr int kFrames = 50;

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }

AgentOptions agent_options(const std::string& state, Mode mode) {
  AgentOptions agent;
  agent.model = kNoModel;
  agent.helper = IDLETUNE_BENCH_HELPER;
  agent.read_environment = false;
  agent.state = state;
  agent.mode = mode;
  agent.seed = 1;
  return agent;
}

void tune(const std::string& state, Nanoseconds budget) {
  Workplace workplace(true);
  Agent agent = required(Agent::open(agent_options(state, Mode::tune)));
  TunedKernel kernel = required(agent.kernel(workplace.device(), blur_package()));
  (void)workplace.frame(kernel);
  (void)agent.tune_now(budget);
}

void measure(const char* name, const std::string& state, Mode mode, bool prepare) {
  Workplace workplace(true);
  Agent agent = required(Agent::open(agent_options(state, mode)));
  const Clock::time_point start = Clock::now();
  TunedKernel kernel = required(agent.kernel(workplace.device(), blur_package()));
  const Nanoseconds loading = Clock::now() - start;
  const Clock::time_point asked = Clock::now();
  if (prepare) require(kernel.prepare(kShape));
  const Nanoseconds preparing = Clock::now() - asked;
  std::vector<double> ms;
  for (int i = 0; i < kFrames; ++i) ms.push_back(milliseconds(workplace.launch(kernel)));
  std::printf("%-42s kernel() %7.1f ms  prepare() %7.1f ms  first %7.2f ms  steady %6.2f ms\n",
              name, milliseconds(loading), milliseconds(preparing), ms.front(), median_of(ms));
}

void run() {
  const test::TemporaryFolder folder;
  const auto fresh_driver = [&](const char* name) {
    setenv("POCL_CACHE_DIR", folder.file(name).c_str(), 1);
  };
  const std::string empty = folder.file("empty"), default_only = folder.file("default"),
                    tuned = folder.file("tuned");
  int number = 0;
  const auto show = [&](const char* name, const std::string& state, Mode mode, bool prepare) {
    const std::string cache = "pocl" + std::to_string(number++);
    fresh_driver(cache.c_str());
    in_a_process("first_launch", [&] { measure(name, state, mode, prepare); });
  };
  show("off, first start", empty, Mode::off, false);
  show("cached, first start", empty, Mode::cached, false);
  show("tune, first start", empty, Mode::tune, false);
  fresh_driver("tuning");
  in_a_process("first_launch", [&] { tune(default_only, std::chrono::milliseconds(1500)); });
  in_a_process("first_launch", [&] { tune(tuned, std::chrono::seconds(20)); });
  show("tune, default measured before", default_only, Mode::tune, false);
  show("tune, default measured before, prepare()", default_only, Mode::tune, true);
  show("cached, default measured before", default_only, Mode::cached, false);
  show("tune, adopted before", tuned, Mode::tune, false);
  show("tune, adopted before, prepare()", tuned, Mode::tune, true);
  show("cached, adopted before", tuned, Mode::cached, false);
  show("off, adopted before", tuned, Mode::off, false);
}

}  // namespace
}  // namespace idletune::bench

int main() {
  return idletune::bench::ended("first_launch", [&] {
    idletune::bench::run();
    return 0;
  });
}
