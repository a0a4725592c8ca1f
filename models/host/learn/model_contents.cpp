#include "models/host/learn/model_contents.hpp"

#include <algorithm>

#include "models/host/learn/model_sections.hpp"
#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/predict/model_writer.hpp"
#include "models/schema/model_generated.h"
#include "models/schema/table_layout.hpp"

namespace idletune {

namespace {

using model_schema::Builder;
using model_schema::SectionKind;

constexpr std::size_t kTableBytes = 32;  // of a section or kernel beside its contents, at most

flatbuffers::Offset<model_schema::KernelEntry> write_kernel(Builder& builder,
                                                            const ModelKernel& kernel) {
  std::vector<flatbuffers::Offset<model_schema::Section>> sections;
  for (const ModelSection& section : kernel.sections) {
    sections.push_back(
        model_schema::write_section(builder, section.kind, section.version, section.bytes));
  }
  const auto name = builder.CreateString(kernel.name);
  const auto parameters = builder.CreateVectorOfStrings(kernel.parameters);
  return model_schema::CreateKernelEntry(builder, name, parameters, builder.CreateVector(sections));
}

// One that this version knows, and that Model::open has verified where a model was read.
bool is_known(const ModelSection& section) {
  return section.version == model_schema::kSectionVersion &&
         section_kind_name(section.kind) != std::string("unknown");
}

bool is_known(const ModelSection& section, SectionKind kind) {
  return is_known(section) && section.kind == static_cast<std::uint32_t>(kind);
}

// Null: it has none.
const model_schema::SourcesSection* sources_of(const ModelKernel& kernel) {
  for (const ModelSection& section : kernel.sections) {
    if (is_known(section, SectionKind::sources))
      return flatbuffers::GetRoot<model_schema::SourcesSection>(section.bytes.data());
  }
  return nullptr;
}

// What reads the kernel right: features came with version 2.
std::uint32_t reader_of(const ModelKernel& kernel) {
  const auto* sources = sources_of(kernel);
  if (sources == nullptr) return kernel.reader;
  for (const auto* source : *sources->sources()) {
    if (source->features() != nullptr && source->features()->size() > 0)
      return std::max(2u, kernel.reader);
  }
  return kernel.reader;
}

std::string text(const flatbuffers::String* s) { return std::string(table_layout::text_of(s)); }

// Names of its problems' dimensions and features; empty: not known.
std::vector<std::string> inputs_of(const ModelKernel& kernel) {
  std::vector<std::string> names;
  const auto* sources = sources_of(kernel);
  if (sources == nullptr || sources->inputs() == nullptr) return names;
  for (const auto* name : *sources->inputs()) names.push_back(text(name));
  return names;
}

bool same_kernel(const ModelKernel& a, const ModelKernel& b) {
  const std::vector<std::string> of_a = inputs_of(a);
  const std::vector<std::string> of_b = inputs_of(b);
  return a.name == b.name && a.parameters.size() == b.parameters.size() &&
         std::is_permutation(a.parameters.begin(), a.parameters.end(), b.parameters.begin()) &&
         (of_a.empty() || of_b.empty() || of_a == of_b);
}

bool same_sections(const ModelKernel& a, const ModelKernel& b) {
  return a.parameters == b.parameters && a.sections.size() == b.sections.size() &&
         std::equal(a.sections.begin(), a.sections.end(), b.sections.begin(),
                    [](const ModelSection& x, const ModelSection& y) {
                      return x.kind == y.kind && x.version == y.version && x.bytes == y.bytes;
                    });
}

bool has_published(const ModelSection& section) {
  return is_known(section, SectionKind::published);
}

// It stands for itself: nothing in it refers to other sections.
void take_published_along(const ModelKernel& dropped, ModelKernel& kept) {
  const auto found = std::find_if(dropped.sections.begin(), dropped.sections.end(), has_published);
  if (found == dropped.sections.end() ||
      std::any_of(kept.sections.begin(), kept.sections.end(), has_published)) {
    return;
  }
  const auto& stored = *flatbuffers::GetRoot<model_schema::PublishedSection>(found->bytes.data());
  PublishedConfigurations published;
  published.origin = text(stored.origin());
  published.parameters = dropped.parameters;
  for (const auto* pick : *stored.picks()) {
    Configuration values;
    for (const std::int64_t value : *pick->values()) values.push_back(value);
    published.entries.push_back({text(pick->device()), values, pick->devices()});
  }
  add_section(kept, SectionKind::published, write_published(published, kept.parameters));
}

}  // namespace

std::size_t ModelKernel::bytes() const {
  std::size_t sum = kTableBytes + name.size();
  for (const std::string& parameter : parameters) sum += parameter.size() + 12;
  for (const ModelSection& section : sections) sum += section.bytes.size() + kTableBytes;
  return sum;
}

const char* section_kind_name(std::uint32_t kind) {
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::sources: return "sources";
    case SectionKind::portfolio: return "portfolio";
    case SectionKind::first_picks: return "first_picks";
    case SectionKind::quality: return "quality";
    case SectionKind::selectors: return "selectors";
    case SectionKind::published: return "published";
    case SectionKind::provenance: return "provenance";
    case SectionKind::offload: return "offload";
    case SectionKind::products: return "products";
  }
  return "unknown";
}

std::vector<std::uint8_t> write_model(const ModelContents& contents) {
  Builder builder;
  model_schema::OffsetList<model_schema::KernelEntry> entries;
  std::uint32_t reader = 1;
  for (const ModelKernel& kernel : contents.kernels) {
    entries.push_back(write_kernel(builder, kernel));
    reader = std::max(reader, reader_of(kernel));
  }
  return model_schema::finish_model(builder, entries, contents.generation, reader,
                                    contents.provenance);
}

Result<ModelContents> read_model(Bytes bytes, const std::string& name) {
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  const auto opened = Model::open(copy, name);
  if (!opened.ok()) return opened.status();
  const auto& file = *model_schema::GetModelFile(copy.data());
  ModelContents contents;
  contents.generation = file.generation();
  for (std::size_t i = 0; i < (*opened)->provenance_count(); ++i)
    contents.provenance.emplace_back((*opened)->provenance(i));
  for (const model_schema::KernelEntry* entry : *file.kernels()) {
    ModelKernel kernel;
    kernel.name = text(entry->name());
    for (const auto* parameter : *entry->parameters()) kernel.parameters.push_back(text(parameter));
    for (const model_schema::Section* section : *entry->sections()) {
      kernel.sections.push_back({section->kind(),
                                 section->version(),
                                 {section->bytes()->begin(), section->bytes()->end()}});
      if (!is_known(kernel.sections.back())) kernel.reader = file.minimum_agent();
    }
    contents.kernels.push_back(std::move(kernel));
  }
  return contents;
}

ModelSection write_provenance(const KernelProvenance& provenance) {
  Builder builder;
  std::vector<flatbuffers::Offset<model_schema::HistoryOrigin>> origins;
  for (const KernelProvenance::Origin& origin : provenance.histories) {
    const auto device = builder.CreateString(origin.device.substr(0, model_schema::kMaxNameBytes));
    const auto digests = builder.CreateVector(origin.history_digests);
    origins.push_back(model_schema::CreateHistoryOrigin(builder, device, origin.shapes,
                                                        origin.histories, origin.configurations,
                                                        origin.correct, origin.digest, digests));
  }
  const auto origin_offset = builder.CreateVector(origins);
  const auto dropped = builder.CreateVectorOfStrings(provenance.dropped);
  builder.Finish(model_schema::CreateProvenanceSection(builder, provenance.learned_unix_seconds,
                                                       origin_offset, dropped));
  return {static_cast<std::uint32_t>(SectionKind::provenance),
          model_schema::kSectionVersion,
          {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()}};
}

KernelProvenance provenance_of(const ModelKernel& kernel) {
  KernelProvenance result;
  for (const ModelSection& section : kernel.sections) {
    if (!is_known(section, SectionKind::provenance)) continue;
    flatbuffers::Verifier verifier(section.bytes.data(), section.bytes.size(), 8, 100000);
    if (!verifier.VerifyBuffer<model_schema::ProvenanceSection>(nullptr)) continue;
    const auto& stored =
        *flatbuffers::GetRoot<model_schema::ProvenanceSection>(section.bytes.data());
    result.learned_unix_seconds = stored.learned_unix_seconds();
    for (const model_schema::HistoryOrigin* origin : *stored.histories()) {
      result.histories.push_back({text(origin->device()),
                                  origin->shapes(),
                                  origin->histories(),
                                  origin->configurations(),
                                  origin->correct(),
                                  origin->digest(),
                                  {}});
      if (const auto* digests = origin->history_digests()) {
        result.histories.back().history_digests.assign(digests->begin(), digests->end());
      }
    }
    if (stored.dropped() != nullptr) {
      for (const auto* line : *stored.dropped()) result.dropped.push_back(text(line));
    }
    break;
  }
  return result;
}

MergedModel merge_models(const std::vector<ModelContents>& models,
                         const std::vector<std::string>& names) {
  MergedModel merged;
  std::vector<std::size_t> from;  // per kernel of the result: the model's number
  std::uint64_t newest = 0;
  for (std::size_t m = 0; m < models.size(); ++m) {
    newest = std::max(newest, models[m].generation);
    for (const std::string& line : models[m].provenance) {
      std::vector<std::string>& lines = merged.contents.provenance;
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
    for (const ModelKernel& kernel : models[m].kernels) {
      std::vector<ModelKernel>& kernels = merged.contents.kernels;
      const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const ModelKernel& other) {
        return from[static_cast<std::size_t>(&other - kernels.data())] != m &&
               same_kernel(kernel, other);
      });
      if (same == kernels.end()) {
        kernels.push_back(kernel);
        from.push_back(m);
        continue;
      }
      const std::size_t at = static_cast<std::size_t>(same - kernels.begin());
      const bool newer = models[m].generation >= models[from[at]].generation;
      merged.conflicts.push_back({kernel.name, names[newer ? m : from[at]],
                                  names[newer ? from[at] : m], same_sections(kernel, *same)});
      ModelKernel dropped = kernel;
      if (newer) {
        std::swap(*same, dropped);
        from[at] = m;
      }
      take_published_along(dropped, *same);
    }
  }
  merged.contents.generation = std::max(newest, newest + 1);
  return merged;
}

}  // namespace idletune
