// A medium on which a sync takes long: idle time ends all the same, and nothing runs unannounced.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedBoard;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

// What a sync waits for; not for ever, so that a caller that waits for the sync comes back.
class Gate {
 public:
  void close() { set(false); }
  void open() { set(true); }
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, 5s, [this] { return open_; });
  }

 private:
  void set(bool open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
};

bool any_candidate(const PlayedBoard& board) {
  return std::any_of(board.requested.begin(), board.requested.end(), [](const TrialRequest& stage) {
    return stage.stage == TrialStage::compile && stage.configuration != Configuration{1, 1};
  });
}

}  // namespace

TEST_CASE("idle time ends while an intent is being written, and the stage begins only after that") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  Gate gate;
  PlayedEngine engine(*board, disk, {}, 1, detail::BuildThread::worker);
  disk->before_sync = [&] { gate.pass(); };
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  gate.close();
  for (int gap = 0; gap < 10 && engine.task().default_time.count() == 0; ++gap) {
    engine.idle(1s);
  }
  REQUIRE(engine.task().default_time.count() > 0);
  for (int gap = 0; gap < 3; ++gap) {
    const IdleReport report = engine.idle(1ms);
    CHECK(report.waiting);
    CHECK(report.why == std::string("the journal is being written"));
    CHECK_FALSE(any_candidate(*board));
  }
  gate.open();
  while (!any_candidate(*board)) engine.idle(1s);
  CHECK(engine.journal->storage_status().ok());
}

TEST_CASE("nothing is announced in gaps that a sync outlasts, but for a look now and then") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  PlayedEngine engine(*board, disk);
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  while (engine.task().default_time.count() == 0) engine.tune(1s);
  int syncs = 0;
  disk->before_sync = [&] {
    ++syncs;
    board->clock.advance(20ms);
  };
  for (int gap = 0; gap < 5000; ++gap) {
    REQUIRE(engine.launch({64}, 2).ok());
    engine.idle_through(1ms);
    board->clock.advance(16ms);
  }
  CHECK(syncs > 0);
  CHECK(syncs < 10);
  CHECK(engine.task().gap_needed > 10ms);
  const std::uint64_t evaluated = engine.explain().evaluated;
  engine.play(20, 50, 1s);
  CHECK(engine.explain().evaluated > evaluated);
}

TEST_CASE("who gives time neither writes nor syncs, not even where the journal is compacted") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  PlayedEngine engine(*board, disk, {}, 1, detail::BuildThread::worker);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> on_caller{0};
  std::atomic<int> syncs{0};
  disk->before_sync = [&] {
    ++syncs;
    on_caller += std::this_thread::get_id() == caller;
  };
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  const std::uint64_t compactions = engine.journal->outbox().folder_syncs();
  for (int gap = 0; gap < 10000 && engine.journal->outbox().folder_syncs() == compactions; ++gap) {
    engine.idle(1s);
    board->clock.advance(61s);
    REQUIRE(engine.launch({64}, 100).ok());
  }
  CHECK(engine.journal->outbox().folder_syncs() > compactions);
  CHECK(syncs > 100);
  CHECK(on_caller == 0);
}

TEST_CASE("a sync that failed beside idle time is noticed") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  PlayedEngine engine(*board, disk, {}, 1, detail::BuildThread::worker);
  disk->before_sync = [&] { disk->fault.first = 0; };
  REQUIRE(engine.launch({64}, 5000).ok());
  engine.task().said_launches = 1e7;
  while (!any_candidate(*board)) engine.idle(1s);
  CHECK(engine.journal->storage_status().code() == StatusCode::io_error);
}
