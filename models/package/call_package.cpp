#include "models/package/call_package.hpp"

#include <utility>

#include <idletune/text.hpp>

#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

Status check_names(Span<const std::string> names, const char* what, std::size_t most) {
  if (names.size() > most) {
    return Status(StatusCode::invalid_argument, "%: % of them, expected at most %", what,
                  names.size(), most);
  }
  for (const std::string& name : names) {
    if (space::is_identifier(name)) continue;
    return Status(StatusCode::invalid_argument,
                  "% '%': expected letters, digits and underscores, no digit first", what, name);
  }
  return {};
}

}  // namespace

Result<std::vector<std::uint8_t>> call_package(std::string_view name, const Space& space,
                                               const Configuration& untuned,
                                               Span<const std::string> dimensions,
                                               Span<const std::string> features) {
  if (!space::is_kernel_name(name)) {
    return Status(StatusCode::invalid_argument, "the name is no identifier");
  }
  static const std::string kOnly = "PROBLEM";
  const Span<const std::string> named =
      dimensions.size() > 0 ? dimensions : Span<const std::string>(&kOnly, 1);
  if (Status status = check_names(named, "dimension", kMaxDimensions); !status.ok()) return status;
  if (Status status = check_names(features, "feature", kMaxFeatures); !status.ok()) return status;
  for (std::size_t i = 0; i < space.parameter_count(); ++i) {
    const std::string parameter(space.parameter_name(i));
    Status status = check_names({&parameter, 1}, "parameter", 1);
    if (!status.ok()) return status;
  }
  const std::string source = joined("call %", name);
  package::PackageContents contents;
  contents.name = name;
  contents.source = source;
  contents.space = space;
  contents.default_configuration = contents.reference_configuration = untuned;
  for (const std::string& dimension : named) contents.dimensions.emplace_back(dimension);
  contents.zero_dimensions = static_cast<std::uint8_t>((1u << named.size()) - 1);
  for (const std::string& feature : features) {
    contents.features.emplace_back();
    contents.features.back().name = feature;
  }
  contents.given_features = features.size();
  const std::uint32_t push_one = 1u << 8 | static_cast<std::uint32_t>(ExpressionOp::small);
  Result<Expression> one = Expression::load({&push_one, 1}, {}, "1", 0, 0);
  if (!one.ok()) return one.status();
  // A package has at least one argument: one that the application does not pass.
  ArgumentSpec argument;
  argument.name = "one";
  argument.kind = ArgumentKind::dimension;
  argument.type = ScalarType::i64;
  contents.arguments.push_back(argument);
  contents.argument_sizes.push_back(*one);
  contents.index_bounds.emplace_back();
  package::StepContents step;
  step.entry = "call";
  step.arguments.push_back(0);
  step.launch.global.push_back(*one);
  step.launch.local.push_back(*one);
  contents.steps.push_back(std::move(step));
  return package::write_package(contents);
}

}  // namespace idletune
