#include "models/package/package_writer.hpp"

#include <cstring>

#include "models/core/digest.hpp"
#include "models/package/package_seal.hpp"
#include "models/schema/kernel_generated.h"
#include "models/space/space_data.hpp"

namespace idletune::package {
namespace {

namespace fb = idletune::kernel_schema;
template <class T>
using Offset = flatbuffers::Offset<T>;
template <class T>
using Offsets = std::vector<Offset<T>>;

// What packages may be read by: the first version that knows the format, and the first one that
// takes what the application must give or may give beyond it.
constexpr std::uint32_t kMinimumAgentVersion = 1000;        // 0.1.0
constexpr std::uint32_t kMinimumVersionForProblems = 2000;  // 0.2.0

class Writer {
 public:
  Writer(const PackageContents& contents, const Expression& operations)
      : c_(contents), operations_(operations) {}

  std::vector<std::uint8_t> write() {
    const auto name = text(c_.name);
    const auto source = text(c_.source);
    const auto options = c_.options.empty() ? Offset<flatbuffers::String>() : text(c_.options);
    const auto dimensions = names(c_.dimensions);
    const auto space = write_space();
    const auto default_configuration = values(c_.default_configuration);
    const auto shape_constraints = expressions(c_.shape_constraints);
    const auto arguments = write_arguments();
    const auto variant = write_variant();
    const auto reference = write_reference();
    const auto tolerance = fb::CreateToleranceRule(
        builder_, c_.tolerance_absolute, c_.tolerance_relative, expression(c_.tolerance_scale));
    const auto binaries = write_binaries();
    const auto operations = expression(operations_);
    const auto features = write_features();
    const bool classes = !c_.class_terms.empty();
    const auto class_terms =
        classes ? expressions(c_.class_terms) : decltype(expressions(c_.class_terms))();
    const auto class_kinds = classes ? builder_.CreateVector(c_.class_kinds)
                                     : Offset<flatbuffers::Vector<std::uint8_t>>();
    const fb::KernelSeal seal(0);
    builder_.Finish(
        fb::CreateKernelPackage(builder_, &seal, minimum_version(), 0, name, source,
                                static_cast<std::uint8_t>(c_.dialect), options, dimensions, space,
                                default_configuration, shape_constraints, arguments, variant,
                                reference, tolerance, binaries, operations, features,
                                c_.zero_dimensions, class_terms, class_kinds),
        fb::KernelPackageIdentifier());
    return sealed();
  }

 private:
  std::vector<std::uint8_t> sealed() const {
    const std::uint8_t* data = builder_.GetBufferPointer();
    std::vector<std::uint8_t> bytes(data, data + builder_.GetSize());
    const fb::KernelPackage* root = fb::GetKernelPackage(bytes.data());
    const auto offset = static_cast<std::size_t>(
        reinterpret_cast<const std::uint8_t*>(root->seal()) - bytes.data());
    const fb::KernelSeal seal(
        content_digest(Bytes(bytes.data(), bytes.size()), {offset, sizeof(fb::KernelSeal)}, {}));
    std::memcpy(bytes.data() + offset, &seal, sizeof(seal));
    return bytes;
  }

  Offset<flatbuffers::String> text(std::string_view view) {
    return builder_.CreateString(view.data(), view.size());
  }
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> names(
      const std::vector<std::string_view>& list) {
    Offsets<flatbuffers::String> offsets;
    for (std::string_view name : list) offsets.push_back(text(name));
    return builder_.CreateVector(offsets);
  }
  template <class T>
  Offset<flatbuffers::Vector<T>> array(Span<const T> span) {
    return builder_.CreateVector(span.data(), span.size());
  }
  Offset<flatbuffers::Vector<std::int64_t>> values(const Configuration& configuration) {
    return array(configuration.values());
  }

  Offset<fb::Expression> expression(const Expression& source) {
    if (source.code().empty()) return 0;
    const auto stored_text = text(source.text());
    const auto code = array(source.code());
    const auto constants = source.constants().empty() ? Offset<flatbuffers::Vector<std::int64_t>>()
                                                      : array(source.constants());
    return fb::CreateExpression(builder_, stored_text, code, constants);
  }
  Offset<flatbuffers::Vector<Offset<fb::Expression>>> expressions(Span<const Expression> list) {
    Offsets<fb::Expression> offsets;
    for (const Expression& source : list) offsets.push_back(expression(source));
    return builder_.CreateVector(offsets);
  }

  Offset<fb::Space> write_space() {
    const space::Data& data = c_.space.data();
    Offsets<fb::Parameter> parameters;
    for (const space::ParameterData& parameter : data.parameters) {
      const auto name = text(parameter.name);
      const auto stored_values = array(parameter.values);
      parameters.push_back(fb::CreateParameter(
          builder_, name, static_cast<std::uint8_t>(parameter.kind), stored_values));
    }
    const auto stored_parameters = builder_.CreateVector(parameters);
    const auto constraints = expressions(c_.space.constraints());
    return fb::CreateSpace(builder_, stored_parameters, constraints, write_diagram(data));
  }
  Offset<fb::Diagram> write_diagram(const space::Data& data) {
    if (data.backing != SpaceBacking::diagram) return 0;
    const auto level_nodes = array(data.diagram.level_nodes);
    const auto first_edge = array(data.diagram.node_first_edge);
    const auto value = array(data.diagram.edge_value);
    const auto child = array(data.diagram.edge_child);
    const auto before = array(data.diagram.edge_before);
    return fb::CreateDiagram(builder_, level_nodes, first_edge, value, child, before);
  }

  Offset<flatbuffers::Vector<Offset<fb::Argument>>> write_arguments() {
    Offsets<fb::Argument> arguments;
    for (std::size_t i = 0; i < c_.arguments.size(); ++i) {
      const ArgumentSpec& spec = c_.arguments[i];
      const auto name = text(spec.name);
      const auto size = expression(c_.argument_sizes[i]);
      const auto bound = expression(c_.index_bounds[i]);
      arguments.push_back(fb::CreateArgument(
          builder_, name, static_cast<std::uint8_t>(spec.kind),
          static_cast<std::uint8_t>(spec.type), static_cast<std::uint8_t>(spec.access),
          static_cast<std::uint8_t>(spec.fill), spec.fill_low, spec.fill_high, size, spec.constant,
          spec.captured, bound));
    }
    return builder_.CreateVector(arguments);
  }

  std::uint32_t minimum_version() const {
    bool first_version = c_.given_features == 0 && c_.zero_dimensions == 0;
    // Indices that an older agent made up would lie out of bounds.
    for (const ArgumentSpec& spec : c_.arguments) first_version = first_version && !spec.is_index;
    return first_version ? kMinimumAgentVersion : kMinimumVersionForProblems;
  }
  // None: absent, as in the first version.
  Offset<flatbuffers::Vector<Offset<fb::Feature>>> write_features() {
    if (c_.features.empty()) return 0;
    Offsets<fb::Feature> features;
    for (const FeatureContents& feature : c_.features) {
      const auto name = text(feature.name);
      const auto value = expression(feature.value);
      const auto over = expression(feature.over);
      const auto categories = feature.categories.empty()
                                  ? Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>()
                                  : names(feature.categories);
      features.push_back(fb::CreateFeature(builder_, name, value, over, categories));
    }
    return builder_.CreateVector(features);
  }

  Offset<fb::Step> write_step(const StepContents& step) {
    const auto stored_entry = text(step.entry);
    const auto global = expressions(step.launch.global);
    const auto local = expressions(step.launch.local);
    const auto memory = expression(step.launch.local_memory_bytes);
    // Absent: all in order.
    const auto arguments =
        are_in_order(step.arguments) && step.arguments.size() == c_.arguments.size()
            ? Offset<flatbuffers::Vector<std::uint8_t>>()
            : builder_.CreateVector(step.arguments);
    const auto condition = expression(step.condition);
    return fb::CreateStep(builder_, stored_entry, global, local, memory, arguments, condition);
  }
  Offset<fb::Variant> write_variant() {
    Offsets<fb::Step> steps, setup;
    for (const StepContents& step : c_.steps) {
      (step.of_setup ? setup : steps).push_back(write_step(step));
    }
    const auto stored_steps = builder_.CreateVector(steps);
    if (setup.empty()) return fb::CreateVariant(builder_, stored_steps);
    return fb::CreateVariant(builder_, stored_steps, 0, builder_.CreateVector(setup));
  }
  Offset<fb::Reference> write_reference() {
    // One launch that is its own truth is written out as one, as the first readers expect it.
    const bool several = c_.reference.empty() && c_.steps.size() > 1;
    const auto step = several
                          ? Offset<fb::Step>()
                          : write_step((c_.reference.empty() ? c_.steps : c_.reference).front());
    const auto configuration = values(c_.reference_configuration);
    return fb::CreateReference(builder_, step, configuration);
  }

  Offset<flatbuffers::Vector<Offset<fb::Binary>>> write_binaries() {
    Offsets<fb::Binary> binaries;
    for (const StoredBinaries& stored : c_.binaries) {
      for (const PrebuiltBinary& binary : stored.binaries) {
        const auto bytes = array(binary.bytes);
        binaries.push_back(fb::CreateBinary(builder_, binary.made_for, stored.configuration_key,
                                            static_cast<std::uint8_t>(binary.format), bytes,
                                            crc32c(binary.bytes), digest_of(c_.source)));
      }
    }
    return builder_.CreateVector(binaries);
  }

  const PackageContents& c_;
  const Expression& operations_;
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

std::vector<std::uint8_t> write_package(const PackageContents& contents,
                                        const Expression& operations) {
  return Writer(contents, operations).write();
}

}  // namespace idletune::package
