// From a file of many problems with features to the configuration of problems never seen.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/host/learn/learn.hpp"
#include "models/host/learn/selector_code.hpp"
#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/learn/feature_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

LearnedModel learned_from(const std::vector<FeatureProblem>& problems, bool with_feature = true) {
  const auto histories = required(
      read_histories(write_histories(feature_histories(problems, with_feature)), "play.ithistory"));
  REQUIRE(histories.size() == problems.size());
  std::vector<const History*> pointers;
  for (const History& history : histories) pointers.push_back(&history);
  return required(learn(pointers, LearnOptions()));
}

std::shared_ptr<const Model> opened(const LearnedModel& learned) {
  return required(Model::open(learned.bytes, "learned"));
}

// Mean relative performance of what the model names first, on problems that it has not seen.
double first_pick_quality(const Model& model, const std::vector<FeatureProblem>& problems,
                          bool with_feature = true) {
  double sum = 0;
  for (const FeatureProblem& problem : problems) {
    const History history = feature_history(problem, with_feature);
    const auto pick =
        required(first_pick(model.kernels()[0], *space_of(history), history.shape, "board"));
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (history.configuration(row) == pick.configuration)
        sum += history.best_time_ns() / history.run_time_ns(row);
    }
  }
  return sum / static_cast<double>(problems.size());
}

// played_package() with features.
std::vector<std::uint8_t> feature_package(const std::string& given = "mean_row") {
  KernelDescription description = test::made_kernel("play", "nobody compiles this");
  description.features = {{given, {}, {}, {}, {}}, {"rest", "N % 16", {}, {}, {}}};
  for (const char* name : {"A", "B"}) {
    description.parameters.push_back({name, ParameterKind::other, {1, 2, 4, 8, 16}, 1});
  }
  description.launch.global = {"N"};
  description.launch.local = {"1"};
  description.arguments = {test::made_buffer("x", "64", Access::inout)};
  return required(pack(description));
}

std::string stored(const TemporaryFolder& folder, const LearnedModel& model) {
  const std::string path = folder.path() + "/play.itmodel";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(model.bytes.data()),
             static_cast<std::streamsize>(model.bytes.size()));
  return path;
}

// An agent with that model on a board where a feature alone decides, after one problem's tuning.
Explanation tuned(const std::string& model, const FeatureProblem& problem,
                  const std::string& given = "mean_row", Nanoseconds budget = 1min) {
  const auto board = board_that([&](const Configuration& configuration) {
    return RecordedTrial{TrialStatus::correct,
                         feature_time(problem.mean_row, configuration[0], configuration[1]), 20ms};
  });
  AgentOptions options;
  options.model = model;
  Agent agent = agent_on(*board, options);
  auto kernel = required(agent.kernel(board->device, feature_package(given)));
  auto x = std::move(*board->device.allocate(64 * sizeof(float)));
  const Problem launched({problem.n}, {problem.mean_row});
  REQUIRE(kernel.launch(launched, {x->argument()}).ok());
  (void)agent.tune_now(budget);
  return required(kernel.explain(launched));
}

}  // namespace

TEST_CASE("a model learned from many problems names what a feature alone decides") {
  const auto seen = feature_problems(40, 5, 1);
  const auto unseen = feature_problems(40, 3, 2);  // other matrices, not other sizes of these
  const LearnedModel with = learned_from(seen);
  CHECK(first_pick_quality(*opened(with), unseen) > 0.97);
  const LearnedModel without = learned_from(seen, false);
  CHECK(first_pick_quality(*opened(without), unseen, false) < 0.85);

  REQUIRE(with.kernels[0].selectors.size() == 1);
  const LearnedSelector& selector = with.kernels[0].selectors[0];
  CHECK(selector.inputs == std::vector<std::string>{"N", "mean_row", "rest"});
  CHECK(selector.retained > 0.95);
  CHECK(opened(with)->kernels()[0].input_names() == "N mean_row rest");
  const HistoricalSource source = opened(with)->kernels()[0].source(0);
  CHECK(source.shape.feature_count() == 2);
  const std::string code = selector_code(*opened(with));
  CHECK(code.find("mean_row") != std::string::npos);
}

TEST_CASE("models with features ask for a reader that knows them") {
  const auto minimum = [](const LearnedModel& model) {
    return model_schema::GetModelFile(model.bytes.data())->minimum_agent();
  };
  CHECK(minimum(learned_from(feature_problems(2, 3, 1))) == 2);
  CHECK(minimum(learned_from(feature_problems(2, 3, 1), false)) == 1);
}

TEST_CASE("nearness of problems counts features") {
  CHECK(feature_distance({{1}, {8, 0}}, {{1}, {8, 0}}) == 0);
  CHECK(feature_distance({{1}, {8, 0}}, {{1}, {16, 0}}) == doctest::Approx(0.4805).epsilon(0.001));
  CHECK(feature_distance({{1}, {8, 0}}, {{1}, {8, 1}}) > 40);  // a category
  // Too few problems for a tree: what was best at the nearest one is taken.
  const LearnedModel model = learned_from({{1000, 2}, {1001, 64}, {500000, 2}});
  CHECK(model.kernels[0].selectors.empty());
  CHECK(first_pick_quality(*opened(model), {{1010, 60}, {1010, 2.2}, {70000, 2}}) > 0.97);
}

// By hand, for the figures: --no-skip --test-case='ten thousand*'
TEST_CASE("ten thousand problems become one model" * doctest::skip()) {
  const auto start = std::chrono::steady_clock::now();
  const LearnedModel model = learned_from(feature_problems(2000, 5, 1));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  MESSAGE(taken.count(), " s, ", model.bytes.size(), " bytes");
  CHECK(model.bytes.size() < std::size_t{64} << 10);
  CHECK(first_pick_quality(*opened(model), feature_problems(200, 3, 2)) > 0.99);
}

TEST_CASE("an agent runs what the model names for problems with features, and says so by name") {
  const TemporaryFolder folder;
  const std::string model = stored(folder, learned_from(feature_problems(40, 5, 1)));
  for (const double mean_row : {2.5, 9.0, 40.0, 100.0}) {
    const FeatureProblem problem{34567, mean_row};
    const Explanation first = tuned(model, problem, "mean_row", 200ms);
    CHECK(first.first_pick_quality == "selector");
    const Explanation last = tuned(model, problem);
    CHECK(last.running[0] == first.running[0]);
    CHECK(feature_time(mean_row, first.running[0], first.running[1]) < 1100us);
    CHECK(first.model_refused.empty());
    std::ostringstream name;
    name << "N=34567 mean_row=" << mean_row << " rest=7";
    CHECK(first.problem == name.str());
  }
}

TEST_CASE("a model of other problems is refused with the names of both") {
  const TemporaryFolder folder;
  const std::string model = stored(folder, learned_from(feature_problems(10, 3, 1)));
  const Explanation refused = tuned(model, {34567, 9.0}, "longest_row");
  CHECK(refused.first_pick_quality == "structure");
  CHECK(refused.model_refused ==
        "the model knows problems of N mean_row rest, the kernel has problems of N longest_row "
        "rest");
  CHECK(refused.running_ms > 0);  // it is tuned all the same
}
