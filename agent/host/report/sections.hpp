// What the page shows of a study, one function per section. Statistics come from
// models/host/insight; here they are only put into words, tables and pictures.
#pragma once

#include <idletune/aims.hpp>

#include "agent/host/pictures/page.hpp"
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
  std::shared_ptr<const Model> model;  // may be null
  std::function<KnownRates(const History&)> rates;  // may be empty
  // Of the lab's sections.
  std::size_t repeats = 100;  // simulated searches per curve of convergence
  std::size_t seeds = 3;      // applications per point of a regret curve
  std::uint64_t seed = 1;     // of the first one
};

// Called before every piece of work with what comes next; false: the user asked to stop, and
// whatever is returned then will not be used.
using Continue = std::function<bool(const std::string& next)>;

using SectionFunction = Section(const Study& study, const ReportOptions& options,
                                const Continue& go_on);
// A section without parts has nothing to say of these histories, as those about several devices.
SectionFunction best_section, distribution_section, value_section, fraction_section,
    importance_section, device_section, pruning_section, model_section, source_section;

struct SectionMaker {
  const char* name;
  SectionFunction* make;
};

// Of solved systems: `results` are those of `idletune solve --json --html FILE`; those with an
// "error" say so.
Page solve_page(const json& results);

// Figures and rows beyond this number of groups are left out, and a paragraph says so.
inline constexpr std::size_t kMostPanels = 60;
// " Only the first 60 of 210 pairs are drawn."; `what`: "pairs are drawn". Empty if all are.
std::string left_out(std::size_t drawn, std::size_t all, const std::string& what);
// The same of kernels and sizes; of pairs of kernel and device, of which so many were looked at.
std::string panels_left_out(const Study& study);
std::string pairs_left_out(const Study& study, std::size_t looked, const std::string& what);

}  // namespace idletune::report
