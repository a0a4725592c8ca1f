// Models that are pushed while an agent runs: taken over, refused, gone back from.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "platform/os/storage.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/signing/signed_file.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::ModelContent;
using idletune::test::played_package;
using idletune::test::TemporaryFolder;
using namespace std::chrono_literals;

namespace {

// A model for the played kernel that says: start with {a, b}.
std::vector<std::uint8_t> model_saying(std::int64_t a, std::int64_t b, std::uint64_t generation) {
  ModelContent content = test::content_saying(a, b);
  content.generation = generation;
  return test::build_model(content);
}

void push(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  REQUIRE(write_file_atomically(path, bytes).ok());
}

struct ReloadingApplication {
  explicit ReloadingApplication(const std::string& model, AgentOptions options = {})
      : board(test::board_that()), device(board->device) {
    options.model = model;
    agent.emplace(test::agent_on(*board, options));
    kernel = required(agent->kernel(device, played_package()));
    x = required(device.allocate(4096 * sizeof(float)));
  }
  Status launch(const Shape& shape = {64}) { return kernel->launch(shape, {x->argument()}); }
  void play(int frames) {
    for (int i = 0; i < frames; ++i) {
      for (int n = 0; n < 20; ++n) REQUIRE(launch().ok());
      const IdleReport report = agent->idle(1s);
      board->clock.advance(1s - report.used);
    }
  }
  Explanation explain() const { return required(kernel->explain({64})); }

  const std::unique_ptr<test::PlayedBoard> board;
  Device& device;
  std::unique_ptr<Buffer> x;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

std::size_t reloads_wanted() {
  return static_cast<std::size_t>(
      test::number_from_environment("IDLETUNE_TEST_RELOADS", test::repeats(500)));
}

}  // namespace

TEST_CASE("a model that is pushed is used for what comes, and what was measured is kept") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 1));
  ReloadingApplication application(path);
  REQUIRE(application.launch().ok());
  application.play(10);
  const Explanation before = application.explain();
  REQUIRE(before.evaluated > 0);
  CHECK(before.first_pick_quality == "other_device");
  CHECK(application.agent->status().model_generation == 1);

  push(path, model_saying(8, 8, 2));
  REQUIRE(application.agent->reload_model().ok());
  CHECK(application.agent->status().model_generation == 2);
  const Explanation after = application.explain();
  CHECK(after.evaluated == before.evaluated);
  CHECK(after.running == before.running);
  CHECK(after.default_ms == before.default_ms);
  // The pick of the new model is tried although the old one's search had begun.
  application.play(100);
  CHECK(application.explain().running == Configuration{8, 8});
  CHECK(application.explain().evaluated > before.evaluated);
}

TEST_CASE("nothing that was measured is measured again after a reload") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 1));
  ReloadingApplication application(path);
  REQUIRE(application.launch().ok());
  application.agent->tune_now(10h);
  const std::uint64_t all = application.explain().evaluated;
  REQUIRE(all == 255);  // all of the space but the default
  push(path, model_saying(8, 8, 2));
  REQUIRE(application.agent->reload_model().ok());
  application.agent->tune_now(10h);
  application.agent->tune_now(10h);
  CHECK(application.explain().evaluated == all);
}

TEST_CASE("a file that is refused changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 3));
  ReloadingApplication application(path);
  const std::uint64_t digest = application.agent->status().model_digest;
  auto damaged = model_saying(8, 8, 4);
  damaged[damaged.size() / 2] ^= 1;
  push(path, damaged);
  CHECK(application.agent->reload_model().code() == StatusCode::corrupt);
  CHECK(application.agent->status().model.code() == StatusCode::corrupt);
  CHECK(application.agent->status().model_digest == digest);
  CHECK(application.agent->reload_model(folder.path() + "/none").code() == StatusCode::not_found);
  // Older than what is in use.
  push(path, model_saying(8, 8, 2));
  CHECK(application.agent->reload_model().code() == StatusCode::version_mismatch);
  CHECK(application.agent->status().model_digest == digest);
  CHECK(application.agent->status().model_generation == 3);
  // What is in use already.
  push(path, model_saying(2, 2, 3));
  CHECK(application.agent->reload_model().ok());
  CHECK(application.agent->status().model.ok());
}

TEST_CASE("where a key is set nothing unsigned is believed, before or after a reload") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  const test::DigestCheck check;
  const PublicKey key = test::key_number(1);
  const auto trust = required(signed_files({key}, "board", &check));
  AgentOptions options;
  options.trust = trust.get();
  push(path, model_saying(2, 2, 1));
  {
    const ReloadingApplication application(path, options);
    CHECK(application.agent->status().model.code() == StatusCode::untrusted);
    CHECK(application.agent->status().model_digest == 0);
  }
  push(path, test::signed_by(key, "board", model_saying(2, 2, 1)));
  ReloadingApplication application(path, options);
  REQUIRE(application.agent->status().model.ok());
  CHECK(application.agent->status().model_generation == 1);
  for (const auto& file :
       {model_saying(8, 8, 2), test::signed_by(key, "other board", model_saying(8, 8, 2)),
        test::signed_by(test::key_number(2), "board", model_saying(8, 8, 2))}) {
    push(path, file);
    CHECK(application.agent->reload_model().code() == StatusCode::untrusted);
    CHECK(application.agent->status().model_generation == 1);
  }
  push(path, test::signed_by(key, "board", model_saying(8, 8, 2)));
  REQUIRE(application.agent->reload_model().ok());
  CHECK(application.agent->status().model_generation == 2);

  const std::string package = folder.path() + "/play.itkernel";
  push(package, played_package());
  CHECK(application.agent->kernel(application.device, package).status().code() ==
        StatusCode::untrusted);
  push(package, test::signed_by(key, "board", played_package()));
  CHECK(application.agent->kernel(application.device, package).ok());
}

TEST_CASE("going back uses the model before, in this process") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 1));
  {
    ReloadingApplication application(path);
    CHECK(application.agent->reject_model("no").code() == StatusCode::not_found);
    CHECK(application.agent->confirm_model().code() == StatusCode::not_found);
    push(path, model_saying(8, 8, 2));
    REQUIRE(application.agent->reload_model().ok());
    REQUIRE(application.agent->reject_model("no").ok());
    CHECK(application.agent->status().model_generation == 1);
    CHECK(application.agent->status().model_standing.gone_back.to_string() == "untrusted: no");
    CHECK(application.agent->reject_model("no").code() == StatusCode::not_found);
  }
  CHECK(ReloadingApplication(path).agent->status().model_generation == 2);
}

TEST_CASE("a start with a broken file says so, and one without any does not") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, {1, 2, 3});
  CHECK(ReloadingApplication(path).agent->status().model.code() == StatusCode::corrupt);
  CHECK(ReloadingApplication(path).agent->status().model_standing.state == ModelState::none);
  CHECK(ReloadingApplication(kNoModel).agent->status().model.ok());
}

TEST_CASE("with slots a pushed model is on trial, over restarts, until somebody says what it is") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 1));
  AgentOptions options = test::options_in(folder.path() + "/state");
  options.slots = model_slots();
  options.model_check_interval = 1ns;
  {
    ReloadingApplication application(path, options);
    CHECK(application.agent->status().model_standing.state == ModelState::confirmed);
    push(options.state + "/incoming/fleet.itmodel", model_saying(8, 8, 2));
    CHECK(application.agent->idle(1ms).stages == 0);
    CHECK(application.agent->status().model_generation == 2);
    CHECK(application.agent->status().model_standing.state == ModelState::trial);
    CHECK_FALSE(std::filesystem::exists(options.state + "/incoming/fleet.itmodel"));
  }
  // It was closed as it should be: no start of these counts as a death.
  for (int start = 0; start < 5; ++start) {
    const ReloadingApplication application(path, options);
    CHECK(application.agent->status().model_standing.state == ModelState::trial);
  }
  {
    ReloadingApplication application(path, options);
    REQUIRE(application.agent->confirm_model().ok());
    CHECK(application.agent->status().model_standing.state == ModelState::confirmed);
    CHECK(application.agent->status().model_standing.lowest_generation == 2);
  }
  ReloadingApplication application(path, options);
  CHECK(application.agent->status().model_generation == 2);
  CHECK(application.agent->reload_model().code() == StatusCode::version_mismatch);
  REQUIRE(application.agent->reject_model("no").ok());
  CHECK(application.agent->status().model_generation == 1);
  CHECK(application.agent->status().model_standing.gone_back.message() == "no");
  CHECK(application.agent->explain().find("\"model_state\": \"confirmed\"") != std::string::npos);
}

TEST_CASE("a file that was replaced is noticed between launches, if the application wants that") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  push(path, model_saying(2, 2, 1));
  AgentOptions options;
  options.model_check_interval = 1ns;
  ReloadingApplication watching(path, options);
  ReloadingApplication waiting(path);
  push(path, model_saying(8, 8, 2));
  CHECK(watching.agent->idle(1ms).stages == 0);
  CHECK(waiting.agent->idle(1ms).stages == 0);
  CHECK(watching.agent->status().model_generation == 2);
  CHECK(waiting.agent->status().model_generation == 1);
  auto damaged = model_saying(8, 8, 3);
  damaged[damaged.size() / 2] ^= 1;
  push(path, damaged);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(watching.launch().ok());
    CHECK(watching.agent->idle(1ns).stages == 0);
    CHECK(watching.agent->status().model.code() == StatusCode::corrupt);
  }
  // What is left of the gap is used.
  for (int i = 0; i < 2000; ++i) REQUIRE(watching.launch().ok());
  CHECK(watching.agent->idle(1s).stages > 0);
  // What was gone back from is not taken up again.
  REQUIRE(watching.agent->reject_model("no").ok());
  CHECK(watching.agent->idle(1ms).stages == 0);
  CHECK(watching.agent->status().model_generation == 1);
}

TEST_CASE("models are replaced again and again while several threads launch and one tunes") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/board.itmodel";
  const std::vector<std::uint8_t> contents[] = {model_saying(2, 2, 1), model_saying(8, 8, 1),
                                                model_saying(4, 4, 1)};
  push(path, contents[0]);
  ReloadingApplication application(path);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> launches{0};
  std::atomic<std::uint64_t> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const Shape shapes[] = {{64}, {128}, {256 + t}};
      for (std::size_t i = 0; !stop.load(); ++i) {
        if (!application.launch(shapes[i % 3]).ok()) ++failures;
        ++launches;
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) {
      application.agent->idle(200ms);
      application.board->clock.advance(10ms);
      (void)application.kernel->explain({64});
    }
  });
  while (launches.load() == 0) std::this_thread::yield();  // all of this is during launches
  const std::size_t wanted = reloads_wanted();
  std::size_t taken = 0;
  std::size_t refused = 0;
  for (std::size_t i = 1; i <= wanted; ++i) {
    std::vector<std::uint8_t> bytes = contents[i % 3];
    if (i % 10 == 0) bytes.resize(bytes.size() / 2);
    push(path, bytes);
    (application.agent->reload_model().ok() ? taken : refused) += 1;
    if (i % 25 == 0) CHECK(application.agent->reject_model("no").ok());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == wanted / 10);
  CHECK(taken == wanted - refused);
  CHECK(failures == 0);
  CHECK(launches > 0);
  MESSAGE(wanted << " reloads, " << refused << " of them refused, during " << launches.load()
                 << " launches; evaluated " << application.explain().evaluated);
}
