// `idletune demo`: an application whose kernels get faster while it runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include <idletune/agent.hpp>
#include <idletune/learning.hpp>

#include "agent/cli/demo_application.hpp"
#include "agent/cli/explanation_output.hpp"
#include "agent/cli/kernel_file.hpp"
#include "agent/cli/open_device.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/verbs.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct DemoOptions {
  double seconds = 60;
  DeviceChoice device;
  std::string kernel;
  std::string model;  // empty: the one that ships; kNoModel: like a device that nobody has seen
  std::string state;
  bool fresh = false;
};

// The application is meant to run for this long: what tuning finds has that time to pay.
constexpr double kHorizonSeconds = 3600;

// Frames without tuning first, then with it, and in the end both in turn.
constexpr double kUntunedShare = 0.15;
constexpr double kComparedShare = 0.15;
// A frame begins this long after the last one has ended: what the application leaves idle.
constexpr Nanoseconds kPause = std::chrono::milliseconds(150);

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-6; }

Nanoseconds percentile(std::vector<Nanoseconds> times, double share) {
  if (times.empty()) return Nanoseconds{0};
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(rank), times.end());
  return times[rank];
}

// What the frames of one phase took.
struct Phase {
  std::vector<Nanoseconds> busy;
  std::vector<Nanoseconds> launches;
  Nanoseconds total{0};
  void add(const FrameTimes& frame) {
    busy.push_back(frame.busy);
    total += frame.busy;
    launches.insert(launches.end(), frame.launches.begin(), frame.launches.end());
  }
  Nanoseconds median() const { return percentile(busy, 0.5); }
};

class Demo {
 public:
  Demo(const DemoOptions& options, CliContext& context) : options_(options), context_(context) {}
  Status run();

 private:
  Status open();
  Status play_untuned();
  void expect_launches();
  Status play_tuned();
  Status compare();
  Status frame(TunedKernel& kernel, Phase& phase);
  bool over(double share_of_time) const;
  void live_line();
  void say(const std::string& text) const;
  void report_text(const std::vector<Explanation>& shapes) const;
  void report_json(const std::vector<Explanation>& shapes) const;
  double ratio(double share) const;
  std::string state_folder() const;

  const DemoOptions& options_;
  CliContext& context_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DemoApplication> application_;
  // The second agent never tunes: it is what the application would be without idletune.
  std::optional<Agent> tuning_, plain_;
  std::optional<TunedKernel> tuned_kernel_, plain_kernel_;
  Clock::time_point start_;
  Clock::time_point last_line_;
  Phase untuned_, tuned_, compared_plain_, compared_tuned_;
  std::vector<double> ratios_;
  std::uint64_t launches_ = 0;
  std::uint64_t steps_ = 0;
  bool resumed_ = false;
};

std::string Demo::state_folder() const {
  if (!options_.state.empty()) return options_.state;
  Result<std::string> folder = self_executable_folder();
  return folder.ok() ? *folder + "/demo-state" : std::string("demo-state");
}

void Demo::say(const std::string& text) const {
  if (context_.json()) return;
  context_.print(text);
  std::fflush(stdout);
}

Status Demo::open() {
  const std::string folder = state_folder();
  if (options_.fresh) {
    Result<std::unique_ptr<Storage>> storage = open_posix_storage(folder);
    if (storage.ok()) (void)(*storage)->remove("journal");
  }
  std::string package_path = options_.kernel;
  if (package_path.empty()) {
    Result<std::string> beside = self_executable_folder();
    if (!beside.ok()) return beside.status();
    package_path = *beside + "/gemm.itkernel";
  }
  Result<std::vector<std::uint8_t>> package = read_kernel(package_path);
  if (!package.ok()) return package.status();
  const auto opened = KernelPackage::open(*package, package_path);
  if (!opened.ok()) return opened.status();

  AgentOptions tuning;
  tuning.learner = forest_learner();
  tuning.log = log_to_standard_error;
  tuning.model = options_.model;
  tuning.state = folder;
  Result<Agent> agent = Agent::open(tuning);
  if (!agent.ok()) return agent.status();
  tuning_.emplace(std::move(*agent));
  AgentOptions plain;
  plain.mode = Mode::off;
  plain.read_environment = false;
  Result<Agent> off = Agent::open(plain);
  if (!off.ok()) return off.status();
  plain_.emplace(std::move(*off));

  Result<std::unique_ptr<Device>> device =
      open_device(options_.device, (*opened)->dialect(), folder + "/programs");
  if (!device.ok()) return device.status();
  device_ = std::move(*device);
  Result<TunedKernel> plain_kernel = plain_->kernel(*device_, *package);
  if (!plain_kernel.ok()) return plain_kernel.status();
  plain_kernel_ = *plain_kernel;
  Result<TunedKernel> tuned_kernel = tuning_->kernel(*device_, *package);
  if (!tuned_kernel.ok()) return tuned_kernel.status();
  tuned_kernel_ = *tuned_kernel;
  Result<std::unique_ptr<DemoApplication>> application = DemoApplication::create(*device_);
  if (!application.ok()) return application.status();
  application_ = std::move(*application);
  for (const Shape& shape : application_->shapes()) {
    Result<Explanation> known = tuned_kernel_->explain(shape);
    resumed_ = resumed_ || (known.ok() && known->selection != Selection::fallback);
  }
  const AgentStatus status = tuning_->status();
  if (!status.storage.ok()) context_.warn("nothing will be kept: " + status.storage.message());
  if (!status.journal.ok()) context_.warn(status.journal.message());
  if (!status.model.ok()) context_.warn("model not used: " + status.model.message());
  return {};
}

bool Demo::over(double share_of_time) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  return interrupted() || elapsed >= share_of_time * options_.seconds;
}

Status Demo::frame(TunedKernel& kernel, Phase& phase) {
  Result<FrameTimes> times = application_->frame(kernel);
  if (!times.ok()) return times.status();
  launches_ += times->launches.size();
  phase.add(*times);
  return {};
}

void Demo::live_line() {
  if (Clock::now() - last_line_ < std::chrono::seconds(1)) return;
  last_line_ = Clock::now();
  const double elapsed = std::chrono::duration<double>(last_line_ - start_).count();
  std::string line = format_number(elapsed, 0) + " s  " + std::to_string(launches_) + " launches";
  if (tuned_.busy.empty()) {
    say(line + "  frame " + format_milliseconds(milliseconds(untuned_.median())) +
        " ms  (tuning is off)\n");
    return;
  }
  const std::size_t recent = std::min<std::size_t>(tuned_.busy.size(), 15);
  const Nanoseconds now =
      percentile({tuned_.busy.end() - static_cast<std::ptrdiff_t>(recent), tuned_.busy.end()}, 0.5);
  line += "  frame " + format_milliseconds(milliseconds(now)) + " ms  " +
          format_number(milliseconds(untuned_.median()) / milliseconds(now), 2) + "x  " +
          std::to_string(steps_) + " steps  ";
  for (const Shape& shape : application_->shapes()) {
    Result<Explanation> known = tuned_kernel_->explain(shape);
    if (!known.ok()) continue;
    line += " " + report::shape_text(shape) + ": " + verdict_name(known->verdict) + " " +
            format_number(known->speed_up, 1) + "x";
  }
  say(line + "\n");
}

Status Demo::play_untuned() {
  while (!over(kUntunedShare) || untuned_.busy.size() < 5) {
    if (Status status = frame(*plain_kernel_, untuned_); !status.ok()) return status;
    std::this_thread::sleep_for(kPause);
    live_line();
    if (interrupted()) break;
  }
  return {};
}

void Demo::expect_launches() {
  const double frame = milliseconds(untuned_.median() + kPause) / 1000;
  for (const Shape& shape : application_->shapes()) {
    tuned_kernel_->expect_launches(
        shape, kHorizonSeconds / frame * static_cast<double>(DemoApplication::kLaunchesPerFrame));
  }
}

Status Demo::play_tuned() {
  expect_launches();
  while (!over(1 - kComparedShare)) {
    if (Status status = frame(*tuned_kernel_, tuned_); !status.ok()) return status;
    const Clock::time_point end = Clock::now() + kPause;
    steps_ += tuning_->idle(kPause).steps;
    if (Clock::now() < end) std::this_thread::sleep_until(end);
    live_line();
  }
  return {};
}

Status Demo::compare() {
  say("side by side, frame by frame ...\n");
  while (!over(1.0) || compared_tuned_.busy.size() < 5) {
    if (interrupted()) break;
    if (Status status = frame(*plain_kernel_, compared_plain_); !status.ok()) return status;
    if (Status status = frame(*tuned_kernel_, compared_tuned_); !status.ok()) return status;
    ratios_.push_back(milliseconds(compared_plain_.busy.back()) /
                      milliseconds(compared_tuned_.busy.back()));
    std::this_thread::sleep_for(compared_tuned_.busy.back() / 2);
  }
  return {};
}

double Demo::ratio(double share) const {
  if (ratios_.empty()) return 0;
  std::vector<double> sorted = ratios_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

Status Demo::run() {
  catch_interrupts();
  if (Status status = open(); !status.ok()) return status;
  const DeviceInfo& info = device_->info();
  say("device: " + info.name + " (" + info.platform + ")\nstate:  " + state_folder() +
      (resumed_ ? "  (starts tuned from an earlier run)\n" : "\n"));
  start_ = last_line_ = Clock::now();
  if (Status status = play_untuned(); !status.ok()) return status;
  if (Status status = play_tuned(); !status.ok()) return status;
  if (Status status = compare(); !status.ok()) return status;

  std::vector<Explanation> shapes;
  for (const Shape& shape : application_->shapes()) {
    Result<Explanation> known = tuned_kernel_->explain(shape);
    if (known.ok()) shapes.push_back(std::move(*known));
  }
  if (context_.json()) {
    report_json(shapes);
  } else {
    report_text(shapes);
  }
  const AgentStatus status = tuning_->status();
  if (!status.trials.ok()) context_.warn("tuning was not possible: " + status.trials.message());
  return {};
}

void Demo::report_text(const std::vector<Explanation>& shapes) const {
  TextTable table({{"shape M x N x K"},
                   {"default ms", Align::right},
                   {"first pick ms", Align::right},
                   {"now ms", Align::right},
                   {"speed-up", Align::right},
                   {"tried", Align::right},
                   {"failed", Align::right},
                   {"tuning s", Align::right},
                   {"decision"},
                   {"break-even launches", Align::right}});
  for (const Explanation& e : shapes) {
    table.add_row({report::shape_text(e.shape), format_milliseconds(e.default_ms),
                   format_milliseconds(e.first_pick_ms), format_milliseconds(e.running_ms),
                   format_number(e.speed_up, 2), std::to_string(e.evaluated),
                   std::to_string(e.rejected), format_number(e.tuning_ms / 1000, 2),
                   verdict_name(e.verdict), format_number(std::ceil(e.break_even_launches), 0)});
  }
  say("\n");
  context_.print(table);
  for (const Explanation& e : shapes) {
    say("\n" + report::shape_text(e.shape) + " runs " + e.running_text + "\n  " + e.reason + "\n");
  }
  const auto micros = [](Nanoseconds time) { return format_number(milliseconds(time) * 1000, 1); };
  say("\nlaunch() on the CPU  p50 " + micros(percentile(untuned_.launches, 0.5)) + " us, p99 " +
      micros(percentile(untuned_.launches, 0.99)) + " us without tuning;  p50 " +
      micros(percentile(tuned_.launches, 0.5)) + " us, p99 " +
      micros(percentile(tuned_.launches, 0.99)) + " us with it\n");
  const double never = milliseconds(untuned_.median()) * static_cast<double>(tuned_.busy.size());
  say("kernel time of " + std::to_string(tuned_.busy.size()) + " frames  " +
      format_number(milliseconds(tuned_.total) / 1000, 2) + " s while tuning, " +
      format_number(never / 1000, 2) + " s without (median frame)\n");
  say("side by side, " + std::to_string(ratios_.size()) +
      " pairs of frames: " + format_number(ratio(0.5), 2) + "x (quartiles " +
      format_number(ratio(0.25), 2) + " to " + format_number(ratio(0.75), 2) + ")\n");
}

void Demo::report_json(const std::vector<Explanation>& shapes) const {
  nlohmann::json list = nlohmann::json::array();
  for (const Explanation& e : shapes) list.push_back(explanation_object(e));
  const AgentStatus status = tuning_->status();
  context_.print_json({{"device", device_->info().name},
                       {"resumed", resumed_},
                       {"launches", launches_},
                       {"steps", steps_},
                       {"shapes", list},
                       {"launch_us",
                        {{"off_p50", milliseconds(percentile(untuned_.launches, 0.5)) * 1000},
                         {"off_p99", milliseconds(percentile(untuned_.launches, 0.99)) * 1000},
                         {"on_p50", milliseconds(percentile(tuned_.launches, 0.5)) * 1000},
                         {"on_p99", milliseconds(percentile(tuned_.launches, 0.99)) * 1000}}},
                       {"frames", tuned_.busy.size()},
                       {"kernel_seconds_tuning", milliseconds(tuned_.total) / 1000},
                       {"kernel_seconds_never", milliseconds(untuned_.median()) *
                                                    static_cast<double>(tuned_.busy.size()) / 1000},
                       {"side_by_side",
                        {{"pairs", ratios_.size()},
                         {"q25", ratio(0.25)},
                         {"median", ratio(0.5)},
                         {"q75", ratio(0.75)}}},
                       {"charged_seconds", status.charged_seconds},
                       {"tuning_seconds", status.tuning_seconds}});
}

}  // namespace

void add_demo_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("demo", "An application that gets faster while it runs");
  auto options = std::make_shared<DemoOptions>();
  verb.option("--seconds", options->seconds, "How long to run (60)").between(5, 86400);
  add_device_options(verb, options->device);
  verb.option("--kernel", options->kernel, "GEMM package or XML (gemm.itkernel beside idletune)");
  verb.option("--model", options->model,
              "Model file for the first picks (the one that ships; -: none)");
  verb.option("--state", options->state, "State folder (demo-state beside idletune)");
  verb.flag("--fresh", options->fresh, "Forget what earlier runs found");
  context.add_json_flag(verb);
  verb.runs([options, &context] {
    Demo demo(*options, context);
    if (Status status = demo.run(); !status.ok()) context.fail(status);
  });
}

}  // namespace idletune::cli
