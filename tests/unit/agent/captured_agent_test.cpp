// An application that lends its data, on a played board where other configurations are best on
// them.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/package/captured_arguments.hpp"
#include "platform/os/storage.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::test::agent_on;
using idletune::test::board_that;
using idletune::test::played_time;
using idletune::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

const Shape kShape{64};

std::vector<std::uint8_t> lending_package(bool captured = true, const std::string& more = {}) {
  KernelDescription description = test::played_description();
  description.source += more;
  DescribedArgument columns = test::made_buffer("columns", "N");
  columns.type = ScalarType::i32;
  columns.captured = captured;
  if (captured) columns.index_below = "N";
  description.arguments = {columns, test::made_buffer("y", "N", Access::inout)};
  return test::packed(description);
}

struct Application {
  explicit Application(const AgentOptions& options, bool captured = true) : board(board_that()) {
    board->on_stage = [](const TrialRequest& request, TrialOutcome& outcome) {
      if (request.captured.empty()) return;
      const Configuration& c = request.configuration;
      for (Nanoseconds& sample : outcome.samples) sample = played_time(c[0] + 6, c[1] + 6);
    };
    board->device.copy_script = [this] { board->clock.advance(3ms); };
    agent.emplace(agent_on(*board, options));
    kernel.emplace(required(agent->kernel(board->device, lending_package(captured))));
    columns = *board->device.allocate(256);
    y = *board->device.allocate(256);
    set(5, 7);
  }
  void set(std::size_t at, std::int32_t value) {
    std::vector<std::int32_t> values(64, 0);
    values[at] = value;
    REQUIRE(board->device.write(*columns, 0, test::bytes_of(values)).ok());
  }
  Status capture() { return kernel->capture(kShape, columns->argument(), y->argument()); }
  Configuration running() const { return kernel->explain(kShape)->running; }
  // Whether all stages since the last call were made on captured data.
  std::string stages() {
    std::string kinds;
    for (const TrialRequest& request : board->requested) {
      const char kind = request.captured.empty() ? '-' : 'c';
      if (kinds.empty() || kinds.back() != kind) kinds += kind;
    }
    board->requested.clear();
    return kinds;
  }

  std::unique_ptr<test::PlayedBoard> board;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
  std::unique_ptr<Buffer> columns, y;
};

}  // namespace

TEST_CASE("a problem is tuned anew on what the application lends, and a restart knows both") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  Configuration adopted;
  {
    Application application(options);
    REQUIRE(application.kernel->prepare(kShape).ok());
    application.agent->tune_now(10h);
    CHECK(application.running() == Configuration{8, 8});
    CHECK(application.stages() == "-");
    CHECK_FALSE(application.kernel->explain(kShape)->captured);
    const Status lent = application.capture();
    CHECK_MESSAGE(lent.ok(), lent.to_string());
    application.agent->tune_now(10h);
    CHECK(application.kernel->explain(kShape)->captured);
    CHECK(application.agent->explain().find("\"captured\": true") != std::string::npos);
    CHECK(application.stages() == "c");
    adopted = application.running();
    CHECK(adopted == Configuration{2, 2});
    CHECK(application.kernel->explain(kShape)->default_ms ==
          doctest::Approx(static_cast<double>(played_time(7, 7).count()) / 1e6));
    // The same once more changes nothing.
    CHECK(application.capture().ok());
    application.agent->tune_now(10h);
    CHECK(application.stages().empty());
  }
  Application second(options);
  REQUIRE(second.kernel->prepare(kShape).ok());
  CHECK(second.running() == adopted);
  CHECK(second.capture().ok());
  second.agent->tune_now(10h);
  CHECK(second.stages().empty());
  CHECK(second.running() == adopted);
}

TEST_CASE("what it takes to lend data is charged") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  Application application(options);
  const double before = application.agent->status().charged_seconds;
  REQUIRE(application.capture().ok());
  CHECK(application.agent->status().charged_seconds - before == doctest::Approx(0.003));
}

TEST_CASE("what is lent others amid a trial ends it, and tuning goes on with those at once") {
  for (int moment = 1; moment <= 20; ++moment) {
    CAPTURE(moment);
    const TemporaryFolder folder;
    Application application(test::options_in(folder.path()));
    REQUIRE(application.capture().ok());
    (void)application.agent->tune_now(moment * 5ms);
    CHECK(application.stages() == "c");
    application.set(5, 8);
    REQUIRE(application.capture().ok());
    CHECK(application.agent->tune_now(1s).stages > 0);
    CHECK(application.stages() == "c");
  }
}

TEST_CASE("data are lent to their own shape, whoever got the slot while they were copied") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  options.max_shapes = 2;
  Application application(options);
  bool busy = true;
  const auto launch = [&](std::int64_t n) {
    return application.kernel->launch({n}, application.columns->argument(),
                                      application.y->argument());
  };
  application.board->device.copy_script = [&] {
    for (int i = 0; i < 6 && busy; ++i) {
      REQUIRE(launch(1).ok());
      REQUIRE(launch(2).ok());
      (void)application.agent->idle(0ns);
      application.board->clock.advance(2s);
    }
  };
  CHECK(application.capture().to_string() ==
        "out_of_memory: kernel 'play': more shapes than the option max_shapes allows");
  CHECK(application.agent->explain().find("\"captured\": true") == std::string::npos);
  busy = false;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(launch(64).ok());
    (void)application.agent->idle(0ns);
    application.board->clock.advance(2s);
  }
  CHECK(application.capture().ok());
  application.agent->tune_now(1h);
  CHECK(application.kernel->explain(kShape)->captured);
}

TEST_CASE("what was fatal on lent data is not tried again, on whatever data and at any shape") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  Application application(options);
  int crashes = 0;
  application.board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.configuration != Configuration{2, 2} || request.stage != TrialStage::check) return;
    if (request.captured.empty() && crashes == 0) return;
    ++crashes;
    outcome.status = TrialStatus::crash;
  };
  REQUIRE(application.capture().ok());
  application.agent->tune_now(10h);
  CHECK(crashes == 1);
  CHECK(application.kernel->explain(kShape)->quarantined == 1);
  application.set(9, 1);
  REQUIRE(application.capture().ok());
  application.agent->tune_now(10h);
  REQUIRE(application.kernel->prepare({32}).ok());
  application.agent->tune_now(10h);
  CHECK(crashes == 1);
  CHECK(application.kernel->explain(kShape)->quarantined == 1);
}

TEST_CASE("devices, and packages of one name, are each tuned on what was lent to them") {
  const TemporaryFolder folder;
  fake::Device other_device;
  Application application(test::options_in(folder.path()));
  fake::Device& device = application.board->device;
  other_device.device_info = device.device_info;
  other_device.device_info.name = "other board";
  other_device.kernels = device.kernels;
  other_device.launch_script = device.launch_script;
  std::map<std::string, std::set<std::uint64_t>> used;  // digests by file
  application.board->on_stage = [&](const TrialRequest& request, TrialOutcome&) {
    used[request.captured].insert(request.captured_digest);
  };
  REQUIRE(application.capture().ok());
  application.set(5, 8);
  auto of_other = required(application.agent->kernel(device, lending_package(true, " otherwise")));
  REQUIRE(
      of_other.capture(kShape, application.columns->argument(), application.y->argument()).ok());
  auto on_other = required(application.agent->kernel(other_device, lending_package()));
  application.set(5, 9);
  REQUIRE(
      on_other.capture(kShape, application.columns->argument(), application.y->argument()).ok());
  application.agent->tune_now(10h);
  std::set<std::uint64_t> all;
  for (const auto& [file, digests] : used) {
    CHECK(digests.size() == 1);
    CHECK(std::filesystem::exists(file));
    all.insert(digests.begin(), digests.end());
  }
  CHECK(used.size() == 3);
  CHECK(all.size() == 3);
}

TEST_CASE("a process whose state folder is another's leaves what lies there alone") {
  const TemporaryFolder folder;
  const AgentOptions options = test::options_in(folder.path());
  Application owner(options);
  REQUIRE(owner.capture().ok());
  const std::filesystem::directory_iterator captures(folder.file("captures"));
  const std::string path = captures->path().string();
  const auto lent = required(read_file(path, CapturedArguments::kMaxBytes));
  Application guest(options);
  guest.set(5, 8);
  CHECK(guest.capture().code() == StatusCode::busy);
  CHECK(required(read_file(path, CapturedArguments::kMaxBytes)) == lent);
  // Nor does it do away with what it cannot use.
  guest.board->on_stage = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.captured.empty()) return;
    outcome = TrialOutcome();
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::constraints;
  };
  REQUIRE(guest.kernel->prepare(kShape).ok());
  guest.agent->tune_now(10h);
  CHECK(guest.stages() == "c-");
  CHECK(required(read_file(path, CapturedArguments::kMaxBytes)) == lent);
}

TEST_CASE("data that cannot be lent are refused in one line, and nothing is kept") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  {
    Application application(options);
    application.set(9, 64);
    CHECK(application.capture().to_string() ==
          "invalid_argument: kernel 'play': captured buffer 'columns': element 9 is 64, expected 0 "
          "to "
          "63");
    CHECK(application.kernel->capture(kShape, application.columns->argument()).code() ==
          StatusCode::invalid_argument);
    CHECK(application.kernel->capture(kShape, 1, application.y->argument()).code() ==
          StatusCode::invalid_argument);
  }
  {
    Application application(options, false);
    CHECK(application.capture().to_string() ==
          "invalid_argument: kernel 'play': its package has no captured buffer");
  }
  options.capture_limit_bytes = 255;
  CHECK(Application(options).capture().code() == StatusCode::out_of_memory);
  CHECK_FALSE(std::filesystem::exists(folder.file("captures")));
  options = AgentOptions();
  CHECK(Application(options).capture().code() == StatusCode::unsupported);
}

TEST_CASE("a file of lent data that is damaged costs nothing but itself") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  Application application(options);
  REQUIRE(application.capture().ok());
  application.board->on_stage = [](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.captured.empty() || request.stage == TrialStage::compile) return;
    outcome = TrialOutcome();
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::constraints;
    outcome.message = "damaged";
    outcome.wall = 1ms;
  };
  application.agent->tune_now(10h);
  CHECK(application.stages() == "c-");
  CHECK(application.running() == Configuration{8, 8});
  // And lending it again writes it again.
  application.board->on_stage = nullptr;
  REQUIRE(application.capture().ok());
  application.agent->tune_now(10h);
  CHECK(application.stages() == "c");
}

TEST_CASE("no stage is asked for on data that were replaced before the tuner was told") {
  const TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path());
  Application application(options);
  REQUIRE(application.kernel->prepare(kShape).ok());
  REQUIRE(application.capture().ok());
  // What the runner finds in the file at each stage.
  std::size_t asked = 0;
  std::size_t mixed = 0;
  bool replace = false;
  application.board->on_stage = [&](const TrialRequest& request, TrialOutcome& outcome) {
    if (request.captured.empty()) return;
    if (std::exchange(replace, false)) {
      auto others = required(CapturedArguments::open(
          required(read_file(request.captured, CapturedArguments::kMaxBytes)), "others"));
      std::uint8_t& changed = others.writable(others.arrays().size() - 1)[0];
      changed = static_cast<std::uint8_t>(changed ^ 1);
      others.seal();
      REQUIRE(write_file_atomically(request.captured, others.bytes()).ok());
    }
    std::uint8_t beginning[CapturedArguments::kBeginningBytes];
    REQUIRE(read_beginning(request.captured, beginning));
    ++asked;
    if (CapturedArguments::digest_in(beginning) == request.captured_digest) return;
    ++mixed;
    outcome = TrialOutcome();
    outcome.stage = TrialStage::prepare;
    outcome.status = TrialStatus::constraints;  // as the executor says
  };
  for (int round = 0; round < 5; ++round) {
    replace = true;
    application.agent->tune_now(100ms);
  }
  CHECK(mixed == 5);
  // The file is what the problem says, again and again.
  asked = mixed = 0;
  application.agent->tune_now(10h);
  CHECK(asked > 20);
  CHECK(mixed == 0);
  CHECK(application.kernel->explain(kShape)->captured);
}
