#include "agent/retraining/retrained_model.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "models/devices/device_names.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"

namespace idletune::detail {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using model_schema::Section;
using model_schema::SectionKind;
using model_schema::Selector;
using Sections = std::vector<Offset<Section>>;

std::string_view view(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

// One name of the list behind the other.
template <class Names>
std::string listed(const Names& names) {
  std::string all;
  for (const auto* name : names) all.append(view(name)).push_back('\n');
  return all;
}

const model_schema::KernelEntry* entry_of(const KernelModel& old) {
  std::string wanted;
  for (std::size_t i = 0; i < old.knowledge->parameter_count(); ++i) {
    wanted.append(old.knowledge->parameter(i)).push_back('\n');
  }
  const auto& file = *model_schema::GetModelFile(old.model->bytes().data());
  for (const model_schema::KernelEntry* entry : *file.kernels()) {
    if (view(entry->name()) == old.knowledge->name() && listed(*entry->parameters()) == wanted) {
      return entry;
    }
  }
  return nullptr;
}

// In the order of the model's parameters.
std::vector<std::int64_t> class_values(const KernelKnowledge& kernel, const Space& space,
                                       const MeasuredLesson& measured,
                                       const selector::Grown& grown) {
  std::vector<std::int64_t> values;
  for (const std::size_t c : grown.classes) {
    for (std::size_t p = 0; p < kernel.parameter_count(); ++p) {
      const auto at = space.parameter_index(kernel.parameter(p));
      values.push_back(at ? measured.configurations[c][*at] : 0);
    }
  }
  return values;
}

Offset<Selector> write_tree(FlatBufferBuilder& builder, const KernelModel& old,
                            const KernelPackage& package, std::string_view device,
                            const MeasuredLesson& measured, const selector::Grown& grown) {
  const selector::Lesson& lesson = measured.lesson;
  std::vector<double> low = lesson.shapes.front();
  std::vector<double> high = low;
  std::vector<Offset<flatbuffers::String>> inputs;
  for (std::size_t i = 0; i < lesson.inputs; ++i) {
    for (const std::vector<double>& shape : lesson.shapes) {
      low[i] = std::min(low[i], shape[i]);
      high[i] = std::max(high[i], shape[i]);
    }
    const std::size_t dimensions = package.dimension_count();
    const std::string_view name =
        i < dimensions ? package.dimension_name(i) : package.feature_name(i - dimensions);
    inputs.push_back(builder.CreateString(name.data(), name.size()));
  }
  const std::vector<std::int64_t> values =
      class_values(*old.knowledge, package.space(), measured, grown);
  const auto name = builder.CreateString(
      device.data(), std::min<std::size_t>(device.size(), model_schema::kMaxNameBytes));
  const auto inputs_at = builder.CreateVector(inputs);
  const auto low_at = builder.CreateVector(low);
  const auto high_at = builder.CreateVector(high);
  const auto exponents = builder.CreateVector(grown.exponents);
  const auto classes = builder.CreateVector(values);
  const std::size_t size = grown.nodes.size() * sizeof(learners::TreeNode);
  builder.ForceVectorAlignment(size, sizeof(std::uint8_t), 8);
  const auto nodes =
      builder.CreateVector(reinterpret_cast<const std::uint8_t*>(grown.nodes.data()), size);
  return model_schema::CreateSelector(builder, name, inputs_at, low_at, high_at, exponents, classes,
                                      nodes);
}

Offset<Selector> copy_tree(FlatBufferBuilder& builder, const Selector& tree) {
  const auto device = tree.device() == nullptr ? Offset<flatbuffers::String>()
                                               : builder.CreateString(tree.device());
  std::vector<Offset<flatbuffers::String>> inputs;
  for (const auto* name : *tree.inputs()) inputs.push_back(builder.CreateString(name));
  const auto inputs_at = builder.CreateVector(inputs);
  const auto low = builder.CreateVector(tree.low()->data(), tree.low()->size());
  const auto high = builder.CreateVector(tree.high()->data(), tree.high()->size());
  const auto exponents = builder.CreateVector(tree.exponents()->data(), tree.exponents()->size());
  const auto classes = builder.CreateVector(tree.classes()->data(), tree.classes()->size());
  builder.ForceVectorAlignment(tree.nodes()->size(), sizeof(std::uint8_t), 8);
  const auto nodes = builder.CreateVector(tree.nodes()->data(), tree.nodes()->size());
  return model_schema::CreateSelector(builder, device, inputs_at, low, high, exponents, classes,
                                      nodes);
}

// The trees that are in force, but those of the device.
const model_schema::SelectorSection* trees_of(const model_schema::KernelEntry& entry) {
  for (const Section* section : *entry.sections()) {
    if (section->kind() == static_cast<std::uint32_t>(SectionKind::selectors) &&
        section->version() == model_schema::kSectionVersion) {
      return flatbuffers::GetRoot<model_schema::SelectorSection>(section->bytes()->data());
    }
  }
  return nullptr;
}

Offset<Section> add_section(FlatBufferBuilder& builder, std::uint32_t kind, std::uint32_t version,
                            const std::uint8_t* bytes, std::size_t size) {
  builder.ForceVectorAlignment(size, sizeof(std::uint8_t), 8);
  return model_schema::CreateSection(builder, kind, version, builder.CreateVector(bytes, size));
}

// All other sections as they are.
Sections write_sections(FlatBufferBuilder& builder, const model_schema::KernelEntry& entry,
                        const FlatBufferBuilder& trees) {
  constexpr auto kTrees = static_cast<std::uint32_t>(SectionKind::selectors);
  Sections sections;
  for (const Section* section : *entry.sections()) {
    if (section->kind() == kTrees) continue;
    sections.push_back(add_section(builder, section->kind(), section->version(),
                                   section->bytes()->data(), section->bytes()->size()));
  }
  sections.push_back(add_section(builder, kTrees, model_schema::kSectionVersion,
                                 trees.GetBufferPointer(), trees.GetSize()));
  return sections;
}

std::vector<std::uint8_t> write_model(const KernelModel& old,
                                      const model_schema::KernelEntry& entry,
                                      const FlatBufferBuilder& trees) {
  const auto& file = *model_schema::GetModelFile(old.model->bytes().data());
  FlatBufferBuilder builder;
  const auto sections = builder.CreateVector(write_sections(builder, entry, trees));
  std::vector<Offset<flatbuffers::String>> names;
  for (const auto* name : *entry.parameters()) names.push_back(builder.CreateString(name));
  const auto parameters = builder.CreateVector(names);
  const auto name = builder.CreateString(entry.name());
  std::vector<Offset<model_schema::KernelEntry>> entries{
      model_schema::CreateKernelEntry(builder, name, parameters, sections)};
  model_schema::FinishModelFileBuffer(
      builder, model_schema::CreateModelFile(builder, 1, old.model->generation(),
                                             file.minimum_agent(), 1 /* the digest comes later */,
                                             0, 0, builder.CreateVector(entries)));
  auto* made = flatbuffers::GetMutableRoot<flatbuffers::Table>(builder.GetBufferPointer());
  made->SetField<std::uint64_t>(
      model_schema::ModelFile::VT_CONTENT_DIGEST,
      model_schema::content_digest(*model_schema::GetModelFile(builder.GetBufferPointer())), 0);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

std::shared_ptr<const KernelModel> with_tree(const KernelModel& old, const KernelPackage& package,
                                             std::string_view device,
                                             const MeasuredLesson& measured,
                                             const selector::Grown& grown) {
  const model_schema::KernelEntry* entry = old.model == nullptr ? nullptr : entry_of(old);
  if (entry == nullptr) return nullptr;
  FlatBufferBuilder trees;
  std::vector<Offset<Selector>> kept{write_tree(trees, old, package, device, measured, grown)};
  if (const auto* before = trees_of(*entry)) {
    for (const Selector* tree : *before->selectors()) {
      if (kept.size() < model_schema::kMaxSelectors &&
          !same_device_model(view(tree->device()), device)) {
        kept.push_back(copy_tree(trees, *tree));
      }
    }
  }
  trees.Finish(model_schema::CreateSelectorSection(trees, trees.CreateVector(kept)));
  auto model = Model::open(write_model(old, *entry, trees), "learned here");
  if (!model.ok()) return nullptr;
  return KernelModel::of(*model, package.name(), package.space(), package.input_names());
}

}  // namespace idletune::detail
