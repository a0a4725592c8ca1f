#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <idletune/learning.hpp>

#include "agent/host/lab/regret/regret.hpp"
#include "agent/host/lab/regret/regret_summary.hpp"
#include "models/host/history/import.hpp"
#include "models/host/learn/learn.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::regret;

namespace {

constexpr double kFailed = -1;

struct Row {
  double run_ms;  // kFailed: did not compile
  double compile_ms;
};

History history_of(const std::vector<Row>& rows) {
  History history;
  history.kernel = "k";
  history.device = "Board";
  history.nanoseconds_per_unit = 1e6;
  history.parameters.emplace_back("x");
  for (const Row& row : rows) {
    const bool failed = row.run_ms < 0;
    history.parameters[0].push_integer(static_cast<std::int64_t>(history.rows()));
    history.status.push_back(failed ? TrialStatus::compile : TrialStatus::correct);
    history.run_time.push_back(failed ? std::nan("") : row.run_ms);
    history.compile_time.push_back(row.compile_ms);
    history.sample_count.push_back(0);
  }
  return history;
}

// Runs 4, 2 (the median), 1 and 8 ms; one that does not compile.
History five_rows() { return history_of({{4, 10}, {2, 20}, {1, 30}, {8, 5}, {kFailed, 7}}); }

// What steps from an incumbent of 2 ms (before the best was found) and of 1 ms (after) cost, worked
// out by hand from the order of play of CandidateTrial:
//   compile + check + screening runs (the first one slower than 1.25 x the incumbent is the last;
//   if no slower than 4 x, one run of the incumbent beside it), and for a finalist a second check
//   and 5 pairs.
constexpr double kSlow4[] = {10 + 4 + 4 + 2, 10 + 4 + 4 + 1};
constexpr double kSlow8[] = {5 + 8 + 8 + 2, 5 + 8 + 8};
constexpr double kBest = 30 + 1 + 2 * 1 + 1 + 5 * (1 + 2);
constexpr double kFails = 7;
constexpr double kBaseline = 2 + 5 * 2;  // one check, five runs

RegretOptions options_for(std::vector<double> launches, Start start = Start::median) {
  RegretOptions options;
  options.launches = std::move(launches);
  options.start = start;
  options.learner = forest_learner();
  return options;
}

std::vector<Application> play(const History& history, const RegretOptions& options,
                              std::uint64_t seed = 1) {
  const auto target = required(RegretTarget::of(history));
  return required(play_applications(target, nullptr, options, seed));
}

bool is_one_of(double value, const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](double one) { return std::fabs(one - value) < 1e-6; });
}

// What all policies must obey, whatever is played.
void check_order(const Application& one) {
  const PerPolicy<double>& total = one.total_ms;
  const double close = 1 + 1e-9;
  for (std::size_t i = 0; i < kPolicyCount; ++i) {
    const auto policy = static_cast<Policy>(i);
    if (std::isnan(total[policy])) continue;
    CAPTURE(policy_name(policy));
    CHECK(total[Policy::limit] <= total[policy] * close);
  }
  CHECK(total[Policy::clairvoyant] <= total[Policy::idletune_no_ledger] * close);
  CHECK(total[Policy::clairvoyant] <= total[Policy::clairvoyant_promise] * close);
  CHECK(total[Policy::clairvoyant] <= total[Policy::clairvoyant_ledger] * close);
  CHECK(total[Policy::clairvoyant] <= total[Policy::never] * close);
  CHECK(total[Policy::clairvoyant_promise] <= total[Policy::never] * close);
  CHECK(total[Policy::clairvoyant_ledger] <= total[Policy::never] * close);
  if (one.ledger) CHECK(total[Policy::clairvoyant_ledger] <= total[Policy::idletune] * close);
}

}  // namespace

TEST_CASE("never tuning pays for one compilation and its launches") {
  for (const Application& one : play(five_rows(), options_for({1, 7, 1000000}))) {
    CHECK(one.total_ms[Policy::never] == doctest::Approx(20 + 2 * one.launches));
    CHECK(std::isnan(one.total_ms[Policy::first_pick]));
  }
}

TEST_CASE("the limit is the least of compile time plus launches") {
  const auto all = play(five_rows(), options_for({1, 2, 10, 100}));
  CHECK(all[0].total_ms[Policy::limit] == doctest::Approx(5 + 8));
  CHECK(all[1].total_ms[Policy::limit] == doctest::Approx(10 + 2 * 4));
  CHECK(all[2].total_ms[Policy::limit] == doctest::Approx(20 + 10 * 2).epsilon(1e-12));
  CHECK(all[3].total_ms[Policy::limit] == doctest::Approx(30 + 100));
}

TEST_CASE("KTT's rule launches everything once and then the best") {
  std::set<double> firsts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto all = play(five_rows(), options_for({1, 4, 5, 1000}), seed);
    // The failed one may come before the first launch.
    const double first = all[0].total_ms[Policy::ktt];
    CHECK(is_one_of(first, {14, 22, 31, 13, 21, 29, 38, 20}));
    firsts.insert(first);
    // Or after the last one that works.
    CHECK(is_one_of(all[1].total_ms[Policy::ktt], {65 + 15, 65 + 15 + 7}));
    CHECK(all[2].total_ms[Policy::ktt] == doctest::Approx(72 + 15 + 1));
    CHECK(all[3].total_ms[Policy::ktt] == doctest::Approx(72 + 15 + 996));
  }
  CHECK(firsts.size() >= 6);
}

TEST_CASE("always tuning pays for every step before the first launch") {
  std::vector<double> possible;
  for (const double four : kSlow4) {
    for (const double eight : kSlow8) {
      possible.push_back(20 + kBaseline + kBest + kFails + four + eight + 3 * 1);
    }
  }
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CHECK(
        is_one_of(play(five_rows(), options_for({3}), seed)[0].total_ms[Policy::always], possible));
  }
}

TEST_CASE("a single launch is never tuned for") {
  const auto one = play(five_rows(), options_for({1}));
  CHECK(one[0].total_ms[Policy::idletune] == one[0].total_ms[Policy::never]);
  CHECK(one[0].total_ms[Policy::idletune_no_ledger] == one[0].total_ms[Policy::never]);
  CHECK(one[0].idletune.steps == 0);
  CHECK_FALSE(one[0].idletune.reason.empty());
}

TEST_CASE("the clairvoyant stops when the best was found") {
  // One launch to learn its time, the baseline, then steps up to the best configuration.
  const double launches = 1e6;
  std::vector<double> possible;
  for (int subset = 0; subset < 8; ++subset) {
    const double before =
        (subset & 1 ? kSlow4[0] : 0) + (subset & 2 ? kSlow8[0] : 0) + (subset & 4 ? kFails : 0);
    possible.push_back(20 + 2 + kBaseline + before + kBest + (launches - 1) * 1);
  }
  std::set<std::uint64_t> steps;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto one = play(five_rows(), options_for({launches}), seed)[0];
    CHECK(is_one_of(one.total_ms[Policy::clairvoyant], possible));
    steps.insert(one.clairvoyant_steps);
    // Everything is tried where so much is to be gained, and no more can be paid for it.
    CHECK(one.total_ms[Policy::idletune_no_ledger] - one.total_ms[Policy::clairvoyant] <=
          kSlow4[1] + kSlow8[1] + kFails + 1e-6);
    CHECK(one.idletune_no_ledger.final_relative == 1);
  }
  CHECK(steps == std::set<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("steps wait until the ledger allows them, and are charged to it") {
  // Compilations of 1 s, launches of 10 ms: a step must wait for some 5,000 launches.
  std::vector<Row> rows(40, Row{10, 1000});
  rows.push_back({1, 1000});
  const History history = history_of(rows);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Application& one :
         play(history, options_for({1000, 4000, 100000, 10000000}), seed)) {
      check_order(one);
      if (one.launches <= 4000) {
        // 2 % of 40 s is 0.8 s.
        CHECK(one.idletune.steps == 0);
        CHECK(one.clairvoyant_ledger_steps == 0);
        CHECK(one.total_ms[Policy::clairvoyant_ledger] == one.total_ms[Policy::never]);
      }
      // Steps that end as predicted keep the promise to the nanosecond; a finalist costs some runs
      // more than a typical step.
      CHECK(one.idletune.overdrawn_ms <= 300);
      CHECK(one.total_ms[Policy::idletune] <=
            1.02 * one.total_ms[Policy::never] + one.idletune.overdrawn_ms);
    }
  }
}

TEST_CASE("the ledger's bound holds all along where steps cost what was predicted") {
  // Nothing but the start compiles, and all take equally long.
  std::vector<Row> rows(30, Row{kFailed, 1000});
  rows[7] = {10, 1000};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Application& one : play(history_of(rows), options_for({1000000, 100000000}), seed)) {
      CHECK(one.idletune.overdrawn_ms == 0);
      CHECK(one.total_ms[Policy::idletune] <= 1.02 * one.total_ms[Policy::never]);
      CHECK(one.total_ms[Policy::clairvoyant] == one.total_ms[Policy::never]);
    }
  }
}

TEST_CASE("a start whose compilation fails is paid for by everybody") {
  // On the other device the third configuration was the best by far; here it does not compile.
  History other = five_rows();
  other.device = "Other";
  History here = history_of({{4, 10}, {2, 20}, {kFailed, 30}, {8, 5}, {4, 7}});
  LearnOptions learning;
  learning.cross_validate = false;
  const auto learned = required(learn({&other}, learning));
  const auto model = required(Model::open(learned.bytes, "other"));
  const auto target = RegretTarget::of(here);
  const auto kernel = KernelModel::of(model, "k", target->space());
  REQUIRE(kernel != nullptr);
  const auto one =
      required(play_applications(*target, kernel, options_for({10}, Start::first_pick), 3));
  const std::vector<double> possible{30 + 10 + 40, 30 + 20 + 20, 30 + 5 + 80, 30 + 7 + 40};
  CHECK(is_one_of(one[0].total_ms[Policy::never], possible));
  CHECK(one[0].total_ms[Policy::first_pick] == one[0].total_ms[Policy::never]);
  // From another start only those who want the first pick pay for it.
  const auto median = play_applications(*target, kernel, options_for({10}), 3);
  CHECK((*median)[0].total_ms[Policy::never] <= 10 + 40);
  CHECK((*median)[0].total_ms[Policy::first_pick] ==
        doctest::Approx(30 + (*median)[0].total_ms[Policy::never]));
}

TEST_CASE("a row without a compile time takes the median of the others, chosen ones too") {
  History history = history_of({{4, 500}, {2, 700}, {1, std::nan("")}});
  history.extras.emplace_back(kProposalColumn);
  for (int row = 0; row < 3; ++row) history.extras[0].push_text("portfolio");
  const auto device = required(RecordedDevice::of(history));
  CHECK(device.has_compile_times());
  CHECK(device.compile_time(2) == Nanoseconds{600000000});
}

TEST_CASE("numbers of launches must be whole and in range") {
  const auto target_history = five_rows();
  const auto target = RegretTarget::of(target_history);
  for (const double wrong : {0.0, 0.5, 1.5, 1e13, -1.0, std::nan("")}) {
    const auto result = play_applications(*target, nullptr, options_for({wrong}), 1);
    CHECK(result.code() == StatusCode::invalid_argument);
  }
  const History nothing = history_of({{kFailed, 1}});
  CHECK(RegretTarget::of(nothing).code() == StatusCode::invalid_argument);
}

TEST_CASE("the seed decides everything") {
  const auto a = play(five_rows(), options_for({100, 100000}, Start::random), 5);
  const auto b = play(five_rows(), options_for({100, 100000}, Start::random), 5);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t p = 0; p + 1 < kPolicyCount; ++p) {
      const auto policy = static_cast<Policy>(p);
      if (policy == Policy::first_pick) continue;
      CHECK(a[i].total_ms[policy] == b[i].total_ms[policy]);
    }
    CHECK(a[i].idletune.reason == b[i].idletune.reason);
  }
}

TEST_CASE("shuffled results keep the distribution and move the configurations") {
  std::vector<Row> rows;
  for (int i = 0; i < 50; ++i) rows.push_back({i % 7 == 3 ? kFailed : 1.0 + i, 100.0 + i});
  const History history = history_of(rows);
  const History shuffled = shuffled_results(history, 4);
  std::multiset<double> before;
  std::multiset<double> after;
  std::size_t moved = 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    CHECK(history.configuration(row) == shuffled.configuration(row));
    before.insert(history.compile_time[row]);
    after.insert(shuffled.compile_time[row]);
    moved += history.compile_time[row] != shuffled.compile_time[row] ? 1 : 0;
    // A row's figures stay together.
    const auto source = static_cast<std::size_t>(shuffled.compile_time[row] - 100);
    CHECK(shuffled.status[row] == history.status[source]);
    if (shuffled.correct(row)) CHECK(shuffled.run_time[row] == history.run_time[source]);
  }
  CHECK(before == after);
  CHECK(moved > 40);
}

TEST_CASE("a sample of a history has so many of its rows, each whole and once") {
  std::vector<Row> rows;
  for (int i = 0; i < 50; ++i) rows.push_back({i % 7 == 3 ? kFailed : 1.0 + i, 100.0 + i});
  History history = history_of(rows);
  history.status[10] = TrialStatus::constraints;
  history.run_time[10] = std::nan("");
  const History sample = sampled_rows(history, 20, 4);
  REQUIRE(sample.rows() == 20);
  CHECK(sample.valid_count == 49);
  CHECK(sample.count(TrialStatus::constraints) == 0);
  std::set<double> seen;
  for (std::size_t row = 0; row < sample.rows(); ++row) {
    const auto source = static_cast<std::size_t>(sample.compile_time[row] - 100);
    CHECK(sample.configuration(row) == history.configuration(source));
    CHECK(sample.status[row] == history.status[source]);
    if (sample.correct(row)) CHECK(sample.run_time[row] == history.run_time[source]);
    seen.insert(sample.compile_time[row]);
  }
  CHECK(seen.size() == 20);
  CHECK(sampled_rows(history, 20, 5).compile_time != sample.compile_time);
  CHECK(sampled_rows(history, 60, 4) == history);
}

TEST_CASE("a point compares means over seeds") {
  std::vector<Application> seeds(2);
  for (std::size_t i = 0; i < 2; ++i) {
    PerPolicy<double>& total = seeds[i].total_ms;
    total[Policy::never] = 100;
    total[Policy::idletune] = i == 0 ? 80 : 104;
    total[Policy::idletune_no_ledger] = 72;
    total[Policy::clairvoyant] = 60;
    total[Policy::clairvoyant_promise] = 70;
    total[Policy::clairvoyant_ledger] = 80;
    total[Policy::first_pick] = std::nan("");
    seeds[i].idletune.steps = i;
    seeds[i].idletune.reason = i == 0 ? "good" : "bad";
  }
  const RegretPoint point = point_of(seeds);
  CHECK(point.loss == doctest::Approx(-0.08));
  CHECK(point.excess == doctest::Approx(0.15));
  CHECK(point.excess_absolute == doctest::Approx(92.0 / 60 - 1));
  CHECK(point.excess_no_ledger == doctest::Approx(0.2));
  CHECK(*point.captured_gain == doctest::Approx(0.2));
  CHECK(*point.captured_gain_ledger == doctest::Approx(0.4));
  CHECK(*point.captured_gain_no_ledger == doctest::Approx(0.7));
  CHECK(point.worst_loss == doctest::Approx(0.04));
  CHECK(point.reason == "bad");
  CHECK(point.steps == 0.5);
  CHECK(point.total_ms[Policy::idletune].deviation == doctest::Approx(std::sqrt(288.0)));
  CHECK(std::isnan(point.total_ms[Policy::first_pick].mean));
}

TEST_CASE("before the break-even no gain is to be captured") {
  std::vector<Application> seeds(1);
  for (std::size_t i = 0; i < kPolicyCount; ++i) seeds[0].total_ms[static_cast<Policy>(i)] = 100;
  seeds[0].total_ms[Policy::clairvoyant] = 99.5;
  CHECK_FALSE(point_of(seeds).captured_gain);
}

TEST_CASE("on recorded GPUs no policy beats the limit and tuning costs little" *
          doctest::test_suite("recorded data")) {
  std::vector<History> histories;
  for (const std::string& path : test::recorded_caches("kernel_tuner")) {
    if (path.find("pnpoly") == std::string::npos) continue;
    auto imported = required(import_histories(test::read_bytes(path), path));
    histories.push_back(std::move(imported.front()));
  }
  if (histories.size() < 2) {
    return test::skip(test::kNoRecordedData);
  }
  LearnOptions learning;
  learning.cross_validate = false;
  const auto learned = required(learn({&histories[1], &histories[2]}, learning));
  const auto model = Model::open(learned.bytes, "others");
  const auto target = required(RegretTarget::of(histories[0]));
  const auto kernel = KernelModel::of(*model, histories[0].kernel, target.space());
  REQUIRE(kernel != nullptr);
  for (const Start start : {Start::first_pick, Start::random, Start::median}) {
    std::vector<std::vector<Application>> seeds;
    RegretOptions options;
    options.start = start;
    options.learner = forest_learner();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      auto applications = required(play_applications(target, kernel, options, seed));
      for (const Application& one : applications) check_order(one);
      seeds.push_back(std::move(applications));
    }
    for (std::size_t p = 0; p < options.launches.size(); ++p) {
      std::vector<Application> same;
      for (const auto& seed : seeds) same.push_back(seed[p]);
      CAPTURE(options.launches[p]);
      CHECK(point_of(same).loss <= 0.05);
    }
  }
}
