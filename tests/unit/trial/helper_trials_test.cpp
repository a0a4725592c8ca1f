// The real program on a real device, with the kernel that is wrong on purpose.
#include "agent/trial/helper_trials.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <idletune/opencl.hpp>

#include "agent/trial/in_process_trials.hpp"
#include "agent/trial/trial_wire.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "platform/os/process.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/children.hpp"
#include "tests/unit/os/jumping_clock.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;

namespace {

// Values of the parameter BUG; see tests/data/kernels/README.md.
constexpr std::int64_t kRight = 0;
constexpr std::int64_t kRareError = 5;
constexpr std::int64_t kBehindTheEnd = 6;
constexpr std::int64_t kEndless = 7;
constexpr std::int64_t kTooMuchLocalMemory = 8;
constexpr std::int64_t kWritesNothing = 9;

constexpr Nanoseconds kPatience = std::chrono::minutes(10);

std::shared_ptr<const KernelPackage> broken_package() {
  static std::shared_ptr<const KernelPackage> package = [] {
    return required(KernelPackage::open(
        required(pack(required(read_kernel_xml(IDLETUNE_TEST_DATA_FOLDER "/kernels/broken.xml")))),
        "broken.itkernel"));
  }();
  return package;
}

DeviceInfo first_device() {
  static const DeviceInfo info = [] {
    auto devices = required(opencl::list());
    REQUIRE_FALSE(devices.empty());
    return devices[0];
  }();
  return info;
}

HelperTrialsOptions options() {
  HelperTrialsOptions result;
  const char* helper = std::getenv("IDLETUNE_HELPER");
  REQUIRE_MESSAGE(helper != nullptr, "IDLETUNE_HELPER: expected the path of idletune-helper");
  result.program = helper;
  return result;
}

TrialRequest request(TrialStage stage, std::int64_t bug, std::uint32_t seed = 1) {
  TrialRequest result;
  result.stage = stage;
  result.shape = {61, 45};
  result.configuration = {bug, 8};
  result.seed = seed;
  result.deadline = std::chrono::seconds(20);
  return result;
}

TrialOutcome run(TrialRunner& trials, const TrialRequest& request) {
  TrialOutcome outcome;
  const Status started = trials.start(request);
  REQUIRE_MESSAGE(started.ok(), started.to_string());
  REQUIRE(trials.poll(kPatience, outcome));
  return outcome;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The processes that any thread of this one has started and that are still there, but for those
// that die slowly on a busy machine.
std::set<pid_t> children() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (ChildProcess::reap_left_behind() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return test::children_of("self");
}

// Kills a child and waits until it is dead, without reaping it.
void kill_from_outside(pid_t pid) {
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
}

void check_that_a_right_one_passes(TrialRunner& trials) {
  const TrialOutcome outcome = run(trials, request(TrialStage::check, kRight));
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
}

}  // namespace

TEST_CASE("a right variant goes through all stages in the helper") {
  HelperTrials trials(first_device(), broken_package(), options());
  CHECK(trials.isolated());
  TrialOutcome outcome = run(trials, request(TrialStage::compile, kRight));
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  const std::set<pid_t> helper = children();
  REQUIRE(helper.size() == 1);
  const pid_t pid = *helper.begin();
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
  CHECK((::sched_getscheduler(pid) == SCHED_IDLE || nice == 19));
  CHECK(outcome.processor.count() > 0);
  CHECK(outcome.processor <= outcome.wall * std::thread::hardware_concurrency() * 2);
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    outcome = run(trials, request(TrialStage::prepare, kRight, seed));
    CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
    outcome = run(trials, request(TrialStage::check, kRight, seed));
    CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
    CHECK(outcome.max_error <= 1);
    CHECK(outcome.device.count() > 0);
    CHECK(outcome.wall >= outcome.device);
  }
  TrialRequest measure = request(TrialStage::measure, kRight);
  measure.repeats = 3;
  outcome = run(trials, measure);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  REQUIRE(outcome.samples.size() == 3);
  for (const Nanoseconds sample : outcome.samples) CHECK(sample.count() > 0);
  CHECK(children() == helper);
}

TEST_CASE("every wrong variant is refused and harms nothing") {
  HelperTrials trials(first_device(), broken_package(), options());
  check_that_a_right_one_passes(trials);
  const std::set<pid_t> helper = children();
  for (const std::int64_t bug : {1, 2, 3, 4, 5, 6, 9}) {
    for (const std::int64_t tile : {8, 16}) {
      CAPTURE(bug);
      CAPTURE(tile);
      TrialRequest wrong = request(TrialStage::check, bug);
      wrong.configuration = {bug, tile};
      const TrialOutcome outcome = run(trials, wrong);
      CHECK_MESSAGE(outcome.status == TrialStatus::correctness, outcome.message);
      CHECK(outcome.stage == TrialStage::check);
      CHECK(outcome.max_error > 1);
      if (bug == kBehindTheEnd) CHECK(contains(outcome.message, "wrote outside buffer 'out'"));
      if (bug == kWritesNothing) CHECK(contains(outcome.message, "was not written"));
    }
  }
  check_that_a_right_one_passes(trials);
  CHECK(children() == helper);
}

TEST_CASE("one wrong element in a million is refused") {
  HelperTrials trials(first_device(), broken_package(), options());
  TrialRequest wrong = request(TrialStage::check, kRareError);
  wrong.shape = {1000, 1000};
  const TrialOutcome outcome = run(trials, wrong);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "; 1 of 1000000 elements differ"), outcome.message);
}

TEST_CASE("a configuration beyond the device's limits never reaches the helper") {
  HelperTrials trials(first_device(), broken_package(), options());
  const TrialOutcome outcome = run(trials, request(TrialStage::compile, kTooMuchLocalMemory));
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "local memory of 268435456"), outcome.message);
  CHECK(children().empty());
}

TEST_CASE("the helper knows the patterns that the driver is known to fail with") {
  HelperTrialsOptions warned = options();
  REQUIRE(warned.quirks.add_text(": BUG == 0: hangs", "test").ok());
  HelperTrials trials(first_device(), broken_package(), warned);
  const TrialOutcome outcome = run(trials, request(TrialStage::check, kRight));
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, "known to fail on this driver: hangs"), outcome.message);
}

TEST_CASE("a configuration that makes the driver abort takes the helper and not the application") {
  HelperTrials trials(first_device(), broken_package(), options());
  TrialRequest fatal = request(TrialStage::check, kTooMuchLocalMemory);
  fatal.ignore_device_limits = true;
  const TrialOutcome outcome = run(trials, fatal);
  if (contains(first_device().platform, "Portable Computing Language")) {
    CHECK_MESSAGE(outcome.status == TrialStatus::crash, outcome.message);
    CHECK_MESSAGE(contains(outcome.message, "SIGABRT"), outcome.message);
    CHECK_FALSE(outcome.ambiguous);
    CHECK(children().empty());
  } else {
    CHECK(outcome.status != TrialStatus::correct);
  }
  check_that_a_right_one_passes(trials);
}

TEST_CASE("an application that ignores the end of its children learns of a crash all the same") {
  std::signal(SIGCHLD, SIG_IGN);
  {
    HelperTrials trials(first_device(), broken_package(), options());
    TrialRequest fatal = request(TrialStage::check, kTooMuchLocalMemory);
    fatal.ignore_device_limits = true;
    const TrialOutcome outcome = run(trials, fatal);
    if (outcome.status == TrialStatus::crash) {
      CHECK_FALSE(outcome.ambiguous);
      CHECK_MESSAGE(contains(outcome.message, "killed by signal"), outcome.message);
    } else {
      CHECK(outcome.status != TrialStatus::correct);
    }
  }
  std::signal(SIGCHLD, SIG_DFL);
}

TEST_CASE("a limit on the application's processor time ends no helper") {
  HelperTrials trials(first_device(), broken_package(), options());
  check_that_a_right_one_passes(trials);
  const std::set<pid_t> helper = children();
  REQUIRE(helper.size() == 1);
  for (const int limit : {SIGXCPU, SIGXFSZ}) REQUIRE(::kill(*helper.begin(), limit) == 0);
  check_that_a_right_one_passes(trials);
  CHECK(children() == helper);
}

TEST_CASE("a configuration that never ends is timed out, and the next trial works") {
  HelperTrialsOptions hurried = options();
  hurried.executor.first_run_allowance = std::chrono::seconds(3);
  HelperTrials trials(first_device(), broken_package(), hurried);
  check_that_a_right_one_passes(trials);
  TrialRequest endless = request(TrialStage::check, kEndless);
  endless.deadline = std::chrono::milliseconds(100);
  const std::set<pid_t> before = children();
  REQUIRE(before.size() == 1);
  const TrialOutcome outcome = run(trials, endless);
  CHECK_MESSAGE(outcome.status == TrialStatus::timeout, outcome.message);
  CHECK(outcome.wall >= endless.deadline);
  CHECK(children().empty());
  CHECK_FALSE(trials.poisoned());
  check_that_a_right_one_passes(trials);
  CHECK(children().size() == 1);
}

TEST_CASE("a helper that does not answer in time is killed") {
  HelperTrialsOptions hurried = options();
  hurried.compile_deadline = std::chrono::microseconds(1);
  hurried.executor.first_run_allowance = std::chrono::microseconds(1);
  HelperTrials trials(first_device(), broken_package(), hurried);
  TrialRequest compile = request(TrialStage::compile, kRight);
  compile.deadline = std::chrono::microseconds(1);
  const TrialOutcome outcome = run(trials, compile);
  CHECK(outcome.status == TrialStatus::timeout);
  CHECK(outcome.stage == TrialStage::compile);
  CHECK_MESSAGE(contains(outcome.message, "the helper was killed"), outcome.message);
  CHECK(children().empty());
}

TEST_CASE("a compilation that outlives its limit is ended and says nothing of the configuration") {
  HelperTrialsOptions hurried = options();
  hurried.executor.first_run_allowance = std::chrono::seconds(1);
  HelperTrials trials(first_device(), broken_package(), hurried);
  check_that_a_right_one_passes(trials);
  TrialRequest compile = request(TrialStage::compile, kEndless);
  compile.deadline = std::chrono::seconds(1);  // many times that where the processors are busy
  compile.compile_limit = std::chrono::microseconds(1);
  const TrialOutcome outcome = run(trials, compile);
  CHECK(outcome.status == TrialStatus::compile);
  CHECK(outcome.stage == TrialStage::compile);
  CHECK(outcome.cut);
  CHECK(children().empty());
  compile.compile_limit = kPatience;
  CHECK_FALSE(run(trials, compile).cut);
}

// Not a test: what the next one starts, stops and lets go on. It finds that hours have passed.
TEST_CASE("frozen probe" * doctest::skip()) {
  std::signal(SIGCONT, [](int) { test::set_clock_ahead(CLOCK_MONOTONIC, 24 * 3600); });
  DeviceInfo device = first_device();
  device.is_cpu = false;  // whose helper is not suspected to have waited for a processor
  HelperTrialsOptions hurried = options();
  hurried.executor.first_run_allowance = std::chrono::seconds(1);
  HelperTrials trials(device, broken_package(), hurried);
  check_that_a_right_one_passes(trials);
  TrialRequest endless = request(TrialStage::check, kEndless);
  endless.deadline = std::chrono::seconds(1);
  REQUIRE(trials.start(endless).ok());
  TrialOutcome outcome;
  CHECK_FALSE(trials.poll(std::chrono::milliseconds(200), outcome));
  REQUIRE(::write(kChannelDescriptor, "!", 1) == 1);
  REQUIRE(trials.poll(kPatience, outcome));
  CHECK(outcome.status == TrialStatus::timeout);
  CHECK_MESSAGE(contains(outcome.message, "a run outlived its deadline"), outcome.message);
  CHECK(outcome.frozen > std::chrono::hours(23));
  CHECK(outcome.wall < kPatience);
}

TEST_CASE("what was stopped together with its helper does not take that for hung") {
  ProcessOptions probe;
  probe.program = "/proc/self/exe";
  probe.arguments = {"--no-skip", "--test-case=frozen probe"};
  auto child = required(ChildProcess::start(probe));
  std::uint8_t running = 0;
  REQUIRE(child->channel().receive(MutableBytes(&running, 1), kPatience).ok());
  const std::set<pid_t> helper = test::children_of(std::to_string(child->pid()));
  REQUIRE(helper.size() == 1);
  for (const pid_t pid : {*helper.begin(), child->pid()}) REQUIRE(::kill(pid, SIGSTOP) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const pid_t pid : {child->pid(), *helper.begin()}) REQUIRE(::kill(pid, SIGCONT) == 0);
  REQUIRE(child->ended(kPatience));
  CHECK_MESSAGE(child->exit_status().clean(), child->exit_status().to_string());
}

TEST_CASE("destruction ends a helper whose kernel never ends") {
  {
    HelperTrials trials(first_device(), broken_package(), options());
    TrialRequest endless = request(TrialStage::check, kEndless);
    endless.deadline = kPatience;
    REQUIRE(trials.start(endless).ok());
    TrialOutcome outcome;
    CHECK_FALSE(trials.poll(std::chrono::milliseconds(300), outcome));
    CHECK(trials.start(endless).code() == StatusCode::busy);
  }
  CHECK(children().empty());
}

TEST_CASE("a helper killed by somebody else is an ambiguous crash; an idle one is just replaced") {
  HelperTrials trials(first_device(), broken_package(), options());
  check_that_a_right_one_passes(trials);
  REQUIRE(children().size() == 1);
  const std::set<pid_t> killed = children();
  kill_from_outside(*killed.begin());
  check_that_a_right_one_passes(trials);
  CHECK(children().size() == 1);
  CHECK(children() != killed);

  TrialRequest endless = request(TrialStage::check, kEndless);
  endless.deadline = kPatience;
  REQUIRE(trials.start(endless).ok());
  TrialOutcome outcome;
  CHECK_FALSE(trials.poll(std::chrono::milliseconds(300), outcome));
  REQUIRE(children().size() == 1);
  ::kill(*children().begin(), SIGKILL);
  REQUIRE(trials.poll(kPatience, outcome));
  CHECK(outcome.status == TrialStatus::crash);
  CHECK(outcome.ambiguous);
  CHECK_MESSAGE(contains(outcome.message, "SIGKILL"), outcome.message);
}

TEST_CASE("a program that is not there is an error of start") {
  HelperTrialsOptions wrong = options();
  wrong.program = "/nonexistent/idletune-helper";
  HelperTrials trials(first_device(), broken_package(), wrong);
  const Status status = trials.start(request(TrialStage::compile, kRight));
  CHECK(status.code() == StatusCode::not_found);
  CHECK(contains(status.message(), wrong.program));
}

TEST_CASE("starts that come to nothing give no verdict and are not repeated for ever") {
  HelperTrialsOptions wrong = options();
  wrong.program = "/bin/true";
  HelperTrials trials(first_device(), broken_package(), wrong);
  for (std::uint32_t i = 0; i < wrong.max_start_failures; ++i) {
    const TrialOutcome outcome = run(trials, request(TrialStage::check, kRight));
    CHECK(outcome.stage == TrialStage::prepare);
    CHECK(outcome.status == TrialStatus::runtime);
    CHECK_MESSAGE(contains(outcome.message, "did not start"), outcome.message);
  }
  CHECK(trials.start(request(TrialStage::check, kRight)).code() == StatusCode::device_error);
}

TEST_CASE("a helper that gets no processor time while it starts is waited for") {
  test::TemporaryFolder folder;
  HelperTrialsOptions starved = options();
  const std::string program = folder.file("idletune-helper");
  std::ofstream(program) << "#!/bin/sh\nsleep 4\nexec '" << starved.program << "' \"$@\"\n";
  REQUIRE(::chmod(program.c_str(), 0700) == 0);
  starved.program = program;
  starved.start_deadline = std::chrono::seconds(3);  // real starts take up to a second of it
  HelperTrials trials(first_device(), broken_package(), starved);
  check_that_a_right_one_passes(trials);
}

TEST_CASE("a helper that finds no such device says which one was wanted") {
  DeviceInfo other = first_device();
  other.name = "A device of another machine";
  HelperTrials trials(other, broken_package(), options());
  const TrialOutcome outcome = run(trials, request(TrialStage::check, kRight));
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK_MESSAGE(contains(outcome.message, "A device of another machine"), outcome.message);
}

TEST_CASE("two helpers work side by side") {
  HelperTrials one(first_device(), broken_package(), options());
  HelperTrials two(first_device(), broken_package(), options());
  REQUIRE(one.start(request(TrialStage::check, kRight)).ok());
  REQUIRE(two.start(request(TrialStage::check, kRight)).ok());
  TrialOutcome outcome;
  REQUIRE(two.poll(kPatience, outcome));
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  REQUIRE(one.poll(kPatience, outcome));
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
}

TEST_CASE("the helper is found in the search path and missed with the places named") {
  const std::string helper = options().program;
  const std::string folder = helper.substr(0, helper.rfind('/'));
  const std::string found = required(find_helper("/nonexistent::" + folder));
  CHECK(contains(found, "/idletune-helper"));
  const Result<std::string> missing = find_helper("/nonexistent");
  if (!missing.ok()) CHECK(contains(missing.status().message(), ", /nonexistent"));
}

TEST_CASE("the helper leaves when it is spoken to in another version") {
  std::vector<std::uint8_t> frame = wire::encode(wire::Setup());
  frame[1] = wire::kVersion - 1;
  ProcessOptions helper;
  helper.program = options().program;
  auto child = required(ChildProcess::start(helper));
  REQUIRE(child->channel().send(frame, kPatience).ok());
  REQUIRE(child->ended(kPatience));
  CHECK(child->exit_status().to_string() == "exited with 112");
}

TEST_CASE("the helper does nothing when started by hand") {
  ProcessOptions by_hand;
  by_hand.program = "/bin/sh";
  by_hand.arguments = {"-c", "exec \"$0\" 3>&-", options().program};
  auto child = required(ChildProcess::start(by_hand));
  REQUIRE(child->ended(kPatience));
  CHECK(child->exit_status().to_string() == "exited with 113");
}

// --- in this process ---

// Not a test: what the next one starts as a process of its own.
TEST_CASE("in-process probe" * doctest::skip()) {
  auto device = required(opencl::open_matching(first_device()));
  auto trials =
      required(InProcessTrials::create(std::make_unique<TrialExecutor>(*device, broken_package())));
  CHECK_FALSE(trials->isolated());
  check_that_a_right_one_passes(*trials);
  TrialRequest fatal = request(TrialStage::check, kTooMuchLocalMemory);
  fatal.ignore_device_limits = true;
  (void)run(*trials, fatal);
}

TEST_CASE("in this process the same configuration takes the process with it" *
          doctest::test_suite("PoCL")) {
  if (!contains(first_device().platform, "Portable Computing Language")) {
    return idletune::test::skip("the first OpenCL device is not PoCL's");
  }
  ProcessOptions probe;
  probe.program = "/proc/self/exe";
  probe.arguments = {"--no-skip", "--test-case=in-process probe"};
  auto child = required(ChildProcess::start(probe));
  REQUIRE(child->ended(kPatience));
  const ExitStatus& exit = child->exit_status();
  CHECK_MESSAGE(exit.kind == ExitStatus::Kind::signaled, exit.to_string());
  CHECK_MESSAGE(exit.value == SIGABRT, exit.to_string());
}

TEST_CASE("in this process a right variant passes and every wrong one is refused") {
  auto device = required(opencl::open_matching(first_device()));
  auto trials =
      required(InProcessTrials::create(std::make_unique<TrialExecutor>(*device, broken_package())));
  check_that_a_right_one_passes(*trials);
  for (const std::int64_t bug : {1, 2, 3, 4, 5, 6, 9}) {
    CAPTURE(bug);
    const TrialOutcome outcome = run(*trials, request(TrialStage::check, bug));
    CHECK_MESSAGE(outcome.status == TrialStatus::correctness, outcome.message);
  }
}
