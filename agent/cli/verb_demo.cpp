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
#include "agent/cli/places.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/slow_frames.hpp"
#include "agent/cli/verbs.hpp"
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
  Status find_files();
  Status open_agents();
  Status open_kernels();
  void warn_of_status();
  void greet() const;
  Status play_untuned();
  void expect_launches();
  Status play_tuned();
  Status compare();
  Status frame(TunedKernel& kernel, Phase& phase);
  bool over(double share_of_time) const;
  void live_line();
  void say_why_slow(const IdleReport& idle) const;
  void say(const std::string& text) const;
  void report_text(const std::vector<Explanation>& shapes) const;
  void report_json(const std::vector<Explanation>& shapes) const;
  double ratio(double share) const;
  std::string finding() const;

  DemoOptions options_;
  CliContext& context_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DemoApplication> application_;
  std::vector<std::uint8_t> package_;
  Dialect dialect_ = Dialect::portable;
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

void Demo::say(const std::string& text) const {
  if (context_.json()) return;
  context_.print(text);
  std::fflush(stdout);
}

// What the user did not name: the package and the model that ship, and a folder of the user's own.
Status Demo::find_files() {
  if (options_.kernel.empty()) {
    Result<std::string> shipped = find_shipped("gemm.itkernel");
    if (!shipped.ok()) return shipped.status();
    options_.kernel = *shipped;
  }
  if (options_.model.empty()) {
    const Result<std::string> shipped = find_shipped("idletune.itmodel");
    options_.model = shipped.ok() ? *shipped : kNoModel;
  }
  if (options_.state.empty()) {
    Result<std::string> folder = state_folder("demo");
    if (!folder.ok()) return folder.status();
    options_.state = *folder;
  }
  if (Status made = make_folders(options_.state); !made.ok()) return made;
  if (!options_.fresh) return {};
  Result<std::unique_ptr<Storage>> storage = open_posix_storage(options_.state);
  if (storage.ok()) (void)(*storage)->remove("journal");
  return {};
}

Status Demo::open_agents() {
  AgentOptions tuning;
  tuning.learner = forest_learner();
  tuning.log = log_to_standard_error;
  tuning.model = options_.model;
  tuning.state = options_.state;
  Result<Agent> agent = Agent::open(tuning);
  if (!agent.ok()) return agent.status();
  tuning_.emplace(std::move(*agent));
  AgentOptions plain;
  plain.mode = Mode::off;
  plain.read_environment = false;
  Result<Agent> off = Agent::open(plain);
  if (!off.ok()) return off.status();
  plain_.emplace(std::move(*off));
  return {};
}

Status Demo::open_kernels() {
  Result<std::unique_ptr<Device>> device =
      open_device(options_.device, dialect_, options_.state + "/programs");
  if (!device.ok()) return device.status();
  device_ = std::move(*device);
  Result<TunedKernel> plain_kernel = plain_->kernel(*device_, package_);
  if (!plain_kernel.ok()) return plain_kernel.status();
  plain_kernel_ = *plain_kernel;
  Result<TunedKernel> tuned_kernel = tuning_->kernel(*device_, package_);
  if (!tuned_kernel.ok()) return tuned_kernel.status();
  tuned_kernel_ = *tuned_kernel;
  return {};
}

Status Demo::open() {
  if (Status status = find_files(); !status.ok()) return status;
  Result<std::vector<std::uint8_t>> package = read_kernel(options_.kernel);
  if (!package.ok()) return package.status();
  const auto opened = KernelPackage::open(*package, options_.kernel);
  if (!opened.ok()) return opened.status();
  dialect_ = (*opened)->dialect();
  package_ = std::move(*package);
  if (Status status = open_agents(); !status.ok()) return status;
  if (Status status = open_kernels(); !status.ok()) return status;
  Result<std::unique_ptr<DemoApplication>> application = DemoApplication::create(*device_);
  if (!application.ok()) return application.status();
  application_ = std::move(*application);
  for (const Shape& shape : application_->shapes()) {
    Result<Explanation> known = tuned_kernel_->explain(shape);
    resumed_ = resumed_ || (known.ok() && known->selection != Selection::fallback);
  }
  warn_of_status();
  return {};
}

void Demo::warn_of_status() {
  const AgentStatus status = tuning_->status();
  if (!status.storage.ok()) context_.warn("nothing will be kept: " + status.storage.message());
  if (!status.journal.ok()) context_.warn(status.journal.message());
  if (!status.model.ok()) context_.warn("model not used: " + status.model.message());
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

// "A", "B", ...: a shape's name in the lines that appear while the demo runs.
std::string letter(std::size_t shape) { return std::string(1, static_cast<char>('A' + shape)); }

void Demo::live_line() {
  if (Clock::now() - last_line_ < std::chrono::seconds(1)) return;
  last_line_ = Clock::now();
  const double elapsed = std::chrono::duration<double>(last_line_ - start_).count();
  char begin[64];
  if (tuned_.busy.empty()) {
    std::snprintf(begin, sizeof begin, "%4.0f s   frame %5s ms   tuning is off\n", elapsed,
                  format_milliseconds(milliseconds(untuned_.median())).c_str());
    return say(begin);
  }
  const std::size_t recent = std::min<std::size_t>(tuned_.busy.size(), 15);
  const Nanoseconds now =
      percentile({tuned_.busy.end() - static_cast<std::ptrdiff_t>(recent), tuned_.busy.end()}, 0.5);
  std::snprintf(begin, sizeof begin, "%4.0f s   frame %5s ms  %5.2fx   tried %3llu  ", elapsed,
                format_milliseconds(milliseconds(now)).c_str(),
                milliseconds(untuned_.median()) / milliseconds(now),
                static_cast<unsigned long long>(steps_));
  std::string line = begin;
  for (std::size_t i = 0; i < application_->shapes().size(); ++i) {
    Result<Explanation> known = tuned_kernel_->explain(application_->shapes()[i]);
    if (!known.ok()) continue;
    line += " " + letter(i) + " " + format_number(known->speed_up, 1) + "x ";
  }
  say(line + "\n");
}

void Demo::say_why_slow(const IdleReport& idle) const {
  if (context_.json()) return;
  const bool shared = device_->info().is_cpu;
  std::string why = "nothing is tuned just now, so something else uses this machine";
  if (idle.waiting) {
    why = shared ? "a configuration is compiled, on the processors that also run the kernels"
                 : "a configuration is compiled, on the processors that also start the kernels";
  } else if (idle.stages > 0) {
    why =
        "configurations are tried between the frames, which then find caches and clocks as the "
        "trials left them";
  }
  context_.print_paragraph("         ", "(frames have been slower for a while: " + why + ")");
  std::fflush(stdout);
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
  say("now with tuning in the " + format_number(milliseconds(kPause), 0) +
      " ms between two frames\n");
  SlowFrames slow(untuned_.median());
  while (!over(1 - kComparedShare)) {
    if (Status status = frame(*tuned_kernel_, tuned_); !status.ok()) return status;
    const Clock::time_point end = Clock::now() + kPause;
    const IdleReport idle = tuning_->idle(kPause);
    steps_ += idle.steps;
    if (Clock::now() < end) std::this_thread::sleep_until(end);
    live_line();
    if (slow.ended(Clock::now(), tuned_.busy.back())) say_why_slow(idle);
  }
  return {};
}

Status Demo::compare() {
  say("a frame without tuning and one with it, in turn ...\n");
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

void Demo::greet() const {
  if (context_.json()) return;
  const DeviceInfo& info = device_->info();
  context_.print_paragraph("device  ", info.name + " (" + info.platform + ")");
  context_.print_paragraph("state   ", options_.state + (resumed_ ? " (starts tuned)" : ""));
  std::string shapes;
  for (std::size_t i = 0; i < application_->shapes().size(); ++i) {
    shapes += (i > 0 ? ", " : "") + letter(i) + " " + report::shape_text(application_->shapes()[i]);
  }
  context_.print_paragraph("frame   ", std::to_string(DemoApplication::kLaunchesPerFrame) +
                                           " matrix products of each shape M x N x K: " + shapes);
  say("\n");
}

Status Demo::run() {
  catch_interrupts();
  if (Status status = open(); !status.ok()) return status;
  greet();
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

// "your frames took 76.1 ms; now 16.7 ms, 4.56 times faster".
std::string Demo::finding() const {
  const double before = milliseconds(compared_plain_.median());
  const double now = milliseconds(compared_tuned_.median());
  std::string text = "your frames took " + format_milliseconds(before) + " ms; now " +
                     format_milliseconds(now) + " ms";
  // Frames differ by chance: three of four pairs must agree.
  if (ratio(0.25) > 1) return text + ", " + format_number(ratio(0.5), 2) + " times faster";
  return text + ": that is no difference yet";
}

void Demo::report_text(const std::vector<Explanation>& shapes) const {
  TextTable table({{"shape"},
                   {"default ms", Align::right},
                   {"pick ms", Align::right},
                   {"now ms", Align::right},
                   {"speed-up", Align::right},
                   {"tried", Align::right},
                   {"failed", Align::right},
                   {"tuning s", Align::right}});
  for (const Explanation& e : shapes) {
    table.add_row({report::shape_text(e.shape), format_milliseconds(e.default_ms),
                   format_milliseconds(e.first_pick_ms), format_milliseconds(e.running_ms),
                   format_number(e.speed_up, 2), std::to_string(e.evaluated),
                   std::to_string(e.rejected), format_number(e.tuning_ms / 1000, 2)});
  }
  say("\n");
  context_.print(table);
  for (const Explanation& e : shapes) {
    say("\n" + report::shape_text(e.shape) + "\n");
    context_.print_paragraph("  runs      ", e.running_text);
    context_.print_paragraph("  decision  ",
                             std::string(verdict_name(e.verdict)) + ": " + e.reason);
  }
  const auto micros = [](Nanoseconds time) { return format_number(milliseconds(time) * 1000, 1); };
  const auto both = [&](const Phase& phase) {
    return micros(percentile(phase.launches, 0.5)) +
           " us (99 %: " + micros(percentile(phase.launches, 0.99)) + ")";
  };
  say("\n");
  context_.print_paragraph(
      "launch()  ",
      "takes " + both(untuned_) + " of processor without tuning, " + both(tuned_) + " with it");
  const double never = milliseconds(untuned_.median()) * static_cast<double>(tuned_.busy.size());
  context_.print_paragraph("while tuning  ",
                           std::to_string(tuned_.busy.size()) + " frames took " +
                               format_number(milliseconds(tuned_.total) / 1000, 2) +
                               " s, without it " + format_number(never / 1000, 2) +
                               " s (their median before)");
  context_.print_paragraph("side by side  ", std::to_string(ratios_.size()) + " pairs of frames: " +
                                                 format_number(ratio(0.5), 2) + "x (quartiles " +
                                                 format_number(ratio(0.25), 2) + " to " +
                                                 format_number(ratio(0.75), 2) + ")");
  say("\n" + finding() + "\n");
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
                       {"frame_ms",
                        {{"before", milliseconds(compared_plain_.median())},
                         {"now", milliseconds(compared_tuned_.median())}}},
                       {"state", options_.state},
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
  Verb verb = line.add_verb("demo", "plays an application whose frames get faster while it runs");
  auto options = std::make_shared<DemoOptions>();
  verb.option("--seconds", options->seconds, "How long to run").between(5, 86400).shows_default();
  add_device_options(verb, options->device);
  verb.option("--kernel", options->kernel, "GEMM package or XML")
      .shows_default("the one that ships");
  verb.option("--model", options->model, "Model file for the first picks; -: none")
      .shows_default("the one that ships");
  verb.option("--state", options->state, "Folder that keeps what was found")
      .shows_default("idletune/demo in $XDG_STATE_HOME or ~/.local/state");
  verb.flag("--fresh", options->fresh, "Forget what earlier runs found");
  verb.example("demo --seconds 30 --fresh");
  context.add_json_flag(verb);
  verb.runs([options, &context] {
    Demo demo(*options, context);
    if (Status status = demo.run(); !status.ok()) context.fail(status);
  });
}

}  // namespace idletune::cli
