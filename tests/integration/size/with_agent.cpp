// A program that uses what an application uses of the agent: its size is what the agent costs.
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/opencl.hpp>
#ifdef WITH_FOREST
#include <idletune/learning.hpp>
#endif
#ifdef WITH_SIGNING
#include <idletune/signing.hpp>
#endif
#ifdef WITH_KRYLOV
#include <idletune/krylov.hpp>
#endif
#ifdef WITH_CUDA
#include <idletune/cuda.hpp>
#endif

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.size() < 3) return 1;
#ifdef WITH_CUDA
  auto device = idletune::cuda::open(0);
  if (!device) device = idletune::opencl::open(0);
#else
  auto device = idletune::opencl::open(0);
#endif
  if (!device) return 1;
  idletune::AgentOptions options;
  options.model = arguments[1];
#ifdef WITH_FOREST
  options.learner = idletune::forest_learner();
#endif
#ifdef WITH_SIGNING
  const auto key = idletune::PublicKey::read(arguments[0]);
  if (!key) return 1;
  const auto trust = idletune::signed_files({*key}, arguments[1]);
  if (!trust) return 1;
  options.trust = trust->get();
#endif
  auto agent = idletune::Agent::open(options);
  if (!agent) return 1;
  auto kernel = agent->kernel(**device, arguments[2]);
  if (!kernel) return 1;
  auto buffer = (*device)->allocate(1 << 20);
  if (!buffer) return 1;
#ifdef WITH_KRYLOV
  auto queue = idletune::opencl::application_queue(**device);
  if (!queue) return 1;
  auto solver = idletune::krylov::Solver::make(**device, **queue, {{1, 1, {0, 1}, {0}}, {2.0}}, {});
  std::vector<double> solution(1);
  if (!solver || !solver->solve(std::vector<double>(1, 1.0), solution, {})) return 1;
#endif
  const idletune::Argument memory = (*buffer)->argument();
  if (!agent->start_background().ok()) return 1;
  const auto launched = kernel->launch({64, 64, 64}, {memory, memory, memory, 1.0f, 0.0f});
  const auto report = agent->idle(std::chrono::milliseconds(8));
  agent->stop_background();
  const std::string why = agent->explain();
  return launched.ok() && report.stages > 0 && !why.empty() ? 0 : 1;
}
