#include "models/host/pack/pack.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "models/host/pack/class_terms.hpp"
#include "models/host/pack/portable_dialect.hpp"
#include "models/host/space/diagram_builder.hpp"
#include "models/host/space/expression_parser.hpp"
#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"
#include "models/space/identifier.hpp"
#include "models/space/space_data.hpp"

namespace idletune {
namespace {

using package::described_expression;
using package::invalid;
using package::optional_expression;
using package::PackageContents;

// What a space built on the host keeps alive.
struct BuiltSpace {
  std::vector<std::vector<std::int64_t>> values;
  space::DiagramArrays diagram;
};

std::vector<std::string> names_of(const std::vector<DescribedParameter>& parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const DescribedParameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

struct Constraints {
  std::vector<Expression> of_space;
  std::vector<Expression> of_shape;
};

Result<Constraints> parse_constraints(const std::vector<DescribedExpression>& described,
                                      const ExpressionNames& names) {
  Constraints constraints;
  for (const DescribedExpression& text : described) {
    Result<Expression> expression = described_expression(text, names);
    if (!expression.ok()) return expression.status();
    auto& list = expression->dimension_mask() == 0 ? constraints.of_space : constraints.of_shape;
    list.push_back(std::move(*expression));
    if (list.size() > space::kMaxConstraints) {
      return invalid(text.where,
                     "expected at most " + std::to_string(space::kMaxConstraints) + " constraints");
    }
  }
  return constraints;
}

Result<Space> make_space(const std::vector<DescribedParameter>& parameters,
                         std::vector<Expression> constraints, const PackOptions& options) {
  auto built = std::make_shared<BuiltSpace>();
  std::vector<space::ParameterData> read(parameters.size());
  for (const DescribedParameter& parameter : parameters) built->values.push_back(parameter.values);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    read[i].name = parameters[i].name;
    read[i].kind = parameters[i].kind;
    read[i].values = {built->values[i].data(), built->values[i].size()};
  }
  auto data = space::make_data(std::move(read), std::move(constraints), built);
  if (!data.ok()) return data.status();
  auto diagram = space::build_diagram(**data, {options.max_edges, options.max_states});
  if (diagram) {
    built->diagram = std::move(*diagram);
    Status status = space::adopt_diagram(**data, built->diagram.view());
    if (!status.ok()) return Status(StatusCode::internal, status.message());
  }
  return Space(std::shared_ptr<const space::Data>(std::move(*data)));
}

// What compilers get: portable sources stand behind the dialect.
std::string full_source(const KernelDescription& d) {
  std::string text = d.source;
  if (d.dialect == Dialect::portable) {
    const bool numbers = d.numbers || package::uses_numbers(text);
    text = package::with_portable_dialect(text, d.source_file, numbers);
  }
  return d.compact ? package::compact_source(text) : text;
}

// Compiles a description into the contents of a package; the views point into the description and
// into the compiler itself.
class Compiler {
 public:
  Compiler(const KernelDescription& description, const PackOptions& options)
      : d_(description),
        options_(options),
        parameter_names_(names_of(description.parameters)),
        source_(full_source(description)) {}

  Status compile(PackageContents& out) {
    using Part = Status (Compiler::*)(PackageContents&);
    for (Part part :
         {&Compiler::identity, &Compiler::make_names, &Compiler::features,
          &Compiler::make_constraints, &Compiler::configurations, &Compiler::arguments,
          &Compiler::steps, &Compiler::reference, &Compiler::tolerance, &Compiler::work}) {
      if (Status status = (this->*part)(out); !status.ok()) return status;
    }
    return package::derive_classes(d_, all_names(), out);
  }
  // Known after compile().
  const Expression& operations() const { return operations_; }

 private:
  Status fail(const std::string& what) const {
    return invalid(d_.where.empty() ? "kernel '" + d_.name + "'" : d_.where, what);
  }

  Status identity(PackageContents& out) {
    if (!space::is_kernel_name(d_.name)) return fail("expected a name for the kernel");
    if (d_.steps.empty() && !space::is_identifier(d_.entry)) {
      return fail("expected an entry point (a C identifier)");
    }
    if (d_.source.empty()) return fail("the source is empty");
    out.name = d_.name;
    out.source = source_;
    out.options = d_.options;
    out.dialect = d_.dialect;
    return Status();
  }

  Status make_names(PackageContents& out) {
    if (d_.dimensions.empty() || d_.dimensions.size() > kMaxDimensions) {
      return fail("expected 1 to " + std::to_string(kMaxDimensions) + " dimensions");
    }
    std::vector<std::string> all = d_.dimensions;
    all.insert(all.end(), parameter_names_.begin(), parameter_names_.end());
    for (const DescribedFeature& feature : d_.features) all.push_back(feature.name);
    for (const std::string& name : all) {
      if (!space::is_identifier(name)) return fail("'" + name + "' is not a C identifier");
      if (std::count(all.begin(), all.end(), name) > 1) {
        return fail("the name '" + name + "' is used twice");
      }
    }
    if (d_.dialect == Dialect::portable) {
      for (const std::string& name : parameter_names_) {
        if (package::is_dialect_name(name)) {
          return fail("the parameter '" + name + "' has a name of the portable dialect");
        }
      }
    }
    out.dimensions.assign(d_.dimensions.begin(), d_.dimensions.end());
    for (const std::string& name : d_.zero_dimensions) {
      const auto found = std::find(d_.dimensions.begin(), d_.dimensions.end(), name);
      if (found == d_.dimensions.end()) return fail("'" + name + "' is no dimension");
      out.zero_dimensions |= static_cast<std::uint8_t>(1u << (found - d_.dimensions.begin()));
    }
    return Status();
  }

  // Those that are given stand first, since they are part of what is launched.
  Status features(PackageContents& out) {
    if (d_.features.size() > kMaxFeatures) {
      return fail("expected at most " + std::to_string(kMaxFeatures) + " features");
    }
    for (const bool given : {true, false}) {
      for (const DescribedFeature& described : d_.features) {
        if (described.value.empty() != given) continue;
        if (Status status = feature(described, out); !status.ok()) return status;
        if (given) ++out.given_features;
      }
    }
    return Status();
  }
  Status feature(const DescribedFeature& described, PackageContents& out) const {
    const auto wrong = [&](const std::string& why) {
      const std::string what = "feature '" + described.name + "': " + why;
      return described.where.empty() ? fail(what) : invalid(described.where, what);
    };
    if (described.value.empty() && !described.over.empty()) {
      return wrong("'over' divides a 'value', expected one");
    }
    if (described.categories.size() == 1 || described.categories.size() > space::kMaxCategories) {
      return wrong("expected 2 to " + std::to_string(space::kMaxCategories) + " categories");
    }
    package::FeatureContents feature;
    feature.name = described.name;
    for (const std::string& category : described.categories) {
      if (!space::is_identifier(category)) return wrong("'" + category + "' is no identifier");
      feature.categories.push_back(category);
    }
    Status status = optional_expression(described.value, dimension_names(), feature.value);
    if (status.ok()) status = optional_expression(described.over, dimension_names(), feature.over);
    out.features.push_back(std::move(feature));
    return status;
  }

  Status make_constraints(PackageContents& out) {
    Result<Constraints> constraints = parse_constraints(d_.constraints, all_names());
    if (!constraints.ok()) return constraints.status();
    out.shape_constraints = std::move(constraints->of_shape);
    Result<Space> space = make_space(d_.parameters, std::move(constraints->of_space), options_);
    if (!space.ok()) return fail(space.status().message());
    if (space->indexed() && space->valid_count() == 0) {
      return fail("no configuration satisfies the constraints");
    }
    out.space = std::move(*space);
    return Status();
  }

  Status configurations(PackageContents& out) {
    for (const DescribedParameter& parameter : d_.parameters) {
      out.default_configuration.push_back(parameter.default_value);
    }
    if (Status status = check(out.space, out.default_configuration, "default"); !status.ok()) {
      return status;
    }
    out.reference_configuration = out.default_configuration;
    for (const auto& setting : d_.reference.configuration) {
      const auto parameter = out.space.parameter_index(setting.first);
      if (!parameter) {
        return fail("the reference sets '" + setting.first + "', which is no parameter");
      }
      out.reference_configuration[*parameter] = setting.second;
    }
    return check(out.space, out.reference_configuration, "reference");
  }
  // Says which value or constraint is in the way.
  Status check(const Space& space, const Configuration& configuration, const char* what) const {
    const std::string name = std::string("the ") + what + " configuration ";
    for (std::size_t i = 0; i < configuration.size(); ++i) {
      if (space.value_position(i, configuration[i])) continue;
      return fail(name + "has " + std::string(space.parameter_name(i)) + '=' +
                  std::to_string(configuration[i]) + ", which is not among its values");
    }
    for (const Expression& constraint : space.constraints()) {
      const Evaluation result = constraint.evaluate({}, configuration.values());
      if (result.ok() && result.value != 0) continue;
      return fail(name + "violates '" + constraint.text() + "'");
    }
    return Status();
  }

  Status compile_launch(const DescribedLaunch& described, const char* what,
                        package::LaunchGeometry& out) const {
    const std::size_t axes = described.global.size();
    if (axes < 1 || axes > 3 || described.local.size() != axes) {
      return fail(std::string(what) + ": expected 1 to 3 global sizes and as many local ones");
    }
    for (std::size_t i = 0; i < axes; ++i) {
      Result<Expression> global = described_expression(described.global[i], all_names());
      if (!global.ok()) return global.status();
      Result<Expression> local = described_expression(described.local[i], all_names());
      if (!local.ok()) return local.status();
      out.global.push_back(std::move(*global));
      out.local.push_back(std::move(*local));
    }
    return optional_expression(described.local_memory_bytes, all_names(), out.local_memory_bytes);
  }

  // One step that takes every argument, or those that are described.
  Status steps(PackageContents& out) {
    const std::size_t count = d_.steps.size() + d_.setup.size();
    if (count > KernelPackage::kMaxSteps) {
      return fail(std::to_string(count) + " steps, expected at most " +
                  std::to_string(KernelPackage::kMaxSteps));
    }
    const auto always = [](const DescribedStep& step) { return step.condition.empty(); };
    const auto run = std::count_if(d_.steps.begin(), d_.steps.end(), always) +
                     std::count_if(d_.setup.begin(), d_.setup.end(), always);
    if (run > static_cast<std::ptrdiff_t>(LaunchPlan::kMaxSteps)) {
      return fail(std::to_string(run) + " steps that always run, expected at most " +
                  std::to_string(LaunchPlan::kMaxSteps));
    }
    if (d_.steps.empty() && !d_.setup.empty()) return fail("a setup: expected <steps> beside it");
    for (std::size_t i = 0; i < count; ++i) {
      const bool of_setup = i >= d_.steps.size();
      out.steps.emplace_back();
      out.steps.back().of_setup = of_setup;
      Status status =
          step(of_setup ? d_.setup[i - d_.steps.size()] : d_.steps[i], out.steps.back());
      if (!status.ok()) return status;
    }
    if (!d_.steps.empty()) return memory_is_used(out);
    out.steps.emplace_back();
    out.steps.back().entry = d_.entry;
    out.steps.back().arguments = passed();
    return compile_launch(d_.launch, "launch", out.steps.back().launch);
  }
  Status step(const DescribedStep& described, package::StepContents& out) const {
    const std::string what = "step '" + described.entry + "'";
    const auto wrong = [&](const std::string& why) {
      return described.where.empty() ? fail(what + ": " + why)
                                     : invalid(described.where, what + ": " + why);
    };
    if (!space::is_identifier(described.entry)) return wrong("expected a C identifier");
    if (described.arguments.empty()) return wrong("expected at least one argument");
    if (described.arguments.size() > kMaxArguments) return wrong("too many arguments");
    out.entry = described.entry;
    if (Status named = positions(described.arguments, out.arguments); !named.ok()) {
      return wrong(named.message());
    }
    for (const std::uint8_t i : out.arguments) {
      if (!out.of_setup || !may_change(d_.arguments[i])) continue;
      return wrong("the setup runs once, and '" + d_.arguments[i].name +
                   "' may change from launch to launch; expected buffers of constant=\"true\" "
                   "and what the application does not pass");
    }
    Status status = compile_launch(described.launch, what.c_str(), out.launch);
    return status.ok() ? optional_expression(described.condition, all_names(), out.condition)
                       : status;
  }
  static bool may_change(const DescribedArgument& argument) {
    return argument.kind == ArgumentKind::scalar ||
           (argument.kind == ArgumentKind::buffer && !argument.constant);
  }
  // Scratch that one step alone sees hands nothing on, and prepared memory that no setup writes
  // holds nothing.
  Status memory_is_used(const PackageContents& out) const {
    for (std::size_t i = 0; i < d_.arguments.size(); ++i) {
      const ArgumentKind kind = d_.arguments[i].kind;
      if (!is_own_memory(kind)) continue;
      std::ptrdiff_t takers[2] = {0, 0};
      for (const package::StepContents& step : out.steps) {
        takers[step.of_setup] += std::count(step.arguments.begin(), step.arguments.end(), i) > 0;
      }
      const std::string name = "'" + d_.arguments[i].name + "': ";
      if (kind == ArgumentKind::scratch && takers[0] < 2 && takers[1] < 2) {
        return fail("scratch " + name + "expected two steps at least to take it");
      }
      if (kind == ArgumentKind::prepared && (takers[0] < 1 || takers[1] < 1)) {
        return fail("prepared memory " + name +
                    "expected a step of <setup> and one of <steps> at least to take it");
      }
    }
    return Status();
  }
  Status positions(const std::vector<std::string>& names, std::vector<std::uint8_t>& out) const {
    for (const std::string& name : names) {
      const auto is_it = [&](const DescribedArgument& argument) { return argument.name == name; };
      const auto found = std::find_if(d_.arguments.begin(), d_.arguments.end(), is_it);
      if (found == d_.arguments.end()) return invalid("", "there is no argument '" + name + "'");
      out.push_back(static_cast<std::uint8_t>(found - d_.arguments.begin()));
    }
    return Status();
  }
  std::vector<std::uint8_t> passed() const {
    std::vector<std::uint8_t> all;
    for (std::size_t i = 0; i < d_.arguments.size(); ++i) {
      if (is_own_memory(d_.arguments[i].kind)) continue;
      all.push_back(static_cast<std::uint8_t>(i));
    }
    return all;
  }

  Status arguments(PackageContents& out) {
    if (d_.arguments.empty() || d_.arguments.size() > kMaxArguments) {
      return fail(std::to_string(d_.arguments.size()) + " arguments, expected 1 to " +
                  std::to_string(kMaxArguments));
    }
    for (const DescribedArgument& described : d_.arguments) {
      if (Status status = argument(described, out); !status.ok()) return status;
    }
    return Status();
  }

  Status fill(const DescribedArgument& described, const std::string& name) const {
    const double low = described.fill_low, high = described.fill_high;
    if (!(high - low >= 0 && high - low < package::fill_limit(described.fill))) {
      return fail(name + "expected finite fill values in order, of an index within 2^63");
    }
    const bool made = described.kind == ArgumentKind::buffer && described.index_below.empty();
    const bool numbers =
        (made || described.kind == ArgumentKind::scalar) && is_integer(described.type);
    if (described.fill != Fill::uniform || !numbers) return Status();
    if (low == std::floor(low) && high == std::floor(high) && high - low >= 2) return Status();
    return fail(name + "expected whole numbers as 'low' and 'high' of integers, 2 apart at least");
  }

  Status argument(const DescribedArgument& described, PackageContents& out) const {
    const std::string name = "argument '" + described.name + "': ";
    if (!space::is_identifier(described.name)) return fail(name + "expected a C identifier");
    if (Status status = fill(described, name); !status.ok()) return status;
    if (described.kind == ArgumentKind::dimension && !is_integer(described.type)) {
      return fail(name + "expected an integer type for a dimension");
    }
    if (described.kind != ArgumentKind::scalar && described.size.empty()) {
      return fail(name + "expected a size (of memory) or a value (of a dimension)");
    }
    if (is_own_memory(described.kind) && d_.steps.empty()) {
      return fail(name + "scratch is what several steps share; expected <steps>");
    }
    if (described.constant &&
        (described.kind != ArgumentKind::buffer || described.access != Access::in)) {
      return fail(name + "only a buffer of access=\"in\" can be constant");
    }
    if (described.kind == ArgumentKind::local && d_.dialect != Dialect::opencl) {
      return fail(name +
                  "only the dialect 'opencl' has local memory as an argument; elsewhere "
                  "declare an array in the kernel");
    }
    ArgumentSpec spec;
    spec.name = described.name;
    spec.kind = described.kind;
    spec.type = described.type;
    spec.access = described.kind == ArgumentKind::buffer ? described.access
                  : is_own_memory(described.kind)        ? Access::out
                                                         : Access::in;
    spec.constant = described.constant;
    spec.fill = described.fill;
    spec.fill_low = described.fill_low;
    spec.fill_high = described.fill_high;
    spec.captured = described.captured;
    spec.is_index = !described.index_below.empty();
    out.arguments.push_back(spec);
    out.argument_sizes.emplace_back();
    out.index_bounds.emplace_back();
    Status bound =
        optional_expression(described.index_below, dimension_names(), out.index_bounds.back());
    if (!bound.ok() || described.kind == ArgumentKind::scalar) return bound;
    const bool of_shape = described.kind == ArgumentKind::dimension || described.captured;
    return optional_expression(described.size, of_shape ? dimension_names() : all_names(),
                               out.argument_sizes.back());
  }

  Status reference(PackageContents& out) {
    const bool own_kernel = !d_.reference.entry.empty();
    if (own_kernel && !space::is_identifier(d_.reference.entry)) {
      return fail("reference: expected a C identifier as entry point");
    }
    const bool own_launch =
        !d_.reference.launch.global.empty() || !d_.reference.launch.local.empty();
    if (!own_kernel && !own_launch) return Status();
    out.reference.emplace_back();
    package::StepContents& step = out.reference.back();
    step.entry = own_kernel ? std::string_view(d_.reference.entry) : out.steps.front().entry;
    if (d_.reference.arguments.empty()) {
      step.arguments = passed();
    } else if (Status named = positions(d_.reference.arguments, step.arguments); !named.ok()) {
      return fail("reference: " + named.message());
    }
    if (own_launch) return compile_launch(d_.reference.launch, "reference", step.launch);
    if (!d_.steps.empty()) return fail("reference: expected global and local sizes of its own");
    step.launch = out.steps.front().launch;
    return Status();
  }

  Status tolerance(PackageContents& out) {
    const DescribedTolerance& rule = d_.tolerance;
    const auto is_bound = [](double v) { return std::isfinite(v) && v >= 0; };
    if (!is_bound(rule.absolute) || !is_bound(rule.relative)) {
      return fail("expected finite tolerances of at least 0");
    }
    out.tolerance_absolute = rule.absolute;
    out.tolerance_relative = rule.relative;
    return optional_expression(rule.scale, dimension_names(), out.tolerance_scale);
  }

  Status work(PackageContents&) {
    return optional_expression(d_.operations, dimension_names(), operations_);
  }

  ExpressionNames all_names() const { return {d_.dimensions, parameter_names_}; }
  ExpressionNames dimension_names() const { return {d_.dimensions, {}}; }

  const KernelDescription& d_;
  const PackOptions options_;
  const std::vector<std::string> parameter_names_;
  const std::string source_;
  Expression operations_;
};

}  // namespace

Result<Space> build_space(const std::vector<DescribedParameter>& parameters,
                          const std::vector<DescribedExpression>& constraints,
                          const std::vector<std::string>& dimensions, const PackOptions& options) {
  const std::vector<std::string> names = names_of(parameters);
  Result<Constraints> parsed = parse_constraints(constraints, {dimensions, names});
  if (!parsed.ok()) return parsed.status();
  return make_space(parameters, std::move(parsed->of_space), options);
}

Result<std::vector<std::uint8_t>> package::readable(std::vector<std::uint8_t> bytes,
                                                    const std::string& name) {
  const auto reopened = KernelPackage::open(bytes, name);
  if (reopened.ok()) return bytes;
  return Status(StatusCode::invalid_argument, reopened.status().message());
}

Result<std::vector<std::uint8_t>> pack(const KernelDescription& description,
                                       const PackOptions& options) {
  PackageContents contents;
  Compiler compiler(description, options);  // outlives what `contents` views
  Status status = compiler.compile(contents);
  if (!status.ok()) return status;
  return package::readable(package::write_package(contents, compiler.operations()),
                           description.name);
}

}  // namespace idletune
