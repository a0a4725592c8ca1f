#include "models/host/learn/shape_selector.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/selector_code.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Configurations x = 0, 1, 2: x = 0 is made for small problems (M * N up to 2^16), 1 for large ones
// that are tall, 2 for large ones that are wide. The wrong one takes half as long again; 3 is good
// everywhere, best nowhere.
double time_ms(std::int64_t x, std::int64_t m, std::int64_t n) {
  const std::int64_t best = m * n <= 65536 ? 0 : m >= n ? 1 : 2;
  const double work = 1e-6 * static_cast<double>(m) * static_cast<double>(n);
  return work * (x == best ? 1.0 : x == 3 ? 1.2 : 1.5);
}

History at_shape(const std::string& device, std::int64_t m, std::int64_t n) {
  History history;
  history.kernel = "k";
  history.device = device;
  history.shape = {m, n};
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("x");
  for (std::int64_t x = 0; x < 4; ++x) {
    history.parameters[0].push_integer(x);
    history.status.push_back(TrialStatus::correct);
    history.run_time.push_back(time_ms(x, m, n));
    history.compile_time.push_back(kMissing);
    history.sample_count.push_back(0);
  }
  return history;
}

std::vector<History> grid(const std::string& device) {
  std::vector<History> histories;
  for (const std::int64_t m : {16, 40, 100, 250, 600, 1500, 4000}) {
    for (const std::int64_t n : {20, 50, 120, 300, 700, 1800}) {
      histories.push_back(at_shape(device, m, n));
    }
  }
  return histories;
}

std::vector<const History*> pointers(const std::vector<History>& histories) {
  std::vector<const History*> result;
  for (const History& history : histories) result.push_back(&history);
  return result;
}

}  // namespace

TEST_CASE("a selector finds products and ratios that matter, and keeps only those") {
  const std::vector<History> histories = grid("Board One");
  const PerformanceTable table(pointers(histories));
  const auto selectors = learn_selectors(table, {}, true);
  REQUIRE(selectors.size() == 1);
  const LearnedSelector& selector = selectors[0];
  CHECK(selector.device == "Board One");
  CHECK(selector.shapes == 42);
  CHECK(selector.folds == 10);
  CHECK(selector.inputs == std::vector<std::string>{"size_0", "size_1"});
  CHECK(selector.low == std::vector<double>{16, 20});
  CHECK(selector.high == std::vector<double>{4000, 1800});
  // M * N and M / N say it all: three leaves.
  CHECK(selector.tree().leaf_count() == 3);
  CHECK(selector.exponents.size() == 4);
  CHECK(selector.classes.size() == 3);
  CHECK(selector.retained > 0.95);
  CHECK(selector.single < 0.9);
  CHECK(selector.against_single > 1.1);
  CHECK(selector.accuracy > 0.9);
  CHECK(selector.worst <= selector.retained);
}

TEST_CASE("what histories call their inputs goes before the names that options have") {
  std::vector<History> histories = grid("Board One");
  LearnOptions options;
  options.selector.inputs = {"wide", "tall"};
  const auto names = [&] {
    return required(learn(pointers(histories), options)).kernels[0].selectors[0].inputs;
  };
  CHECK(names() == std::vector<std::string>{"wide", "tall"});
  for (History& history : histories) history.inputs = {"M", "N"};
  CHECK(names() == std::vector<std::string>{"M", "N"});
}

TEST_CASE("the limits on height and leaves are kept") {
  const std::vector<History> histories = grid("Board One");
  const PerformanceTable table(pointers(histories));
  for (const std::size_t height : {1u, 2u, 3u}) {
    SelectorOptions options;
    options.height = height;
    options.derived_features = false;
    const auto selectors = learn_selectors(table, options, false);
    CHECK(selectors[0].tree().height() <= height);
    CHECK(selectors[0].folds == 0);
  }
  SelectorOptions options;
  options.leaf = 0.4;
  CHECK(learn_selectors(table, options, false)[0].tree().leaf_count() <= 2);
  options.leaf = 100;
  CHECK(learn_selectors(table, options, false)[0].tree().leaf_count() == 1);
}

TEST_CASE("a single shape or few of them make no selector") {
  const std::vector<History> few{at_shape("A1", 10, 10), at_shape("A1", 20, 10),
                                 at_shape("A1", 30, 10), at_shape("B1", 30, 10)};
  CHECK(learn_selectors(PerformanceTable(pointers(few)), {}, true).empty());
  SelectorOptions never;
  never.learn = false;
  const std::vector<History> many = grid("A1");
  CHECK(learn_selectors(PerformanceTable(pointers(many)), never, true).empty());
}

TEST_CASE("several devices have a selector each and one together, judged on devices left out") {
  std::vector<History> histories = grid("Board One");
  for (const History& history : grid("Board Two")) histories.push_back(history);
  const PerformanceTable table(pointers(histories));
  const auto selectors = learn_selectors(table, {}, true);
  REQUIRE(selectors.size() == 3);
  CHECK(selectors[1].device == "Board Two");
  CHECK(selectors[2].device.empty());
  CHECK(selectors[2].folds == 2);
  CHECK(selectors[2].retained == 1);  // the boards are the same in all but name
}

TEST_CASE("devices left out weigh the same, however many shapes they have") {
  std::vector<History> histories = grid("Board One");
  for (const History& history : grid("Board Two")) histories.push_back(history);
  // Far from all other problems, and what is best there fails elsewhere: others say half of it.
  for (const std::int64_t m : {100000, 200000, 300000, 400000}) {
    histories.push_back(at_shape("Board Few", m, 1800));
    for (double& time : histories.back().run_time) time = 2;
  }
  for (History& history : histories) {
    const bool few = history.device == "Board Few";
    history.parameters[0].push_integer(4);
    history.status.push_back(few ? TrialStatus::correct : TrialStatus::runtime);
    history.run_time.push_back(few ? 1 : kMissing);
    history.compile_time.push_back(kMissing);
    history.sample_count.push_back(0);
  }
  const auto learned = required(learn(pointers(histories), {}));
  const LearnedSelector& together = learned.kernels[0].selectors.back();
  REQUIRE(together.device.empty());
  CHECK(together.folds == 3);
  CHECK(together.retained == doctest::Approx((1 + 1 + 0.5) / 3));
  CHECK(together.single == doctest::Approx((2 / 1.2 + 0.5) / 3).epsilon(0.02));
  CHECK(together.accuracy == doctest::Approx(2.0 / 3));
  CHECK(selector_code(*required(Model::open(learned.bytes, "x")))
            .find("// On devices left out (3 folds of 88 shapes)") != std::string::npos);
}

TEST_CASE("the device with most shapes comes first, and of equal ones that which came first") {
  std::vector<History> histories;
  const auto add = [&](const char* device, std::size_t shapes) {
    std::vector<History> all = grid(device);
    all.resize(shapes);
    for (History& history : all) histories.push_back(std::move(history));
  };
  add("Board Six", 6);
  add("Board Nine", 9);
  add("Board Too", 6);
  SelectorOptions options;
  options.height = 2;
  options.leaf = 1;
  const auto selectors = learn_selectors(PerformanceTable(pointers(histories)), options, false);
  REQUIRE(selectors.size() >= 3);
  CHECK(selectors[0].device == "Board Nine");
  CHECK(selectors[1].device == "Board Six");
  CHECK(selectors[2].device == "Board Too");
}

TEST_CASE("a tree that is no better than one configuration on what was left out is that one") {
  // What is best says nothing of other problems; one is nearly as good everywhere.
  std::vector<History> histories = grid("Board One");
  Random random(3);
  for (History& history : histories) {
    for (double& time : history.run_time) time = 1.5;
    history.run_time[static_cast<std::size_t>(random.below(3))] = 1;
    history.run_time[3] = 1.05;
  }
  const PerformanceTable table(pointers(histories));
  const auto selectors = learn_selectors(table, {}, true);
  REQUIRE(selectors.size() == 1);
  const LearnedSelector& selector = selectors[0];
  REQUIRE(selector.nodes.size() == 1);
  REQUIRE(selector.classes.size() == 1);
  CHECK(table.configurations()[selector.classes[0]][0] == 3);
  CHECK(selector.retained == doctest::Approx(1 / 1.05).epsilon(1e-6));
  CHECK(selector.worst == doctest::Approx(1 / 1.05).epsilon(1e-6));
  CHECK(selector.single == selector.retained);
  CHECK(selector.against_single == 1);
}

TEST_CASE("the tree that a model stores answers like the one that was learned") {
  const std::vector<History> histories = grid("Board One");
  LearnOptions options;
  options.selector.inputs = {"M", "N"};
  const auto learned = required(learn(pointers(histories), options));
  const auto model = required(Model::open(learned.bytes, "test"));
  const KernelKnowledge& kernel = model->kernels()[0];
  REQUIRE(kernel.selector_count() == 1);
  CHECK(kernel.selector_input(0, 0) == "M");
  const auto quality = required(kernel.quality());
  REQUIRE(quality.selectors.size() == 1);
  CHECK(quality.selectors[0].retained == doctest::Approx(learned.kernels[0].selectors[0].retained));
  const auto space = space_of(histories[0]);
  Random random(1);
  std::size_t right = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto m = static_cast<std::int64_t>(16 + random.below(3900));
    const auto n = static_cast<std::int64_t>(16 + random.below(1700));
    const auto pick = required(first_pick(kernel, *space, {m, n}, "Board One"));
    CHECK((pick.quality == PickQuality::selector || pick.quality == PickQuality::exact));
    right += time_ms(pick.configuration[0], m, n) <= time_ms(0, m, n) &&
                     time_ms(pick.configuration[0], m, n) <= time_ms(1, m, n) &&
                     time_ms(pick.configuration[0], m, n) <= time_ms(2, m, n)
                 ? 1
                 : 0;
  }
  CHECK(right > 850);  // thresholds lie halfway between shapes that were measured
}

TEST_CASE("many shapes stay within the limit, and what was dropped is said") {
  std::vector<History> histories;
  for (std::int64_t i = 0; i < 400; ++i)
    histories.push_back(at_shape("Board One", 16 + 37 * i % 4001, 16 + 53 * i % 3001));
  for (const std::size_t limit : {12000u, 65536u}) {
    LearnOptions options;
    options.bytes_per_kernel = limit;
    options.cross_validate = false;
    options.selector.height = 8;
    options.selector.leaf = 1;
    const auto learned = required(learn(pointers(histories), options));
    CHECK(learned.kernels[0].bytes <= limit);
    CHECK(learned.bytes.size() <= limit + 512);
    REQUIRE_FALSE(learned.kernels[0].dropped.empty());
    CHECK(learned.kernels[0].dropped[0].find("shapes per device") != std::string::npos);
    CHECK(learned.warnings.size() == learned.kernels[0].dropped.size());
    // All shapes speak through the selector.
    CHECK(learned.kernels[0].selectors[0].shapes == 400);
  }
  LearnOptions impossible;
  impossible.bytes_per_kernel = 500;
  impossible.cross_validate = false;
  CHECK(learn(pointers(histories), impossible).code() == StatusCode::out_of_memory);
}

TEST_CASE("no more sources are kept than a model may have") {
  std::vector<History> histories;
  for (std::int64_t m = 1; m <= 1500; ++m) histories.push_back(at_shape("Board One", m, 16));
  LearnOptions options;
  options.bytes_per_kernel = 8 << 20;
  options.cross_validate = false;
  options.selector.learn = false;
  CHECK(required(learn(pointers(histories), options)).kernels[0].devices.size() == 750);
}

TEST_CASE("provenance names the histories by device") {
  std::vector<History> histories = grid("Board One");
  histories.push_back(at_shape("Board Two", 64, 64));
  LearnOptions options;
  options.learned_unix_seconds = 1234;
  options.cross_validate = false;
  const auto learned = required(learn(pointers(histories), options));
  const auto contents = required(read_model(learned.bytes, "test"));
  const KernelProvenance provenance = provenance_of(contents.kernels[0]);
  CHECK(provenance.learned_unix_seconds == 1234);
  REQUIRE(provenance.histories.size() == 2);
  CHECK(provenance.histories[0].device == "Board One");
  CHECK(provenance.histories[0].histories == 42);
  CHECK(provenance.histories[0].shapes == 42);
  CHECK(provenance.histories[0].configurations == 168);
  CHECK(provenance.histories[0].correct == 168);
  CHECK(provenance.histories[0].digest != 0);
  CHECK(provenance.histories[1].histories == 1);
  CHECK(contents.provenance.size() == 2);
}
