// Tunes something that is no GPU kernel (ask/tell) and opens an agent that keeps nothing.
#include <cstdio>
#include <cstdlib>

#include <idletune/agent.hpp>
#include <idletune/opencl.hpp>
#include <idletune/tuner.hpp>

namespace {

int fail(const idletune::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return EXIT_FAILURE;
}

// Pretends that a block of 32 with 4 threads is best.
std::chrono::nanoseconds pretend_run(std::int64_t block, std::int64_t threads) {
  return std::chrono::microseconds(100 + std::abs(block - 32) + 10 * std::abs(threads - 4));
}

}  // namespace

int main() {
  idletune::TunerOptions options;
  options.parameters = {{"BLOCK", {8, 16, 32, 64}}, {"THREADS", {1, 2, 4, 8}}};
  auto tuner = idletune::Tuner::open(options);
  if (!tuner) return fail(tuner.status());
  while (auto configuration = tuner->ask()) {
    idletune::Measurement measurement;
    measurement.run_time = pretend_run((*configuration)[0], (*configuration)[1]);
    tuner->tell(*configuration, measurement);
  }
  const std::string best = tuner->text(tuner->best());
  std::printf("%zu configurations, best %s\n", tuner->told(), best.c_str());
  if (tuner->told() != 16 || best != "BLOCK=32 THREADS=4") return EXIT_FAILURE;

  idletune::AgentOptions agent_options;
#ifdef HELPER
  agent_options.helper = HELPER;
#endif
  auto agent = idletune::Agent::open(agent_options);
  if (!agent) return fail(agent.status());
#ifdef HELPER
  if (!agent->status().trials.ok()) return fail(agent->status().trials);
#endif
  const auto report = agent->idle(std::chrono::milliseconds(1));
  std::printf("idle: %s\n", report.why);
  return report.steps == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
