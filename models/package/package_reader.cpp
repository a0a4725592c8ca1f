// Reads untrusted package bytes: the schema's layout first, then every rule that it does not know.
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "models/core/digest.hpp"

#include <idletune/text.hpp>

#include "models/core/lists.hpp"
#include "models/core/version.hpp"
#include "models/package/package_contents.hpp"
#include "models/package/package_seal.hpp"
#include "models/schema/kernel_generated.h"
#include "models/schema/kernel_layout.hpp"
#include "models/space/identifier.hpp"
#include "models/space/space_data.hpp"

namespace idletune::package {
namespace {

using space::is_identifier;
using table_layout::text_of;
using table_layout::values_of;
namespace fb = idletune::kernel_schema;
template <class T>
using FbVector = flatbuffers::Vector<T>;

// The nesting of the schema is 6; a package has some hundred tables, plus one per prebuilt binary.
constexpr table_layout::Limits kLimits = {12, 20000};

template <class... Pieces>
[[gnu::always_inline]] inline Status corrupt(const char* form, const Pieces&... given) {
  return Status(StatusCode::corrupt, form, given...);
}
template <class... Pieces>
[[gnu::always_inline]] inline Status unsupported(const char* form, const Pieces&... given) {
  return Status(StatusCode::unsupported, form, given...);
}

bool is_option_text(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

// Fills a PackageContents part by part; each function reads one table.
class Reader {
 public:
  explicit Reader(std::shared_ptr<const std::vector<std::uint8_t>> bytes)
      : contents_(std::make_unique<PackageContents>()) {
    contents_->bytes = std::move(bytes);
  }

  Result<std::unique_ptr<PackageContents>> read() {
    Status status = verify_bytes();
    using Part = Status (Reader::*)();
    for (Part part : {&Reader::read_seal, &Reader::read_identity, &Reader::read_dimensions,
                      &Reader::read_features, &Reader::read_space, &Reader::read_shape_constraints,
                      &Reader::read_arguments, &Reader::read_variant, &Reader::read_reference,
                      &Reader::read_tolerance, &Reader::read_binaries, &Reader::read_classes}) {
      if (status.ok()) status = (this->*part)();
    }
    if (!status.ok()) return status;
    add_digest(*contents_);
    return std::move(contents_);
  }

 private:
  Status verify_bytes() {
    const std::vector<std::uint8_t>& bytes = *contents_->bytes;
    if (bytes.size() > KernelPackage::kMaxBytes) {
      return Status(StatusCode::out_of_memory, "larger than % MiB", KernelPackage::kMaxBytes >> 20);
    }
    if (bytes.size() < 16 || !fb::KernelPackageBufferHasIdentifier(bytes.data())) {
      return corrupt("not a kernel package (expected file identifier ITK1)");
    }
    if (!table_layout::is_flatbuffer(bytes.data(), bytes.size(), fb::layout::kTables,
                                     fb::at_kernel_package, kLimits)) {
      return corrupt("damaged (no FlatBuffers structure)");
    }
    root_ = fb::GetKernelPackage(bytes.data());
    return Status();
  }

  std::size_t offset_of(const void* part) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(part) -
                                    contents_->bytes->data());
  }

  Status read_seal() {
    const Bytes file(contents_->bytes->data(), contents_->bytes->size());
    Hole signature;
    if (root_->signature() != nullptr) {
      signature = {offset_of(root_->signature()->Data()), root_->signature()->size()};
    }
    const Hole seal{offset_of(root_->seal()), sizeof(fb::KernelSeal)};
    const bool disjoint = signature.offset + signature.length <= seal.offset ||
                          seal.offset + seal.length <= signature.offset;
    if (signature.length != 0 && !disjoint) return corrupt("the signature covers the seal");
    std::uint64_t stored = 0;
    std::memcpy(&stored, root_->seal(), sizeof(stored));
    if (content_digest(file, seal, signature) != stored) {
      return corrupt("damaged (the content digest does not match)");
    }
    if (root_->minimum_agent_version() > kAgentVersion) {
      return Status(StatusCode::version_mismatch,
                    "needs agent version % (1.2.3: 1002003), this one is %",
                    root_->minimum_agent_version(), kAgentVersion);
    }
    return Status();
  }

  Status read_identity() {
    contents_->name = text_of(root_->name());
    contents_->source = text_of(root_->source());
    contents_->source_digest = digest_of(contents_->source);
    contents_->options = text_of(root_->options());
    if (!space::is_kernel_name(contents_->name)) return corrupt("the kernel's name is not a name");
    if (contents_->source.empty()) return corrupt("there is no source");
    if (root_->dialect() > static_cast<std::uint8_t>(Dialect::cuda)) {
      return unsupported("the source's dialect is unknown to this version");
    }
    if (!is_option_text(contents_->options)) return corrupt("control characters in the options");
    contents_->dialect = static_cast<Dialect>(root_->dialect());
    return Status();
  }

  Status read_dimensions() {
    const auto& dimensions = *root_->dimensions();
    if (dimensions.size() < 1 || dimensions.size() > kMaxDimensions) {
      return corrupt("expected 1 to % dimensions", kMaxDimensions);
    }
    if (!read_names(&dimensions, contents_->dimensions)) {
      return corrupt("a dimension's name is not an identifier");
    }
    contents_->zero_dimensions = root_->zero_dimensions();
    if (contents_->zero_dimensions >> dimensions.size() == 0) return Status();
    return corrupt("a dimension that is not there may be 0");
  }

  // False: one is no identifier.
  static bool read_names(const FbVector<flatbuffers::Offset<flatbuffers::String>>* stored,
                         std::vector<std::string_view>& out) {
    out = std::vector<std::string_view>(stored == nullptr ? 0 : stored->size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = text_of(stored->Get(static_cast<flatbuffers::uoffset_t>(i)));
      if (!is_identifier(out[i])) return false;
    }
    return true;
  }

  Status read_features() {
    const auto* stored = root_->features();
    if (stored == nullptr) return Status();
    if (stored->size() > kMaxFeatures) return corrupt("too many features");
    contents_->features = std::vector<FeatureContents>(stored->size());
    for (flatbuffers::uoffset_t i = 0; i < stored->size(); ++i) {
      Status status = read_feature(*stored->Get(i), i, contents_->features[i]);
      if (!status.ok()) return status;
    }
    return Status();
  }

  Status read_feature(const fb::Feature& stored, std::size_t number, FeatureContents& feature) {
    feature.name = text_of(stored.name());
    if (!is_identifier(feature.name)) return corrupt("a feature's name is not an identifier");
    Status status = read_expression(stored.value(), feature.value, Scope::shape);
    if (status.ok()) status = read_expression(stored.over(), feature.over, Scope::shape);
    if (!status.ok()) return status;
    if (feature.value.code().empty()) {
      const bool in_order = contents_->given_features == number;
      if (!in_order) return corrupt("features that are given come before those with a value");
      ++contents_->given_features;
    }
    const auto* categories = stored.categories();
    if (categories != nullptr && categories->size() > space::kMaxCategories) {
      return corrupt("too many categories");
    }
    if (read_names(categories, feature.categories)) return Status();
    return corrupt("a category's name is not an identifier");
  }

  // --- expressions ---
  // What an expression may read.
  enum class Scope : std::uint8_t { both, shape, configuration };
  Status read_expression(const fb::Expression* stored, Expression& out, Scope scope = Scope::both) {
    out = Expression();
    if (stored == nullptr) return Status();
    Result<Expression> expression = Expression::load(
        values_of(stored->code()), values_of(stored->constants()), text_of(stored->text()),
        scope == Scope::configuration ? 0 : contents_->dimensions.size(),
        scope == Scope::shape ? 0 : root_->space()->parameters()->size());
    if (!expression.ok()) return expression.status();
    out = std::move(*expression);
    return Status();
  }
  using FbExpressions = FbVector<flatbuffers::Offset<fb::Expression>>;
  Status read_expressions(const FbExpressions* stored, std::size_t limit, const char* what,
                          std::vector<Expression>& out, Scope scope = Scope::both) {
    if (stored == nullptr) return Status();
    if (stored->size() > limit) return corrupt("too many %", what);
    out = std::vector<Expression>(stored->size());
    for (flatbuffers::uoffset_t i = 0; i < stored->size(); ++i) {
      if (Status status = read_expression(stored->Get(i), out[i], scope); !status.ok())
        return status;
    }
    return Status();
  }

  // --- space ---
  Status read_space() {
    const fb::Space& stored = *root_->space();
    const auto& parameters = *stored.parameters();
    if (parameters.size() < 1 || parameters.size() > kMaxParameters)
      return corrupt("expected 1 to % parameters", kMaxParameters);
    std::vector<space::ParameterData> read(parameters.size());
    for (flatbuffers::uoffset_t i = 0; i < parameters.size(); ++i) {
      const fb::Parameter& parameter = *parameters.Get(i);
      read[i].name = std::string(text_of(parameter.name()));
      if (!is_identifier(read[i].name)) return corrupt("a parameter's name is not an identifier");
      // A kind that a later version knows is an annotation that this one does without.
      if (parameter.kind() < kParameterKindCount) {
        read[i].kind = static_cast<ParameterKind>(parameter.kind());
      }
      read[i].values = values_of(parameter.values());
    }
    return make_space(stored, std::move(read));
  }

  Status make_space(const fb::Space& stored, std::vector<space::ParameterData> parameters) {
    std::vector<Expression> constraints;
    Status status = read_expressions(stored.constraints(), space::kMaxConstraints, "constraints",
                                     constraints, Scope::configuration);
    if (!status.ok()) return status;
    auto data = space::make_data(std::move(parameters), std::move(constraints), contents_->bytes);
    if (!data.ok()) return corrupt("%", data.status().message());
    status = read_diagram(stored.diagram(), **data);
    if (!status.ok()) return status;
    contents_->space = Space(std::shared_ptr<const space::Data>(std::move(*data)));
    return read_configuration(root_->default_configuration(), "default",
                              contents_->default_configuration);
  }

  Status read_diagram(const fb::Diagram* stored, space::Data& data) {
    if (stored == nullptr) return Status();
    space::Diagram diagram;
    diagram.level_nodes = values_of(stored->level_nodes());
    diagram.node_first_edge = values_of(stored->node_first_edge());
    diagram.edge_value = values_of(stored->edge_value());
    diagram.edge_child = values_of(stored->edge_child());
    diagram.edge_before = values_of(stored->edge_before());
    return space::adopt_diagram(data, diagram);
  }

  Status read_configuration(const FbVector<std::int64_t>* stored, const char* what,
                            Configuration& out) {
    const Span<const std::int64_t> values = values_of(stored);
    if (values.size() != contents_->space.parameter_count()) {
      return corrupt("the % configuration has a wrong number of values", what);
    }
    out = Configuration(values);
    if (contents_->space.contains(out)) return Status();
    return corrupt("the % configuration is not valid", what);
  }

  Status read_shape_constraints() {
    return read_expressions(root_->shape_constraints(), space::kMaxConstraints, "constraints",
                            contents_->shape_constraints);
  }

  // --- arguments ---
  Status read_arguments() {
    const auto& arguments = *root_->arguments();
    if (arguments.size() < 1 || arguments.size() > kMaxArguments) {
      return corrupt("% arguments, expected 1 to %", arguments.size(), kMaxArguments);
    }
    contents_->arguments = std::vector<ArgumentSpec>(arguments.size());
    contents_->argument_sizes = std::vector<Expression>(arguments.size());
    contents_->index_bounds = std::vector<Expression>(arguments.size());
    for (flatbuffers::uoffset_t i = 0; i < arguments.size(); ++i) {
      Status status = read_argument(*arguments.Get(i), i);
      if (!status.ok()) {
        return Status(status.code(), "argument '%': %", text_of(arguments.Get(i)->name()),
                      status.message());
      }
    }
    return Status();
  }

  Status read_argument(const fb::Argument& stored, std::size_t number) {
    if (stored.kind() > 5 || stored.type() >= kScalarTypeCount || stored.access() > 2 ||
        stored.fill() > 4) {
      return unsupported("its kind, type, access or fill is unknown to this version");
    }
    ArgumentSpec& spec = contents_->arguments[number];
    spec.name = text_of(stored.name());
    spec.kind = static_cast<ArgumentKind>(stored.kind());
    spec.type = static_cast<ScalarType>(stored.type());
    spec.access = static_cast<Access>(stored.access());
    spec.fill = static_cast<Fill>(stored.fill());
    spec.fill_low = stored.fill_low();
    spec.fill_high = stored.fill_high();
    const double range = spec.fill_high - spec.fill_low;
    if (!(range >= 0 && range < fill_limit(spec.fill))) {
      return corrupt("expected finite fill values in order");
    }
    if (spec.kind == ArgumentKind::dimension && !is_integer(spec.type)) {
      return corrupt("a dimension is an integer");
    }
    if (is_own_memory(spec.kind) && spec.access != Access::out) {
      return corrupt("memory of its own is written before it is read");
    }
    spec.constant = stored.constant();
    if (spec.constant && (spec.kind != ArgumentKind::buffer || spec.access != Access::in)) {
      return corrupt("only a buffer of access in is constant");
    }
    spec.captured = stored.captured();
    spec.is_index = stored.index_below() != nullptr;
    const bool is_input = spec.kind == ArgumentKind::buffer && spec.access != Access::out;
    if ((spec.captured && !is_input) || (spec.is_index && !(is_input && is_integer(spec.type))) ||
        (spec.fill == Fill::ramp && !spec.is_index)) {
      return corrupt("only what is read is captured, and of integers an index");
    }
    if (spec.kind == ArgumentKind::local && contents_->dialect != Dialect::opencl) {
      return corrupt("only the dialect opencl has local memory as an argument");
    }
    Expression& size = contents_->argument_sizes[number];
    Status bound =
        read_expression(stored.index_below(), contents_->index_bounds[number], Scope::shape);
    if (!bound.ok()) return bound;
    if (spec.kind == ArgumentKind::scalar) return Status();
    const bool of_shape = spec.kind == ArgumentKind::dimension || spec.captured;
    return read_expression(stored.size(), size, of_shape ? Scope::shape : Scope::both);
  }

  // --- what is launched ---
  Status read_step(const fb::Step& step, StepContents& read) {
    LaunchGeometry& launch = read.launch;
    read.entry = text_of(step.entry());
    if (!is_identifier(read.entry)) return corrupt("an entry point is not an identifier");
    Status status = read_step_arguments(step.arguments(), read.arguments);
    read.in_order = are_in_order(read.arguments);
    if (status.ok()) status = read_expressions(step.global(), 3, "global sizes", launch.global);
    if (status.ok()) status = read_expressions(step.local(), 3, "local sizes", launch.local);
    if (status.ok()) status = read_expression(step.local_memory_bytes(), launch.local_memory_bytes);
    if (status.ok()) status = read_expression(step.condition(), read.condition);
    if (status.ok() && (launch.global.empty() || launch.global.size() != launch.local.size())) {
      return corrupt("expected as many local as global sizes, 1 to 3");
    }
    for (const Expression& size : launch.global) contents_->sized_by |= size.dimension_mask();
    return status;
  }

  Status read_step_arguments(const FbVector<std::uint8_t>* stored, std::vector<std::uint8_t>& out) {
    const std::size_t count = contents_->arguments.size();
    if (stored == nullptr) {
      for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::uint8_t>(i));
      return {};
    }
    if (stored->size() < 1 || stored->size() > kMaxArguments) {
      return corrupt("a step with % arguments", stored->size());
    }
    for (const std::uint8_t position : *stored) {
      if (position >= count) return corrupt("a step takes argument % of %", position, count);
      push(out, position);
    }
    return {};
  }

  Status read_variant() {
    const fb::Variant& variant = *root_->variant();
    const std::size_t setup = variant.setup() == nullptr ? 0 : variant.setup()->size();
    const std::size_t count = variant.steps()->size() + setup;
    if (count <= setup || count > KernelPackage::kMaxSteps) {
      return unsupported("a sequence of % kernels, expected 1 to %", count,
                         KernelPackage::kMaxSteps);
    }
    if (variant.workspace_bytes() != nullptr) return unsupported("a workspace");
    contents_->steps = std::vector<StepContents>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const bool of_setup = i >= count - setup;
      const auto at = static_cast<flatbuffers::uoffset_t>(of_setup ? i + setup - count : i);
      StepContents& step = contents_->steps[i];
      Status status = read_step(*(of_setup ? variant.setup() : variant.steps())->Get(at), step);
      if (!status.ok()) return status;
      step.of_setup = of_setup;
      if (of_setup && !depends_on_constants(step)) {
        return corrupt("the setup takes what may change from launch to launch");
      }
    }
    return {};
  }
  // Nor does such a step write what is the application's.
  bool depends_on_constants(const StepContents& step) const {
    for (const std::uint8_t i : step.arguments) {
      const ArgumentSpec& spec = contents_->arguments[i];
      if (spec.kind == ArgumentKind::scalar) return false;
      if (spec.kind == ArgumentKind::buffer && !spec.constant) return false;
    }
    return true;
  }

  Status read_reference() {
    PackageContents& c = *contents_;
    c.reference_configuration = c.default_configuration;
    const fb::Reference* reference = root_->reference();
    if (reference == nullptr) return Status();
    if (reference->configuration() != nullptr) {
      Status status =
          read_configuration(reference->configuration(), "reference", c.reference_configuration);
      if (!status.ok()) return status;
    }
    if (reference->step() == nullptr) return Status();
    c.reference = std::vector<StepContents>(1);
    return read_step(*reference->step(), c.reference[0]);
  }

  Status read_tolerance() {
    const fb::ToleranceRule* rule = root_->tolerance();
    if (rule == nullptr) return Status();
    const auto is_bound = [](double v) { return std::isfinite(v) && v >= 0; };
    if (!is_bound(rule->absolute()) || !is_bound(rule->relative())) {
      return corrupt("expected finite tolerances of at least 0");
    }
    contents_->tolerance_absolute = rule->absolute();
    contents_->tolerance_relative = rule->relative();
    return read_expression(rule->scale(), contents_->tolerance_scale, Scope::shape);
  }

  Status read_binaries() {
    if (root_->binaries() == nullptr) return Status();
    for (const fb::Binary* stored : *root_->binaries()) {
      // A format of a later version is none that this one could load.
      if (stored->format() > static_cast<std::uint8_t>(BinaryFormat::spirv)) continue;
      const Bytes bytes(stored->bytes()->Data(), stored->bytes()->size());
      if (crc32c(bytes) != stored->crc32c()) {
        return corrupt("a prebuilt binary's checksum does not match");
      }
      if (stored->source_digest() != 0 && stored->source_digest() != contents_->source_digest) {
        return corrupt("a prebuilt binary was made from another source");
      }
      add_binary(stored->configuration_key(),
                 {static_cast<BinaryFormat>(stored->format()), bytes, stored->made_for()});
    }
    return Status();
  }

  void add_binary(std::uint64_t configuration_key, const PrebuiltBinary& binary) {
    for (StoredBinaries& stored : contents_->binaries) {
      if (stored.configuration_key != configuration_key) continue;
      stored.binaries.push_back(binary);
      return;
    }
    contents_->binaries.push_back({configuration_key, {binary}});
  }

  // With a term of a later version nobody here knows which shapes it keeps apart.
  Status read_classes() {
    std::vector<Expression> terms;
    Status status =
        read_expressions(root_->class_terms(), kMaxClassTerms, "terms of classes", terms);
    if (!status.ok() || terms.empty()) return status;
    const Span<const std::uint8_t> kinds = values_of(root_->class_kinds());
    if (kinds.size() != terms.size()) return corrupt("a term of classes has no kind");
    for (const std::uint8_t kind : kinds) {
      if (kind >= kClassTermKinds || kinds[0] == kClassTile) return Status();
    }
    contents_->class_terms = std::move(terms);
    contents_->class_kinds.assign(kinds.begin(), kinds.end());
    make_class_parts(*contents_);
    return Status();
  }

  std::unique_ptr<PackageContents> contents_;
  const fb::KernelPackage* root_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<PackageContents>> read_package(
    std::shared_ptr<const std::vector<std::uint8_t>> bytes) {
  return Reader(std::move(bytes)).read();
}

}  // namespace idletune::package
