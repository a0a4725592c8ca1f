// Tunes a kernel on time that its user grants: what is measured is for learning elsewhere.
#include <idletune/agent.hpp>
#include <idletune/options.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

#include "agent/api/back_end_options.hpp"
#include "agent/api/foreground.hpp"
#include "agent/board_command/lock_holder.hpp"
#include "agent/board_command/verbs.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::board {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void interrupt(int) { interrupted = 1; }

Result<std::unique_ptr<Device>> open_device(const Call& call, Dialect dialect) {
#ifdef IDLETUNE_WITH_OPENCL
  const bool prefers_cuda = dialect == Dialect::cuda;
#else
  const bool prefers_cuda = dialect != Dialect::opencl;
#endif
  const std::string backend = call.option("backend", prefers_cuda ? "cuda" : "opencl");
  const auto place =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(call.number("device", 0), UINT32_MAX));
  return backend == "cuda" ? detail::open_cuda(place, {}) : detail::open_opencl(place, {});
}

Result<AgentOptions> options_for(const std::string& state) {
  AgentOptions options;
  if (Status read = apply_environment(options); !read.ok()) return read;
  options.read_environment = false;  // what stands in the call counts more
  options.state = state;
  options.model = kNoModel;
  options.mode = Mode::tune;
  return options;
}

// What was measured must be kept, or there is no point in measuring it.
Status check_ready(const AgentStatus& status, const std::string& state) {
  if (!status.trials.ok() || status.storage.ok()) return status.trials;
  const long process = lock_holder(state);
  if (status.storage.code() != StatusCode::busy || process == 0) return status.storage;
  return Status(StatusCode::busy, "%: process %", status.storage.message(), process);
}

const char* ending_name(detail::Ending ending) {
  switch (ending) {
    case detail::Ending::budget: return "budget";
    case detail::Ending::nothing_left: return "nothing_left";
    case detail::Ending::interrupted: break;
  }
  return "interrupted";
}

Status tell(const TunedKernel& kernel, const Shape& shape, Facts& answer) {
  const Result<Explanation> now = kernel.explain(shape);
  if (!now.ok()) return now.status();
  answer.text("kernel", now->kernel);
  answer.text("problem", now->problem);
  answer.count("measured", now->evaluated);
  answer.count("failed", now->rejected);
  answer.text("running", now->running_text);
  answer.number("default_ms", now->default_ms);
  answer.number("running_ms", now->running_ms);
  answer.number("speed_up", now->speed_up);
  return {};
}

}  // namespace

Status explore_kernel(const Call& call, Facts& answer) {
  const std::string path = call.word(0);
  auto bytes = read_pushed_file(path, KernelPackage::kMaxBytes, nullptr);
  if (!bytes.ok()) return bytes.status();
  const auto package = KernelPackage::open(*bytes, path);
  if (!package.ok()) return package.status();
  const Result<AgentOptions> options = options_for(call.word(1));
  if (!options.ok()) return options.status();
  Result<std::unique_ptr<Device>> device = open_device(call, (*package)->dialect());
  if (!device.ok()) return device.status();
  Result<Agent> agent = Agent::open(*options);
  if (!agent.ok()) return agent.status();
  if (Status ready = check_ready(agent->status(), options->state); !ready.ok()) return ready;
  Result<TunedKernel> kernel = agent->kernel(**device, std::move(*bytes));
  if (!kernel.ok()) return kernel.status();
  if (Status prepared = kernel->prepare(call.shape); !prepared.ok()) return prepared;
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  const std::uint64_t most = std::min<std::uint64_t>(call.number("seconds", 60), 1'000'000'000);
  const detail::Ending ending = detail::tune_within(*agent, std::chrono::seconds(most),
                                                    [](std::uint64_t) { return interrupted == 0; });
  answer.text("ended", ending_name(ending));
  const AgentStatus after = agent->status();
  if (!after.storage.ok()) return after.storage;
  return tell(*kernel, call.shape, answer);
}

}  // namespace idletune::board
