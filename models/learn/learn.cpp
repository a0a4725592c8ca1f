#include "models/learn/learn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>

#include "models/core/digest.hpp"
#include "models/devices/device_names.hpp"
#include "models/learn/model_contents.hpp"
#include "models/learn/performance_table.hpp"
#include "models/learn/rank.hpp"
#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"

namespace idletune {

namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using model_schema::SectionKind;

constexpr double kReached = 0.95;  // of the best: where held-out evaluations are counted to

std::vector<std::string> sorted_names(const History& history) {
  std::vector<std::string> names = history.parameter_names();
  std::sort(names.begin(), names.end());
  return names;
}

// Histories of the same kernel and parameter names, in the order of their first one.
std::vector<std::vector<const History*>> group_by_kernel(
    const std::vector<const History*>& histories) {
  std::vector<std::vector<const History*>> groups;
  for (const History* history : histories) {
    const auto same = [&](const std::vector<const History*>& group) {
      return group.front()->kernel == history->kernel &&
             sorted_names(*group.front()) == sorted_names(*history);
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({history});
    } else {
      found->push_back(history);
    }
  }
  return groups;
}

// How many sources each one's device has.
std::vector<std::size_t> sources_of_device(const PerformanceTable& table) {
  std::vector<std::string> names;
  std::vector<std::size_t> counts;
  std::vector<std::size_t> device;
  for (const auto& source : table.sources()) {
    std::size_t at = 0;
    while (at < names.size() && !same_device_model(names[at], source.device)) ++at;
    if (at == names.size()) {
      names.push_back(source.device);
      counts.push_back(0);
    }
    ++counts[at];
    device.push_back(at);
  }
  for (std::size_t& number : device) number = counts[number];
  return device;
}

// Every device weighs the same, however many shapes it was measured at.
std::vector<double> device_weights(const PerformanceTable& table) {
  std::vector<double> weights;
  for (const std::size_t count : sources_of_device(table))
    weights.push_back(1.0 / static_cast<double>(count));
  return weights;
}

std::size_t index_of_largest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// --- cross-validation ---

HeldOutResult evaluate(const PerformanceTable& table, std::size_t target) {
  const PerformanceTable::Source& source = table.sources()[target];
  std::vector<double> weights = device_weights(table);
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (same_device_model(table.sources()[s].device, source.device)) weights[s] = 0;
  }
  HeldOutResult result;
  result.device = source.device;
  result.shape = source.shape;
  // What was not measured on the target could not be tried there either.
  std::vector<double> allowed = desirability(table, weights);
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    if (source.relative[c] < 0) allowed[c] = -1;
  }
  result.first_pick =
      static_cast<double>(std::max(0.0f, source.relative[index_of_largest(allowed)]));
  std::size_t tried = 0;
  for (const std::size_t c : portfolio(table, weights, 1024)) {
    if (source.relative[c] < 0) continue;
    ++tried;
    if (static_cast<double>(source.relative[c]) < kReached) continue;
    result.evaluations = tried;
    break;
  }
  return result;
}

std::vector<HeldOutResult> cross_validate(const PerformanceTable& table) {
  std::vector<HeldOutResult> results;
  for (std::size_t target = 0; target < table.sources().size(); ++target) {
    const bool others =
        std::any_of(table.sources().begin(), table.sources().end(),
                    [&](const PerformanceTable::Source& source) {
                      return !same_device_model(source.device, table.sources()[target].device);
                    });
    if (others) results.push_back(evaluate(table, target));
  }
  return results;
}

// --- writing ---

auto write_shape(Builder& builder, const Shape& shape) {
  return builder.CreateVector(shape.data(), shape.size());
}

auto write_values(Builder& builder, const Configuration& configuration) {
  return builder.CreateVector(configuration.values().data(), configuration.size());
}

template <class T>
std::vector<std::uint8_t> finish(Builder& builder, flatbuffers::Offset<T> root) {
  builder.Finish(root);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<std::uint8_t> write_sources(const PerformanceTable& table) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::ModelSource>> sources;
  for (const auto& source : table.sources()) {
    const PerformanceDistribution& d = source.distribution;
    const auto quantiles = quantiles_of(d.sorted);
    const auto device = builder.CreateString(source.device.substr(0, model_schema::kMaxNameBytes));
    const auto shape = write_shape(builder, source.shape);
    const auto values = builder.CreateVector(quantiles.data(), quantiles.size());
    sources.push_back(model_schema::CreateModelSource(
        builder, device, shape, values, static_cast<float>(d.fraction(0.9)), d.space, d.measured,
        d.best_ns, d.median_run_ns, d.median_compile_ns));
  }
  return finish(builder,
                model_schema::CreateSourcesSection(builder, builder.CreateVector(sources)));
}

std::vector<std::uint8_t> write_portfolio(const PerformanceTable& table,
                                          const std::vector<std::size_t>& order,
                                          const std::vector<double>& expected) {
  std::vector<std::int64_t> values;
  std::vector<float> relative;
  std::vector<float> scores;
  for (const std::size_t c : order) {
    const Configuration& configuration = table.configurations()[c];
    values.insert(values.end(), configuration.values().begin(), configuration.values().end());
    for (const auto& source : table.sources()) relative.push_back(source.relative[c]);
    scores.push_back(static_cast<float>(expected[c]));
  }
  Builder builder;
  const auto value_offset = builder.CreateVector(values);
  const auto relative_offset = builder.CreateVector(relative);
  const auto score_offset = builder.CreateVector(scores);
  return finish(builder, model_schema::CreatePortfolioSection(builder, value_offset,
                                                              relative_offset, score_offset));
}

struct Pick {
  std::int32_t source = -1;
  Shape shape;
  std::size_t configuration = 0;
  double expected = 0;
};

// Over all devices, for any shape and for each shape that was measured; and each source's own best.
std::vector<Pick> choose_first_picks(const PerformanceTable& table) {
  std::vector<Pick> picks;
  const std::vector<double> weights = device_weights(table);
  const auto add = [&](const Shape& shape, const std::vector<double>& chosen) {
    const std::size_t best = index_of_largest(desirability(table, chosen));
    picks.push_back({-1, shape, best, expected_relative_performance(table, chosen)[best]});
  };
  add(Shape(), weights);
  std::vector<Shape> shapes;
  for (const auto& source : table.sources()) {
    const bool known = std::find(shapes.begin(), shapes.end(), source.shape) != shapes.end();
    if (source.shape.size() > 0 && !known) shapes.push_back(source.shape);
  }
  for (const Shape& shape : shapes) {
    std::vector<double> of_shape = weights;
    for (std::size_t s = 0; s < of_shape.size(); ++s) {
      if (table.sources()[s].shape != shape) of_shape[s] = 0;
    }
    add(shape, of_shape);
  }
  for (std::size_t s = 0; s < table.sources().size(); ++s) {
    const std::vector<float>& q = table.sources()[s].relative;
    const auto best = std::max_element(q.begin(), q.end());
    picks.push_back({static_cast<std::int32_t>(s), table.sources()[s].shape,
                     static_cast<std::size_t>(best - q.begin()), static_cast<double>(*best)});
  }
  return picks;
}

std::vector<std::uint8_t> write_first_picks(const PerformanceTable& table,
                                            const std::vector<Pick>& picks) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::PickEntry>> entries;
  for (const Pick& pick : picks) {
    const auto shape = write_shape(builder, pick.shape);
    const auto values = write_values(builder, table.configurations()[pick.configuration]);
    entries.push_back(model_schema::CreatePickEntry(builder, pick.source, shape, values,
                                                    static_cast<float>(pick.expected)));
  }
  return finish(builder,
                model_schema::CreateFirstPicksSection(builder, builder.CreateVector(entries)));
}

std::vector<std::uint8_t> write_quality(const std::vector<HeldOutResult>& results,
                                        const std::vector<LearnedSelector>& selectors) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::HeldOut>> entries;
  for (const HeldOutResult& result : results) {
    const auto device = builder.CreateString(result.device.substr(0, model_schema::kMaxNameBytes));
    const auto shape = write_shape(builder, result.shape);
    entries.push_back(model_schema::CreateHeldOut(builder, device, shape,
                                                  static_cast<float>(result.first_pick),
                                                  static_cast<std::uint32_t>(result.evaluations)));
  }
  std::vector<flatbuffers::Offset<model_schema::SelectorQuality>> qualities;
  for (const LearnedSelector& selector : selectors) {
    if (selector.folds == 0) continue;
    const auto device =
        selector.device.empty()
            ? flatbuffers::Offset<flatbuffers::String>()
            : builder.CreateString(selector.device.substr(0, model_schema::kMaxNameBytes));
    qualities.push_back(model_schema::CreateSelectorQuality(
        builder, device, static_cast<std::uint32_t>(selector.shapes),
        static_cast<std::uint32_t>(selector.folds), static_cast<float>(selector.retained),
        static_cast<float>(selector.worst), static_cast<float>(selector.against_single),
        static_cast<float>(selector.accuracy)));
  }
  const auto held_out = builder.CreateVector(entries);
  return finish(builder, model_schema::CreateQualitySection(builder, held_out,
                                                            builder.CreateVector(qualities)));
}

// How many portfolio entries fit beside everything else that is stored for the kernel.
std::size_t entries_that_fit(const PerformanceTable& table, const std::vector<Pick>& picks,
                             const LearnOptions& options) {
  const std::size_t parameters = table.parameters().size();
  const std::size_t sources = table.sources().size();
  const std::size_t per_entry = 8 * parameters + 4 * sources + 4;
  const std::size_t fixed = 1024 + sources * 420 + picks.size() * (8 * parameters + 112);
  if (fixed >= options.bytes_per_kernel) return 1;
  return std::clamp<std::size_t>((options.bytes_per_kernel - fixed) / per_entry, 1,
                                 options.portfolio);
}

// --- one kernel within its size limit ---

// What a kernel's sections are made from, and how much of it is kept.
struct Extent {
  std::size_t shapes = SIZE_MAX;     // per device, as sources
  std::size_t portfolio = SIZE_MAX;  // entries
  std::size_t selector_leaf = 0;     // rows of a leaf, at least; 0: as chosen
  bool selectors = true;
};

std::size_t most_shapes_of_a_device(const PerformanceTable& table) {
  const std::vector<std::size_t> counts = sources_of_device(table);
  return *std::max_element(counts.begin(), counts.end());
}

double log_distance(const Shape& a, const Shape& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::log(std::max(1.0, static_cast<double>(a[i]))) -
                     std::log(std::max(1.0, static_cast<double>(b[i])));
    sum += d * d;
  }
  return sum;
}

// At most `count` of the histories' shapes per device: the first one, then always the one that is
// furthest from those taken (in the logarithm of its dimensions).
std::vector<const History*> spread_shapes(const std::vector<const History*>& histories,
                                          std::size_t count) {
  std::vector<const History*> kept;
  std::vector<bool> done(histories.size(), false);
  for (std::size_t first = 0; first < histories.size(); ++first) {
    if (done[first]) continue;
    std::vector<std::size_t> own;
    for (std::size_t i = first; i < histories.size(); ++i) {
      if (done[i] || !same_device_model(histories[i]->device, histories[first]->device)) continue;
      done[i] = true;
      own.push_back(i);
    }
    std::vector<Shape> taken{histories[first]->shape};
    while (taken.size() < count) {
      double furthest = 0;
      const History* next = nullptr;
      for (const std::size_t i : own) {
        double nearest = std::numeric_limits<double>::max();
        for (const Shape& shape : taken)
          nearest = std::min(nearest, log_distance(shape, histories[i]->shape));
        if (nearest > furthest) {
          furthest = nearest;
          next = histories[i];
        }
      }
      if (next == nullptr) break;
      taken.push_back(next->shape);
    }
    for (const std::size_t i : own) {
      if (std::find(taken.begin(), taken.end(), histories[i]->shape) != taken.end())
        kept.push_back(histories[i]);
    }
  }
  return kept;
}

std::uint64_t digest_of_history(const History& history) {
  Digest digest;
  digest.add(history.device).add(history.driver).add(digest_of(history.shape));
  for (std::size_t row = 0; row < history.rows(); ++row) {
    digest.add(digest_of(history.configuration(row)));
    digest.add(static_cast<std::uint64_t>(history.status[row]));
    digest.add(history.correct(row)
                   ? static_cast<std::uint64_t>(std::llround(history.run_time_ns(row) * 16))
                   : 0);
  }
  return digest.value();
}

KernelProvenance provenance_from(const std::vector<const History*>& histories,
                                 const LearnOptions& options) {
  KernelProvenance provenance;
  provenance.learned_unix_seconds = options.learned_unix_seconds;
  std::vector<std::vector<Shape>> shapes;
  std::vector<Digest> digests;
  for (const History* history : histories) {
    std::size_t at = 0;
    while (at < provenance.histories.size() && provenance.histories[at].device != history->device) {
      ++at;
    }
    if (at == provenance.histories.size()) {
      provenance.histories.push_back({history->device, 0, 0, 0, 0, 0});
      shapes.emplace_back();
      digests.emplace_back();
    }
    KernelProvenance::Origin& origin = provenance.histories[at];
    ++origin.histories;
    origin.configurations += history->rows();
    origin.correct += history->count(TrialStatus::correct);
    if (std::find(shapes[at].begin(), shapes[at].end(), history->shape) == shapes[at].end())
      shapes[at].push_back(history->shape);
    origin.shapes = static_cast<std::uint32_t>(shapes[at].size());
    digests[at].add(digest_of_history(*history));
    origin.digest = digests[at].value();
  }
  return provenance;
}

// The names of the problem's dimensions, where an exploration noted them.
std::vector<std::string> input_names(const std::vector<const History*>& histories) {
  for (const History* history : histories) {
    for (const auto& [key, text] : history->notes) {
      if (key != "explore") continue;
      const auto note = nlohmann::json::parse(text, nullptr, false);
      if (!note.is_object() || !note.contains("dimensions") || !note["dimensions"].is_array())
        continue;
      std::vector<std::string> names;
      for (const auto& name : note["dimensions"]) {
        if (name.is_string()) names.push_back(name.get<std::string>());
      }
      return names;
    }
  }
  return {};
}

// Published configurations in the kernel's order of parameters.
std::vector<std::uint8_t> write_published(const PublishedConfigurations& published,
                                          const std::vector<std::string>& parameters) {
  Builder builder;
  std::vector<std::size_t> column;
  for (const std::string& name : parameters) {
    const auto at = std::find(published.parameters.begin(), published.parameters.end(), name);
    column.push_back(static_cast<std::size_t>(at - published.parameters.begin()));
  }
  std::vector<flatbuffers::Offset<model_schema::PublishedPick>> picks;
  for (const PublishedConfigurations::Entry& entry : published.entries) {
    std::vector<std::int64_t> values;
    for (const std::size_t c : column) values.push_back(entry.values[c]);
    const auto device = builder.CreateString(entry.device.substr(0, model_schema::kMaxNameBytes));
    const auto value_offset = builder.CreateVector(values);
    picks.push_back(
        model_schema::CreatePublishedPick(builder, device, value_offset, entry.devices));
  }
  const auto origin = builder.CreateString(published.origin);
  return finish(builder,
                model_schema::CreatePublishedSection(builder, origin, builder.CreateVector(picks)));
}

void add_section(ModelKernel& kernel, SectionKind kind, std::vector<std::uint8_t> bytes) {
  kernel.sections.push_back(
      {static_cast<std::uint32_t>(kind), model_schema::kSectionVersion, std::move(bytes)});
}

// Learns what a kernel's sections hold; what is expensive and does not depend on the extent once.
class KernelLearner {
 public:
  KernelLearner(std::vector<const History*> histories, const LearnOptions& options)
      : histories_(std::move(histories)), options_(options), full_(histories_) {
    if (options_.selector.inputs.empty()) options_.selector.inputs = input_names(histories_);
    if (!full_.sources().empty())
      selectors_ = learn_selectors(full_, options_.selector, options_.cross_validate);
  }

  const PerformanceTable& table() const { return full_; }
  const std::vector<LearnedSelector>& selectors() const { return selectors_; }

  ModelKernel build(const Extent& extent, LearnedKernel& report) {
    if (extent.shapes != shapes_) {
      shapes_ = extent.shapes;
      const bool all = extent.shapes >= most_shapes_of_a_device(full_);
      reduced_.reset();
      if (!all) reduced_.emplace(spread_shapes(histories_, extent.shapes));
      held_out_.clear();
      if (options_.cross_validate) held_out_ = cross_validate(sources_table());
    }
    const PerformanceTable& table = sources_table();
    const std::vector<double> weights = device_weights(table);
    const std::vector<Pick> picks = choose_first_picks(table);
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

 private:
  const PerformanceTable& sources_table() const { return reduced_ ? *reduced_ : full_; }
  std::vector<LearnedSelector> selectors_of(const Extent& extent) const {
    if (extent.selector_leaf == 0) return selectors_;
    SelectorOptions smaller = options_.selector;
    smaller.leaf = static_cast<double>(extent.selector_leaf);
    return learn_selectors(full_, smaller, options_.cross_validate);
  }

  std::vector<const History*> histories_;
  LearnOptions options_;
  PerformanceTable full_;
  std::optional<PerformanceTable> reduced_;
  std::size_t shapes_ = 0;
  std::vector<LearnedSelector> selectors_;
  std::vector<HeldOutResult> held_out_;
};

// The next smaller extent where `over` bytes must go; false: there is none.
bool reduce(const KernelLearner& learner, const LearnedKernel& report, std::size_t over,
            Extent& extent) {
  constexpr std::size_t kFewEntries = 32;
  constexpr std::size_t kFewShapes = 8;
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

const PublishedConfigurations* published_for(const std::string& kernel,
                                             const std::vector<std::string>& parameters,
                                             const LearnOptions& options) {
  for (const PublishedConfigurations& published : options.published) {
    if (published.kernel != kernel) continue;
    const bool complete =
        std::all_of(parameters.begin(), parameters.end(), [&](const std::string& name) {
          return std::find(published.parameters.begin(), published.parameters.end(), name) !=
                 published.parameters.end();
        });
    if (complete) return &published;
  }
  return nullptr;
}

// Errors: out_of_memory if even the least of it exceeds the limit.
Result<ModelKernel> learn_kernel(const std::vector<const History*>& histories,
                                 KernelLearner& learner, const LearnOptions& options,
                                 LearnedKernel& report) {
  report.kernel = learner.table().kernel();
  Extent extent;
  ModelKernel tail;  // what is never dropped
  if (const auto* published = published_for(report.kernel, learner.table().parameters(), options)) {
    add_section(tail, SectionKind::published,
                write_published(*published, learner.table().parameters()));
    report.published = published->entries.size();
  }
  ModelKernel kernel = learner.build(extent, report);
  const std::size_t wanted =
      portfolio(learner.table(), device_weights(learner.table()), options.portfolio).size();
  KernelProvenance provenance = provenance_from(histories, options);
  for (;;) {
    provenance.dropped = describe_dropped(extent, learner, report, wanted);
    kernel.sections.push_back(write_provenance(provenance));
    kernel.sections.insert(kernel.sections.end(), tail.sections.begin(), tail.sections.end());
    report.bytes = kernel.bytes();
    if (report.bytes <= options.bytes_per_kernel) break;
    if (!reduce(learner, report, report.bytes - options.bytes_per_kernel, extent)) {
      return Status(StatusCode::out_of_memory, "kernel '" + report.kernel + "': needs at least " +
                                                   std::to_string(report.bytes) +
                                                   " bytes, the limit is " +
                                                   std::to_string(options.bytes_per_kernel));
    }
    kernel = learner.build(extent, report);
  }
  report.dropped = provenance.dropped;
  return kernel;
}

// A kernel that is known by published configurations alone.
ModelKernel published_kernel(const PublishedConfigurations& published, LearnedKernel& report) {
  ModelKernel kernel;
  kernel.name = published.kernel;
  kernel.parameters = published.parameters;
  add_section(kernel, SectionKind::published, write_published(published, kernel.parameters));
  report.kernel = published.kernel;
  report.published = published.entries.size();
  report.bytes = kernel.bytes();
  return kernel;
}

std::vector<std::string> provenance_lines(const ModelKernel& kernel) {
  std::vector<std::string> lines;
  for (const KernelProvenance::Origin& origin : provenance_of(kernel).histories) {
    lines.push_back(
        kernel.name + " on " + origin.device + ": " + std::to_string(origin.configurations) +
        " configurations" +
        (origin.histories > 1 ? " in " + std::to_string(origin.histories) + " histories" : ""));
  }
  return lines;
}

}  // namespace

Result<LearnedModel> learn(const std::vector<const History*>& histories,
                           const LearnOptions& options) {
  LearnedModel model;
  ModelContents contents;
  contents.generation = options.generation;
  for (const std::vector<const History*>& group : group_by_kernel(histories)) {
    KernelLearner learner(group, options);
    if (learner.table().sources().empty()) {
      model.warnings.push_back("kernel " + group.front()->kernel +
                               ": nothing ran correctly, left out");
      continue;
    }
    LearnedKernel report;
    Result<ModelKernel> kernel = learn_kernel(group, learner, options, report);
    if (!kernel.ok()) return kernel.status();
    for (const std::string& line : provenance_lines(*kernel)) contents.provenance.push_back(line);
    for (const std::string& line : report.dropped)
      model.warnings.push_back("kernel " + report.kernel + ", kept to fit its size limit: " + line);
    contents.kernels.push_back(std::move(*kernel));
    model.kernels.push_back(std::move(report));
  }
  for (const PublishedConfigurations& published : options.published) {
    contents.provenance.push_back(published.kernel +
                                  ", published configurations: " + published.origin);
    const bool taken =
        std::any_of(model.kernels.begin(), model.kernels.end(), [&](const LearnedKernel& kernel) {
          return kernel.kernel == published.kernel && kernel.published > 0;
        });
    if (taken) continue;
    LearnedKernel report;
    contents.kernels.push_back(published_kernel(published, report));
    model.kernels.push_back(std::move(report));
  }
  if (contents.kernels.empty()) {
    return Status(StatusCode::invalid_argument,
                  "nothing to learn from: no history with a correct measurement");
  }
  model.bytes = write_model(contents);
  // What was just written must be what a board accepts.
  const auto opened = Model::open(model.bytes, "being learned");
  if (!opened.ok()) return opened.status();
  return model;
}

}  // namespace idletune
