#include "agent/host/lab/learners/sparse_evaluation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "agent/host/lab/learners/sparse_as_published.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/learners/tree_learners.hpp"
#include "tests/unit/learn/made_products.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using sparse::ChoiceQuality;
using sparse::Table;

TEST_CASE("the best candidate of each matrix keeps everything, a fixed one what it keeps") {
  const Table table = test::made_products(40);
  const ChoiceQuality best = sparse::evaluate(
      table, "best", [](const Table& all, const std::vector<std::size_t>&, std::size_t m) {
        return all.ns[m][1] <= all.ns[m][3] ? std::size_t{1} : std::size_t{3};
      });
  CHECK(best.matrices == 40);
  CHECK(best.kept == doctest::Approx(1));
  CHECK(best.balanced_accuracy == 1);
  const ChoiceQuality fixed = sparse::evaluate(
      table, "fixed",
      [](const Table&, const std::vector<std::size_t>&, std::size_t) { return std::size_t{0}; });
  CHECK(fixed.worst == doctest::Approx(0.25));  // half by the group, half by the format
  CHECK(fixed.work_group_kept == doctest::Approx(0.5));
  CHECK(fixed.kernel_kept == doctest::Approx(1));
  CHECK(fixed.format_within_5_percent == doctest::Approx(0.5));
  CHECK(fixed.balanced_accuracy == doctest::Approx(0.5));
}

TEST_CASE("learned times and a tree choose the format of matrices that were left out") {
  const Table table = test::made_products(60);
  const ChoiceQuality times = sparse::evaluate(table, "times", sparse::choose_by_times);
  CHECK(times.kept > 0.97);
  CHECK(times.format_within_5_percent > 0.9);
  const ChoiceQuality tree = sparse::evaluate(table, "cart", sparse::choose_by_class([] {
                                                return std::make_unique<learners::CartLearner>();
                                              }));
  CHECK(tree.kept > 0.9);
  const ChoiceQuality staged = sparse::evaluate(
      table, "two stages",
      sparse::choose_in_two_stages([] { return std::make_unique<learners::CartLearner>(); }));
  CHECK(staged.format_within_5_percent > 0.9);
  CHECK(sparse::evaluate(table, "one", sparse::choose_one_for_all).kept < 0.8);
}

TEST_CASE("beside the luckiest of many even an oracle is slow, in other samples it is not") {
  // Two kernels are equally fast, but every half of the samples makes another one look twice so.
  Table table = test::made_products(40);
  for (std::size_t m = 0; m < 40; ++m) {
    table.ns[m] = {100, 100, 400, 400};
    table.half_ns[0].push_back({100, 50, 400, 400});
    table.half_ns[1].push_back({50, 100, 400, 400});
  }
  const ChoiceQuality oracle = sparse::evaluate_oracle(table);
  CHECK(oracle.matrices == 40);
  CHECK(oracle.kept == doctest::Approx(0.5));
  CHECK(oracle.within_5_percent == 0);
  CHECK(oracle.format_kept == doctest::Approx(1));
  const auto always = [](std::size_t candidate) {
    return [candidate](const Table&, const std::vector<std::size_t>&, std::size_t) {
      return candidate;
    };
  };
  const ChoiceQuality first = sparse::evaluate(table, "first", always(0));
  CHECK(first.kept_again == doctest::Approx(std::sqrt(2.0)));  // 100 / 50 and 100 / 100
  CHECK(first.format_kept_again == doctest::Approx(1));
  const ChoiceQuality last = sparse::evaluate(table, "last", always(3));
  CHECK(last.kept_again == doctest::Approx(0.25));
  CHECK(last.within_5_percent_again == 0);
}

TEST_CASE("a matrix is left out with its whole family") {
  Table table = test::made_products(12);
  for (std::size_t m = 0; m < 6; ++m) table.matrices[m].family = "banded";
  std::vector<std::size_t> seen;
  sparse::evaluate(table, "",
                   [&](const Table&, const std::vector<std::size_t>& from, std::size_t m) {
                     if (m == 0) seen = from;
                     return std::size_t{0};
                   });
  CHECK(seen == std::vector<std::size_t>{6, 7, 8, 9, 10, 11});
}

TEST_CASE("histories with a note on their matrix become a table, others are left alone") {
  History history;
  history.kernel = "spmv_ell_double";
  history.device = "d";
  history.shape = Shape{4, 4, 9, 3};
  history.inputs = {"ROWS", "COLUMNS", "ENTRIES", "WIDTH"};
  history.parameters = {CellColumn("WG"), CellColumn("GROUP_PER_ROW")};
  for (const std::int64_t size : {16, 32}) {
    history.parameters[0].push_integer(size);
    history.parameters[1].push_integer(1);
    history.status.push_back(size == 16 ? TrialStatus::correct : TrialStatus::runtime);
    history.run_time.push_back(700);
    history.compile_time.push_back(1);
    history.sample_count.push_back(size == 16 ? 2 : 0);
  }
  history.samples = {900, 600};
  History other = history;
  history.notes.emplace_back(
      "matrix", R"({"name":"m","family":null,"features":{"a":4,"b":9,"c":2,"d":0,"e":3,"f":1,)"
                R"("g":0,"h":0,"i":0,"j":0,"k":0,"l":0},"format":"ELL","number_bytes":8,)"
                R"("conversion_ns":50})");
  const auto tables = sparse::tables_of({&other, &history});
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].number_bytes == 8);
  REQUIRE(tables[0].matrices.size() == 1);
  CHECK(tables[0].matrices[0].slots[3] == 12);
  CHECK(tables[0].matrices[0].conversion_ns[3] == 50);
  CHECK(tables[0].ns[0] == std::vector<double>{600, 0});
  History failed = history;
  failed.status[0] = TrialStatus::runtime;
  CHECK(sparse::tables_of({&history, &failed})[0].ns == tables[0].ns);
  CHECK(sparse::tables_of({&failed, &history})[0].ns == tables[0].ns);
  CHECK(tables[0].best_ns(0, 3, true) == 600);
  CHECK(tables[0].best_ns(0, 0) == 0);
  // What no board takes for a kernel is none.
  History odd = history;
  odd.parameters.push_back(CellColumn("LANES"));
  odd.parameters[1] = CellColumn("GROUP_PER_ROW");
  for (const std::int64_t lanes : {3, 4}) {
    odd.parameters[1].push_integer(0);
    odd.parameters[2].push_integer(lanes);
    odd.status[lanes == 3 ? 0 : 1] = TrialStatus::correct;
  }
  const auto left = sparse::tables_of({&odd});
  REQUIRE(left.size() == 1);
  CHECK(left[0].candidates.size() == 1);
  CHECK(left[0].candidates[0].kernel == 4);
  // Where candidates took turns, it is the median of their samples, and halves are of every other.
  history.samples = {900, 600, 700, 800};
  history.sample_count[0] = 4;
  history.run_time[0] = 750;
  history.notes.back().second.insert(1, R"("turns":true,)");
  const auto turns = sparse::tables_of({&history});
  CHECK(turns[0].ns[0] == std::vector<double>{750, 0});
  CHECK(turns[0].half_ns[0][0] == std::vector<double>{900, 0});
  CHECK(turns[0].half_ns[1][0] == std::vector<double>{800, 0});
}

TEST_CASE("as published, unscaled inputs give one constant answer to matrices not learned from") {
  const sparse::PublishedRows rows = sparse::published_rows(test::made_products(40));
  REQUIRE(rows.inputs.size() == 160);
  CHECK(rows.inputs[0].size() == 5 + 10 + 1 + 12);
  const auto figures = required(sparse::as_published(rows, sparse::PublishedKernel::radial, 4,
                                                     sparse::PublishedSplit::in_order, 1));
  CHECK(figures.train_accuracy == 1);
  CHECK(figures.train_mse <= 1.1e-4);
  CHECK(figures.same_answer > 0.99);
  CHECK(figures.test_balanced == doctest::Approx(0.5).epsilon(0.05));
  CHECK(std::min(figures.test_accuracy, 1 - figures.test_accuracy) ==
        doctest::Approx(1 - figures.test_majority).epsilon(0.05));
  CHECK(sparse::thinned(rows).inputs == rows.inputs);
  const auto many = sparse::thinned(sparse::published_rows(test::made_products(500)));
  CHECK(many.inputs.size() == sparse::kMostPublishedRows);
  CHECK(many.performance.size() == sparse::kMostPublishedRows);
  CHECK(!sparse::as_published({}, sparse::PublishedKernel::radial, 4, sparse::PublishedSplit::drawn,
                              1)
             .ok());
}

// Of 20 groups; the inputs differ by orders of magnitude.
sparse::PublishedRows unscaled_rows() {
  sparse::PublishedRows rows;
  for (int i = 0; i < 100; ++i) {
    const double large = 1 + (i * 7919) % 1000, small = (i / 3) % 5,
                 negative = -((i * i * 31) % 4096);
    rows.inputs.push_back({large, small, negative, 3});
    rows.performance.push_back(std::log2(large) * (1 + small) / 8 + std::sqrt(-negative) / 40);
    rows.group.push_back(static_cast<std::size_t>(i) / 5);
  }
  return rows;
}

TEST_CASE("scaled inputs and C by five folds give what scikit-learn gives") {
  // scikit-learn 1.9.1: StandardScaler, then GridSearchCV of SVC and SVR with PredefinedSplit(i % 5).
  const auto radial = required(sparse::with_scaled_inputs(
      unscaled_rows(), sparse::PublishedKernel::radial, 4, sparse::PublishedSplit::in_order, 1));
  CHECK(radial.class_cost == 50);
  CHECK(radial.value_cost == 5);
  CHECK(radial.train_accuracy == 1);
  CHECK(radial.test_accuracy == doctest::Approx(0.925));
  CHECK(radial.test_majority == doctest::Approx(0.6));
  CHECK(radial.same_answer == doctest::Approx(0.625));
  CHECK(radial.train_mse == doctest::Approx(0.0027916).epsilon(0.01));
  CHECK(radial.test_mse == doctest::Approx(0.0143614).epsilon(0.01));
  const auto polynomial =
      required(sparse::with_scaled_inputs(unscaled_rows(), sparse::PublishedKernel::polynomial, 4,
                                          sparse::PublishedSplit::in_order, 1));
  CHECK(polynomial.class_cost == 0.5);
  CHECK(polynomial.value_cost == 0.5);
  CHECK(polynomial.test_accuracy == doctest::Approx(0.9));
  CHECK(polynomial.test_mse == doctest::Approx(0.0078209).epsilon(0.01));
}

TEST_CASE("where no fold can be learned from, C is the least that is tried") {
  sparse::PublishedRows rows = unscaled_rows();
  for (std::size_t i = 0; i < rows.group.size(); ++i) rows.group[i] = i / 50;
  const auto figures = required(sparse::with_scaled_inputs(rows, sparse::PublishedKernel::radial, 4,
                                                           sparse::PublishedSplit::by_group, 1));
  CHECK(figures.class_cost == 0.5);
  CHECK(figures.value_cost == 0.5);
}

TEST_CASE("what only a row of the same matrix tells is not known by group") {
  sparse::PublishedRows rows = unscaled_rows();
  for (std::size_t i = 0; i < rows.inputs.size(); ++i) {
    const auto group = static_cast<double>(rows.group[i]);
    rows.inputs[i] = {group};
    rows.performance[i] = std::fmod(group * 0.618, 1);
  }
  CHECK(sparse::rows_of_equal_inputs(rows) == 100);
  CHECK(sparse::rows_of_equal_inputs(unscaled_rows()) == 0);
  const auto mse = [&](sparse::PublishedSplit split) {
    return sparse::as_published(rows, sparse::PublishedKernel::radial, 4, split, 1)->test_mse;
  };
  CHECK(mse(sparse::PublishedSplit::drawn) < 0.01);
  CHECK(mse(sparse::PublishedSplit::by_group) > 0.03);
}

}  // namespace
