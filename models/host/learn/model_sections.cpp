#include "models/host/learn/model_sections.hpp"

#include <algorithm>
#include <utility>

#include "models/host/learn/sample_quantiles.hpp"
#include "models/schema/model_generated.h"

namespace idletune {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

auto write_shape(Builder& builder, const Shape& shape) {
  return builder.CreateVector(shape.data(), shape.size());
}

// None: absent, as in models of kernels without features.
flatbuffers::Offset<flatbuffers::Vector<double>> write_features(Builder& builder,
                                                                const Shape& shape) {
  std::vector<double> features;
  for (std::size_t i = 0; i < shape.feature_count(); ++i) features.push_back(shape.feature(i));
  if (features.empty()) return 0;
  return builder.CreateVector(features);
}

auto write_values(Builder& builder, const Configuration& configuration) {
  return builder.CreateVector(configuration.values().data(), configuration.size());
}

template <class T>
std::vector<std::uint8_t> finish(Builder& builder, flatbuffers::Offset<T> root) {
  builder.Finish(root);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

std::vector<std::uint8_t> write_sources(const PerformanceTable& table) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::ModelSource>> sources;
  for (const auto& source : table.sources()) {
    const PerformanceDistribution& d = source.distribution;
    const auto quantiles = quantiles_of(d.sorted);
    const auto device = builder.CreateString(source.device.substr(0, model_schema::kMaxNameBytes));
    const auto shape = write_shape(builder, source.shape);
    const auto values = builder.CreateVector(quantiles.data(), quantiles.size());
    const auto features = write_features(builder, source.shape);
    sources.push_back(model_schema::CreateModelSource(
        builder, device, shape, values, static_cast<float>(d.fraction(0.9)), d.space, d.measured,
        d.best_ns, d.median_run_ns, d.median_compile_ns, features));
  }
  const auto source_offset = builder.CreateVector(sources);
  const auto inputs =
      table.inputs().empty()
          ? flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>>()
          : builder.CreateVectorOfStrings(table.inputs());
  return finish(builder, model_schema::CreateSourcesSection(builder, source_offset, inputs));
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

std::vector<std::uint8_t> write_first_picks(const PerformanceTable& table,
                                            const std::vector<LearnedPick>& picks) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::PickEntry>> entries;
  for (const LearnedPick& pick : picks) {
    const auto shape = write_shape(builder, pick.shape);
    const auto values = write_values(builder, table.configurations()[pick.configuration]);
    const auto features = write_features(builder, pick.shape);
    entries.push_back(model_schema::CreatePickEntry(builder, pick.source, shape, values,
                                                    static_cast<float>(pick.expected), features));
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
    const auto features = write_features(builder, result.shape);
    entries.push_back(
        model_schema::CreateHeldOut(builder, device, shape, static_cast<float>(result.first_pick),
                                    static_cast<std::uint32_t>(result.evaluations), features));
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
    values.reserve(column.size());
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

void add_section(ModelKernel& kernel, model_schema::SectionKind kind,
                 std::vector<std::uint8_t> bytes) {
  kernel.sections.push_back(
      {static_cast<std::uint32_t>(kind), model_schema::kSectionVersion, std::move(bytes)});
}

}  // namespace idletune
