// A TrialRunner whose outcomes are a function of the test, and a package to try with it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "agent/host/explore/exploration.hpp"
#include "agent/host/explore/history_of.hpp"
#include "agent/host/explore/listed_configurations.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/scale_kernel.hpp"

namespace idletune::explore::test {

class ScriptedRunner final : public TrialRunner {
 public:
  // Fills in status, message, device time per sample; the rest follows from the request.
  std::function<void(const TrialRequest&, TrialOutcome&)> script;
  Nanoseconds run_time{1000000};
  std::vector<TrialRequest> requests;

  Status start(const TrialRequest& request) override {
    requests.push_back(request);
    outcome_ = TrialOutcome();
    outcome_.stage = request.stage;
    outcome_.wall = std::chrono::milliseconds(5);
    if (request.stage == TrialStage::measure) add_samples(request);
    if (script) script(request, outcome_);
    if (outcome_.status != TrialStatus::correct) outcome_.samples.clear();
    return {};
  }
  bool poll(Nanoseconds, TrialOutcome& outcome) override {
    outcome = outcome_;
    return true;
  }
  bool isolated() const override { return true; }
  bool poisoned() const override { return false; }

  // How often each configuration was compiled.
  std::map<std::vector<std::int64_t>, int> compiles() const {
    std::map<std::vector<std::int64_t>, int> counts;
    for (const TrialRequest& request : requests) {
      if (request.stage != TrialStage::compile) continue;
      const auto values = request.configuration.values();
      ++counts[std::vector<std::int64_t>(values.begin(), values.end())];
    }
    return counts;
  }

 private:
  void add_samples(const TrialRequest& request) {
    for (std::uint32_t i = 0; i < request.repeats; ++i) {
      outcome_.samples.push_back(run_time);
      if (request.stop_above.count() > 0 && run_time > request.stop_above) return;
    }
  }

  TrialOutcome outcome_;
};

// Twelve configurations: A in {1, 2, 3, 4} x B in {10, 20, 30}. One dimension, N; the
// configurations with A = 4 need N > 100.
inline std::shared_ptr<const KernelPackage> twelve() {
  KernelDescription description = fake::scale_description();
  description.name = "twelve";
  description.parameters = {{"A", ParameterKind::tile, {1, 2, 3, 4}, 1},
                            {"B", ParameterKind::other, {10, 20, 30}, 10}};
  description.constraints = {{"A < 4 or N > 100", {}}};
  description.launch.global = {"N * A"};
  description.launch.local = {"A"};
  description.launch.local_memory_bytes = "0";
  return fake::package_of(description);
}

// A family of two members, the second of which is rare, without numbers for its configurations.
inline std::shared_ptr<const KernelPackage> unnumbered() {
  KernelDescription description = fake::scale_description();
  description.name = "unnumbered";
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= 40; ++i) values.push_back(i);
  description.parameters = {{"ALGORITHM", ParameterKind::other, {0, 1}, 0},
                            {"A", ParameterKind::other, values, 1},
                            {"B", ParameterKind::other, values, 1},
                            {"C", ParameterKind::other, values, 1}};
  description.constraints = {{"ALGORITHM == 0 or (A == 1 and B <= 2)", {}}};
  description.launch.global = {"N * A"};
  description.launch.local = {"A"};
  description.launch.local_memory_bytes = "0";
  PackOptions options;
  options.max_edges = 1;
  auto package = required(KernelPackage::open(required(pack(description, options)), "test"));
  REQUIRE_FALSE(package->space().indexed());
  return package;
}

inline DeviceInfo test_device() {
  DeviceInfo info;
  info.backend = "fake";
  info.platform = "Fake Platform";
  info.name = "Fake GPU";
  info.driver = "1.0";
  return info;
}

// The process dies.
struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

inline const Configuration kVictim = {2, 20};

// One exploration of `twelve` on a disk that survives it.
struct Bench {
  std::shared_ptr<idletune::test::Disk> disk = std::make_shared<idletune::test::Disk>();
  std::shared_ptr<idletune::test::Disk> state = std::make_shared<idletune::test::Disk>();
  std::shared_ptr<const KernelPackage> package = twelve();
  DeviceInfo device = test_device();
  Settings settings = Settings::of_one(Shape{1000});
  std::optional<std::uint64_t> samples;
  ScriptedRunner runner;
  std::vector<ExploredConfiguration> results;
  std::vector<ControlMeasurement> controls;
  bool complete = false;

  Bench() { settings.control_interval = Nanoseconds{0}; }

  std::vector<Configuration> listed() const {
    return required(listed_configurations(*package, settings.seed, samples));
  }

  Order order() const {
    if (settings.is_list) return Order::of(package->space(), listed());
    return required(Order::make(package->space(), settings.seed, samples));
  }

  Result<std::unique_ptr<Log>> log() {
    disk->locked = false;
    return Log::open(idletune::test::open_faulty_storage(disk),
                     identity_of(*package, device, settings));
  }

  // One life of the process; it ends, whatever happens, as if killed: nothing is shut down.
  Status live(const std::function<bool(const Exploration::Progress&)>& stop = {}) {
    state->locked = false;
    auto opened = log();
    if (!opened.ok()) return opened.status();
    journal::JournalOptions options;
    options.boot = 77;
    auto journal = journal::Journal::open(idletune::test::open_faulty_storage(state), options);
    const Order places = order();
    Exploration exploration(package, device, places, settings, runner, *journal, **opened);
    const auto never = [](const Exploration::Progress&) { return false; };
    const Status status = exploration.run(stop ? stop : never);
    results = (*opened)->results();
    controls = (*opened)->controls();
    complete = exploration.complete();
    return status;
  }

  std::vector<History> histories() {
    auto opened = required(log());
    return required(histories_of(*package, device, order(), settings, *opened));
  }

  // How many results each number has.
  std::map<std::uint64_t, int> counts() const {
    std::map<std::uint64_t, int> result;
    for (const ExploredConfiguration& r : results) ++result[r.number];
    return result;
  }
  std::size_t count(TrialStatus status) const {
    return static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(),
                      [status](const ExploredConfiguration& r) { return r.status == status; }));
  }
};

}  // namespace idletune::explore::test
