// Whether the fastest of four variants is found by an application's own first launches: as many
// races as are asked for, each of 24 launches, on the first OpenCL device. Prints what won how
// often. Nothing asserts a time.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <idletune/in_process.hpp>

#include "models/core/median.hpp"
#include "models/host/pack/kernel_description.hpp"
#include "models/host/pack/pack.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/tuning_loop/application.hpp"
#include "tests/unit/package/made_kernels.hpp"

namespace idletune::bench {
namespace {

constexpr int kLaunches = 24;
constexpr std::array<int, 4> kRounds{34, 37, 38, 39};

// out = in, after as many rounds of work as the variant makes: the first one of `kRounds` where
// V + shift is 0 modulo 4. So the default (V = 0) is the fastest if shift is 0.
KernelDescription described(int shift) {
  KernelDescription kernel = test::made_kernel("race", R"(
KERNEL void race(const GLOBAL float* RESTRICT in, GLOBAL float* RESTRICT out) {
  float x = in[GLOBAL_ID(0)];
  const float first = x;
  for (int i = 0; i < ROUNDS; ++i) x = x * 0.999f + 0.0005f;
  out[GLOBAL_ID(0)] = x > 2.0f ? x : first;
}
)");
  kernel.dimensions = {"HEIGHT", "WIDTH"};
  kernel.parameters = {{"V", ParameterKind::other, {0, 1, 2, 3}, 0}};
  std::string rounds = "#define ROUNDS (";
  for (int v = 0; v < 4; ++v) {
    const int made = kRounds[static_cast<std::size_t>((v + shift) % 4)];
    rounds += (v < 3 ? "V == " + std::to_string(v) + " ? " : "") + std::to_string(made) +
              (v < 3 ? " : " : ")\n");
  }
  kernel.source = rounds + kernel.source;
  kernel.launch.global = {"HEIGHT * WIDTH"};
  kernel.launch.local = {"64"};
  kernel.arguments = {test::made_input("in", "(HEIGHT + 4) * (WIDTH + 4)", 0, 1),
                      test::made_buffer("out", "HEIGHT * WIDTH", Access::out)};
  return kernel;
}

AgentOptions agent_options(Mode mode) {
  AgentOptions agent;
  agent.model = kNoModel;
  agent.read_environment = false;
  agent.mode = mode;
  agent.in_process = trials_in_process();
  // What the checks before the race cost is another table's affair.
  agent.overhead_limit = 1;
  agent.idle_cost = agent.compile_cost = 0;
  return agent;
}

// A variant's launches as nobody disturbs their order: all four in turn, wall time in ns.
std::array<std::vector<double>, 4> truth(Workplace& workplace, int launches) {
  std::array<std::vector<double>, 4> times;
  Agent agent = required(Agent::open(agent_options(Mode::off)));
  std::vector<TunedKernel> kernels;
  for (int shift = 0; shift < 4; ++shift) {
    kernels.push_back(required(agent.kernel(workplace.device(), required(pack(described(shift))))));
    (void)workplace.launch(kernels.back());
  }
  for (int i = 0; i < launches; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      times[k].push_back(static_cast<double>(workplace.launch(kernels[k]).count()));
    }
  }
  return times;
}

struct Outcome {
  int won = 0;       // index into kRounds
  int launches = 0;  // until the verdict; 0: there was none
};

Outcome run_race(Workplace& workplace, int shift) {
  Agent agent = required(Agent::open(agent_options(Mode::tune)));
  TunedKernel kernel = required(agent.kernel(workplace.device(), required(pack(described(shift)))));
  InPlaceOptions in_place;
  in_place.allowed = true;
  in_place.max_slowdown = 0.2;
  kernel.allow_in_place(in_place);
  (void)workplace.launch(kernel);
  kernel.expect_launches(kShape, 1e9);
  const auto explained = [&] { return required(kernel.explain(kShape)); };
  // Until all three candidates are checked.
  for (int i = 0; i < 20000; ++i) {
    const IdleReport report = agent.idle(std::chrono::seconds(1));
    if (report.stages == 0 && explained().blocker == Blocker::in_place) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Outcome outcome;
  for (int i = 1; i <= kLaunches && outcome.launches == 0; ++i) {
    (void)workplace.launch(kernel);
    (void)agent.idle(std::chrono::milliseconds(1));
    if (explained().blocker != Blocker::in_place) outcome.launches = i;
  }
  outcome.won = (static_cast<int>(explained().running[0]) + shift) % 4;
  return outcome;
}

void print_noise(Workplace& workplace) {
  for (std::vector<double>& times : truth(workplace, 60)) {
    const double median = median_of(times);
    for (const double time : times) std::printf("%.0f, ", 1000 * time / median);
    std::printf("\n");
  }
}

void run(int races) {
  Workplace workplace(true);
  if (races == 0) return print_noise(workplace);
  std::array<double, 4> medians{};
  const auto times = truth(workplace, 60);
  for (std::size_t k = 0; k < 4; ++k) medians[k] = median_of(times[k]);
  std::printf("variants: %.3f %.3f %.3f %.3f ms\n", medians[0] * 1e-6, medians[1] * 1e-6,
              medians[2] * 1e-6, medians[3] * 1e-6);
  std::array<int, 4> won{};
  int right = 0, undecided = 0, most = 0;
  for (int i = 0; i < races; ++i) {
    const Outcome outcome = run_race(workplace, i % 4);
    const auto k = static_cast<std::size_t>(outcome.won);
    ++won[k];
    undecided += outcome.launches == 0;
    most = std::max(most, outcome.launches);
    right += outcome.launches > 0 &&
             medians[k] <= 1.02 * *std::min_element(medians.begin(), medians.end());
  }
  std::printf(
      "won: %d %d %d %d; right in %d of %d races of %d launches; undecided %d; verdict after "
      "%d at most\n",
      won[0], won[1], won[2], won[3], right, races, kLaunches, undecided, most);
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  const bool noise = argc == 2 && std::strcmp(argv[1], "--noise") == 0;
  if (!noise && (argc != 3 || std::strcmp(argv[1], "--races") != 0)) {
    std::fprintf(stderr, "usage: in_place_race --races N | --noise\n");
    return 2;
  }
  return idletune::bench::ended("in_place_race", [&] {
    idletune::bench::run(noise ? 0 : std::max(1, std::atoi(argv[2])));
    return 0;
  });
}
