// Whether choosing formats, kernels and work groups while iterating pays: what 1 to 1,000 solves of
// 1 to 100,000 iterations take in all, replayed from recorded times by the rules of the solver,
// beside CSR alone, beside the fastest format from the start, and beside somebody who knows all
// times and the number of iterations beforehand. With --learned-from a folder of histories, the
// solver has a model, of other matrices alone; matrices that no history knows are left out. Exits
// with 1 where a target is missed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/conversion_pays/family_report.hpp"

namespace idletune::bench {
namespace {

constexpr double kMostAboveCsr = 1.02;
constexpr double kMostAboveForeseeing = 1.10;  // on average, over the whole grid

struct Summary {
  std::size_t cases = 0;
  std::size_t above = 0;  // CSR by more than the target
  double worst = 0;       // times CSR
  std::string worst_case;
  // Of ours and always over CSR; of ours and CSR over the clairvoyant; of ours over the foreseeing.
  double logs[5] = {};
  double worst_always = 0;

  double mean(int which) const { return std::exp(logs[which] / static_cast<double>(cases)); }
  void add(const Totals& totals, const std::string& name) {
    ++cases;
    const double ours = totals.ours / totals.fixed_csr;
    if (ours > kMostAboveCsr) ++above;
    if (ours > worst) {
      worst = ours;
      worst_case = name;
    }
    worst_always = std::max(worst_always, totals.always / totals.fixed_csr);
    logs[0] += std::log(ours);
    logs[1] += std::log(totals.always / totals.fixed_csr);
    logs[2] += std::log(totals.ours / totals.clairvoyant);
    logs[3] += std::log(totals.fixed_csr / totals.clairvoyant);
    logs[4] += std::log(totals.ours / totals.foreseeing);
  }
};

const char* name_of(Falls falls) {
  return falls == Falls::evenly ? "evenly" : falls == Falls::late ? "late" : "in waves";
}

void add_matrix(const ProductTimesTable& table, const TimedMatrix& matrix, Scenario scenario,
                const LeftOutModel* model, bool quick, Summary& summary) {
  for (std::uint32_t n = 1; n <= (quick ? 10000U : 100000U); n *= quick ? 100 : 10) {
    for (std::uint32_t solves = 1; solves <= 1000; solves *= quick ? 1000 : 10) {
      scenario.iterations = n;
      scenario.solves = solves;
      const Totals totals = replay(table, matrix, scenario, model);
      summary.add(totals, matrix.name + ", " + std::to_string(solves) + " x " + std::to_string(n) +
                              ", ended in " + krylov::sparse_format_name(totals.ended_in));
    }
  }
}

int compare(const ProductTimesTable& table, const Models& models, bool quick) {
  std::printf(
      "Over CSR alone: geometric means of ours and of always converting, the worst cases; over the "
      "clairvoyant: means of ours and of CSR; foreseeing: who knows as much, but begins as "
      "ours.\n\n"
      "| programs | solves to come | residual falls | cases | ours | worst | above 2 %% | always | "
      "worst | ours / clairvoyant | CSR / clairvoyant | ours / foreseeing | worst case |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const bool cold : {false, true}) {
    for (const bool told : {true, false}) {
      for (const Falls falls : {Falls::evenly, Falls::late, Falls::in_waves}) {
        if (quick && falls == Falls::in_waves) continue;
        Scenario scenario;
        scenario.cold = cold;
        scenario.told = told;
        scenario.falls = falls;
        Summary summary;
        for (std::size_t i = 0; i < table.matrices.size(); i += quick ? 10 : 1) {
          if (models.empty()) {
            add_matrix(table, table.matrices[i], scenario, nullptr, quick, summary);
          } else if (models[i]) {
            add_matrix(table, table.matrices[i], scenario, &*models[i], quick, summary);
          }
        }
        std::printf(
            "| %s | %s | %s | %zu | %.3f | %.3f | %zu | %.3f | %.1f | %.3f | %.3f | %.3f | %s |\n",
            cold ? "cold" : "warm", told ? "told" : "not told", name_of(falls), summary.cases,
            summary.mean(0), summary.worst, summary.above, summary.mean(1), summary.worst_always,
            summary.mean(2), summary.mean(3), summary.mean(4), summary.worst_case.c_str());
        std::fflush(stdout);
        good = good && summary.worst <= kMostAboveCsr &&
               (quick || summary.mean(4) <= kMostAboveForeseeing);
      }
    }
  }
  std::printf("\n%s\n", good ? "no target is missed"
                             : "a target is missed: at most 2 % above CSR, on average 10 % above "
                               "who foresees all");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  using namespace idletune::bench;
  bool quick = false;
  bool measure = false;
  bool families = false;
  std::size_t drawn = 0;
  std::uint64_t seed = 1;
  std::string histories;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--measure") == 0) {
      measure = true;
    } else if (std::strcmp(argv[i], "--learned-from") == 0 && i + 1 < argc) {
      histories = argv[++i];
    } else if (std::strcmp(argv[i], "--families") == 0) {
      families = true;
    } else if (std::strcmp(argv[i], "--draw") == 0 && i + 2 < argc) {
      drawn = std::strtoull(argv[++i], nullptr, 10);
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argv[i][0] != '-') {
      files.emplace_back(argv[i]);
    }
  }
  if (measure ? files.empty() && drawn == 0 : files.size() != 1) {
    std::fprintf(stderr,
                 "usage: conversion_pays TIMES [--quick|--families] [--learned-from HISTORIES]\n"
                 "       conversion_pays --measure [--draw COUNT SEED] "
                 "MATRIX|FOLDER|FAMILY:ROWS:SEED... >> TIMES\n");
    return 2;
  }
  try {
#if IDLETUNE_WITH_OPENCL
    if (measure) {
      for (std::string& name : drawn_matrices(drawn, seed)) files.push_back(std::move(name));
      return record_products(files), 0;
    }
#endif
    const ProductTimesTable table = read_times(files.front());
    Models models;
    if (!histories.empty()) {
      const LeftOutModels learned(histories);
      for (const TimedMatrix& matrix : table.matrices) models.push_back(learned.of(matrix.name));
    }
    if (families) return report_families(table, models), 0;
    return compare(table, models, quick);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "conversion_pays: %s\n", error.what());
    return 1;
  }
}
