// What must hold for any measurements: order, files, repeats, units, names and scale say nothing,
// and an export is what was exported.
#include <doctest/doctest.h>

#include "tests/unit/skip.hpp"

#ifdef IDLETUNE_WITH_RAPIDCHECK
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/host/lab/selection/published_tree.hpp"
#include "models/core/random.hpp"
#include "models/host/history/carried.hpp"
#include "models/host/history/export.hpp"
#include "models/host/history/import.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/selection.hpp"
#include "models/predict/model.hpp"
#include "tests/unit/relations.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;

constexpr std::int64_t kXs = 4, kYs = 3;
const std::vector<std::string> kDevices{"A100", "Mali-G71", "Adreno 640"};

// Of the whole range, however small the case is to be.
int whole(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

// With failures, gaps, samples of the space and single times.
History drawn_history(const std::string& device, std::int64_t size) {
  History history;
  history.kernel = "k";
  history.device = device;
  history.shape = Shape{size};
  history.nanoseconds_per_unit = 1e6;
  history.valid_count = whole(0, 2) == 0 ? 0 : 12;
  history.parameters.emplace_back("x");
  history.parameters.emplace_back("y");
  for (std::int64_t x = 0; x < kXs; ++x) {
    for (std::int64_t y = 0; y < kYs; ++y) {
      const bool first = x == 0 && y == 0;  // so that something ran
      if (!first && whole(0, 5) == 0) continue;
      const int status = first ? 0 : std::max(0, whole(-8, 7));
      history.parameters[0].push_integer(x);
      history.parameters[1].push_integer(y);
      history.status.push_back(static_cast<TrialStatus>(status));
      history.run_time.push_back(status == 0 ? 1 + 0.125 * whole(0, 1000)
                                             : std::numeric_limits<double>::quiet_NaN());
      history.compile_time.push_back(50);
      history.sample_count.push_back(0);
      for (int i = 0; status == 0 && i < whole(0, 3); ++i) {
        history.samples.push_back(history.run_time.back() + 0.5 * i);
        ++history.sample_count.back();
      }
    }
  }
  return history;
}

std::vector<History> drawn_histories() {
  std::vector<History> histories;
  const int count = whole(1, 8);
  for (int i = 0; i < count; ++i) {
    const std::string& device = kDevices[static_cast<std::size_t>(whole(0, 2))];
    histories.push_back(drawn_history(device, std::int64_t{16} << (4 * whole(0, 2))));
  }
  return histories;
}

std::shared_ptr<const Model> learned_from_all(const std::vector<History>& histories) {
  std::vector<const History*> pointers;
  for (const History& history : histories) pointers.push_back(&history);
  const auto learned = learn(pointers, {});
  RC_ASSERT(learned.ok());
  const auto model = Model::open(learned->bytes, "relation");
  RC_ASSERT(model.ok());
  return *model;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max(1.0, std::abs(a)); }

// What two models say of each source, and of what is to be tried first.
void check_same(const Model& a, const Model& b, double slower = 1) {
  const KernelKnowledge& first = a.kernels()[0];
  const KernelKnowledge& second = b.kernels()[0];
  RC_ASSERT(first.source_count() == second.source_count());
  for (std::size_t i = 0; i < first.source_count(); ++i) {
    const HistoricalSource source = first.source(i);
    bool found = false;
    for (std::size_t j = 0; j < second.source_count(); ++j) {
      const HistoricalSource other = second.source(j);
      if (other.device != source.device || other.shape != source.shape) continue;
      found = true;
      RC_ASSERT(other.valid_count == source.valid_count);
      RC_ASSERT(other.measured_count == source.measured_count);
      RC_ASSERT(close(slower * source.best_time_ns, other.best_time_ns));
      RC_ASSERT(close(source.well_performing_fraction, other.well_performing_fraction));
    }
    RC_ASSERT(found);
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t x = 0; x < kXs; ++x) {
    for (std::int64_t y = 0; y < kYs; ++y) rows.insert(rows.end(), {x, y});
  }
  const auto space = Space::from_rows(std::vector<std::string>{"x", "y"}, {}, {}, rows);
  RC_ASSERT(space.ok());
  for (const std::string& device : {kDevices[0], kDevices[1], kDevices[2]}) {
    for (const std::int64_t size : {16, 300}) {
      const auto pick = first_pick(first, *space, Shape{size}, device);
      const auto other = first_pick(second, *space, Shape{size}, device);
      RC_ASSERT(pick.has_value() == other.has_value());
      if (!pick) continue;
      RC_ASSERT(pick->quality == other->quality);
      RC_ASSERT(close(pick->expected_relative_performance, other->expected_relative_performance));
    }
  }
}

History with_swapped_parameters(const History& history) {
  History swapped = history;
  std::swap(swapped.parameters[0], swapped.parameters[1]);
  return swapped;
}

}  // namespace

TEST_CASE("order, files, repeats, units and names of what is learned from say nothing" *
          doctest::test_suite("RapidCheck")) {
  test::check_relation("learning", [] {
    const std::vector<History> histories = drawn_histories();
    const auto model = learned_from_all(histories);
    std::vector<History> other = histories;
    for (std::size_t turn = 0; turn < 3; ++turn) {
      std::rotate(other.begin(), other.begin() + 1, other.end());
      if (turn == 1) std::reverse(other.begin(), other.end());
      check_same(*model, *learned_from_all(other));
    }
    other = histories;
    other.insert(other.end(), histories.begin(), histories.end());
    check_same(*model, *learned_from_all(other));
    // Written, and read from a file for each problem.
    other.clear();
    for (const History& history : histories) {
      const auto read = read_history(write_history(history), "relation");
      RC_ASSERT(read.ok());
      RC_ASSERT(*read == history);
      other.push_back(*read);
    }
    check_same(*model, *learned_from_all(other));
    for (History& history : other) history = in_unit(history, 1);
    check_same(*model, *learned_from_all(other));
    for (std::size_t i = 0; i < other.size(); i += 2) other[i] = with_swapped_parameters(other[i]);
    check_same(*model, *learned_from_all(other));
    // Everything takes four times as long: the same decisions.
    other = histories;
    for (History& history : other) history.nanoseconds_per_unit *= 4;
    check_same(*model, *learned_from_all(other), 4);
  });
}

TEST_CASE("what is chosen from does not depend on order, files and repeats" *
          doctest::test_suite("RapidCheck")) {
  test::check_relation("selection", [] {
    std::vector<History> histories;
    const int count = whole(5, 9);
    for (int i = 0; i < count; ++i) histories.push_back(drawn_history("A100", 10 + i));
    const auto said = [](const std::vector<History>& all) {
      const auto problems = selection::problems_of({all.data(), all.size()});
      RC_ASSERT(problems.ok());
      std::map<std::vector<double>, double> best;
      for (std::size_t p = 0; p < problems->count(); ++p)
        best[problems->sizes[p]] = problems->ns[p][problems->best(p)];
      RC_ASSERT(best.size() == problems->count());
      return best;
    };
    const auto expected = said(histories);
    std::vector<History> other = histories;
    other.insert(other.end(), histories.rbegin(), histories.rend());
    for (std::size_t i = 0; i < other.size(); i += 3) other[i] = with_swapped_parameters(other[i]);
    RC_ASSERT(said(other) == expected);
  });
}

TEST_CASE("where there is nothing to learn, choices are as good as drawn ones" *
          doctest::test_suite("RapidCheck")) {
  constexpr std::size_t kMethods = 6, kProblems = 40;
  double right = 0, tested = 0;
  for (std::uint64_t set = 0; set < 30; ++set) {
    Random random(set);
    std::vector<History> histories;
    for (std::size_t p = 0; p < 2 * kProblems; ++p) {
      History history;
      history.kernel = "k";
      history.device = "A100";
      history.shape = Shape{static_cast<std::int64_t>(8 + p % kProblems)};
      history.parameters.emplace_back("x");
      // Each problem was measured twice: what one twin says about the other is no news.
      Random times(1000 * set + p % kProblems);
      for (std::size_t m = 0; m < kMethods; ++m) {
        history.parameters[0].push_integer(static_cast<std::int64_t>(m));
        history.status.push_back(TrialStatus::correct);
        history.run_time.push_back(100 + 100 * times.uniform());
        history.compile_time.push_back(1);
        history.sample_count.push_back(0);
      }
      histories.push_back(std::move(history));
    }
    const auto problems = required(selection::problems_of({histories.data(), histories.size()}));
    const selection::Split split = selection::split_of(problems, 0.75, set);
    const auto tree = required(selection::PublishedTree::learn(problems, split.training, 100, 1));
    for (const std::size_t p : split.test) {
      right += tree.choose(problems.sizes[p]) == problems.best(p) ? 1 : 0;
      tested += 1;
    }
  }
  const double chance = 1.0 / kMethods;
  CHECK(std::abs(right / tested - chance) < 3 * std::sqrt(chance * (1 - chance) / tested));
}

TEST_CASE("a sample's bounds hold what the whole space says" * doctest::test_suite("RapidCheck")) {
  constexpr std::size_t kSpace = 400, kDraws = 300;
  double bound_held = 0, interval_held = 0;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    Random random(draw);
    const std::size_t rows = 20 + random.below(100);
    std::vector<double> times(kSpace);
    for (double& time : times) time = 100 * std::exp(2 * random.uniform());
    History sample;
    sample.valid_count = kSpace;
    sample.parameters.emplace_back("x");
    for (std::size_t i = 0; i < rows; ++i) {  // as they come: times are drawn alike
      sample.parameters[0].push_integer(static_cast<std::int64_t>(i));
      sample.status.push_back(TrialStatus::correct);
      sample.run_time.push_back(times[i]);
      sample.compile_time.push_back(1);
      sample.sample_count.push_back(0);
    }
    const PerformanceDistribution known = distribution_of(sample);
    const double seen = sample.best_time_ns();
    const auto share = [&](double below) {
      return static_cast<double>(std::count_if(times.begin(), times.end(),
                                               [&](double time) { return time <= below; })) /
             kSpace;
    };
    bound_held += share(seen * 0.999999) <= known.better_share_bound() ? 1 : 0;
    const auto interval = known.interval(0.5);
    const double truth = share(seen / 0.5);
    interval_held += truth >= interval[0] && truth <= interval[1] ? 1 : 0;
  }
  CHECK(bound_held / kDraws >= 0.92);  // 95 % promised, with an error of 1.3 %
  CHECK(interval_held / kDraws >= 0.92);
}

TEST_CASE("an export is imported as what was exported" * doctest::test_suite("RapidCheck")) {
  test::check_relation("exports", [] {
    History history = drawn_history("A100", 64);
    if (whole(0, 2) == 1) {
      history.shape = Shape({64, 7}, {0.25 * whole(0, 99), 1e-3});
      history.inputs = {"M", "N", "f", "g"};
    }
    history.driver = whole(0, 2) == 1 ? "driver 7" : "";
    history.extras.emplace_back("clock");
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (whole(0, 2) == 1) {
        history.extras[0].push_integer(whole(-5, 1000));
      } else {
        history.extras[0].push_real(0.1 * whole(0, 1000));
      }
    }
    const auto t4 = export_t4(history);
    RC_ASSERT(t4.ok());
    const auto from_t4 = import_t4(*t4, "other.t4.json");
    RC_ASSERT(from_t4.ok());
    RC_ASSERT(*from_t4 == history);
    const auto cache = export_kernel_tuner(history);
    RC_ASSERT(cache.ok());
    const auto from_cache = import_kernel_tuner(*cache, "other.json");
    RC_ASSERT(from_cache.ok());
    RC_ASSERT(*from_cache == history);
    // What others keep of it still tells how each ended, as far as they have a word for that.
    auto others = nlohmann::ordered_json::parse(*cache);
    for (auto& record : others["cache"]) {
      record.erase(kCarriedStatus);
      record.erase(kCarriedTime);
    }
    const auto kept = import_kernel_tuner(others.dump(), "other.json");
    RC_ASSERT(kept.ok());
    for (std::size_t row = 0; row < history.rows(); ++row) {
      const TrialStatus status = history.status[row];
      const bool has_word = status == TrialStatus::correct || status == TrialStatus::compile ||
                            status == TrialStatus::constraints;
      RC_ASSERT(kept->status[row] == (has_word ? status : TrialStatus::runtime));
    }
  });
}
#else
TEST_CASE("relations of histories and models" * doctest::test_suite("RapidCheck")) {
  idletune::test::skip("built without RapidCheck (librapidcheck-dev)");
}
#endif
