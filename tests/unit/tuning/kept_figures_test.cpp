// What is counted goes on after a restart where it stood.
#include <chrono>
#include <memory>

#include "agent/journal/summary.hpp"
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

TEST_CASE("the account goes on after a restart where it stood") {
  const auto disk = std::make_shared<Disk>();
  double charged = 0;
  {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    engine.play(100, 50, 1s);
    charged = engine.engine->status().charged_seconds;
    REQUIRE(charged > 0);
    engine.engine->note(true);
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
  const auto board = board_that();
  PlayedEngine engine(*board, disk);
  CHECK(engine.engine->status().charged_seconds == doctest::Approx(charged));
}

TEST_CASE("launches since the last look are in the account that is kept") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  PlayedEngine engine(*board, disk);
  engine.play(100, 50, 1s);
  const Nanoseconds time = engine.journal->state().ledger().kernel_time;
  REQUIRE(engine.launch({64}, 1000).ok());
  SUBCASE("by a flush") { engine.engine->note(true); }
  SUBCASE("at the end") { engine.engine.reset(); }
  CHECK(engine.journal->state().ledger().kernel_time - time > 1000 * 1us);
}

TEST_CASE("what a shape's sessions launched adds up over restarts") {
  const auto disk = std::make_shared<Disk>();
  for (std::uint32_t session = 1; session <= 3; ++session) {
    const auto board = board_that();
    PlayedEngine engine(*board, disk);
    engine.play(20, 50, 1s);
    engine.engine->note(true);
    const auto past =
        engine.journal->state().shape_statistics(engine.task().identity.kernel, Shape{64});
    REQUIRE(past);
    CHECK(past->sessions == session);
    CHECK(past->launches == 1000 * session);
    CHECK(past->active_seconds >= 19 * session);
    engine.engine.reset();
    REQUIRE(engine.journal->shutdown().ok());
  }
}

TEST_CASE("a flush keeps the account and the launches, whatever was written a moment ago") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  PlayedEngine engine(*board, disk, {}, 1, detail::BuildThread::worker);
  engine.play(20, 50, 100ms);
  engine.engine->note(true);
  const auto kept = journal::read_journal(disk->files().at(journal::kJournalName));
  REQUIRE(kept.ok());
  const double kernel = engine.engine->status().kernel_seconds;
  CHECK(std::chrono::duration<double>(kept->state.ledger().kernel_time).count() ==
        doctest::Approx(kernel));
  CHECK(kernel > 0);
  REQUIRE(kept->state.shape_statistics(engine.task().identity.kernel, Shape{64}));
  CHECK(kept->state.shape_statistics(engine.task().identity.kernel, Shape{64})->launches == 1000);
}
