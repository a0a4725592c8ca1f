// What a death or a full disk says, and what it does not say, beyond the place where it happened.
#include "tests/unit/tuning/played_engine.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Shape kHere{64};
const Shape kElsewhere{128};
const Configuration kBestHere{8, 8};

// Somebody kills the helper when it first checks that configuration, if `kill` says so.
void kill_in_check(test::PlayedBoard& board, const Configuration& victim, bool& kill) {
  board.on_stage = [&kill, victim](const TrialRequest& request, TrialOutcome& outcome) {
    if (!kill || request.configuration != victim || request.stage != TrialStage::check) return;
    outcome.status = TrialStatus::crash;
    outcome.ambiguous = true;
    kill = false;
  };
}

}  // namespace

TEST_CASE("a death at one shape takes nothing away for good where it did not happen") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto board = board_that();
    bool kill = false;
    kill_in_check(*board, kBestHere, kill);
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch(kHere, 1000).ok());
    engine.tune(10h);
    REQUIRE(engine.explain().running == kBestHere);
    kill = true;
    REQUIRE(engine.launch(kElsewhere, 10).ok());
    for (int i = 0; i < 20 && kill; ++i) engine.tune(100ms);
    REQUIRE_FALSE(kill);
    REQUIRE(engine.journal->state().dangers().is_suspect(engine.key_of(kBestHere)));
  }
  // The shape where it died is not launched any more.
  const auto board = board_that();
  PlayedEngine next(*board, disk, {}, 2);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(next.launch(kHere, 1000).ok());
    next.tune(10h);
    next.idle_through(1s);
  }
  CHECK(next.explain().running == kBestHere);
}

TEST_CASE("what a helper was killed in is not tried again by a search that begins anew") {
  const auto board = board_that();
  bool kill = true;
  kill_in_check(*board, kBestHere, kill);
  PlayedEngine engine(*board);
  engine.use_model(test::model_saying(8, 8));
  REQUIRE(engine.launch(kHere, 1000).ok());
  engine.tune(10h);
  REQUIRE_FALSE(kill);
  const auto tries = [&] {
    std::size_t count = 0;
    for (const TrialRequest& request : board->requested) {
      count += request.configuration == kBestHere && request.stage == TrialStage::check;
    }
    return count;
  };
  REQUIRE(tries() == 1);
  engine.use_model(test::model_saying(8, 8));
  REQUIRE(engine.launch(kHere, 1000).ok());
  REQUIRE(engine.launch(kElsewhere, 1000).ok());
  engine.tune(10h);
  CHECK(tries() == 1);
  CHECK(engine.journal->state().dangers().is_suspect(engine.key_of(kBestHere)));
}

TEST_CASE("an application that ends cleanly on a full disk convicts nothing that raced") {
  const auto board = board_that();
  const auto disk = std::make_shared<Disk>();
  Configuration racer;
  {
    PlayedEngine engine(*board, disk);
    engine.kernel->in_place = {true, 0.5};
    REQUIRE(engine.launch(kHere, 20000).ok());
    engine.task().said_launches = 1e7;
    for (int i = 0; i < 1000 && engine.task().variants.racers() < 1; ++i) engine.idle_through(50ms);
    REQUIRE(engine.task().variants.racers() > 0);
    racer = engine.task().variants.racer(0).configuration;
    disk->fault.first = disk->changes;
    disk->fault.code = StatusCode::no_space;
    engine.engine->release_device();
    engine.engine->note(false);
    engine.engine.reset();
    (void)engine.journal->shutdown();
  }
  *disk = Disk(test::Files(disk->files()));
  PlayedEngine next(*board, disk);
  CHECK_FALSE(next.journal->state().dangers().is_quarantined(next.key_of(racer)));
}

TEST_CASE("what hangs where the tuner launches it ahead is launched by nobody at the next start") {
  const auto disk = std::make_shared<Disk>();
  int hung = 0;
  for (const bool hangs : {false, true, true}) {
    const auto board = board_that();
    board->device.kernels["play"] = [&](const fake::Launch& launch) {
      if (launch.parameter("A") != 8 || launch.parameter("B") != 8) return Status();
      if (launch.range.global[0] != 64) return Status();  // small, as it is built
      hung += hangs;
      return hangs ? Status(StatusCode::timeout, "hangs") : Status();
    };
    PlayedEngine engine(*board, disk);
    if (!hangs) {
      REQUIRE(engine.launch(kHere, 1000).ok());
      engine.tune(10h);
      REQUIRE(engine.explain().running == kBestHere);
    } else {
      CHECK(engine.journal->state().dangers().is_quarantined(engine.key_of(kBestHere)));
      CHECK(engine.task().running() != kBestHere);
    }
    CHECK(engine.journal->shutdown().ok());
  }
  CHECK(hung == 1);
}

TEST_CASE("what a quirk file names is launched no more, though it was adopted") {
  const auto disk = std::make_shared<Disk>();
  {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    REQUIRE(engine.launch(kHere, 1000).ok());
    engine.tune(10h);
    REQUIRE(engine.explain().running == kBestHere);
    CHECK(engine.journal->shutdown().ok());
  }
  QuirkTable table;
  REQUIRE(table.add_text("kernel=\"play\": A == 8, B == 8: hangs\n", "test").ok());
  const auto board = board_that();
  board->quirks = std::make_shared<const QuirkTable>(std::move(table));
  PlayedEngine next(*board, disk);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(next.launch(kHere, 1000).ok());
    CHECK(next.explain().running != kBestHere);
    next.tune(10h);
  }
}

TEST_CASE("where no more dangers can be kept nothing new is tried") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  REQUIRE(engine.launch(kHere, 1000).ok());
  journal::Trial wrong = engine.kernel->facts().trial({2, 2}, kElsewhere);
  while (!engine.journal->state().dangers().full()) {
    ++wrong.kernel;
    engine.journal->wrong(wrong, 0);
  }
  engine.tune(10h);
  CHECK(engine.explain().evaluated == 0);
  CHECK(engine.explain().running == Configuration{1, 1});
  CHECK(engine.explain().reason.find("the journal is full of dangers") != std::string::npos);
}
