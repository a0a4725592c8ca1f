// Model files made by hand, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"

namespace idletune::test {

struct SourceContent {
  std::string device = "Board One";
  std::vector<std::int64_t> shape{256, 256};
  std::vector<float> quantiles = std::vector<float>(kQuantileCount, 0.5f);
  float well_performing = 0.1f;
  std::uint64_t valid = 100;
  std::uint64_t measured = 100;
  double best_ns = 1000;
};

struct PickContent {
  std::int32_t source = -1;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> values;
  float expected = 0.9f;
};

struct SelectorContent {
  std::string device = "Board One";
  std::vector<std::string> inputs{"M", "N"};
  std::vector<double> low{16, 16};
  std::vector<double> high{4096, 4096};
  std::vector<std::int8_t> exponents{1, 0, 1, 1, 1, -1};  // M, M * N, M / N
  std::vector<std::int64_t> classes;
  std::vector<learners::TreeNode> nodes;
};

struct PublishedContent {
  std::string device;
  std::vector<std::int64_t> values;
  std::uint32_t devices = 1;
};

struct ModelContent {
  std::uint32_t format_version = 1;
  std::uint32_t minimum_agent = 1;
  std::uint64_t generation = 7;
  std::string kernel = "blur";
  std::vector<std::string> parameters{"wg", "tile"};
  std::vector<SourceContent> sources{SourceContent()};
  std::vector<std::int64_t> portfolio_values;
  std::vector<float> portfolio_relative;
  std::vector<float> portfolio_score;
  std::vector<PickContent> picks;
  std::vector<SelectorContent> selectors;
  std::vector<PublishedContent> published;
  std::uint32_t extra_section_kind = 0;  // if not 0, a section of this kind with junk in it
  std::uint32_t extra_section_version = 1;
  bool with_sources = true;
  bool right_digest = true;
};

namespace model_building {

using Builder = flatbuffers::FlatBufferBuilder;
using SectionList = std::vector<flatbuffers::Offset<model_schema::Section>>;

template <class T>
void add_section(Builder& builder, SectionList& list, model_schema::SectionKind kind,
                 Builder& content, flatbuffers::Offset<T> root) {
  content.Finish(root);
  builder.ForceVectorAlignment(content.GetSize(), 1, 8);
  const auto bytes = builder.CreateVector(content.GetBufferPointer(), content.GetSize());
  list.push_back(model_schema::CreateSection(builder, static_cast<std::uint32_t>(kind), 1, bytes));
}

inline void add_sources(Builder& builder, SectionList& list, const ModelContent& c) {
  Builder b;
  std::vector<flatbuffers::Offset<model_schema::ModelSource>> sources;
  for (const SourceContent& s : c.sources) {
    sources.push_back(model_schema::CreateModelSourceDirect(
        b, s.device.c_str(), &s.shape, &s.quantiles, s.well_performing, s.valid, s.measured,
        s.best_ns, s.best_ns * 3, 0));
  }
  add_section(builder, list, model_schema::SectionKind::sources, b,
              model_schema::CreateSourcesSectionDirect(b, &sources));
}

inline void add_selectors(Builder& builder, SectionList& list, const ModelContent& c) {
  Builder s;
  std::vector<flatbuffers::Offset<model_schema::Selector>> selectors;
  for (const SelectorContent& selector : c.selectors) {
    const auto device = s.CreateString(selector.device);
    const auto inputs = s.CreateVectorOfStrings(selector.inputs);
    const auto low = s.CreateVector(selector.low);
    const auto high = s.CreateVector(selector.high);
    const auto exponents = s.CreateVector(selector.exponents);
    const auto classes = s.CreateVector(selector.classes);
    const std::size_t size = selector.nodes.size() * sizeof(learners::TreeNode);
    s.ForceVectorAlignment(size, 1, 8);
    const auto nodes =
        s.CreateVector(reinterpret_cast<const std::uint8_t*>(selector.nodes.data()), size);
    selectors.push_back(model_schema::CreateSelector(
        s, selector.device.empty() ? flatbuffers::Offset<flatbuffers::String>() : device, inputs,
        low, high, exponents, classes, nodes));
  }
  add_section(builder, list, model_schema::SectionKind::selectors, s,
              model_schema::CreateSelectorSectionDirect(s, &selectors));
}

inline void add_published(Builder& builder, SectionList& list, const ModelContent& c) {
  Builder o;
  std::vector<flatbuffers::Offset<model_schema::PublishedPick>> entries;
  for (const PublishedContent& entry : c.published) {
    entries.push_back(model_schema::CreatePublishedPickDirect(o, entry.device.c_str(),
                                                              &entry.values, entry.devices));
  }
  add_section(builder, list, model_schema::SectionKind::published, o,
              model_schema::CreatePublishedSectionDirect(o, "somewhere", &entries));
}

inline SectionList sections(Builder& builder, const ModelContent& c) {
  SectionList list;
  if (c.with_sources) {
    add_sources(builder, list, c);
  }
  Builder p;
  add_section(builder, list, model_schema::SectionKind::portfolio, p,
              model_schema::CreatePortfolioSectionDirect(
                  p, &c.portfolio_values, &c.portfolio_relative, &c.portfolio_score));
  Builder f;
  std::vector<flatbuffers::Offset<model_schema::PickEntry>> picks;
  for (const PickContent& pick : c.picks) {
    picks.push_back(model_schema::CreatePickEntryDirect(f, pick.source, &pick.shape, &pick.values,
                                                        pick.expected));
  }
  add_section(builder, list, model_schema::SectionKind::first_picks, f,
              model_schema::CreateFirstPicksSectionDirect(f, &picks));
  if (!c.selectors.empty()) {
    add_selectors(builder, list, c);
  }
  if (!c.published.empty()) {
    add_published(builder, list, c);
  }
  if (c.extra_section_kind != 0) {
    const std::vector<std::uint8_t> junk(13, 0xff);
    list.push_back(model_schema::CreateSectionDirect(builder, c.extra_section_kind,
                                                     c.extra_section_version, &junk));
  }
  return list;
}

inline std::vector<std::uint8_t> lay_out(const ModelContent& c, std::uint64_t digest) {
  Builder builder;
  const SectionList list = sections(builder, c);
  const auto name = builder.CreateString(c.kernel);
  const auto parameters = builder.CreateVectorOfStrings(c.parameters);
  const auto section_offset = builder.CreateVector(list);
  const std::vector<flatbuffers::Offset<model_schema::KernelEntry>> kernels{
      model_schema::CreateKernelEntry(builder, name, parameters, section_offset)};
  const auto kernel_offset = builder.CreateVector(kernels);
  model_schema::FinishModelFileBuffer(
      builder, model_schema::CreateModelFile(builder, c.format_version, c.generation,
                                             c.minimum_agent, digest, 0, 0, kernel_offset));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace model_building

inline std::vector<std::uint8_t> build_model(const ModelContent& content) {
  const auto draft = model_building::lay_out(content, 0);
  const std::uint64_t digest =
      model_schema::content_digest(*model_schema::GetModelFile(draft.data()));
  return model_building::lay_out(content, content.right_digest ? digest : digest + 1);
}

// Whether it could be written.
[[nodiscard]] inline bool write_model(const ModelContent& content, const std::string& path) {
  const std::vector<std::uint8_t> bytes = build_model(content);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

}  // namespace idletune::test
