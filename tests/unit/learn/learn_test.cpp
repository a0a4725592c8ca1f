#include <algorithm>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/combine_repeats.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Times in ms per x = 0, 1, ...; not positive: failed.
History history_of(const std::string& device, const std::vector<double>& times,
                   const Shape& shape = {}) {
  History history;
  history.kernel = "k";
  history.device = device;
  history.shape = shape;
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("x");
  history.parameters.emplace_back("fixed");
  for (std::size_t i = 0; i < times.size(); ++i) {
    history.parameters[0].push_integer(static_cast<std::int64_t>(i));
    history.parameters[1].push_integer(32);
    history.status.push_back(times[i] > 0 ? TrialStatus::correct : TrialStatus::runtime);
    history.run_time.push_back(times[i] > 0 ? times[i] : kNone);
    history.compile_time.push_back(50);
    history.sample_count.push_back(0);
  }
  return history;
}

std::shared_ptr<const Model> learned(const std::vector<const History*>& histories,
                                     const LearnOptions& options = {}) {
  const auto model = required(learn(histories, options));
  return required(Model::open(model.bytes, "test"));
}

}  // namespace

TEST_CASE("the first pick is what is good on all devices, not what is best on one") {
  const History a = history_of("A1", {1.0, 1.05, 4.0, -1});
  const History b = history_of("B1", {4.0, 2.1, 2.0, 2.0});
  const auto model = learned({&a, &b});
  REQUIRE(model->kernels().size() == 1);
  const KernelKnowledge& kernel = model->kernels()[0];
  const auto space = space_of(a);
  const auto pick = required(first_pick(kernel, *space, Shape{}, ""));
  CHECK(pick.configuration == Configuration{1, 32});
  CHECK(pick.quality == PickQuality::other_device);
  CHECK(pick.expected_relative_performance == doctest::Approx((1 / 1.05 + 2 / 2.1) / 2));
  // What failed on one device and is the best on the other is in the portfolio, with a 0 there.
  for (std::size_t i = 0; i < kernel.portfolio_size(); ++i) {
    if (kernel.portfolio_values(i)[0] != 3) continue;
    CHECK(kernel.portfolio_relative(i, 0) == 0);
    CHECK(kernel.portfolio_relative(i, 1) == 1);
  }
}

TEST_CASE("a name that no model can have is refused before anything is learned") {
  History a = history_of("A\x1b[31m", {1.0, 2.0});
  CHECK(learn({&a}, {}).code() == StatusCode::invalid_argument);
  CHECK(check_names(a).message().find("--device") != std::string::npos);
  a.device = "A";
  a.kernel = "";
  CHECK(check_names(a).code() == StatusCode::invalid_argument);
  a.status = {TrialStatus::runtime, TrialStatus::runtime};
  CHECK(check_names(a).ok());  // it is left out anyway
  for (const std::string& name : {std::string("W\tG"), std::string(257, 'x'), std::string()}) {
    History b = history_of("B", {1.0, 2.0}, Shape{64});
    b.parameters[1] = CellColumn(name);
    for (int i = 0; i < 2; ++i) b.parameters[1].push_integer(i);
    CHECK(learn({&b}, {}).code() == StatusCode::invalid_argument);
    b = history_of("B", {1.0, 2.0}, Shape{64});
    b.inputs = {name};
    if (!name.empty()) CHECK(learn({&b}, {}).code() == StatusCode::invalid_argument);
    b.inputs = {std::string(256, 'x')};
    CHECK(learn({&b}, {}).ok());
  }
}

TEST_CASE("in whatever order histories come, kernels whose problems have other names are apart") {
  History unnamed = history_of("A1", {1.0, 2.0}, Shape{64});
  History m = unnamed, n = unnamed;
  m.device = "B1";
  m.inputs = {"M"};
  n.device = "C1";
  n.inputs = {"N"};
  std::vector<const History*> order = {&unnamed, &m, &n};
  std::sort(order.begin(), order.end());
  do {
    CHECK(required(learn(order, {})).kernels.size() == 2);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a source has the distribution of its history") {
  const History a = history_of("A1", {1.0, 1.05, 4.0, -1});
  const auto model = learned({&a});
  const HistoricalSource source = model->kernels()[0].source(0);
  CHECK(source.valid_count == 4);
  CHECK(source.measured_count == 4);
  CHECK(source.well_performing_fraction == 0.5);
  CHECK(source.best_time_ns == 1e6);
  CHECK(source.median_run_ns == 1.05e6);
  CHECK(source.median_compile_ns == 50e6);
  CHECK(source.relative_performance.values()[0] == 0);
  CHECK(source.relative_performance.values()[kQuantileCount - 1] == 1);
}

TEST_CASE("what one device lacks failed there, but where it is a sample") {
  const History whole = history_of("A1", {1.0, 1.25, 2.0, 4.0, 5.0});
  History part = history_of("B1", {1.0, 1.25, 2.0, 4.0});
  std::swap(part.parameters[0], part.parameters[1]);
  CHECK(PerformanceTable({&whole, &part}).sources()[1].relative.back() == 0);
  CHECK(PerformanceTable({&part, &whole}).sources()[0].relative.back() == 0);
  part.valid_count = 5;
  CHECK(PerformanceTable({&whole, &part}).sources()[1].relative.back() == -1);
}

TEST_CASE("a source without draws takes over those of the others, in a space of its own") {
  const History whole = history_of("A1", {1.0, 1.05, 4.0, -1}, Shape{64});
  const History larger = history_of("A1", {1.0, 1.05, 4.0, -1}, Shape{128});
  History picked = history_of("B1", {1.0, 2.0});
  picked.valid_count = 4;
  picked.extras.emplace_back(kProposalColumn);
  for (int i = 0; i < 2; ++i) picked.extras[0].push_text("portfolio");
  const HistoricalSource source = learned({&whole, &larger, &picked})->kernels()[0].source(2);
  CHECK(source.valid_count == 4);
  CHECK(source.measured_count == 4);
  CHECK(source.cautious_fraction(0.9) == 0.5);
  CHECK(learned({&picked})->kernels()[0].source(0).measured_count == 0);
}

TEST_CASE("each device's own best is its exact pick for its shape") {
  const History a = history_of("A1", {1.0, 2.0, 3.0}, Shape{64});
  const History b = history_of("B1", {3.0, 2.0, 1.0}, Shape{64});
  const History c = history_of("B1", {1.0, 3.0, 3.0}, Shape{1024});
  const auto model = learned({&a, &b, &c});
  const auto space = space_of(a);
  const auto small = first_pick(model->kernels()[0], *space, Shape{64}, "B1");
  CHECK(small->configuration == Configuration{2, 32});
  CHECK(small->quality == PickQuality::exact);
  const auto near_large = first_pick(model->kernels()[0], *space, Shape{900}, "B1");
  CHECK(near_large->configuration == Configuration{0, 32});
  CHECK(near_large->quality == PickQuality::nearest_shape);
}

TEST_CASE("leaving a device out judges by what the others say") {
  const History a = history_of("A1", {1.0, 2.0, 4.0});
  const History b = history_of("B1", {1.0, 2.0, 4.0});
  const History c = history_of("C1", {1.25, 1.0, 4.0});
  const auto model = required(learn({&a, &b, &c}, {}));
  const auto& results = model.kernels[0].held_out;
  REQUIRE(results.size() == 3);
  CHECK(results[0].first_pick == 1.0);  // b says 0, and so it is on a
  CHECK(results[0].evaluations == 1);
  CHECK(results[2].first_pick == doctest::Approx(0.8));
  CHECK(results[2].evaluations == 2);
}

TEST_CASE("on a device left out the pick counts that a board with the model begins with") {
  const History a_small = history_of("A1", {1.0, 10.0}, Shape{64});
  const History a_large = history_of("A1", {10.0, 1.0}, Shape{1024});
  History b_small = a_small;
  History b_large = a_large;
  b_small.device = b_large.device = "B1";
  const auto model = required(learn({&a_small, &a_large, &b_small, &b_large}, {}));
  REQUIRE(model.kernels[0].held_out.size() == 4);
  for (const HeldOutResult& result : model.kernels[0].held_out) CHECK(result.first_pick == 1.0);
}

TEST_CASE("where a model without the device proposes nothing, nothing is told of its pick") {
  const History a = history_of("A1", {1.0, 2.0});
  LearnOptions options;
  options.published = {{"k", "some table", {"x", "fixed"}, {{"Mali", {1, 32}}}, {}}};
  CHECK(required(learn({&a}, options)).kernels[0].held_out.empty());
}

TEST_CASE("repeats of the same device are one source and the median counts") {
  const History one = history_of("NVIDIA A100-PCIE-40GB", {1.0, 9.0, -1});
  const History two = history_of("A100", {3.0, 2.0, -1});
  const History three = history_of("A100", {2.0, 2.5, 5.0});
  const History combined = combine_repeats({&one, &two, &three});
  REQUIRE(combined.rows() == 3);
  CHECK(combined.run_time_ns(0) == 2e6);
  CHECK(combined.run_time_ns(1) == 2.5e6);
  CHECK(combined.status[2] == TrialStatus::runtime);
  CHECK(learned({&one, &two, &three})->kernels()[0].source_count() == 1);
}

TEST_CASE("kernels of one name with other parameters are kept apart") {
  const History a = history_of("A1", {1.0, 2.0});
  History b = history_of("A1", {1.0, 2.0});
  b.parameters[1] = CellColumn("other");
  for (int i = 0; i < 2; ++i) b.parameters[1].push_integer(8 * i);
  const auto model = learned({&a, &b});
  CHECK(model->kernels().size() == 2);
  const auto space = space_of(b);
  const KernelKnowledge* found = model->kernel("k", *space);
  REQUIRE(found != nullptr);
  CHECK(found->parameter(1) == "other");
}

TEST_CASE("merging keeps kernels of one name whose problems have other names apart") {
  History a = history_of("A1", {1.0, 2.0}, Shape{64});
  a.inputs = {"M"};
  History b = a;
  b.inputs = {"N"};
  const auto both = required(read_model(required(learn({&a, &b}, {})).bytes, "both"));
  b.kernel = "other";
  const auto other = required(read_model(required(learn({&b}, {})).bytes, "other"));
  const MergedModel merged = merge_models({both, other}, {"both", "other"});
  CHECK(merged.contents.kernels.size() == 3);
  CHECK(merged.conflicts.empty());
  CHECK(merge_models({both, both}, {"old", "new"}).contents.kernels.size() == 2);
}

TEST_CASE("the portfolio is cut to the bytes it may take") {
  std::vector<double> times;
  for (int i = 0; i < 5000; ++i) times.push_back(1.0 + 0.01 * i);
  const History a = history_of("A1", times);
  LearnOptions options;
  options.portfolio = 65536;
  options.cross_validate = false;
  for (const std::size_t limit : {4096u, 16384u, 65536u}) {
    options.bytes_per_kernel = limit;
    const auto model = required(learn({&a}, options));
    CHECK(model.bytes.size() <= limit);
    CHECK(model.kernels[0].portfolio >= limit / 50);
  }
}

TEST_CASE("a device keeps a shape where something ran, however few bytes there are") {
  const std::vector<double> times{1, 2, 3, 4};
  const History failed = history_of("A", {-1, -1, -1, -1}, Shape{64});
  const History one = history_of("A", times, Shape{128});
  const History two = history_of("A", times, Shape{1024});
  const History three = history_of("A", times, Shape{4096});
  LearnOptions options;
  options.cross_validate = false;
  options.selector.learn = false;
  options.bytes_per_kernel = 1100;
  const auto model = learned({&failed, &one, &two, &three}, options);
  REQUIRE(model->kernels()[0].source_count() == 1);
  CHECK(model->kernels()[0].source(0).shape == Shape{128});
}

TEST_CASE("learning twice gives the same bytes") {
  const History a = history_of("A1", {1.0, 2.0, 4.0});
  const History b = history_of("B1", {2.0, 1.0, 4.0});
  CHECK(learn({&a, &b}, {})->bytes == learn({&a, &b}, {})->bytes);
}

TEST_CASE("there is nothing to learn from nothing") {
  CHECK(learn({}, {}).code() == StatusCode::invalid_argument);
  const History failed = history_of("A1", {-1, -1});
  CHECK(learn({&failed}, {}).code() == StatusCode::invalid_argument);
}
