// Whatever may fail fails once: the n-th call of the driver, of its compiler, or of the system, for
// each n until nothing is left, in each part of an application's life with an agent. Nothing of it
// crashes, leaks, or computes anything wrong; what fails says why, and the next call is right.
#include <doctest/doctest.h>

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>

#include "agent/journal/journal.hpp"
#include "models/host/pack/pack.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/stub_cuda/stub_control.h"
#include "tests/bytes_of.hpp"
#include "tests/fails/failing_calls.hpp"
#include "tests/fails/failing_drivers.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/children.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"

using namespace idletune;
using namespace std::chrono_literals;
using idletune::test::bytes_of;

namespace {

constexpr std::int64_t kElements = 64;
constexpr float kFactor = 3;
constexpr std::uint64_t kConfigurations = 6;

enum class Caller { driver, compiler, system };

// out = factor * in, in six configurations of which half are wrong.
std::vector<std::uint8_t> scale_package(const test::FailingDriver& driver) {
  KernelDescription kernel = test::made_kernel("scale", driver.source());
  kernel.entry = driver.entry();
  kernel.dialect = driver.dialect();
  kernel.parameters = {
      {"BEHAVIOUR", ParameterKind::other, {CUDA_STUB_RIGHT, CUDA_STUB_WRONG}, CUDA_STUB_RIGHT},
      {"RUN_US", ParameterKind::work_group, {500, 100, 400}, 500}};
  kernel.launch.global = {"round_up(N, 32)"};
  kernel.launch.local = {"32"};
  kernel.arguments = {test::made_buffer("out", "N", Access::out), test::made_input("in", "N", 1, 2),
                      test::made_scalar("factor", static_cast<double>(kFactor)),
                      test::made_dimension("n", "N")};
  kernel.arguments[1].captured = true;
  auto bytes = pack(kernel);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return std::move(*bytes);
}

// Some 2,000 lives, each with syncs: in memory, where there is such a folder.
bool use_folders_in_memory() {
  constexpr char kMemory[] = "/dev/shm";
  return ::access(kMemory, W_OK) == 0 && ::setenv("TMPDIR", kMemory, 1) == 0;
}
const bool in_memory = use_folders_in_memory();

std::size_t open_files() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

// An application with all that it has. Each step says what failed, and may be made again.
class Application {
 public:
  Application(std::unique_ptr<test::FailingDriver> of, bool in_helper)
      : driver(std::move(of)), package_(scale_package(*driver)) {
    options_.read_environment = false;
    options_.model = kNoModel;
    options_.state = folder_.file("state");
    options_.seed = 1;
    if (in_helper) {
      options_.helper = IDLETUNE_BUILT_HELPER;
      driver->set_environment();
    } else {
      options_.in_process = trials_in_process();
    }
  }

  Status open() {
    if (device_ == nullptr) {
      auto opened = driver->open();
      if (!opened.ok()) return opened.status();
      device_ = std::move(*opened);
    }
    if (!agent_) {
      auto opened = Agent::open(options_);
      if (!opened.ok()) return opened.status();
      agent_.emplace(std::move(*opened));
    }
    if (!kernel_) {
      auto loaded = agent_->kernel(*device_, package_);
      if (!loaded.ok()) return loaded.status();
      kernel_.emplace(*loaded);
      kernel_->expect_launches({kElements}, 1e9);
    }
    return make_buffers();
  }
  Status launch() {
    if (!kernel_ || out_ == nullptr || in_ == nullptr) return {StatusCode::not_found, "not open"};
    const std::vector<float> nothing(kElements, 0);
    if (Status s = device_->write(*out_, 0, bytes_of(nothing)); !s.ok()) return s;
    Status status =
        kernel_->launch({kElements}, {out_->argument(), in_->argument(), Argument(kFactor)});
    if (!status.ok()) return status;
    std::vector<float> got(kElements);
    status = device_->read(
        *out_, 0,
        MutableBytes(reinterpret_cast<std::uint8_t*>(got.data()), kElements * sizeof(float)));
    for (std::size_t i = 0; status.ok() && i < got.size(); ++i) {
      if (got[i] != kFactor * static_cast<float>(i)) return Status(StatusCode::internal, "WRONG");
    }
    return status;
  }
  // Until one more configuration was tried.
  Status try_one() {
    const std::uint64_t before = explain().evaluated;
    for (int i = 0; i < 200 && explain().evaluated == before; ++i) (void)agent_->tune_now(1ms);
    return {};
  }
  Status tune() {
    for (int i = 0; i < 20 && !is_tuned(); ++i) (void)agent_->tune_now(10s);
    return {};
  }
  Status capture() {
    return kernel_->capture(Shape{kElements}, out_->argument(), in_->argument(), Argument(kFactor));
  }
  Status flush() { return agent_->flush(); }
  Status reload() { return agent_->reload_model(folder_.file("none.itmodel")); }
  Status close() {
    kernel_.reset();
    agent_.reset();
    out_.reset();
    in_.reset();
    device_.reset();
    return {};
  }

  bool is_open() const { return kernel_.has_value(); }
  bool is_tuned() { return explain().running_text == "BEHAVIOUR=0 RUN_US=100"; }
  Explanation explain() {
    auto explanation = kernel_->explain({kElements});
    return explanation.ok() ? *explanation : Explanation();
  }
  AgentStatus status() const { return agent_->status(); }
  // What is there that no application of today has made or wants.
  std::string litter() const {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      const std::string path = entry.path().string();
      if (path.find(".tmp") != std::string::npos) found += path + " ";
    }
    return found;
  }

  const std::unique_ptr<test::FailingDriver> driver;

 private:
  Status make_buffers() {
    for (std::unique_ptr<Buffer>* buffer : {&out_, &in_}) {
      if (*buffer != nullptr) continue;
      auto made = device_->allocate(kElements * sizeof(float));
      if (!made.ok()) return made.status();
      *buffer = std::move(*made);
    }
    std::vector<float> values;
    for (std::int64_t i = 0; i < kElements; ++i) values.push_back(static_cast<float>(i));
    return device_->write(*in_, 0, bytes_of(values));
  }

  test::TemporaryFolder folder_;
  AgentOptions options_;
  const std::vector<std::uint8_t> package_;
  std::unique_ptr<Device> device_;
  std::optional<Agent> agent_;
  std::optional<TunedKernel> kernel_;
  std::unique_ptr<Buffer> out_, in_;
};

using Driver = std::unique_ptr<test::FailingDriver> (*)();
using Step = Status (Application::*)();
struct Scenario {
  const char* name;
  std::vector<Step> before;
  std::vector<Step> steps;  // while something fails
  bool in_helper = false;
  bool learns_nothing = false;  // its steps try and adopt nothing
};

const Scenario kScenarios[] = {
    {"open", {}, {&Application::open}},
    {"first launch", {&Application::open}, {&Application::launch}},
    {"a trial", {&Application::open, &Application::launch}, {&Application::try_one}},
    {"an adoption",
     {&Application::open, &Application::launch, &Application::try_one},
     {&Application::tune}},
    {"a restart",
     {&Application::open, &Application::launch, &Application::tune, &Application::close},
     {&Application::open, &Application::launch},
     false,
     true},
    {"a reload", {&Application::open, &Application::launch}, {&Application::reload}},
    {"a capture", {&Application::open, &Application::launch}, {&Application::capture}},
    {"a flush",
     {&Application::open, &Application::launch, &Application::tune},
     {&Application::flush},
     false,
     true},
    {"close",
     {&Application::open, &Application::launch, &Application::tune},
     {&Application::close},
     false,
     true},
};

// Lets the n-th call of `caller` fail as long as this lives.
class Failure {
 public:
  Failure(Application& application, Caller caller, unsigned long n)
      : driver_(*application.driver), caller_(caller) {
    if (caller == Caller::driver) driver_.fail(n);
    if (caller == Caller::compiler) (void)driver_.fail_compiler(n);
    if (caller == Caller::system) test::fail_system_call(n);
  }
  // How many calls there were; then they are as they were.
  unsigned long end() {
    unsigned long calls = 0;
    if (caller_ == Caller::driver) {
      calls = driver_.counted_calls();
      failed_ = driver_.failed_call();
      driver_.fail(0);
    } else if (caller_ == Caller::compiler) {
      calls = driver_.fail_compiler(0);
    } else {
      calls = test::system_calls();
      failed_ = test::failed_system_call();
      test::fail_system_call(0);
    }
    return calls;
  }
  const std::string& failed() const { return failed_; }
  // What fails to give back leaves it there.
  bool gives_back() const {
    for (const char* part :
         {"Destroy", "Free", "Unload", "Release", "CtxPush", "unlink", "rename"}) {
      if (failed_.find(part) != std::string::npos) return true;
    }
    return false;
  }

 private:
  test::FailingDriver& driver_;
  const Caller caller_;
  std::string failed_;
};

// What is well again is tuned and launched, and nobody is blamed.
void check_what_comes(Application& application, Caller caller) {
  Status status = application.open();
  if (!status.ok()) {  // what the device could not find out when it was opened
    (void)application.close();
    status = application.open();
  }
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  for (int i = 0; i < 3; ++i) {
    status = application.launch();
    CHECK_MESSAGE(status.ok(), status.to_string());
  }
  (void)application.tune();
  if (caller == Caller::compiler && !application.is_tuned()) {
    // NVRTC told nothing when the device was opened, which then did with compiled programs.
    (void)application.close();
    REQUIRE(application.open().ok());
    REQUIRE(application.launch().ok());
    (void)application.tune();
  }
  // Where the driver failed in a configuration's own trial, that one counts as failed.
  const Explanation text = application.explain();
  CHECK_MESSAGE((application.is_tuned() || text.evaluated == kConfigurations - 1), text.reason);
  status = application.launch();
  CHECK_MESSAGE(status.ok(), status.to_string());
  CHECK(application.status().new_quarantines == 0);
  CHECK(application.status().new_suspects == 0);
  CHECK(text.quarantined == 0);
}

// What is on record is there again at the next start, before anything is tried anew.
void check_what_is_kept(Application& application, const Explanation& before) {
  (void)application.close();
  const Status status = application.open();
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  const Explanation now = application.explain();
  REQUIRE(before.evaluated == kConfigurations - 1);
  CHECK(now.running_text == before.running_text);
  CHECK(now.evaluated == before.evaluated);
}

// One life in which the n-th call fails. True: there was one.
bool live(const Scenario& scenario, Caller caller, unsigned long n, Driver driver) {
  Application application(driver(), scenario.in_helper);
  const std::size_t files = open_files();
  Explanation before;
  for (const Step step : scenario.before) {
    const Status status = (application.*step)();
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    if (application.is_open()) before = application.explain();
  }
  Failure failure(application, caller, n);
  Status said;
  for (std::size_t i = 0; i < scenario.steps.size() && said.ok(); ++i) {
    said = (application.*scenario.steps[i])();
  }
  const unsigned long calls = failure.end();
  const std::string& failed = failure.failed();
  CAPTURE(n);
  CAPTURE(failed);
  CHECK_MESSAGE((said.ok() || !said.message().empty()), said.to_string());
  CHECK(said.message() != "WRONG");
  if (scenario.learns_nothing) check_what_is_kept(application, before);
  check_what_comes(application, caller);
  (void)application.close();
  const bool gives_back = failure.gives_back();
  if (!gives_back || caller == Caller::system) CHECK(application.driver->new_objects() == 0);
  if (!gives_back) CHECK(application.litter() == "");
  CHECK(application.driver->live_programs() == 0);
  CHECK(open_files() == files);
  CHECK(test::children_of("self").empty());
  return n <= calls;
}

// Whether there is a call to fail; where there is none nothing is tested.
bool makes_calls(const Scenario& scenario, Caller caller) {
  const std::string part = scenario.name;
  if (caller == Caller::system) return part != "first launch";
  if (part == "a reload" || part == "a flush") return false;
  return caller == Caller::driver ||
         (part != "first launch" && part != "a capture" && part != "close");
}

void live_through_each(const Scenario& scenario, Caller caller, const char* whose,
                       Driver driver = test::failing_cuda) {
  const std::string part = scenario.name;
  CAPTURE(part);
  unsigned long n = 1;
  while (live(scenario, caller, n, driver)) ++n;
  CHECK((n > 1) == makes_calls(scenario, caller));
  MESSAGE("figure: ", part, ": ", n - 1, " calls of the ", std::string(whose));
}

}  // namespace

TEST_CASE("each call of the driver fails once, and nothing is lost, wrong or left") {
  for (const Scenario& scenario : kScenarios) live_through_each(scenario, Caller::driver, "driver");
}

TEST_CASE("each call of an OpenCL driver fails once, and nothing is lost, wrong or left") {
  for (const Scenario& scenario : kScenarios) {
    live_through_each(scenario, Caller::driver, "OpenCL driver", test::failing_opencl);
  }
}

TEST_CASE("each call of the driver's compiler fails once, and nothing is lost, wrong or left") {
  for (const Scenario& scenario : kScenarios) {
    live_through_each(scenario, Caller::compiler, "compiler");
  }
}

TEST_CASE("each call of the system fails once, and nothing is lost, wrong or left") {
  for (const Scenario& scenario : kScenarios) live_through_each(scenario, Caller::system, "system");
}

TEST_CASE("each call of the system fails once while a helper tries a configuration") {
  const Scenario in_helper{"a trial in a helper",
                           {&Application::open, &Application::launch},
                           {&Application::try_one},
                           true};
  live_through_each(in_helper, Caller::system, "system");
}

TEST_CASE("whichever call fails while a journal is opened, the next start knows what it says") {
  const test::TemporaryFolder folder;
  journal::Trial trial;
  trial.kernel = trial.device = trial.driver = 1;
  trial.configuration = {1};
  const auto opened = [&] {
    auto storage = open_posix_storage(folder.path());
    return journal::Journal::open(storage.ok() ? std::move(*storage) : nullptr, {});
  };
  journal::Measurement measurement;
  measurement.trial = trial;
  measurement.trial.configuration = {2};
  measurement.median = measurement.minimum = 3us;
  journal::Adoption adoption;
  adoption.trial = measurement.trial;
  adoption.expected = measurement.median;
  {
    const auto first = opened();
    first->quarantine(trial, journal::QuarantineReason::crash, "");
    first->measured(measurement);
    first->adopted(adoption);
    REQUIRE(first->flush().ok());
  }
  for (unsigned long n = 1;; ++n) {
    CAPTURE(n);
    test::fail_system_call(n);
    (void)opened();
    const std::string failed = test::failed_system_call();
    test::fail_system_call(0);
    CAPTURE(failed);
    const auto next = opened();
    const journal::State& known = next->state();
    CHECK(known.dangers().is_quarantined(trial.key()));
    const auto measured = known.measurement(measurement.trial.key());
    CHECK((measured && measured->median == 3us));
    const auto adopted = known.adoption(adoption.trial.key().shape_key());
    CHECK((adopted && adopted->trial.configuration == adoption.trial.configuration));
    if (failed.empty()) break;
  }
}
