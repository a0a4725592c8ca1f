#include "models/package/kernel_package.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cfloat>
#include <utility>

#include "models/core/number_text.hpp"
#include "models/core/scalar.hpp"
#include "models/core/shared.hpp"
#include "models/package/package_contents.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

using package::FeatureContents;
using package::PackageContents;
using package::StepContents;

constexpr char kAxisNames[][2] = {"x", "y", "z"};
constexpr StatusCode kInvalid = StatusCode::invalid_argument;
constexpr StatusCode kUnsupported = StatusCode::unsupported;

Status failed_for(PieceKinds kinds_and_code, const PackageContents& package, const char* form,
                  ...) {
  std::va_list words;
  va_start(words, form);
  Status status(static_cast<StatusCode>(static_cast<std::uint32_t>(kinds_and_code) & 15),
                "kernel '%': %", package.name, pieces::joined_list(kinds_and_code, form, words));
  va_end(words);
  return status;
}

template <class... Pieces>
[[gnu::always_inline]] inline Status failed(const PackageContents& package, StatusCode code,
                                            const char* form, const Pieces&... given) {
  return failed_for(pieces::kinds<Pieces...>(static_cast<std::uint32_t>(code)), package, form,
                    pieces::word(given)...);
}

Status no_value(const PackageContents& package, const char* what, const Expression& expression,
                ExpressionError error) {
  return failed(package, kInvalid, "% '%' has no value (%)", what, expression.text(),
                expression_error_name(error));
}

// Whether a dimension whose bit is set in `which` is 0.
bool has_zero(const Shape& shape, std::uint32_t which = ~0u) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && (which >> i & 1) != 0) return true;
  }
  return false;
}

Status check_feature(const PackageContents& package, const FeatureContents& feature, double value) {
  const std::size_t categories = feature.categories.size();
  if (!(value >= 0 && value <= DBL_MAX)) {
    return failed(package, kInvalid, "feature '%' must be a finite number of at least 0",
                  feature.name);
  }
  const auto number = static_cast<std::size_t>(std::min<double>(value, space::kMaxCategories));
  if (categories == 0 || (number < categories && static_cast<double>(number) == value)) return {};
  return failed(package, kInvalid, "feature '%' must be a whole number from 0 ('%') to % ('%')",
                feature.name, feature.categories.front(), categories - 1,
                feature.categories.back());
}

Status check_features(const PackageContents& package, const Shape& shape) {
  const std::size_t expected = package.given_features;
  if (shape.feature_count() != expected) {
    std::string names;
    for (std::size_t i = 0; i < expected; ++i) append(names, " %", package.features[i].name);
    return failed(package, kInvalid, "expected % features%%, got %", expected,
                  expected > 0 ? ":" : "", names, shape.feature_count());
  }
  for (std::size_t i = 0; i < expected; ++i) {
    Status status = check_feature(package, package.features[i], shape.feature(i));
    if (!status.ok()) return status;
  }
  return {};
}

Status check_shape(const PackageContents& package, const Shape& shape) {
  if (shape.overflow() || shape.size() != package.dimensions.size()) {
    return failed(package, kInvalid, "expected a shape of % dimensions, got %",
                  package.dimensions.size(), shape.size());
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const int minimum = (package.zero_dimensions >> i & 1) != 0 ? 0 : 1;
    if (shape[i] >= minimum) continue;
    return failed(package, kInvalid, "dimension '%' must be at least %, got %",
                  package.dimensions[i], minimum, shape[i]);
  }
  return check_features(package, shape);
}

Status check_configuration(const PackageContents& package, const Configuration& configuration) {
  if (configuration.size() == package.space.parameter_count()) return Status();
  return failed(package, kInvalid, "expected a configuration of % parameters, got %",
                package.space.parameter_count(), configuration.size());
}

Status check_constraints(const PackageContents& package, const Shape& shape,
                         const Configuration& configuration) {
  for (std::size_t i = 0; i < package.shape_constraints.size(); ++i) {
    if (i < 32 && (package.open_constraints >> i & 1) == 0) continue;
    const Expression& constraint = package.shape_constraints[i];
    const Evaluation result = constraint.evaluate(shape.values(), configuration.values());
    if (!result.ok()) return no_value(package, "constraint", constraint, result.error);
    if (result.value != 0) continue;
    return failed(package, kUnsupported, "the constraint '%' does not hold for this shape",
                  constraint.text());
  }
  return Status();
}

Status not_such(const PackageContents& package, std::size_t argument, const char* what) {
  return failed(package, kInvalid, "argument %%", argument, what);
}

// What the expression that came with an argument says.
Result<std::int64_t> argument_size(const PackageContents& package, std::size_t argument,
                                   const Shape& shape, const Configuration& configuration) {
  if (Status status = check_shape(package, shape); !status.ok()) return status;
  // The value of a dimension is one of the shape alone.
  if (package.arguments[argument].kind != ArgumentKind::dimension) {
    if (Status status = check_configuration(package, configuration); !status.ok()) return status;
  }
  const Expression& size = package.argument_sizes[argument];
  const Evaluation value = size.evaluate(shape.values(), configuration.values());
  if (value.ok()) return value.value;
  return no_value(package, joined("argument '%':", package.arguments[argument].name).c_str(), size,
                  value.error);
}

// The value of a size: positive and small enough for this machine's size_t.
Status evaluate_size(const PackageContents& package, const char* what, std::size_t axis,
                     const Expression& expression, const Shape& shape,
                     const Configuration& configuration, std::size_t& out) {
  const Evaluation result = expression.evaluate(shape.values(), configuration.values());
  if (!result.ok()) {
    return no_value(package, joined("% %", what, kAxisNames[axis]).c_str(), expression,
                    result.error);
  }
  const std::uint64_t value = static_cast<std::uint64_t>(result.value);
  if (result.value < 1 || value > SIZE_MAX) {
    return failed(package, kUnsupported, "% % '%' is %, expected a positive size", what,
                  kAxisNames[axis], expression.text(), result.value);
  }
  out = static_cast<std::size_t>(value);
  return Status();
}

// Local sizes are powers of two, as a rule.
bool divides(std::size_t local, std::size_t global) {
  return (local & (local - 1)) == 0 ? (global & (local - 1)) == 0 : global % local == 0;
}

Status plan_step(const PackageContents& package, const StepContents& step, const Shape& shape,
                 const Configuration& configuration, PlannedStep& plan) {
  Status status;
  if (!step.is_known) status = package::plan_locally(package, step, shape, configuration, plan);
  if (!status.ok()) return status;
  Range& range = plan.range;
  for (std::size_t axis = 0; axis < range.dimensions; ++axis) {
    const Expression& size = step.launch.global[axis];
    status =
        evaluate_size(package, "global size", axis, size, shape, configuration, range.global[axis]);
    if (!status.ok()) return status;
    if (divides(range.local[axis], range.global[axis])) continue;
    return failed(package, kUnsupported,
                  "global size % '%' is %, not a multiple of the local size %", kAxisNames[axis],
                  size.text(), range.global[axis], range.local[axis]);
  }
  return {};
}

// Whether a global size is 0, as it may be where a dimension is.
bool has_work(const StepContents& step, const Shape& shape, const Configuration& configuration) {
  for (const Expression& size : step.launch.global) {
    const Evaluation value = size.evaluate(shape.values(), configuration.values());
    if (value.ok() && value.value == 0) return false;
  }
  return true;
}

// Without steps where a dimension of 0 leaves none of them any work.
Status plan_steps(const PackageContents& package, const std::vector<StepContents>& steps,
                  const Shape& shape, const Configuration& configuration, LaunchPlan& plan) {
  plan.clear();
  const bool zero = has_zero(shape, package.sized_by);
  bool idle = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if ((package.open_steps >> i & 1) == 0) continue;
    const Expression& condition = steps[i].condition;
    if ((package.open_conditions >> i & 1) != 0 && !condition.code().empty()) {
      const Evaluation holds = condition.evaluate(shape.values(), configuration.values());
      if (!holds.ok()) return no_value(package, "condition", condition, holds.error);
      if (holds.value == 0) continue;
    }
    if (zero && !has_work(steps[i], shape, configuration)) {
      idle = true;
      continue;
    }
    if (plan.all().size() == LaunchPlan::kMaxSteps) {
      return failed(package, kUnsupported, "more than % steps would run", LaunchPlan::kMaxSteps);
    }
    PlannedStep& planned = plan.add(steps[i].of_setup) = steps[i].known;
    planned.index = static_cast<std::uint8_t>(i);
    Status status = plan_step(package, steps[i], shape, configuration, planned);
    if (!status.ok()) return status;
  }
  if (idle || !plan.steps().empty()) return {};
  return failed(package, kUnsupported, "no step's condition holds for this shape");
}

Status checked_plan(const PackageContents& package, const std::vector<StepContents>& steps,
                    bool constrained, const Shape& shape, const Configuration& configuration,
                    LaunchPlan& plan) {
  if (Status status = check_shape(package, shape); !status.ok()) return status;
  if (Status status = check_configuration(package, configuration); !status.ok()) return status;
  Status status = constrained ? check_constraints(package, shape, configuration) : Status();
  if (!status.ok()) return status;
  return plan_steps(package, steps, shape, configuration, plan);
}

Status check_work(const PackageContents& package, const LaunchPlan& plan) {
  if (!plan.steps().empty()) return {};
  return failed(package, kUnsupported, "there is no work for this shape");
}

// What a feature's expressions say; below 0: no value.
double computed(const FeatureContents& feature, const Shape& shape) {
  const Evaluation value = feature.value.evaluate(shape.values(), {});
  if (!value.ok()) return -1;
  if (feature.over.code().empty()) return static_cast<double>(value.value);
  const Evaluation over = feature.over.evaluate(shape.values(), {});
  if (!over.ok() || over.value == 0) return -1;
  return static_cast<double>(value.value) / static_cast<double>(over.value);
}

std::string options_for(const PackageContents& package, const Configuration& configuration) {
  std::string options;
  for (std::size_t i = 0; i < configuration.size() && i < package.space.parameter_count(); ++i) {
    if (i > 0) options += ' ';
    options += joined("-D%=%", package.space.parameter_name(i), configuration[i]);
  }
  if (!package.options.empty()) append(options, " %", package.options);
  return options;
}

}  // namespace

Status package::plan_locally(const PackageContents& package, const StepContents& step,
                             const Shape& shape, const Configuration& configuration,
                             PlannedStep& plan) {
  const LaunchGeometry& launch = step.launch;
  plan.spec = step.spec();
  plan.range.dimensions = static_cast<std::uint32_t>(launch.local.size());
  for (std::size_t axis = 0; axis < launch.local.size(); ++axis) {
    Status status = evaluate_size(package, "local size", axis, launch.local[axis], shape,
                                  configuration, plan.range.local[axis]);
    if (!status.ok()) return status;
  }
  const Expression& size = launch.local_memory_bytes;
  const Evaluation memory = size.evaluate(shape.values(), configuration.values());
  if (!memory.ok()) return no_value(package, "local memory", size, memory.error);
  if (memory.value < 0) {
    return failed(package, kUnsupported, "local memory '%' is negative", size.text());
  }
  plan.local_memory_bytes = static_cast<std::uint64_t>(memory.value);
  for (const std::uint8_t i : step.arguments) {
    if (package.arguments[i].kind != ArgumentKind::local) continue;
    const Result<std::int64_t> bytes = argument_size(package, i, shape, configuration);
    if (!bytes.ok()) return bytes.status();
    // Sizes below 1 are refused where the argument is made.
    plan.local_memory_bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(*bytes, 0));
  }
  return {};
}

Result<std::shared_ptr<const KernelPackage>> KernelPackage::open(std::vector<std::uint8_t> bytes,
                                                                 std::string_view file_name) {
  Result<std::unique_ptr<PackageContents>> contents =
      package::read_package(new_shared<const std::vector<std::uint8_t>>(std::move(bytes)));
  if (!contents.ok()) {
    return Status(contents.code(), "kernel package '%': %", file_name, contents.status().message());
  }
  return shared<const KernelPackage>(new KernelPackage(std::move(*contents)));
}

KernelPackage::KernelPackage(std::unique_ptr<PackageContents> contents)
    : contents_(std::move(contents)) {}
KernelPackage::~KernelPackage() = default;

std::string_view KernelPackage::name() const { return contents_->name; }
std::string_view KernelPackage::source() const { return contents_->source; }
std::size_t KernelPackage::step_count() const { return contents_->steps.size(); }
std::size_t KernelPackage::setup_count() const {
  std::size_t count = 0;
  for (const StepContents& step : contents_->steps) count += step.of_setup ? 1 : 0;
  return count;
}
StepSpec KernelPackage::step(std::size_t index) const { return contents_->steps[index].spec(); }
Dialect KernelPackage::dialect() const { return contents_->dialect; }
std::uint64_t KernelPackage::digest() const { return contents_->digest; }
const Space& KernelPackage::space() const { return contents_->space; }
const Configuration& KernelPackage::default_configuration() const {
  return contents_->default_configuration;
}
std::size_t KernelPackage::dimension_count() const { return contents_->dimensions.size(); }
std::string_view PackageInputs::dimension_name(std::size_t dimension) const {
  return contents_.dimensions[dimension];
}
std::size_t KernelPackage::feature_count() const { return contents_->features.size(); }
std::size_t PackageInputs::given_feature_count() const { return contents_.given_features; }
std::string_view PackageInputs::feature_name(std::size_t feature) const {
  return contents_.features[feature].name;
}
std::string PackageInputs::names() const {
  std::string names;
  for (const std::string_view name : contents_.dimensions) {
    append(names, "%%", names.empty() ? "" : " ", name);
  }
  for (const FeatureContents& feature : contents_.features) append(names, " %", feature.name);
  return names;
}
std::string PackageInputs::feature_text(std::size_t feature) const {
  const FeatureContents& contents = contents_.features[feature];
  std::string text = contents.value.text();
  if (!contents.over.code().empty()) append(text, " over %", contents.over.text());
  return text;
}

Shape PackageInputs::with_features(const Shape& given) const {
  Shape problem = given;
  for (std::size_t i = given.feature_count(); i < contents_.features.size(); ++i) {
    const double value = computed(contents_.features[i], given);
    problem.push_feature(value > 0 ? value : 0);
  }
  return problem;
}

std::string PackageInputs::problem_text(const Shape& problem) const {
  std::string text;
  for (std::size_t i = 0; i < problem.size() && i < contents_.dimensions.size(); ++i) {
    append(text, "%%=%", i > 0 ? " " : "", dimension_name(i), problem[i]);
  }
  for (std::size_t i = 0; i < problem.feature_count() && i < contents_.features.size(); ++i) {
    const FeatureContents& feature = contents_.features[i];
    const double value = problem.feature(i);
    append(text, " %=", feature.name);
    if (value < static_cast<double>(feature.categories.size())) {
      text += feature.categories[static_cast<std::size_t>(value)];
    } else {
      text += number_text(value, 6);
    }
  }
  return text;
}

bool KernelPackage::has_no_work(const Shape& shape) const {
  if (!has_zero(shape)) return false;
  LaunchPlan plan;
  return checked_plan(*contents_, contents_->steps, true, shape, default_configuration(), plan)
             .ok() &&
         plan.steps().empty();
}

std::size_t KernelPackage::argument_count() const { return contents_->arguments.size(); }
const ArgumentSpec& KernelPackage::argument(std::size_t index) const {
  return contents_->arguments[index];
}
std::size_t KernelPackage::size_bytes() const { return contents_->bytes->size(); }
Bytes KernelPackage::bytes() const { return Bytes(*contents_->bytes); }
std::size_t KernelPackage::prebuilt_count() const {
  std::size_t count = 0;
  for (const package::StoredBinaries& stored : contents_->binaries) count += stored.binaries.size();
  return count;
}

Result<std::uint64_t> KernelPackage::buffer_bytes(std::size_t argument, const Shape& shape,
                                                  const Configuration& configuration) const {
  const PackageContents& package = *contents_;
  if (argument >= argument_count() || !is_memory(package.arguments[argument].kind)) {
    return not_such(package, argument, " is not a buffer");
  }
  Result<std::int64_t> elements = argument_size(package, argument, shape, configuration);
  if (!elements.ok()) return elements.status();
  const ArgumentSpec& spec = package.arguments[argument];
  constexpr std::int64_t kMaxElements = INT64_MAX / 8;  // so that bytes fit 64 bits
  if (*elements == 0 && (is_own_memory(spec.kind) || has_zero(shape))) {
    return scalar_size_bytes(spec.type);
  }
  if (*elements < 1 || *elements > kMaxElements) {
    return failed(package, kUnsupported,
                  "size of buffer '%': '%' is %, expected at least one element", spec.name,
                  package.argument_sizes[argument].text(), *elements);
  }
  return static_cast<std::uint64_t>(*elements) * scalar_size_bytes(spec.type);
}

Result<std::int64_t> KernelPackage::index_bound(std::size_t argument, const Shape& shape) const {
  const Expression& expression = contents_->index_bounds[argument];
  const Evaluation bound = expression.evaluate(shape.values(), {});
  if (bound.ok()) return std::max<std::int64_t>(bound.value, 1);
  const std::string what = joined("the bound of argument '%':", this->argument(argument).name);
  return no_value(*contents_, what.c_str(), expression, bound.error);
}

Result<std::int64_t> KernelPackage::derived_value(std::size_t argument, const Shape& shape,
                                                  const Configuration& configuration) const {
  const PackageContents& package = *contents_;
  const bool derived =
      argument < argument_count() && (package.arguments[argument].kind == ArgumentKind::dimension ||
                                      package.arguments[argument].kind == ArgumentKind::local);
  if (!derived) return not_such(package, argument, " is passed by the application");
  Result<std::int64_t> value = argument_size(package, argument, shape, configuration);
  if (!value.ok()) return value;
  std::uint8_t unused[8];
  const ArgumentSpec& spec = package.arguments[argument];
  const bool local = spec.kind == ArgumentKind::local, is_int = spec.type == ScalarType::i32;
  const bool fits = local ? *value >= 1 : store_integer(spec.type, *value, unused);
  if (fits && (local || !is_int || *value <= kMostInInt)) return value;
  const char* const wanted = local    ? "at least one byte of local memory"
                             : is_int ? "at most 2147479552 in an "
                                      : "what fits the type ";
  return failed(package, kUnsupported, "argument '%': '%' is %, expected %%", spec.name,
                package.argument_sizes[argument].text(), *value, wanted,
                local ? "" : scalar_type_name(spec.type));
}

Span<const Expression> KernelPackage::shape_constraints() const {
  return {contents_->shape_constraints.data(), contents_->shape_constraints.size()};
}

Result<LaunchPlan> KernelPackage::plan(const Shape& shape,
                                       const Configuration& configuration) const {
  LaunchPlan planned;
  if (Status status = plan(shape, configuration, planned); !status.ok()) return status;
  return planned;
}
Status KernelPackage::plan(const Shape& shape, const Configuration& configuration,
                           LaunchPlan& plan) const {
  const PackageContents& package = contents_for(shape);
  Status status = checked_plan(package, package.steps, true, shape, configuration, plan);
  return status.ok() ? check_work(package, plan) : status;
}

std::string KernelPackage::compile_options(const Configuration& configuration) const {
  return options_for(*contents_, configuration);
}

bool PackageReference::is_own_kernel() const { return !contents_.reference.empty(); }
std::string_view PackageReference::entry() const {
  return is_own_kernel() ? contents_.reference.front().entry : contents_.steps.front().entry;
}
const Configuration& PackageReference::configuration() const {
  return contents_.reference_configuration;
}
std::string PackageReference::options() const {
  return options_for(contents_, contents_.reference_configuration);
}
Result<LaunchPlan> PackageReference::plan(const Shape& shape) const {
  LaunchPlan plan;
  Status status = checked_plan(contents_, is_own_kernel() ? contents_.reference : contents_.steps,
                               entry() == contents_.steps.front().entry, shape,
                               contents_.reference_configuration, plan);
  if (status.ok()) status = check_work(contents_, plan);
  if (!status.ok()) return status;
  return plan;
}

Result<Tolerance> PackageReference::tolerance(const Shape& shape) const {
  if (Status status = check_shape(contents_, shape); !status.ok()) return status;
  const Expression& expression = contents_.tolerance_scale;
  const Evaluation scale = expression.evaluate(shape.values(), {});
  if (!scale.ok()) return no_value(contents_, "the tolerance's scale", expression, scale.error);
  Tolerance tolerance;
  tolerance.absolute = contents_.tolerance_absolute;
  tolerance.relative = contents_.tolerance_relative;
  tolerance.scale = static_cast<double>(scale.value < 0 ? 0 : scale.value);
  return tolerance;
}

Span<const PrebuiltBinary> KernelPackage::prebuilt(const Configuration& configuration) const {
  const std::uint64_t key = contents_->space.key(configuration);
  for (const package::StoredBinaries& stored : contents_->binaries) {
    if (stored.configuration_key == key) return {stored.binaries.data(), stored.binaries.size()};
  }
  return {};
}

}  // namespace idletune
