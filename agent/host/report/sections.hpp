// What the page shows of a study, one function per section. Statistics come from models/host/insight and
// agent/search; here they are only put into words, tables and pictures.
#pragma once

#include <idletune/aims.hpp>

#include "agent/host/report/page.hpp"
#include "agent/host/report/study.hpp"
#include "models/predict/model.hpp"

namespace idletune::report {

// What is known of a history beyond its rows; 0: not known.
struct KnownRates {
  double default_ns = 0;
  double operations = 0;  // floating-point ones of a launch
  double bytes = 0;       // that a launch has to move
};

struct ReportOptions {
  double threshold = kWellPerforming;  // relative performance that counts as well-performing
  double probability = 0.95;           // wanted probability of finding such a configuration
  std::size_t repeats = 100;           // simulated searches per curve of convergence
  std::size_t seeds = 3;               // applications per point of a regret curve
  std::uint64_t seed = 1;              // of the first one
  std::shared_ptr<const Model> model;  // may be null: each target gets one of the other devices
  std::function<KnownRates(const History&)> rates;  // may be empty
};

// Called before every piece of work with what comes next; false: the user asked to stop, and
// whatever is returned then will not be used.
using Continue = std::function<bool(const std::string& next)>;

Section best_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section value_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section distribution_section(const Study& study, const ReportOptions& options,
                             const Continue& go_on);
Section fraction_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section importance_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section device_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section pruning_section(const Study& study, const ReportOptions& options, const Continue& go_on);
// No parts where no device was measured at several problems of a kernel.
Section selection_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section source_section(const Study& study, const ReportOptions& options, const Continue& go_on);
// No parts without a model.
Section model_section(const Study& study, const ReportOptions& options, const Continue& go_on);

// Those that need the lab.
Section convergence_section(const Study& study, const ReportOptions& options,
                            const Continue& go_on);
// Without models: searchers that begin with random draws.
Section searcher_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section regret_section(const Study& study, const ReportOptions& options, const Continue& go_on);

struct SectionMaker {
  const char* name;
  Section (*make)(const Study& study, const ReportOptions& options, const Continue& go_on);
};
// Those that replay searches on the lab: convergence, searchers, regret. None in a build without
// it.
std::vector<SectionMaker> replayed_sections();

// Figures and rows beyond this number of groups are left out, and a paragraph says so.
inline constexpr std::size_t kMostPanels = 60;
// " Only the first 60 of 210 pairs are drawn."; `what`: "pairs are drawn". Empty if all are.
std::string left_out(std::size_t drawn, std::size_t all, const std::string& what);
// The same of kernels and sizes.
std::string panels_left_out(const Study& study);

}  // namespace idletune::report
