#include "tests/unit/explore/played_fleet.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "agent/host/explore/journal_history.hpp"
#include "agent/journal/journal.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/tuning/recorded_noise.hpp"

namespace idletune::test {

using namespace std::chrono_literals;

namespace fleet {

const Shape kFleetProblem{64};
using Values = std::vector<std::int64_t>;

inline Values values_of(const Configuration& configuration) {
  const Span<const std::int64_t> values = configuration.values();
  return {values.begin(), values.end()};
}

// The default: what is in the middle of what runs everywhere.
inline Values untuned_of(const FleetKernel& kernel) {
  std::map<Values, std::pair<double, std::size_t>> times;
  std::size_t runs = 0;
  for (const auto& device : kernel.devices) {
    for (const History& run : device.runs) {
      ++runs;
      for (std::size_t row = 0; row < run.rows(); ++row) {
        if (!run.correct(row)) continue;
        auto& [sum, count] = times[values_of(run.configuration(row))];
        sum += std::log(run.run_time_ns(row));
        ++count;
      }
    }
  }
  std::vector<std::pair<double, Values>> everywhere;
  for (const auto& [values, known] : times) {
    if (known.second == runs) everywhere.emplace_back(known.first, values);
  }
  REQUIRE(!everywhere.empty());
  std::sort(everywhere.begin(), everywhere.end());
  return everywhere[everywhere.size() / 2].second;
}

inline std::vector<std::uint8_t> package_of(const FleetKernel& kernel) {
  const std::vector<std::string> names = kernel.devices.front().runs.front().parameter_names();
  const Values untuned = untuned_of(kernel);
  std::vector<std::set<std::int64_t>> values(names.size());
  for (const auto& device : kernel.devices) {
    for (const History& run : device.runs) {
      REQUIRE(run.parameter_names() == names);
      for (std::size_t row = 0; row < run.rows(); ++row) {
        const Configuration configuration = run.configuration(row);
        for (std::size_t i = 0; i < names.size(); ++i) values[i].insert(configuration[i]);
      }
    }
  }
  KernelDescription description = played_description();
  description.parameters.clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    DescribedParameter parameter{names[i], ParameterKind::other, {}, untuned[i]};
    parameter.values.assign(values[i].begin(), values[i].end());
    description.parameters.push_back(parameter);
  }
  for (const std::string& text : kernel.constraints) description.constraints.emplace_back(text);
  description.arguments = {made_buffer("x", "N", Access::inout)};
  return packed(description);
}

class RecordedTimes {
 public:
  explicit RecordedTimes(const History& history) {
    std::vector<double> compiles;
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (const double time = history.compile_time_ns(row); time > 0) compiles.push_back(time);
    }
    std::sort(compiles.begin(), compiles.end());
    const double usual = compiles.empty() ? 3e8 : compiles[compiles.size() / 2];
    for (std::size_t row = 0; row < history.rows(); ++row) {
      const double compile = history.compile_time_ns(row);
      RecordedTrial& trial = trials_[values_of(history.configuration(row))];
      trial.status = history.status[row];
      trial.compile = Nanoseconds(static_cast<std::int64_t>(compile > 0 ? compile : usual));
      if (history.correct(row))
        trial.run = Nanoseconds(static_cast<std::int64_t>(history.run_time_ns(row)));
    }
  }
  // What a file leaves out had failed.
  RecordedTrial operator()(const Configuration& configuration) const {
    const auto found = trials_.find(values_of(configuration));
    return found != trials_.end() ? found->second : RecordedTrial{TrialStatus::runtime, 0ns, 300ms};
  }

 private:
  std::map<Values, RecordedTrial> trials_;
};

class JobsAtOnce final : public detail::PlayedJobs {
 public:
  void start(std::function<void()> job) override { job(); }
  bool wait(Nanoseconds) override { return true; }
};

class StateInMemory final : public detail::PlayedSurroundings {
 public:
  std::unique_ptr<detail::PlayedJobs> jobs() override { return std::make_unique<JobsAtOnce>(); }
  std::unique_ptr<Storage> storage() override { return open_faulty_storage(disk); }
  detail::LaunchTrace::Page* trace() override { return nullptr; }
  bool read_beginning(const std::string&, MutableBytes) override { return false; }
  Status write(const std::string&, Bytes, FileSync) override { return {}; }
  const std::shared_ptr<Disk> disk = std::make_shared<Disk>();
};

}  // namespace fleet

void FleetKernel::add(const std::string& path, const std::string& device) {
  ImportOptions options;
  options.device = device;
  auto histories = required(import_histories(read_bytes(path), path, options));
  REQUIRE(histories.size() == 1);
  History history = std::move(histories.front());
  const double scale = static_cast<double>(kBestTime.count()) / history.best_time_ns();
  for (double& time : history.run_time) time *= history.nanoseconds_per_unit * scale;
  for (double& time : history.compile_time) time *= history.nanoseconds_per_unit;
  history.nanoseconds_per_unit = 1;
  history.kernel = "play";
  history.device = device;
  history.shape = fleet::kFleetProblem;
  history.inputs = {"N"};
  history.sample_count.assign(history.rows(), 0);
  history.samples.clear();
  history.extras.clear();
  if (devices.empty() || devices.back().name != device) devices.push_back({device, {}});
  devices.back().runs.push_back(std::move(history));
}

void FleetKernel::pack() { package = fleet::package_of(*this); }

struct FleetBoard::Parts {
  Parts(const FleetKernel& kernel, const History& history, std::uint64_t identity)
      : times(history),
        parameters(history.parameter_names()),
        package(kernel.package),
        board("play", parameters, [this](const Configuration& each) { return times(each); }),
        random(identity) {
    board.device.device_info.name = history.device;
    board.identity = identity;
    board.on_stage = [this](const TrialRequest&, TrialOutcome& outcome) { disturb(outcome); };
    board.device.launch_script = [this](const std::string& options) { return launch(options); };
  }
  Nanoseconds disturbed(Nanoseconds time) {
    const std::vector<int>& noise = recorded_noise(false);
    return time * noise[static_cast<std::size_t>(random() % noise.size())] / 1000;
  }
  void disturb(TrialOutcome& outcome) {
    for (Nanoseconds& sample : outcome.samples) {
      const Nanoseconds more = disturbed(sample) - sample;
      sample += more;
      outcome.device += more;
      outcome.wall += more;
    }
  }
  Result<Nanoseconds> launch(const std::string& options) {
    if (options != launched_options) {
      Configuration configuration;
      for (const std::string& name : parameters)
        configuration.push_back(fake::option(options, name));
      launch_time = times(configuration).run;
      launched_options = options;
    }
    launched += launch_time;
    const Nanoseconds time = disturbed(launch_time);
    board.clock.advance(time + PlayedBoard::kLaunchOverhead);
    return time;
  }

  const fleet::RecordedTimes times;
  const std::vector<std::string> parameters;
  const std::vector<std::uint8_t> package;
  fleet::StateInMemory state;
  PlayedBoard board;
  std::mt19937_64 random;
  std::string launched_options;  // of the last launch
  Nanoseconds launch_time{0};
  Nanoseconds launched{0};  // all launches, undisturbed
};

FleetBoard::FleetBoard(const FleetKernel& kernel, const History& times, std::uint64_t identity)
    : parts_(std::make_unique<Parts>(kernel, times, identity)) {}
FleetBoard::~FleetBoard() = default;

FleetDay FleetBoard::play(const std::string& model, const FleetHours& hours) {
  AgentOptions options;
  options.read_environment = false;
  options.state = "in memory";
  options.model = model;
  detail::Surroundings surroundings = parts_->board.surroundings();
  surroundings.played = &parts_->state;
  auto agent = required(detail::AgentState::open_agent(options, std::move(surroundings)));
  auto kernel = required(agent.kernel(parts_->board.device, parts_->package));
  const auto x = parts_->board.device.allocate(64 * sizeof(float));
  REQUIRE(kernel.prepare(fleet::kFleetProblem).ok());
  const double best = static_cast<double>(FleetKernel::kBestTime.count());
  FleetDay day;
  const Configuration first = kernel.explain(fleet::kFleetProblem)->running;
  day.first = best / static_cast<double>(parts_->times(first).run.count());
  parts_->launched = 0ns;
  const auto so_far = [&](int frames) {
    return static_cast<double>(parts_->launched.count()) / (best * frames * hours.launches);
  };
  bool well = true;
  for (int frame = 0; frame < hours.frames; ++frame) {
    const Nanoseconds start = parts_->board.clock.now();
    for (int i = 0; i < hours.launches; ++i)
      well = kernel.launch(fleet::kFleetProblem, {(*x)->argument()}).ok() && well;
    (void)agent.idle(hours.gap);
    parts_->board.clock.advance(10s - (parts_->board.clock.now() - start));
    if (frame == 359) day.hour = so_far(360);
  }
  REQUIRE(well);
  day.day = so_far(hours.frames);
  day.evaluated = kernel.explain(fleet::kFleetProblem)->evaluated;
  return day;
}

std::vector<History> FleetBoard::brought_home() const {
  const Files files = parts_->state.disk->files();
  return required(explore::histories_of_journal(files.at(journal::kJournalName), "journal"));
}

}  // namespace idletune::test
