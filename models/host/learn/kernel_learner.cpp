#include "models/host/learn/kernel_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/devices/device_names.hpp"
#include "models/host/learn/device_weights.hpp"
#include "models/host/learn/first_picks.hpp"
#include "models/host/learn/model_sections.hpp"
#include "models/host/learn/rank.hpp"
#include "models/predict/model.hpp"

namespace idletune {
namespace {

using model_schema::SectionKind;

constexpr std::size_t kFewEntries = 32;
constexpr std::size_t kFewShapes = 8;

// How many portfolio entries fit beside everything else that is stored for the kernel.
std::size_t entries_that_fit(const PerformanceTable& table, const std::vector<LearnedPick>& picks,
                             const LearnOptions& options) {
  const std::size_t parameters = table.parameters().size();
  const std::size_t sources = table.sources().size();
  const std::size_t per_entry = 8 * parameters + 4 * sources + 4;
  const std::size_t fixed = 1024 + sources * 420 + picks.size() * (8 * parameters + 112);
  if (fixed >= options.bytes_per_kernel) return 1;
  return std::clamp<std::size_t>((options.bytes_per_kernel - fixed) / per_entry, 1,
                                 options.portfolio);
}

double log_distance(const Shape& a, const Shape& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::log(std::max(1.0, static_cast<double>(a[i]))) -
                     std::log(std::max(1.0, static_cast<double>(b[i])));
    sum += d * d;
  }
  return sum + feature_distance(a, b);
}

// The histories of at most `count` of the table's shapes per device: the first one, then always the
// one that is furthest from those taken (in the logarithm of its dimensions).
std::vector<const History*> spread_shapes(const PerformanceTable& table,
                                          const std::vector<const History*>& histories,
                                          std::size_t count) {
  std::vector<const History*> kept;
  std::vector<const PerformanceTable::Source*> left;
  for (const PerformanceTable::Source& source : table.sources()) left.push_back(&source);
  while (!left.empty()) {
    const PerformanceTable::Source& first = *left.front();
    const auto others = std::stable_partition(left.begin(), left.end(), [&](const auto* source) {
      return same_device_model(source->device, first.device);
    });
    const std::vector<const PerformanceTable::Source*> own(left.begin(), others);
    left.erase(left.begin(), others);
    std::vector<Shape> taken{first.shape};
    std::vector<double> nearest(own.size(), std::numeric_limits<double>::max());
    while (taken.size() < count) {
      double furthest = 0;
      const Shape* next = nullptr;
      for (std::size_t i = 0; i < own.size(); ++i) {
        nearest[i] = std::min(nearest[i], log_distance(taken.back(), own[i]->shape));
        if (nearest[i] > furthest) {
          furthest = nearest[i];
          next = &own[i]->shape;
        }
      }
      if (next == nullptr) break;
      taken.push_back(*next);
    }
    for (const History* history : histories) {
      if (same_device_model(history->device, first.device) &&
          std::find(taken.begin(), taken.end(), history->shape) != taken.end())
        kept.push_back(history);
    }
  }
  return kept;
}

}  // namespace

KernelLearner::KernelLearner(std::vector<const History*> histories, const LearnOptions& options)
    : histories_(std::move(histories)), options_(options), full_(histories_) {
  if (!full_.inputs().empty()) options_.selector.inputs = full_.inputs();
  if (!full_.sources().empty())
    selectors_ = learn_selectors(full_, options_.selector, options_.cross_validate);
  if (options_.cross_validate) models_without_ = learn_without_each(histories_, options_);
}

ModelKernel KernelLearner::build(const Extent& extent, LearnedKernel& report) {
  if (extent.shapes != shapes_) {
    shapes_ = extent.shapes;
    const bool all = extent.shapes >= most_shapes_of_a_device(full_);
    reduced_.reset();
    if (!all) reduced_.emplace(spread_shapes(full_, histories_, extent.shapes));
    held_out_ = cross_validate(sources_table(), models_without_);
  }
  const PerformanceTable& table = sources_table();
  const std::vector<double> weights = device_weights(table);
  const std::vector<LearnedPick> picks = choose_first_picks(table);
  const std::vector<std::size_t> order = portfolio(
      table, weights, std::min(extent.portfolio, entries_that_fit(table, picks, options_)));
  const std::vector<double> expected = expected_relative_performance(table, weights);
  report.devices.clear();
  for (const auto& source : table.sources()) report.devices.push_back(source.device);
  report.configurations = full_.configurations().size();
  report.portfolio = order.size();
  report.held_out = held_out_;
  report.selectors = extent.selectors ? selectors_of(extent) : std::vector<LearnedSelector>();

  ModelKernel kernel;
  kernel.name = full_.kernel();
  kernel.parameters = full_.parameters();
  add_section(kernel, SectionKind::sources, write_sources(table));
  add_section(kernel, SectionKind::portfolio, write_portfolio(table, order, expected));
  add_section(kernel, SectionKind::first_picks, write_first_picks(table, picks));
  add_section(kernel, SectionKind::quality, write_quality(held_out_, report.selectors));
  if (!report.selectors.empty())
    add_section(kernel, SectionKind::selectors, write_selectors(full_, report.selectors));
  return kernel;
}

std::vector<LearnedSelector> KernelLearner::selectors_of(const Extent& extent) const {
  if (extent.selector_leaf == 0) return selectors_;
  SelectorOptions smaller = options_.selector;
  smaller.leaf = static_cast<double>(extent.selector_leaf);
  return learn_selectors(full_, smaller, options_.cross_validate);
}

bool starved(const KernelLearner& learner, const LearnedKernel& report, std::size_t wanted,
             const Extent& extent) {
  return report.portfolio < std::min(kFewEntries, wanted) &&
         std::min(extent.shapes, most_shapes_of_a_device(learner.table())) > kFewShapes;
}

bool reduce(const KernelLearner& learner, const LearnedKernel& report, std::size_t over,
            Extent& extent) {
  constexpr std::size_t kMostLeafRows = 64;
  const std::size_t shapes = std::min(extent.shapes, most_shapes_of_a_device(learner.table()));
  const std::size_t entry_bytes =
      8 * learner.table().parameters().size() + 4 * report.devices.size() + 4;
  const std::size_t surplus = over / entry_bytes + 1;  // entries
  if (shapes > kFewShapes) {
    extent.shapes = std::max(kFewShapes, shapes / 2);
  } else if (report.portfolio > kFewEntries) {
    extent.portfolio =
        std::max(kFewEntries, report.portfolio - std::min(report.portfolio, surplus));
  } else if (extent.selectors && !report.selectors.empty()) {
    extent.selector_leaf = std::max<std::size_t>(2, extent.selector_leaf * 2);
    extent.selectors = extent.selector_leaf <= kMostLeafRows;
  } else if (shapes > 1) {
    extent.shapes = shapes / 2;
  } else if (report.portfolio > 1) {
    extent.portfolio = report.portfolio > surplus ? report.portfolio - surplus : 1;
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> describe_dropped(const Extent& extent, const KernelLearner& learner,
                                          const LearnedKernel& report, std::size_t wanted) {
  std::vector<std::string> lines;
  const std::size_t shapes = most_shapes_of_a_device(learner.table());
  if (extent.shapes < shapes) {
    lines.push_back("sources: " + std::to_string(extent.shapes) + " of up to " +
                    std::to_string(shapes) + " shapes per device");
  }
  if (report.portfolio < wanted) {
    lines.push_back("portfolio: " + std::to_string(report.portfolio) + " of " +
                    std::to_string(wanted) + " entries");
  }
  if (!extent.selectors) {
    lines.push_back("selectors: all of them");
  } else if (extent.selector_leaf > 0) {
    lines.push_back("selectors: leaves of fewer than " + std::to_string(extent.selector_leaf) +
                    " shapes");
  }
  return lines;
}

}  // namespace idletune
