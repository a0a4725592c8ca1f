#include "agent/retraining/retrained_model.hpp"

#include <algorithm>
#include <string>

#include "models/devices/device_names.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model_format.hpp"
#include "models/predict/model_writer.hpp"
#include "models/schema/table_layout.hpp"

namespace idletune::detail {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using model_schema::Section;
using model_schema::SectionKind;
using model_schema::Selector;
using Sections = std::vector<Offset<Section>>;
using table_layout::text_of;

// A model may know several kernels of a name.
const model_schema::KernelEntry& entry_of(const KernelModel& old) {
  const auto& file = *model_schema::GetModelFile(old.model->bytes().data());
  const auto at = old.knowledge - old.model->kernels().data();
  return *file.kernels()->Get(static_cast<flatbuffers::uoffset_t>(at));
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

Offset<Selector> write_grown(FlatBufferBuilder& builder, const KernelModel& old,
                             const KernelPackage& package, std::string_view device,
                             const MeasuredLesson& measured, const selector::Grown& grown) {
  const selector::Lesson& lesson = measured.lesson;
  model_schema::TreeToWrite tree;
  tree.device = device;
  tree.low = tree.high = lesson.shapes.front();
  for (std::size_t i = 0; i < lesson.inputs; ++i) {
    for (const std::vector<double>& shape : lesson.shapes) {
      tree.low[i] = std::min(tree.low[i], shape[i]);
      tree.high[i] = std::max(tree.high[i], shape[i]);
    }
    const std::size_t dimensions = package.dimension_count();
    tree.inputs.emplace_back(i < dimensions ? package.inputs().dimension_name(i)
                                            : package.inputs().feature_name(i - dimensions));
  }
  tree.exponents = grown.exponents;
  tree.classes = class_values(*old.knowledge, package.space(), measured, grown);
  tree.nodes = {reinterpret_cast<const std::uint8_t*>(grown.nodes.data()),
                grown.nodes.size() * sizeof(learners::TreeNode)};
  return model_schema::write_tree(builder, tree);
}

Offset<Selector> copy_tree(FlatBufferBuilder& builder, const Selector& from) {
  model_schema::TreeToWrite tree;
  tree.device = text_of(from.device());
  for (const auto* name : *from.inputs()) tree.inputs.emplace_back(text_of(name));
  tree.low.assign(from.low()->begin(), from.low()->end());
  tree.high.assign(from.high()->begin(), from.high()->end());
  tree.exponents.assign(from.exponents()->begin(), from.exponents()->end());
  tree.classes.assign(from.classes()->begin(), from.classes()->end());
  tree.nodes = {from.nodes()->data(), from.nodes()->size()};
  return model_schema::write_tree(builder, tree);
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

// All other sections as they are.
Sections write_sections(FlatBufferBuilder& builder, const model_schema::KernelEntry& entry,
                        const std::vector<std::uint8_t>& trees) {
  constexpr auto kTrees = static_cast<std::uint32_t>(SectionKind::selectors);
  Sections sections;
  for (const Section* section : *entry.sections()) {
    if (section->kind() == kTrees) continue;
    const Bytes bytes(section->bytes()->data(), section->bytes()->size());
    sections.push_back(
        model_schema::write_section(builder, section->kind(), section->version(), bytes));
  }
  sections.push_back(
      model_schema::write_section(builder, kTrees, model_schema::kSectionVersion, trees));
  return sections;
}

std::vector<std::uint8_t> write_model(const KernelModel& old,
                                      const model_schema::KernelEntry& entry,
                                      const std::vector<std::uint8_t>& trees) {
  const auto& file = *model_schema::GetModelFile(old.model->bytes().data());
  FlatBufferBuilder builder;
  const auto sections = builder.CreateVector(write_sections(builder, entry, trees));
  std::vector<Offset<flatbuffers::String>> names;
  for (const auto* name : *entry.parameters()) names.push_back(builder.CreateString(name));
  const auto parameters = builder.CreateVector(names);
  const auto name = builder.CreateString(entry.name());
  return model_schema::finish_model(
      builder, {model_schema::CreateKernelEntry(builder, name, parameters, sections)},
      old.model->generation(), file.minimum_agent());
}

}  // namespace

std::shared_ptr<const KernelModel> with_tree(const KernelModel& old, const KernelPackage& package,
                                             std::string_view device,
                                             const MeasuredLesson& measured,
                                             const selector::Grown& grown) {
  if (old.model == nullptr) return nullptr;
  const model_schema::KernelEntry& entry = entry_of(old);
  FlatBufferBuilder trees;
  std::vector<Offset<Selector>> kept{write_grown(trees, old, package, device, measured, grown)};
  if (const auto* before = trees_of(entry)) {
    for (const Selector* tree : *before->selectors()) {
      if (kept.size() < model_schema::kMaxSelectors &&
          !same_device_model(text_of(tree->device()), device)) {
        kept.push_back(copy_tree(trees, *tree));
      }
    }
  }
  auto model =
      Model::open(write_model(old, entry, model_schema::finish_trees(trees, kept)), "learned here");
  if (!model.ok()) return nullptr;
  return KernelModel::of(*model, package.name(), package.space(), package.inputs().names());
}

}  // namespace idletune::detail
