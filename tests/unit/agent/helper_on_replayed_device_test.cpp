// Agent and helper as two processes, with the real clock, pipes and messages, and no driver: the
// helper replays trials, the device counts launches. Runs on every architecture; where programs are
// run by an emulator, the helper's script calls it.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "platform/os/process.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

using idletune::test::kPatience;

AgentOptions options_with(const std::string& state) {
  const std::string folder = required(self_executable_folder());
  AgentOptions options;
  options.read_environment = false;
  options.state = state;
  options.helper = folder + "/replaying-helper";
  return options;
}

// An application with one shape. Its device tells how long launches take, and takes no time.
struct HelperApplication {
  explicit HelperApplication(const std::string& state, const std::string& platform = "test",
                             test::Messages* messages = nullptr)
      : board(test::board_that()) {
    board->device.device_info.platform = platform;
    AgentOptions options = options_with(state);
    if (messages != nullptr) options.log = &test::Messages::take;
    options.log_user = messages;
    agent.emplace(required(Agent::open(options)));
    kernel = required(agent->kernel(board->device, test::played_package()));
    x = required(board->device.allocate(64 * sizeof(float)));
  }
  void launch(int times) {
    bool launched = true;
    for (int i = 0; i < times; ++i)
      launched = kernel->launch(shape, {x->argument()}).ok() && launched;
    REQUIRE(launched);
  }
  Explanation explain() const { return required(kernel->explain(shape)); }
  // Launches and idles in turn until `done`. Gaps are longer than a sync on busy processors.
  template <class Condition>
  void play_until(const Condition& done) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < end) {
      launch(200);
      agent->idle(1s);
    }
    REQUIRE(done());
  }

  // Until nothing is left to be tried.
  void tune_all() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const IdleReport report = agent->tune_now(1s);
      const bool too_short = report.used >= 1s || report.needs.count() > 0;  // busy processors
      if (report.stages == 0 && !report.waiting && !too_short) return;
    }
    FAIL("tuning does not come to an end");
  }

  const Shape shape{64};
  const std::unique_ptr<test::PlayedBoard> board;
  std::unique_ptr<Buffer> x;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

}  // namespace

TEST_CASE("a helper finds a faster configuration in idle time, and the next start begins with it") {
  const TemporaryFolder folder;
  Explanation found;
  {
    HelperApplication first(folder.file("state"));
    first.launch(1);
    first.play_until([&] { return first.explain().selection == Selection::tuned; });
    found = first.explain();
    CHECK(found.speed_up > 1.0);
    CHECK(found.evaluated >= 1);
    const AgentStatus status = first.agent->status();
    CHECK_MESSAGE(status.trials.ok(), status.trials.to_string());
    CHECK_MESSAGE(status.storage.ok(), status.storage.to_string());
    CHECK(status.charged_seconds > 0);
  }
  // A faster one that was still being built, or a trial that was under way, may come on top.
  HelperApplication second(folder.file("state"));
  const Explanation known = second.explain();  // before the first launch
  CHECK(known.selection == Selection::tuned);
  CHECK(known.running_ms <= found.running_ms);
  CHECK(known.evaluated >= found.evaluated);
  CHECK(second.agent->status().new_suspects == 0);
  CHECK(second.agent->status().new_quarantines == 0);
  second.play_until([&] { return second.explain().evaluated > known.evaluated; });
}

TEST_CASE("a configuration that kills the helper costs nothing else and is never tried again") {
  const TemporaryFolder folder;
  {
    HelperApplication first(folder.file("state"));
    first.launch(1);
    first.tune_all();
    const Explanation after = first.explain();
    CHECK(after.evaluated == 255);  // all but the default
    CHECK(after.rejected == 1);
    CHECK(after.quarantined == 1);
    CHECK(after.running_ms < 1.05);
    CHECK(first.agent->status().ended_devices == 0);
  }
  HelperApplication second(folder.file("state"));
  second.launch(1);
  second.tune_all();
  CHECK(second.explain().evaluated == 255);
  CHECK(second.explain().quarantined == 1);
  CHECK(second.agent->status().quarantined == 1);
}

TEST_CASE("a helper that does not play this device says so, and tuning goes without") {
  const TemporaryFolder folder;
  test::Messages messages;
  HelperApplication application(folder.file("state"), "another", &messages);
  application.launch(1);
  application.tune_all();
  CHECK_MESSAGE(messages.count("platform 'test' only") >= 1, messages.text());
  CHECK(application.explain().selection == Selection::fallback);
  CHECK(application.explain().quarantined == 0);
  application.launch(10);
}

namespace {

// The least nice value of all threads of a name; 0 where there is none.
std::map<std::string, int> nice_by_name() {
  std::map<std::string, int> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const auto id = static_cast<id_t>(std::stoi(task.path().filename().string()));
    const int nice = ::getpriority(PRIO_PROCESS, id);
    const auto known = all.emplace(name, nice).first;
    known->second = std::min(known->second, nice);
  }
  return all;
}

}  // namespace

TEST_CASE("each of our threads makes room for the application's") {
  const TemporaryFolder folder;
  HelperApplication application(folder.file("state"));
  application.launch(1);
  application.play_until([&] { return application.explain().selection == Selection::tuned; });
  REQUIRE(application.agent->start_background().ok());
  std::map<std::string, int> nice = nice_by_name();
  for (int looks = 0; nice["idletune"] < 10 && looks < 20000; ++looks) {
    std::this_thread::sleep_for(1ms);  // it begins
    nice = nice_by_name();
  }
  for (const std::string name :
       {"idletune", "idletune-build", "idletune-files", "idletune-watch"}) {
    CAPTURE(name);
    CHECK(nice[name] >= 10);
  }
}
