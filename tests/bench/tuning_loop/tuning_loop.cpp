// What tuning brings an application that runs at 30 frames a second, by how it is given time: the
// same kernel from nothing (no model, no program compiled before), for the same time, in each mode;
// and how far what runs in the end is above the best of the whole space. Prints a table or JSON.
// Nothing asserts a time; it fails where a mode tried nothing.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <idletune/learning.hpp>
#include <nlohmann/json.hpp>

#include "models/core/median.hpp"
#include "models/host/learn/learn.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/tuning_loop/application.hpp"
#include "tests/bench/tuning_loop/truth.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::bench {
namespace {

struct Options {
  double seconds = 60;
  std::string mode;  // empty: all
  std::string history = IDLETUNE_SOURCE_FOLDER "/tests/bench/tuning_loop/blur.ithistory";
  bool learner = true;
  bool json = false;
  int log_level = 0;
  int busy = 0;       // other processes that never rest
  std::string state;  // empty: a folder of its own, which is deleted
};

// "tune": in the foreground for half of the time, then nothing; "model": learned from the measured
// space, and prepare(), then nothing.
constexpr const char* kModes[] = {"off",      "idle", "background", "plain",
                                  "in_place", "tune", "model"};

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }

double processor_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void log_line(void* user, int, const char* message) {
  const auto* start = static_cast<const Clock::time_point*>(user);
  std::fprintf(stderr, "%8.3f %s\n", seconds(Clock::now() - *start), message);
}

// What the application saw.
struct Played {
  double kernel_s = 0;
  std::uint64_t frames = 0;
  std::vector<double> late_ms;    // by how much idle() outlived its budget
  std::vector<double> launch_us;  // median of the last second, every ten seconds
};

// A model that was learned from the history, in the file.
void write_model(const std::string& history_path, const std::string& model_path) {
  const History history =
      required(read_history(required(read_file(history_path, std::size_t{1} << 26)), history_path));
  const LearnedModel model = required(learn({&history}, LearnOptions{}));
  require(write_file_atomically(model_path, model.bytes));
}

class Player {
 public:
  Player(const Options& options, const std::string& mode) : options_(options), mode_(mode) {}

  // The agent must be gone when the processor time of its helper is asked for.
  nlohmann::json play() {
    Workplace workplace(mode_ != "plain");
    const test::TemporaryFolder folder;
    const std::string state = options_.state.empty() ? folder.file("state") : options_.state;
    Configuration running;
    {
      AgentOptions agent_options = this->agent_options(state);
      if (mode_ == "model") {
        agent_options.model = folder.file("blur.itmodel");
        write_model(options_.history, agent_options.model);
      }
      Agent agent = required(Agent::open(agent_options));
      TunedKernel kernel = required(agent.kernel(workplace.device(), blur_package()));
      start(agent, kernel);
      const double before = processor_seconds(RUSAGE_SELF);
      loop(workplace, agent, kernel);
      result_["application_cpu_s"] = processor_seconds(RUSAGE_SELF) - before;
      agent.stop_background();
      tell(agent, kernel, running);
    }
    result_["helper_cpu_s"] = processor_seconds(RUSAGE_CHILDREN);
    // Each row is compiled anew: a run of seconds shows that this program works.
    const Comparison comparison = compare_with_best(workplace.device(), options_.history, running,
                                                    options_.seconds < 10 ? 1 : 6);
    result_["us"] = comparison.us;
    result_["best_us"] = comparison.best_us;
    result_["best"] = comparison.best;
    result_["above_best"] = comparison.above_best();
    return result_;
  }

 private:
  AgentOptions agent_options(const std::string& state) {
    AgentOptions agent;
    agent.state = state;
    agent.model = kNoModel;
    agent.helper = IDLETUNE_BENCH_HELPER;
    agent.read_environment = false;
    agent.mode = mode_ == "off" ? Mode::off : Mode::tune;
    if (options_.learner) agent.learner = forest_learner();
    agent.log_level = options_.log_level;
    if (options_.log_level > 0) agent.log = log_line;
    agent.log_user = &began_;
    return agent;
  }

  void start(Agent& agent, TunedKernel& kernel) {
    if (mode_ == "model") require(kernel.prepare(kShape));
    if (mode_ == "tune") tune(agent, kernel);
    if (mode_ != "background" && mode_ != "plain" && mode_ != "in_place") return;
    if (mode_ == "in_place") {
      InPlaceOptions in_place;
      in_place.allowed = true;
      kernel.allow_in_place(in_place);
    }
    require(agent.start_background());
  }

  void tune(Agent& agent, TunedKernel& kernel) {
    kernel.expect_launches(kShape, 1e6);
    while (seconds(Clock::now() - began_) < options_.seconds / 2) {
      if (agent.tune_now(std::chrono::seconds(1)).used.count() == 0) break;  // nothing is left
    }
  }

  void loop(Workplace& workplace, Agent& agent, TunedKernel& kernel) {
    constexpr Nanoseconds kSpare = std::chrono::milliseconds(2);  // an application keeps some
    std::vector<double> recent;
    Clock::time_point next = Clock::now();
    // One frame at least: starting may take longer than a smoke test lasts.
    for (; played_.frames == 0 || seconds(Clock::now() - began_) < options_.seconds;
         ++played_.frames) {
      next += kFrame;
      const double busy = seconds(workplace.frame(kernel));
      played_.kernel_s += busy;
      recent.push_back(busy / kLaunchesPerFrame * 1e6);
      if (recent.size() == 300) {
        played_.launch_us.push_back(
            median_of(std::vector<double>(recent.end() - 30, recent.end())));
        recent.clear();
      }
      const Nanoseconds spare = next - Clock::now() - kSpare;
      if (mode_ == "idle" && spare.count() > 0) {
        const Clock::time_point before = Clock::now();
        const IdleReport report = agent.idle(spare);
        note_late(seconds(Clock::now() - before - spare) * 1e3, spare, report);
      }
      std::this_thread::sleep_until(next);
      if (Clock::now() > next + kFrame) next = Clock::now();
    }
  }

  void note_late(double late_ms, Nanoseconds budget, const IdleReport& report) {
    played_.late_ms.push_back(late_ms);
    if (late_ms < 1 || options_.log_level == 0) return;
    std::fprintf(stderr, "%8.3f %.2f ms late: of %.2f ms %.2f, %u stages, %u steps: %s\n",
                 seconds(Clock::now() - began_), late_ms, seconds(budget) * 1e3,
                 seconds(report.used) * 1e3, report.stages, report.steps, report.why);
  }

  void tell(Agent& agent, TunedKernel& kernel, Configuration& running) {
    const Explanation why = required(kernel.explain(kShape));
    const AgentStatus status = agent.status();
    require(status.trials);
    running = why.running;
    result_ = {{"mode", mode_},
               {"frames", played_.frames},
               {"tried", why.evaluated},
               {"running", why.running_text},
               {"kernel_s", played_.kernel_s},
               {"launch_us", played_.launch_us},
               {"credited_s", status.kernel_seconds},
               {"saved_s", status.saved_seconds},
               {"charged_s", status.charged_seconds},
               {"reason", why.reason},
               {"application_cpu_s", result_["application_cpu_s"]}};
    if (played_.late_ms.empty()) return;
    std::sort(played_.late_ms.begin(), played_.late_ms.end());
    result_["idle_late_ms"] = {{"median", median_of_ascending(played_.late_ms)},
                               {"p99", played_.late_ms[played_.late_ms.size() * 99 / 100]},
                               {"max", played_.late_ms.back()}};
  }

  const Options& options_;
  const std::string mode_;
  Clock::time_point began_ = Clock::now();
  Played played_;
  nlohmann::json result_;
};

// Each mode in a process of its own, with a cache of the driver's of its own: nothing that one has
// compiled is there for another.
nlohmann::json play_apart(const Options& options, const std::string& mode) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("result.json");
  in_a_process("tuning_loop: " + mode, [&] {
    setenv("POCL_CACHE_DIR", folder.file("pocl").c_str(), 1);
    std::ofstream(file) << Player(options, mode).play();
  });
  return nlohmann::json::parse(std::ifstream(file));
}

void print_row(const nlohmann::json& row) {
  std::printf(
      "%-10s %5d tried  %7.1f us, best %7.1f us: %+7.1f %%   kernel %7.2f s   "
      "CPU %6.1f + %6.1f s\n",
      row["mode"].get<std::string>().c_str(), row["tried"].get<int>(), row["us"].get<double>(),
      row["best_us"].get<double>(), 100 * row["above_best"].get<double>(),
      row["kernel_s"].get<double>(), row["application_cpu_s"].get<double>(),
      row["helper_cpu_s"].get<double>());
  if (row.contains("idle_late_ms")) {
    const nlohmann::json& late = row["idle_late_ms"];
    std::printf(
        "%-10s %5zu calls end %+.2f ms after their budget in the median, p99 %+.2f, max %+.2f\n",
        "", row["frames"].get<std::size_t>(), late["median"].get<double>(),
        late["p99"].get<double>(), late["max"].get<double>());
  }
  std::fflush(stdout);
}

// Processes that compute all the time, until it is destroyed.
class BusyNeighbours {
 public:
  explicit BusyNeighbours(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (volatile unsigned spin = 0;; spin = spin + 1) {
        }
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~BusyNeighbours() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

int run(const Options& options) {
  const BusyNeighbours neighbours(options.busy);
  nlohmann::json all = nlohmann::json::array();
  bool idle_hands = false;
  for (const char* mode : kModes) {
    if (!options.mode.empty() && options.mode != mode) continue;
    all.push_back(play_apart(options, mode));
    idle_hands = idle_hands || (options.seconds >= 10 && std::strcmp(mode, "off") != 0 &&
                                all.back()["tried"].get<int>() == 0);
    if (!options.json) print_row(all.back());
  }
  if (options.json) std::printf("%s\n", all.dump(2).c_str());
  return idle_hands ? 1 : 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--json") {
      options.json = true;
    } else if (name == "--no-learner") {
      options.learner = false;
    } else if (i + 1 == argc) {
      return false;
    } else if (name == "--seconds") {
      options.seconds = std::atof(argv[++i]);
    } else if (name == "--mode") {
      options.mode = argv[++i];
    } else if (name == "--history") {
      options.history = argv[++i];
    } else if (name == "--busy") {
      options.busy = std::atoi(argv[++i]);
    } else if (name == "--state") {
      options.state = argv[++i];
    } else if (name == "--log") {
      options.log_level = std::atoi(argv[++i]);
    } else {
      return false;
    }
  }
  return options.seconds > 0;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  idletune::bench::Options options;
  if (!idletune::bench::parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: tuning_loop [--seconds S] [--mode off|idle|background|plain|in_place|tune|model] "
        "[--history FILE] [--no-learner] [--busy PROCESSES] [--state FOLDER] [--json] "
        "[--log LEVEL]\n");
    return 2;
  }
  return idletune::bench::ended("tuning_loop", [&] { return idletune::bench::run(options); });
}
