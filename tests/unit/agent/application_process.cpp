// Started by agent_device_test: an application that tunes one kernel for one shape until every
// configuration has been tried, and tells what it sees. It may be killed, or die, at any moment.
//   application_process <package> <state folder> helper|in_process <dimension>...
// Of a kernel whose name ends in "_product" it also looks at every element of the result.
// Lines that it sends:
//   start <running milliseconds> <configuration>   what was adopted earlier, before a launch
//   state <running milliseconds> <configuration>   a new configuration was adopted
//   log <text>                                     the agent's messages
//   end <evaluated> <quarantined> <why>            nothing is left to try
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>

#include "models/package/kernel_package.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/forwarding_devices.hpp"

namespace {

using namespace idletune;
using idletune::test::RawApplication;

void say(Channel& channel, const std::string& line) {
  const std::string text = line + "\n";
  (void)channel.send(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                     kNoTimeout);
}

void log(void* channel, int, const char* message) {
  say(*static_cast<Channel*>(channel), std::string("log ") + message);
}

template <class T>
T get(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return std::move(*result);
}

// What the application passes: buffers of ones, scalars of one.
std::vector<Argument> arguments_for(const KernelPackage& package, const Shape& shape,
                                    RawApplication& application) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).kind == ArgumentKind::scalar) arguments.emplace_back(1.0f);
    if (package.argument(i).kind != ArgumentKind::buffer) continue;
    const auto bytes = get(package.buffer_bytes(i, shape, package.default_configuration()));
    const std::vector<float> ones(static_cast<std::size_t>(bytes) / sizeof(float), 1.0f);
    arguments.emplace_back(application.buffer(ones));
  }
  return arguments;
}

// Says that it has local memory without end: switches the check of that limit off.
class BoastfulDevice final : public test::ForwardingDevice {
 public:
  explicit BoastfulDevice(Device& device) : ForwardingDevice(device) {
    info_.local_memory_bytes = std::uint64_t{1} << 40;
  }
  Result<std::unique_ptr<Buffer>> window(Buffer& parent, std::size_t offset,
                                         std::size_t bytes) override {
    return device_.window(parent, offset, bytes);
  }
  std::size_t window_alignment_bytes() const override { return device_.window_alignment_bytes(); }
};

std::string adopted(const Explanation& explanation) {
  return std::to_string(explanation.running_ms) + " " + explanation.running_text;
}

// Each element of a product of ones is the number of its terms.
void expect_product(const KernelPackage& package, const Shape& shape,
                    const std::vector<Argument>& arguments, RawApplication& application) {
  const std::string name(package.name());
  if (name.size() < 8 || name.substr(name.size() - 8) != "_product") return;
  cl_mem result = nullptr;
  std::memcpy(&result, arguments.back().data(), sizeof result);
  const auto elements = static_cast<std::size_t>(shape[0] * shape[1]);
  for (const float element : application.read(result, elements)) {
    if (element != static_cast<float>(shape[2])) throw std::runtime_error("a wrong result");
  }
  application.write(result, std::vector<float>(elements, -1.0f));
}

constexpr std::chrono::milliseconds kSlice{50};

void tune(Channel& channel, const std::string& package_path, const AgentOptions& options,
          const Shape& shape) {
  const auto package = get(
      KernelPackage::open(get(read_file(package_path, KernelPackage::kMaxBytes)), package_path));
  RawApplication application(/*profiling=*/false);
  BoastfulDevice device(application.device());
  Agent agent = get(Agent::open(options));
  TunedKernel kernel = get(agent.kernel(device, package_path));
  std::string running;  // configuration
  std::string start = "default";
  if (const Result<Explanation> known = kernel.explain(shape);
      known.ok() && known->selection == Selection::tuned) {
    running = known->running_text;
    start = adopted(*known);
  }
  say(channel, "start " + start);
  kernel.expect_launches(shape, 1e9);
  const std::vector<Argument> arguments = arguments_for(*package, shape, application);
  std::chrono::nanoseconds slice = kSlice;
  for (;;) {
    for (int i = 0; i < 4; ++i) {
      const Status status =
          kernel.launch(LaunchOptions{}, shape, {arguments.data(), arguments.size()});
      if (!status.ok()) throw std::runtime_error(status.to_string());
    }
    application.finish();
    expect_product(*package, shape, arguments, application);
    const IdleReport report = agent.tune_now(slice);
    const Explanation now = get(kernel.explain(shape));
    // Its time alone may change as well: comparisons go on, and are no adoptions.
    if (now.selection == Selection::tuned && now.running_text != running) {
      running = now.running_text;
      say(channel, "state " + adopted(now));
    }
    // On a busy machine a slice may be over before its first stage began.
    const bool idled = report.stages == 0 && report.used < slice;
    slice = kSlice + report.needs;
    if (idled && !report.waiting && report.needs.count() == 0) {
      say(channel, "end " + std::to_string(now.evaluated) + " " + std::to_string(now.quarantined) +
                       " " + report.why);
      return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Result<Channel> channel = join_parent();
  if (!channel.ok() || argc < 5) {
    std::fputs("started by agent_device_test, not by hand\n", stderr);
    return 2;
  }
  AgentOptions options;
  options.state = argv[2];
  if (std::string(argv[3]) == "in_process") options.in_process = trials_in_process();
  options.run_deadline = std::chrono::seconds(1);  // as kEndless of the tests
  options.log = &log;
  options.log_user = &*channel;
  options.log_level = 2;
  Shape shape;
  for (int i = 4; i < argc; ++i) shape.push_back(std::atoll(argv[i]));
  try {
    tune(*channel, argv[1], options, shape);
  } catch (const std::exception& error) {
    say(*channel, std::string("log failed: ") + error.what());
    return 3;
  }
  return 0;
}
