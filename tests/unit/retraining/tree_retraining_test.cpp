// A model from another device becomes this board's, by what this board measured.
#include "agent/retraining/tree_retraining.hpp"

#include <cmath>
#include <functional>

#include <idletune/learning.hpp>

#include "models/core/digest.hpp"
#include "models/core/random.hpp"
#include "tests/unit/tuning/played_engine.hpp"
#include "tests/unit/tuning/played_model.hpp"

using namespace idletune;
using idletune::test::board_that;
using idletune::test::Disk;
using idletune::test::model_saying;
using idletune::test::PlayedEngine;
using namespace std::chrono_literals;
using detail::TreeRetraining;

namespace {

using Time = std::function<double(std::int64_t n, std::int64_t a, std::int64_t b)>;  // ns

// Small problems want few in A, large ones many; B matters little.
double board_time(std::int64_t n, std::int64_t a, std::int64_t b) {
  const double wanted = n < 2000 ? 1 : 3;
  const double off = std::fabs(std::log2(static_cast<double>(a)) - wanted);
  return 1e5 * (1 + 0.6 * off + 0.02 * std::fabs(static_cast<double>(b) - 3));
}

AgentOptions with_retraining() {
  AgentOptions options;
  options.learner = forest_and_tree_learner();
  return options;
}

TreeRetraining& retraining_of(PlayedEngine& engine) {
  return static_cast<TreeRetraining&>(*engine.kernel->retrainer);
}

void measure(PlayedEngine& engine, const Shape& shape, const Configuration& configuration,
             double time) {
  journal::Measurement measurement;
  const DeviceInfo& device = engine.kernel->state->device().info();
  measurement.trial.kernel = engine.kernel->state->package().digest();
  measurement.trial.device = device.device_key();
  measurement.trial.driver = device.driver_key();
  measurement.trial.shape = shape;
  measurement.trial.configuration = configuration;
  measurement.median = measurement.minimum = Nanoseconds(static_cast<std::int64_t>(time));
  measurement.samples = 5;
  engine.journal->measured(measurement);
}

// What refining leaves in the journal: at each problem the default, the model's pick, and some of
// what is good at other problems.
void refine(PlayedEngine& engine, std::size_t problems, const Configuration& pick,
            const Time& time = board_time) {
  Random random(20261123);
  for (std::size_t i = 0; i < problems; ++i) {
    const auto n = static_cast<std::int64_t>(64 * (i + 1));
    std::vector<Configuration> tried{{1, 1}, pick};
    for (int draws = 0; draws < 6; ++draws) {
      const auto a = std::int64_t{1} << random.below(5);
      tried.push_back({a, static_cast<std::int64_t>(2 + random.below(2))});
    }
    for (const Configuration& configuration : tried) {
      measure(engine, {n}, configuration, time(n, configuration[0], configuration[1]));
    }
  }
}

std::int64_t picked(PlayedEngine& engine, std::int64_t n) {
  const auto pick =
      first_pick(*engine.kernel->model->knowledge, engine.kernel->state->package().space(), {n},
                 engine.kernel->state->device().info().name);
  REQUIRE(pick);
  return pick->configuration[0];
}

// (mean of default / choice - 1) / (mean of default / best - 1) at problems that nobody measured.
double captured(PlayedEngine& engine) {
  double gain = 0;
  double peak = 0;
  for (std::int64_t n = 96; n < 3800; n += 64) {
    const auto pick =
        first_pick(*engine.kernel->model->knowledge, engine.kernel->state->package().space(), {n},
                   engine.kernel->state->device().info().name);
    REQUIRE(pick);
    const double usual = board_time(n, 1, 1);
    gain += usual / board_time(n, pick->configuration[0], pick->configuration[1]) - 1;
    peak += usual / board_time(n, n < 2000 ? 2 : 8, 3) - 1;
  }
  return gain / peak;
}

// Of one kernel for each name of its problems' only dimension.
std::vector<std::uint8_t> model_bytes(const std::vector<std::string>& inputs,
                                      std::uint64_t digest) {
  using namespace idletune::test;
  model_building::Builder builder;
  std::vector<flatbuffers::Offset<model_schema::KernelEntry>> kernels;
  for (const std::string& input : inputs) {
    ModelContent content = content_saying(16, 3);
    content.with_sources = false;
    auto sections = model_building::sections(builder, content);
    model_building::Builder inner;
    std::vector<flatbuffers::Offset<model_schema::ModelSource>> sources;
    for (const SourceContent& each : content.sources) {
      sources.push_back(model_schema::CreateModelSourceDirect(
          inner, each.device.c_str(), &each.shape, &each.quantiles, each.well_performing,
          each.valid, each.measured, each.best_ns, each.best_ns * 3, 0));
    }
    const std::vector<flatbuffers::Offset<flatbuffers::String>> names{inner.CreateString(input)};
    model_building::add_section(builder, sections, model_schema::SectionKind::sources, inner,
                                model_schema::CreateSourcesSectionDirect(inner, &sources, &names));
    const auto name = builder.CreateString(content.kernel);
    const auto parameters = builder.CreateVectorOfStrings(content.parameters);
    kernels.push_back(
        model_schema::CreateKernelEntry(builder, name, parameters, builder.CreateVector(sections)));
  }
  model_schema::FinishModelFileBuffer(
      builder,
      model_schema::CreateModelFile(builder, 1, 7, 1, digest, 0, 0, builder.CreateVector(kernels)));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::shared_ptr<const Model> model_knowing(const std::vector<std::string>& inputs) {
  const auto draft = model_bytes(inputs, 0);
  const auto& file = *model_schema::GetModelFile(draft.data());
  return required(Model::open(model_bytes(inputs, model_schema::content_digest(file)), "test"));
}

void idle_until_trained(PlayedEngine& engine, std::uint64_t trainings = 1) {
  for (int i = 0; i < 1000 && retraining_of(engine).trainings() < trainings; ++i) {
    (void)engine.idle(20ms);
  }
  REQUIRE(retraining_of(engine).trainings() >= trainings);
}

}  // namespace

TEST_CASE("a tree from another device is replaced by one of what this board measured") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  const double before = captured(engine);
  idle_until_trained(engine);
  CHECK(retraining_of(engine).replacements() == 1);
  CHECK(retraining_of(engine).comparison().rows == 60);
  const double after = captured(engine);
  CHECK(before < 0.5);
  CHECK(after > 0.9);
  CHECK(picked(engine, 96) == 2);
  CHECK(picked(engine, 3600) == 8);
  REQUIRE(engine.launch({3632}).ok());
  CHECK(engine.explain({3632}).first_pick_quality == "selector");
}

TEST_CASE("a tree is grown for the kernel whose problems are the package's, of two of one name") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_knowing({"K", "N"}));
  REQUIRE(engine.kernel->model != nullptr);
  refine(engine, 60, {16, 3});
  idle_until_trained(engine);
  CHECK(retraining_of(engine).replacements() == 1);
  CHECK(captured(engine) > 0.9);
}

TEST_CASE("nothing that the tree rests on is lost when the process is killed") {
  const auto disk = std::make_shared<Disk>();
  const auto board = board_that();
  double before = 0;
  std::shared_ptr<Disk> killed;
  {
    PlayedEngine engine(*board, disk, with_retraining());
    engine.use_model(model_saying(16, 3));
    refine(engine, 60, {16, 3});
    idle_until_trained(engine);
    before = captured(engine);
    killed = std::make_shared<Disk>(disk->files());  // nobody closed anything
  }
  PlayedEngine engine(*board, killed, with_retraining(), 2);
  engine.use_model(model_saying(16, 3));
  CHECK(captured(engine) < before);
  idle_until_trained(engine);
  CHECK(captured(engine) == before);
}

TEST_CASE("a tree that is no better on problems that it did not see replaces nothing") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  const auto model = model_saying(2, 3);
  engine.use_model(model);
  // Two is best everywhere, and what else is measured is noise.
  refine(engine, 60, {2, 3}, [](std::int64_t n, std::int64_t a, std::int64_t b) {
    const auto mixed = static_cast<std::uint64_t>(n * 31 + a * 17 + b) * 0x9e3779b97f4a7c15u;
    return a == 2 && b == 3 ? 1e5 : 1.02e5 + static_cast<double>(mixed >> 50);
  });
  idle_until_trained(engine);
  CHECK(retraining_of(engine).replacements() == 0);
  CHECK((engine.kernel->model->model == model));
}

TEST_CASE("a tree is grown again when a quarter more was measured, and not before") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 40, {16, 3});
  idle_until_trained(engine);
  for (int i = 0; i < 50; ++i) (void)engine.idle(20ms);
  CHECK(retraining_of(engine).trainings() == 1);
  refine(engine, 60, {16, 3});
  idle_until_trained(engine, 2);
}

TEST_CASE("a tree is grown again of what was measured anew, though the journal holds no more") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 40, {16, 3});
  idle_until_trained(engine);
  const std::size_t held = engine.journal->state().measurement_count();
  refine(engine, 40, {16, 3});
  CHECK(engine.journal->state().measurement_count() == held);
  idle_until_trained(engine, 2);
}

TEST_CASE("a model that is pushed while a tree is grown is what the next tree is compared with") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  TreeRetraining& retraining = retraining_of(engine);
  for (int stages = 0; stages < 63; ++stages) REQUIRE(retraining.step(20ms, engine.kernel->model));
  const auto pushed = model_saying(4, 3);
  engine.use_model(pushed);
  idle_until_trained(engine, 2);
  CHECK(retraining.replacements() == 1);
  CHECK(captured(engine) > 0.9);
}

TEST_CASE("a gap that is too short for a stage is left alone") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  CHECK_FALSE(retraining_of(engine).step(1us, engine.kernel->model));
  CHECK(retraining_of(engine).step(10ms, engine.kernel->model));
}

TEST_CASE("a stage waits for a gap as long as those of its kind were, also in later trainings") {
  struct SlowClock final : MonotonicClock {
    Nanoseconds now() const override { return time += 30ms; }
    mutable Nanoseconds time{0};
  } clock;
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  TreeRetraining retraining(engine.journal->state(), *engine.kernel, clock);
  // It begins, reads 60 rows, prepares, judges 15 trees; then a tree is grown of all rows.
  for (int stages = 0; stages < 77; ++stages) REQUIRE(retraining.step(1s, engine.kernel->model));
  CHECK_FALSE(retraining.step(3ms, engine.kernel->model));
  REQUIRE(retraining.step(1s, engine.kernel->model));
  REQUIRE(retraining.trainings() == 1);
  refine(engine, 60, {16, 3});
  CHECK_FALSE(retraining.step(3ms, engine.kernel->model));
  CHECK(retraining.step(1s, engine.kernel->model));
}

TEST_CASE("stages that are too long for the gaps start ever more rarely") {
  struct SlowClock final : MonotonicClock {
    Nanoseconds now() const override { return time += 25ms; }  // a stage takes 25
    mutable Nanoseconds time{0};
  } clock;
  const auto board = board_that();
  PlayedEngine engine(*board);
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  TreeRetraining retraining(engine.journal->state(), *engine.kernel, clock);
  auto model = engine.kernel->model;
  int started = 0;
  for (int call = 0; call < 6000; ++call) started += retraining.step(8ms, model);
  CHECK(started > 0);
  CHECK(started <= 12);
}

TEST_CASE("without a model, or with few problems, no tree is grown") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  refine(engine, 60, {16, 3});
  CHECK_FALSE(retraining_of(engine).step(10ms, engine.kernel->model));
  const auto other = board_that();
  PlayedEngine few(*other, std::make_shared<Disk>(), with_retraining());
  few.use_model(model_saying(16, 3));
  refine(few, 9, {16, 3});
  idle_until_trained(few);
  CHECK(retraining_of(few).replacements() == 0);
}

TEST_CASE("a configuration that fails at some problems is not chosen there") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  engine.use_model(model_saying(16, 3));
  refine(engine, 60, {16, 3});
  for (std::int64_t n = 64; n <= 1280; n += 64) {
    // Of so many measurements only the best have room in a row.
    for (std::int64_t i = 0; i < 36; ++i) measure(engine, {n}, {5 + i / 3, 4 + i % 3}, 4e5);
    for (std::int64_t b : {2, 3}) {
      journal::Measurement wrong;
      const DeviceInfo& device = engine.kernel->state->device().info();
      wrong.trial = {engine.kernel->state->package().digest(),
                     device.device_key(),
                     device.driver_key(),
                     {n},
                     {2, b}};
      wrong.status = TrialStatus::correctness;
      engine.journal->measured(wrong);
    }
  }
  idle_until_trained(engine);
  CHECK(picked(engine, 640) != 2);
  CHECK(picked(engine, 1700) == 2);
}

TEST_CASE("a row has times as beside the default, and no death that was nobody's") {
  const auto board = board_that();
  PlayedEngine engine(*board, std::make_shared<Disk>(), with_retraining());
  const auto add = [&](const Configuration& configuration, std::int64_t ms, std::int64_t beside,
                       TrialStatus status = TrialStatus::correct) {
    journal::Measurement measurement;
    measurement.trial = engine.task().identity;
    measurement.trial.configuration = configuration;
    measurement.status = status;
    measurement.median = std::chrono::milliseconds(ms);
    measurement.default_time = std::chrono::milliseconds(beside);
    engine.journal->measured(measurement);
  };
  add({2, 2}, 8, 10);
  add({4, 4}, 10, 16);  // the clock was slower
  add({8, 8}, 0, 0, TrialStatus::crash);
  const detail::MeasuredRow row =
      detail::read_row(engine.journal->state(), engine.task().identity.shape_key(), 0, 16ms);
  REQUIRE(row.cells.size() == 2);
  CHECK(row.cells[0].configuration == digest_of(Configuration{4, 4}));
  CHECK(row.cells[1].q == doctest::Approx(10.0 / 12.8));
}
