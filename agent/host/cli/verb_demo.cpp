// `idletune demo`: an application whose kernels get faster while it runs.
#include <thread>

#include <idletune/agent.hpp>
#include <idletune/events.hpp>
#include <idletune/learning.hpp>
#include <idletune/options.hpp>

#include "agent/host/cli/demo_application.hpp"
#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/open_device.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/slow_frames.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/host/history/emulated.hpp"
#include "models/package/kernel_package.hpp"
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

// "A", "B", ...: a shape's name in the lines that appear while the demo runs.
std::string letter(std::size_t shape) { return std::string(1, static_cast<char>('A' + shape)); }

class Demo {
 public:
  Demo(const DemoOptions& options, CliContext& context) : options_(options), context_(context) {}

  void run() {
    open();
    const KeepsPart keeps;
    greet();
    start_ = last_line_ = Clock::now();
    play_untuned();
    play_tuned();
    compare();

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
    warn_at_end();
    if (interrupted()) context_.stopped("stopped: the figures are of what was played until then");
  }

 private:
  void say(const std::string& text) const {
    if (context_.json()) return;
    context_.print(text);
    std::fflush(stdout);
  }

  // What the user did not name: the package and the model that ship, and a folder of the user's
  // own.
  void find_files() {
    if (options_.kernel.empty()) {
      options_.kernel = must(find_shipped("gemm.itkernel"));
    }
    must(apply_environment(agent_options_));
    agent_options_.read_environment = false;
    if (options_.model.empty()) options_.model = agent_options_.model;
    if (options_.model.empty()) {
      const Result<std::string> shipped = find_shipped("idletune.itmodel");
      options_.model = shipped.ok() ? *shipped : kNoModel;
    }
    if (options_.state.empty()) options_.state = agent_options_.state;
    if (options_.state.empty()) options_.state = must(state_folder("demo"));
    must(make_folders(options_.state));
    if (!options_.fresh) return;
    const std::unique_ptr<Storage> storage = must(open_posix_storage(options_.state));
    const Status locked = storage->lock();
    if (locked.code() == StatusCode::busy) must(locked);  // somebody else's stays
    const Status removed = storage->remove("journal");
    if (removed.code() != StatusCode::not_found) must(removed);
  }

  void open_agents() {
    AgentOptions& tuning = agent_options_;
    tuning.learner = forest_learner();
    tuning.log = log_to_standard_error;
    tuning.model = options_.model;
    tuning.state = options_.state;
    tuning.events = adoptions_.get();
    tuning_.emplace(must(Agent::open(tuning)));
    AgentOptions plain;
    plain.mode = Mode::off;
    plain.read_environment = false;
    plain_.emplace(must(Agent::open(plain)));
  }

  void open() {
    find_files();
    const auto package = must(read_kernel(options_.kernel));
    const auto opened = must(KernelPackage::open(package, options_.kernel));
    if (opened->dimension_count() != 3) {
      throw Failure(StatusCode::invalid_argument,
                    options_.kernel + ": " + std::string(opened->name()) + " has " +
                        std::to_string(opened->dimension_count()) +
                        " dimensions, expected a matrix product's M, N and K");
    }
    open_agents();
    device_ = must(open_device(options_.device, opened->dialect(), options_.state + "/programs"));
    plain_kernel_ = must(plain_->kernel(*device_, package));
    tuned_kernel_ = must(tuning_->kernel(*device_, package));
    application_ = must(DemoApplication::create(*device_));
    for (const Shape& shape : application_->shapes()) {
      Result<Explanation> known = tuned_kernel_->explain(shape);
      resumed_ = resumed_ || (known.ok() && known->selection != Selection::fallback);
    }
    warn_of_status();
  }

  void warn_of_status() {
    const AgentStatus status = tuning_->status();
    if (!status.storage.ok()) context_.warn("nothing will be kept: " + status.storage.message());
    if (!status.journal.ok()) context_.warn(status.journal.message());
    if (!status.model.ok()) context_.warn("model not used: " + status.model.message());
  }

  // What nobody would guess from the figures.
  void warn_at_end() const {
    const AgentStatus status = tuning_->status();
    if (!status.trials.ok())
      return context_.warn("tuning was not possible: " + status.trials.message());
    if (const std::uint64_t lost = programs_not_kept(*device_); lost > 0) {
      context_.warn(report::counted(lost, "compiled program", "compiled programs") +
                    " could not be kept in " + options_.state);
    }
    const bool tunes = !tuned_.busy.empty() && why_never(agent_options_).empty();
    if (steps_ > 0 || resumed_ || !tunes) return;
    context_.warn(std::string("nothing was tried in this time: ") +
                  (idle_.waiting ? "a trial still waits for processor time" : idle_.why));
  }

  bool over(double share_of_time) const {
    return interrupted() || seconds_since(start_) >= share_of_time * options_.seconds;
  }

  void frame(TunedKernel& kernel, Phase& phase) {
    auto times = must(application_->frame(kernel));
    launches_ += times.launches.size();
    phase.add(times);
    played_.push_back(
        {seconds_since(start_), milliseconds(times.busy), &kernel == &*tuned_kernel_});
  }

  void live_line() {
    if (Clock::now() - last_line_ < std::chrono::seconds(1)) return;
    last_line_ = Clock::now();
    const double elapsed = seconds_since(start_);
    char begin[64];
    if (tuned_.busy.empty()) {
      std::snprintf(begin, sizeof begin, "%4.0f s   frame %5s ms   tuning is off\n", elapsed,
                    measured_ms(milliseconds(untuned_.median())).c_str());
      return say(begin);
    }
    const std::size_t recent = std::min<std::size_t>(tuned_.busy.size(), 15);
    const Nanoseconds now = percentile(
        {tuned_.busy.end() - static_cast<std::ptrdiff_t>(recent), tuned_.busy.end()}, 0.5);
    std::snprintf(begin, sizeof begin, "%4.0f s   frame %5s ms  %5.2fx   tried %3llu  ", elapsed,
                  measured_ms(milliseconds(now)).c_str(),
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

  void say_why_slow() const {
    if (context_.json()) return;
    const bool shared = device_->info().is_cpu;
    std::string why = "nothing is tuned just now, so something else uses this machine";
    if (idle_.waiting) {
      why = shared ? "a configuration is compiled, on the processors that also run the kernels"
                   : "a configuration is compiled, on the processors that also start the kernels";
    } else if (idle_.stages > 0) {
      why =
          "configurations are tried between the frames, which then find caches and clocks as the "
          "trials left them";
    }
    context_.print_paragraph("         ", "(frames have been slower for a while: " + why + ")");
    std::fflush(stdout);
  }

  void play_untuned() {
    while (!over(kUntunedShare) || untuned_.busy.size() < 5) {
      frame(*plain_kernel_, untuned_);
      std::this_thread::sleep_for(kPause);
      live_line();
      if (interrupted()) break;
    }
  }

  void expect_launches() {
    const double frame = milliseconds(untuned_.median() + kPause) / 1000;
    for (const Shape& shape : application_->shapes()) {
      tuned_kernel_->expect_launches(
          shape, kHorizonSeconds / frame * static_cast<double>(DemoApplication::kLaunchesPerFrame));
    }
  }

  void play_tuned() {
    expect_launches();
    const std::string never = why_never(agent_options_);
    say(never.empty() ? "now with tuning in the " + format_number(milliseconds(kPause), 0) +
                            " ms between two frames\n"
                      : never + "\n");
    SlowFrames slow(untuned_.median());
    while (!over(1 - kComparedShare)) {
      frame(*tuned_kernel_, tuned_);
      const Clock::time_point end = Clock::now() + kPause;
      idle_ = tuning_->idle(kPause);
      steps_ += idle_.steps;
      if (Clock::now() < end) std::this_thread::sleep_until(end);
      live_line();
      if (slow.ended(Clock::now(), tuned_.busy.back())) say_why_slow();
    }
  }

  void compare() {
    if (!interrupted()) say("a frame without tuning and one with it, in turn ...\n");
    while (!over(1.0) || compared_tuned_.busy.size() < 5) {
      if (interrupted()) break;
      frame(*plain_kernel_, compared_plain_);
      frame(*tuned_kernel_, compared_tuned_);
      ratios_.push_back(milliseconds(compared_plain_.busy.back()) /
                        milliseconds(compared_tuned_.busy.back()));
      std::this_thread::sleep_for(compared_tuned_.busy.back() / 2);
    }
  }

  double ratio(double share) const {
    if (ratios_.empty()) return 0;
    std::vector<double> sorted = ratios_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  void greet() const {
    if (context_.json()) return;
    const DeviceInfo& info = device_->info();
    context_.print_paragraph("device  ", info.name + " (" + info.platform + ")");
    if (names_emulated(info.name)) {
      context_.print_paragraph("times   ",
                               "a model's: the device is emulated, nobody measured them");
    }
    context_.print_paragraph("state   ", options_.state + (resumed_ ? " (starts tuned)" : ""));
    std::string shapes;
    for (std::size_t i = 0; i < application_->shapes().size(); ++i) {
      shapes +=
          (i > 0 ? ", " : "") + letter(i) + " " + report::shape_text(application_->shapes()[i]);
    }
    context_.print_paragraph("frame   ", std::to_string(DemoApplication::kLaunchesPerFrame) +
                                             " matrix products of each shape M x N x K: " + shapes);
    say("\n");
  }

  // Frames differ by chance: so many pairs must agree that coins would in one case of twenty at
  // most.
  bool is_faster() const {
    const auto pairs = static_cast<double>(ratios_.size());
    double faster = 0;
    for (const double ratio : ratios_) faster += ratio > 1 ? 1 : 0;
    double chance = 0;
    for (double k = faster; k <= pairs; ++k) {
      chance += std::exp(std::lgamma(pairs + 1) - std::lgamma(k + 1) - std::lgamma(pairs - k + 1) -
                         pairs * std::log(2.0));
    }
    return pairs > 0 && chance <= 0.05;
  }

  // "your frames took 76.1 ms; now 16.7 ms, 4.56 times faster".
  std::string finding(const std::vector<Explanation>& shapes) const {
    if (ratios_.empty()) return "no pair of frames was compared";
    const std::string text = "your frames took " +
                             measured_time(milliseconds(compared_plain_.median())) + "; now " +
                             measured_time(milliseconds(compared_tuned_.median()));
    const bool tuned = std::any_of(shapes.begin(), shapes.end(), [](const Explanation& e) {
      return e.selection != Selection::fallback;
    });
    if (!tuned) return text + ": with the same configurations, nothing was tuned";
    if (!is_faster()) return text + ": that is no difference yet";
    return text + ", " + format_number(ratio(0.5), 2) + " times faster";
  }

  void report_text(const std::vector<Explanation>& shapes) const {
    TextTable table({"shape", ">default ms", ">pick ms", ">now ms", ">speed-up", ">tried",
                     ">failed", ">tuning s"});
    for (const Explanation& e : shapes) {
      table.add_row({report::shape_text(e.shape), measured_ms(e.default_ms),
                     measured_ms(e.first_pick_ms), measured_ms(e.running_ms),
                     e.default_ms > 0 ? format_number(e.speed_up, 2) : "-",
                     report::count_text(e.evaluated), report::count_text(e.rejected),
                     report::significant(e.tuning_ms / 1000)});
    }
    say("\n");
    context_.print(table);
    for (const Explanation& e : shapes) {
      say("\n" + report::shape_text(e.shape) + "\n");
      context_.print_paragraph("  runs      ", e.running_text);
      context_.print_paragraph("  decision  ",
                               std::string(verdict_name(e.verdict)) + ": " + e.reason);
    }
    const auto both = [](const Phase& phase) {
      if (phase.launches.empty()) return std::string("an unknown time (not measured)");
      return measured_time(milliseconds(percentile(phase.launches, 0.5))) +
             " (99 %: " + measured_time(milliseconds(percentile(phase.launches, 0.99))) + ")";
    };
    say("\n");
    context_.print_paragraph(
        "launch()  ",
        "takes " + both(untuned_) + " of processor without tuning, " + both(tuned_) + " with it");
    const double never = milliseconds(untuned_.median()) * static_cast<double>(tuned_.busy.size());
    context_.print_paragraph("while tuning  ",
                             report::counted(tuned_.busy.size(), "frame", "frames") + " took " +
                                 measured_time(milliseconds(tuned_.total)) + ", without it " +
                                 measured_time(never) + " (their median before)");
    if (!ratios_.empty()) {
      context_.print_paragraph("side by side  ", report::counted(ratios_.size(), "pair", "pairs") +
                                                     " of frames: " + format_number(ratio(0.5), 2) +
                                                     "x (quartiles " +
                                                     format_number(ratio(0.25), 2) + " to " +
                                                     format_number(ratio(0.75), 2) + ")");
    }
    say("\n");
    context_.print_paragraph(finding(shapes));
  }

  void report_json(const std::vector<Explanation>& shapes) const {
    const AgentStatus status = tuning_->status();
    // Null for what was not played.
    const auto launch_us = [&](const Phase& phase, double share) {
      return or_null(!phase.launches.empty(),
                     milliseconds(percentile(phase.launches, share)) * 1000);
    };
    const bool compared = !ratios_.empty();
    const bool tuned = !tuned_.busy.empty();
    const double never =
        milliseconds(untuned_.median()) * static_cast<double>(tuned_.busy.size()) / 1000;
    context_.print_json(
        {{"device", device_->info().name},
         {"emulated", names_emulated(device_->info().name)},  // then all times are a model's
         {"complete", !interrupted()},
         {"mode", why_never(agent_options_)},
         {"resumed", resumed_},
         {"launches", launches_},
         {"steps", steps_},
         {"shapes", list_of(shapes, explanation_object)},
         {"launch_us",
          {{"off_p50", launch_us(untuned_, 0.5)},
           {"off_p99", launch_us(untuned_, 0.99)},
           {"on_p50", launch_us(tuned_, 0.5)},
           {"on_p99", launch_us(tuned_, 0.99)}}},
         {"frames", tuned_.busy.size()},
         {"played",
          list_of(played_, [](const Played& p) { return IDLETUNE_FIELDS(p, seconds, ms, tuned); })},
         {"adopted",
          list_of(adopted_,
                  [](const Adopted& a) {
                    return json{{"seconds", a.seconds}, {"shape", report::shape_object(a.shape)}};
                  })},
         {"kernel_seconds_tuning", or_null(tuned, milliseconds(tuned_.total) / 1000)},
         {"kernel_seconds_never", or_null(tuned, never)},
         {"frame_ms",
          {{"before", or_null(compared, milliseconds(compared_plain_.median()))},
           {"now", or_null(compared, milliseconds(compared_tuned_.median()))}}},
         {"finding", finding(shapes)},
         {"state", options_.state},
         {"side_by_side",
          {{"pairs", ratios_.size()},
           {"q25", or_null(compared, ratio(0.25))},
           {"median", or_null(compared, ratio(0.5))},
           {"q75", or_null(compared, ratio(0.75))}}},
         {"charged_seconds", status.charged_seconds},
         {"tuning_seconds", status.tuning_seconds}});
  }

  // A frame, when it ended; an adoption, when launches began to use it.
  struct Played {
    double seconds, ms;
    bool tuned;
  };
  struct Adopted {
    double seconds;
    Shape shape;
  };

  DemoOptions options_;
  CliContext& context_;
  AgentOptions agent_options_;  // the user's words first, then the environment
  std::unique_ptr<Device> device_;
  std::unique_ptr<DemoApplication> application_;
  Events adoptions_ = tell_events([this](const Event& event) {
    if (event.kind == EventKind::adopted) adopted_.push_back({seconds_since(start_), event.shape});
  });
  std::vector<Adopted> adopted_;
  std::vector<Played> played_;
  // The second agent never tunes: it is what the application would be without idletune.
  std::optional<Agent> tuning_, plain_;
  std::optional<TunedKernel> tuned_kernel_, plain_kernel_;
  Clock::time_point start_;
  Clock::time_point last_line_;
  Phase untuned_, tuned_, compared_plain_, compared_tuned_;
  std::vector<double> ratios_;
  std::uint64_t launches_ = 0;
  std::uint64_t steps_ = 0;
  IdleReport idle_;  // the last one
  bool resumed_ = false;
};

}  // namespace

void add_demo_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("demo", "plays an application whose frames get faster while it runs");
  auto options = std::make_shared<DemoOptions>();
  verb.option("--seconds N[s]", options->seconds, "How long to run").between(5, 86400);
  add_device_options(verb, options->device);
  verb.option("--kernel", options->kernel, "GEMM package or XML")
      .shows_default("the one that ships");
  verb.option("--model", options->model, "Model file for the first picks; -: none")
      .shows_default("the one that ships");
  verb.option("--state", options->state, "Folder that keeps what was found")
      .writes_below()
      .shows_default("idletune/demo in $XDG_STATE_HOME or ~/.local/state");
  verb.flag("--fresh", options->fresh, "Forget what earlier runs found");
  verb.example("demo --seconds 30 --fresh");
  verb.runs([options, &context] {
    Demo demo(*options, context);
    demo.run();
  });
}

}  // namespace idletune::cli
