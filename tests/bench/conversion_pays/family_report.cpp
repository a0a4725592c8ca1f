#include "tests/bench/conversion_pays/family_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "tests/bench/quartiles.hpp"

namespace idletune::bench {
namespace {

constexpr double kWorstPercent = 0.99;

std::string family_of(const std::string& matrix) {
  const std::size_t colon = matrix.find(':');
  return colon == std::string::npos ? "collected" : matrix.substr(0, colon);
}

struct Losses {
  std::vector<double> over_csr, over_oracle, csr_over_oracle;
  double worst = 0;
  std::string worst_matrix;

  void add(const Totals& totals, const std::string& matrix) {
    over_csr.push_back(totals.ours / totals.fixed_csr);
    over_oracle.push_back(totals.ours / totals.clairvoyant);
    csr_over_oracle.push_back(totals.fixed_csr / totals.clairvoyant);
    if (over_csr.back() <= worst) return;
    worst = over_csr.back();
    worst_matrix = matrix + ", ended in " + krylov::sparse_format_name(totals.ended_in);
  }
};

double mean_of(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

void print(const std::string& family, const Losses& losses) {
  std::printf("| %s | %zu | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %s |\n",
              family.c_str(), losses.over_csr.size(), mean_of(losses.over_oracle),
              quantile(losses.over_oracle, kWorstPercent), quantile(losses.over_oracle, 1),
              mean_of(losses.csr_over_oracle), mean_of(losses.over_csr),
              quantile(losses.over_csr, kWorstPercent), losses.worst, losses.worst_matrix.c_str());
}

Totals worst_of(const ProductTimesTable& table, const TimedMatrix& matrix, Scenario scenario,
                const LeftOutModel* model) {
  Totals worst;
  for (const Falls falls : {Falls::evenly, Falls::late, Falls::in_waves}) {
    scenario.falls = falls;
    const Totals totals = replay(table, matrix, scenario, model);
    if (totals.ours > worst.ours) worst = totals;
  }
  return worst;
}

ProductTimesTable with_all_turns(ProductTimesTable table) {
  for (TimedMatrix& matrix : table.matrices) {
    for (TimedKernel& product : matrix.products)
      product.us = product.other_us = (product.us + product.other_us) / 2;
  }
  return table;
}

void report(const ProductTimesTable& table, const Models& models, const Scenario& scenario) {
  std::printf(
      "\n%u solves of %u products, %s programs\n\n"
      "| family | matrices | ours / oracle | worst percent | worst | CSR / oracle | ours / CSR | "
      "worst percent | worst | which |\n|---|---|---|---|---|---|---|---|---|---|\n",
      scenario.solves, scenario.iterations, scenario.cold ? "cold" : "warm");
  std::map<std::string, Losses> families;
  Losses all;
  for (std::size_t i = 0; i < table.matrices.size(); ++i) {
    const LeftOutModel* model = models.empty() || !models[i] ? nullptr : &*models[i];
    if (!models.empty() && model == nullptr) continue;
    const TimedMatrix& matrix = table.matrices[i];
    const Totals totals = worst_of(table, matrix, scenario, model);
    families[family_of(matrix.name)].add(totals, matrix.name);
    all.add(totals, matrix.name);
  }
  for (const auto& [family, losses] : families) print(family, losses);
  print("all", all);
  std::fflush(stdout);
}

// What the same kernel takes in other turns, of those that are not hopelessly slow.
void report_spread(const ProductTimesTable& table) {
  std::vector<double> apart;
  for (const TimedMatrix& matrix : table.matrices) {
    for (const TimedKernel& product : matrix.products) {
      if (product.us < 2 * matrix.products.front().us)
        apart.push_back(std::fabs(product.other_us / product.us - 1));
    }
  }
  std::printf("The same kernel in other turns: median %.1f %% apart, 90th percentile %.1f %%\n",
              100 * quantile(apart, 0.5), 100 * quantile(apart, 0.9));
}

void report_all(const ProductTimesTable& table, const Models& models) {
  Scenario scenario;
  for (const std::uint32_t products : {100U, 1000U, 10000U, 100000U}) {
    scenario.iterations = products;
    report(table, models, scenario);
  }
  scenario.iterations = 1000;
  scenario.solves = 100;
  report(table, models, scenario);
}

}  // namespace

void report_families(const ProductTimesTable& table, const Models& models) {
  report_spread(table);
  std::printf("\nChosen by half of the turns, paid in the others\n");
  report_all(table, models);
  std::printf("\nChosen by all turns, paid in the same\n");
  report_all(with_all_turns(table), models);
}

}  // namespace idletune::bench
