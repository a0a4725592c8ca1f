// What runs first: what an earlier session adopted, then the model's first picks, then a search.
#include "tests/unit/tuning/played_engine.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::model_saying;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;

namespace {

const Configuration kDefault{1, 1};
const Configuration kPick{8, 8};
const Shape kShapes[] = {{64}, {128}, {192}};

std::size_t adopted(PlayedEngine& engine) {
  std::size_t count = 0;
  for (const auto& task : engine.kernel->shapes) count += task->variants.adopted() != nullptr;
  return count;
}

}  // namespace

TEST_CASE("the first picks of all shapes run before anything else is tried, compiled once") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  engine.use_model(model_saying(8, 8));
  for (int frame = 0; frame < 200 && adopted(engine) < 3; ++frame) {
    for (const Shape& shape : kShapes) REQUIRE(engine.launch(shape, 20).ok());
    (void)engine.idle(200ms);
  }
  CHECK(adopted(engine) == 3);
  std::vector<Shape> tried;  // with the pick, before anything else was
  std::size_t compiled = 0;
  for (const TrialRequest& request : board->requested) {
    if (request.configuration == kDefault) continue;
    if (request.configuration != kPick) break;
    compiled += request.stage == TrialStage::compile;
    if (tried.empty() || tried.back() != request.shape) tried.push_back(request.shape);
  }
  CHECK(tried.size() == 3);
  CHECK(compiled == 1);
}

TEST_CASE("the first pick of the shape with the most kernel time comes first") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  engine.use_model(model_saying(8, 8));
  REQUIRE(engine.launch({128}, 100).ok());
  REQUIRE(engine.launch({64}, 3000).ok());
  while (adopted(engine) == 0) engine.tune(100ms);
  CHECK(engine.explain({64}).selection == Selection::first_pick);
  CHECK(engine.explain({128}).selection == Selection::fallback);
}

TEST_CASE("of two shapes that are launched without end each is tuned") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  for (const std::int64_t size : {64, 128}) engine.kernel->state->expect_launches({size}, INFINITY);
  for (int i = 0; i < 150; ++i) {
    REQUIRE(engine.launch({64}, 40).ok());
    REQUIRE(engine.launch({128}, 40).ok());
    engine.idle_through(50ms);
  }
  const double first = static_cast<double>(engine.explain({64}).evaluated);
  const double second = static_cast<double>(engine.explain({128}).evaluated);
  CHECK(std::min(first, second) > 0.5 * std::max(first, second));
}

TEST_CASE("what was adopted for more shapes than a start builds is built later, by run() alone") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  constexpr std::int64_t kCount = 20;
  {
    PlayedEngine first(*board, disk);
    for (std::int64_t n = 1; n <= kCount; ++n) {
      journal::Adoption adoption;
      adoption.trial = first.task({n}).identity;
      adoption.trial.configuration = kPick;
      adoption.expected = 1ms;
      adoption.default_time = 4ms;
      adoption.checked_seeds = 2;
      first.journal->adopted(adoption);
    }
    first.engine.reset();
    REQUIRE(first.journal->shutdown().ok());
  }
  PlayedEngine second(*board, disk);
  CHECK(adopted(second) == 16);
  CHECK(board->device.compiles == 3);  // the default twice, and the pick for all sixteen shapes
  for (std::int64_t n = 1; n <= kCount; ++n) REQUIRE(second.launch({n}).ok());
  second.engine->notice_new_shapes();
  for (std::int64_t n = 1; n <= kCount; ++n) (void)second.explain({n});
  CHECK(adopted(second) == 16);  // telling builds nothing
  (void)second.idle(10ms);
  CHECK(adopted(second) == kCount);
}

TEST_CASE("a setup counts against what is adopted, by the launches that are still to come") {
  for (const double to_come : {10.0, 1e6}) {
    const auto board = board_that();
    board->on_stage = [](const TrialRequest& request, TrialOutcome& outcome) {
      const bool runs = request.stage == TrialStage::measure;
      if (runs && request.configuration == kPick) outcome.setup = 20ms;
    };
    PlayedEngine engine(*board);
    engine.use_model(model_saying(8, 7));
    REQUIRE(engine.launch({64}, 100).ok());
    engine.task().said_launches = 100 + to_come;
    while (adopted(engine) == 0) engine.tune(100ms);
    engine.tune(10h);
    CHECK(engine.explain().evaluated == 255);
    CHECK((engine.explain().running == kPick) == (to_come > 100));
  }
}
