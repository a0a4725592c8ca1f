#include "models/learn/learn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Every device weighs the same, however many shapes it was measured at.
std::vector<double> device_weights(const PerformanceTable& table) {
  std::vector<double> weights;
  for (const auto& source : table.sources()) {
    const auto same = std::count_if(
        table.sources().begin(), table.sources().end(),
        [&](const auto& other) { return same_device_model(source.device, other.device); });
    weights.push_back(1.0 / static_cast<double>(std::max<std::ptrdiff_t>(same, 1)));
  }
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

std::vector<std::uint8_t> write_quality(const std::vector<HeldOutResult>& results) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::HeldOut>> entries;
  for (const HeldOutResult& result : results) {
    const auto device = builder.CreateString(result.device.substr(0, model_schema::kMaxNameBytes));
    const auto shape = write_shape(builder, result.shape);
    entries.push_back(model_schema::CreateHeldOut(builder, device, shape,
                                                  static_cast<float>(result.first_pick),
                                                  static_cast<std::uint32_t>(result.evaluations)));
  }
  return finish(builder,
                model_schema::CreateQualitySection(builder, builder.CreateVector(entries)));
}

using SectionBytes = std::pair<SectionKind, std::vector<std::uint8_t>>;

struct KernelBytes {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<SectionBytes> sections;
};

flatbuffers::Offset<model_schema::KernelEntry> write_kernel(Builder& builder,
                                                            const KernelBytes& kernel) {
  std::vector<flatbuffers::Offset<model_schema::Section>> sections;
  for (const auto& [kind, bytes] : kernel.sections) {
    builder.ForceVectorAlignment(bytes.size(), sizeof(std::uint8_t), 8);  // they are read in place
    const auto offset = builder.CreateVector(bytes);
    sections.push_back(model_schema::CreateSection(builder, static_cast<std::uint32_t>(kind),
                                                   model_schema::kSectionVersion, offset));
  }
  const auto name = builder.CreateString(kernel.name);
  const auto parameters = builder.CreateVectorOfStrings(kernel.parameters);
  return model_schema::CreateKernelEntry(builder, name, parameters, builder.CreateVector(sections));
}

std::vector<std::uint8_t> write_model(const std::vector<KernelBytes>& kernels,
                                      std::uint64_t generation,
                                      const std::vector<std::string>& provenance,
                                      std::uint64_t digest) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::KernelEntry>> entries;
  for (const KernelBytes& kernel : kernels) entries.push_back(write_kernel(builder, kernel));
  const auto kernel_offset = builder.CreateVector(entries);
  const auto provenance_offset = builder.CreateVectorOfStrings(provenance);
  model_schema::FinishModelFileBuffer(
      builder, model_schema::CreateModelFile(builder, 1, generation, 1, digest, 0,
                                             provenance_offset, kernel_offset));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// The digest is of the contents, so it is known only once they are laid out.
std::vector<std::uint8_t> write_digested_model(const std::vector<KernelBytes>& kernels,
                                               std::uint64_t generation,
                                               const std::vector<std::string>& provenance) {
  const std::vector<std::uint8_t> draft = write_model(kernels, generation, provenance, 0);
  const std::uint64_t digest =
      model_schema::content_digest(*model_schema::GetModelFile(draft.data()));
  return write_model(kernels, generation, provenance, digest);
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

KernelBytes learn_kernel(const PerformanceTable& table, const LearnOptions& options,
                         LearnedKernel& report) {
  const std::vector<double> weights = device_weights(table);
  const std::vector<Pick> picks = choose_first_picks(table);
  const std::vector<std::size_t> order =
      portfolio(table, weights, entries_that_fit(table, picks, options));
  report.kernel = table.kernel();
  for (const auto& source : table.sources()) report.devices.push_back(source.device);
  report.configurations = table.configurations().size();
  report.portfolio = order.size();
  if (options.cross_validate) report.held_out = cross_validate(table);

  KernelBytes kernel;
  kernel.name = table.kernel();
  kernel.parameters = table.parameters();
  const std::vector<double> expected = expected_relative_performance(table, weights);
  kernel.sections.emplace_back(SectionKind::sources, write_sources(table));
  kernel.sections.emplace_back(SectionKind::portfolio, write_portfolio(table, order, expected));
  kernel.sections.emplace_back(SectionKind::first_picks, write_first_picks(table, picks));
  kernel.sections.emplace_back(SectionKind::quality, write_quality(report.held_out));
  for (const SectionBytes& section : kernel.sections) report.bytes += section.second.size();
  return kernel;
}

}  // namespace

Result<LearnedModel> learn(const std::vector<const History*>& histories,
                           const LearnOptions& options) {
  LearnedModel model;
  std::vector<KernelBytes> kernels;
  std::vector<std::string> provenance;
  for (const History* history : histories) {
    provenance.push_back(history->kernel + " on " + history->device + ": " +
                         std::to_string(history->rows()) + " configurations");
  }
  for (const std::vector<const History*>& group : group_by_kernel(histories)) {
    const PerformanceTable table(group);
    if (table.sources().empty()) {
      model.warnings.push_back("kernel " + group.front()->kernel +
                               ": nothing ran correctly, left out");
      continue;
    }
    LearnedKernel report;
    kernels.push_back(learn_kernel(table, options, report));
    model.kernels.push_back(std::move(report));
  }
  if (kernels.empty()) {
    return Status(StatusCode::invalid_argument,
                  "nothing to learn from: no history with a correct measurement");
  }
  model.bytes = write_digested_model(kernels, options.generation, provenance);
  // What was just written must be what a board accepts.
  const auto opened = Model::open(model.bytes, "being learned");
  if (!opened.ok()) return opened.status();
  return model;
}

}  // namespace idletune
