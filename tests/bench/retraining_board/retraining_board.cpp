// A board that begins with another device's model and tunes in idle time, for real. `board` is its
// application: it launches the problems of a list, then leaves a gap, and so on until its time is
// over or it is killed. Gaps are idle (what is tried there must pay), or granted for tuning.
// `judge` reads the state folder that the board left, grows the tree anew as the agent does after a
// start, and says what the trees choose at problems that the board never saw, by times that were
// measured of every configuration there.
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/learning.hpp>
#include <idletune/opencl.hpp>

#include "agent/host/explore/shape_list.hpp"
#include "agent/journal/journal.hpp"
#include "agent/retraining/tree_retraining.hpp"
#include "models/host/history/history.hpp"
#include "models/host/learn/selection.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/required.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

using Options = std::map<std::string, std::string>;
using namespace std::chrono_literals;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kLargest = 256 * 256;
constexpr auto kGap = 2s;

const std::string& get(const Options& options, const std::string& name) {
  const auto found = options.find(name);
  if (found == options.end()) throw std::runtime_error("expected " + name + " VALUE");
  return found->second;
}

std::vector<std::uint8_t> file(const Options& options, const std::string& name) {
  return required(read_file(get(options, name), kMaxBytes));
}

void run_board(const Options& options) {
  const auto device = required(opencl::open(0));
  const auto a = required(device->allocate(kLargest * sizeof(float)));
  const auto b = required(device->allocate(kLargest * sizeof(float)));
  const auto c = required(device->allocate(kLargest * sizeof(float)));
  AgentOptions chosen;
  chosen.read_environment = false;
  chosen.model = get(options, "--model");
  chosen.state = get(options, "--state");
  chosen.helper = IDLETUNE_BUILT_HELPER;
  chosen.learner = forest_and_tree_learner();
  Agent agent = required(Agent::open(chosen));
  TunedKernel gemm = required(agent.kernel(*device, file(options, "--kernel")));
  explore::ShapeColumns columns;
  columns.dimensions = {"M", "N", "K"};
  const std::vector<std::uint8_t> table = file(options, "--problems");
  const auto problems =
      required(explore::read_shapes({table.data(), table.size()}, "problems", columns));
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{0};
  const double seconds = std::stod(get(options, "--seconds"));
  const bool granted = get(options, "--gaps") == "granted";
  double said = 0;
  while (passed.count() < seconds) {
    for (const Shape& problem : problems) {
      require(gemm.launch(problem, a->argument(), b->argument(), c->argument(), 1.0f, 0.0f));
    }
    (void)(granted ? agent.tune_now(kGap) : agent.idle(kGap));
    passed = std::chrono::steady_clock::now() - start;
    if (passed.count() < said + kGap.count()) continue;
    said = passed.count();
    const AgentStatus status = agent.status();
    std::printf("%.0f s: %.1f s in trials and trees; trials: %s; %s\n", passed.count(),
                status.tuning_seconds, status.trials.to_string().c_str(), status.advice.c_str());
    std::fflush(stdout);
  }
}

// --- what the trees are worth ---

struct Judge {
  explicit Judge(const Options& options)
      : device(required(opencl::open(0))),
        problems(required(selection::problems_of(histories(options)))) {
    const auto package = required(KernelPackage::open(file(options, "--kernel"), "kernel"));
    task.state = required(detail::KernelState::create(*device, package, 64));
    for (std::size_t m = 0; m < problems.methods(); ++m) {
      if (problems.configurations[m] == package->default_configuration()) usual.large = m;
    }
    usual.small = usual.large;
  }
  static std::vector<History> read(const Options& options) {
    return required(read_histories(file(options, "--times"), "times"));
  }
  Span<const History> histories(const Options& options) {
    times = read(options);
    return {times.data(), times.size()};
  }
  std::shared_ptr<const KernelModel> model_of(std::vector<std::uint8_t> bytes) const {
    const KernelPackage& package = task.state->package();
    auto model = required(Model::open(std::move(bytes), "model"));
    return KernelModel::of(model, package.name(), package.space(), package.inputs().names());
  }
  // What the model's tree chooses at the problems.
  void print(const char* name, const KernelModel& model) const {
    std::vector<std::size_t> choices;
    for (const std::vector<double>& sizes : problems.sizes) {
      Shape shape;
      for (const double size : sizes) shape.push_back(static_cast<std::int64_t>(size));
      const auto pick =
          first_pick(*model.knowledge, task.state->package().space(), shape, device->info().name);
      std::size_t method = usual.large;
      for (std::size_t m = 0; pick && m < problems.methods(); ++m) {
        if (problems.configurations[m] == pick->configuration) method = m;
      }
      choices.push_back(method);
    }
    const selection::Score score =
        selection::score(problems, selection::all_rows(problems), choices, usual);
    std::printf("%-22s DTPR %.3f, 10th percentile %.3f, DTTR %.3f of %.3f, captured %.3f\n", name,
                score.dtpr, score.p10, score.dttr, score.peak, score.captured());
  }

  std::unique_ptr<Device> device;
  std::vector<History> times;
  selection::Problems problems;
  selection::DefaultRoutine usual;
  detail::KernelTask task;
};

void run_judge(const Options& options) {
  Judge judge(options);
  std::printf("%zu problems that the board never saw, %zu configurations at each\n",
              judge.problems.count(), judge.problems.methods());
  const auto before = judge.model_of(file(options, "--model"));
  const auto native = judge.model_of(file(options, "--native"));
  if (before == nullptr || native == nullptr) {
    throw std::runtime_error("a model does not know the kernel");
  }
  judge.task.model = before;
  const auto journal = journal::Journal::open(open_posix_storage(get(options, "--state")),
                                              journal::JournalOptions());
  detail::TreeRetraining retraining(journal->state(), judge.task, real_clock());
  const auto start = std::chrono::steady_clock::now();
  std::size_t stages = 0;
  while (retraining.step(1s, judge.task.model)) ++stages;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf(
      "%zu measurements in the journal, %zu problems compared, q better by %.3f on average "
      "(squares "
      "%.3f); retraining took %.1f ms in %zu stages of at most %.2f ms; the tree was %s\n",
      journal->state().measurement_count(), retraining.comparison().rows,
      retraining.comparison().gain / static_cast<double>(retraining.comparison().rows),
      retraining.comparison().squares, took.count(), stages,
      std::chrono::duration<double, std::milli>(retraining.longest_stage()).count(),
      retraining.replacements() > 0 ? "replaced" : "kept");
  judge.print("the model's tree", *before);
  judge.print("the board's", *judge.task.model);
  judge.print("of all times here", *native);
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb != "board" && verb != "judge") {
    throw std::runtime_error("expected board or judge, then pairs of a name and a value");
  }
  (verb == "board" ? run_board : run_judge)(options);
  return 0;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  return idletune::bench::ended("retraining_board",
                                [&] { return idletune::bench::run(argc, argv); });
}
