// Opening a model: nothing is read from it later that was not checked here.
#include <array>
#include <cmath>
#include <string>

#include "models/predict/model.hpp"

#include <idletune/text.hpp>

#include "models/core/lists.hpp"
#include "models/core/shared.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "models/schema/model_layout.hpp"

namespace idletune {

namespace model_schema {

std::uint64_t content_digest(const ModelFile& model) {
  Digest digest;
  digest.add(std::uint64_t{model.format_version()}).add(model.generation());
  digest.add(std::uint64_t{model.minimum_agent()});
  if (model.provenance() != nullptr) {
    for (const auto* line : *model.provenance()) digest.add(table_layout::text_of(line));
  }
  digest.add(std::uint64_t{model.kernels()->size()});
  for (const KernelEntry* kernel : *model.kernels()) {
    digest.add(table_layout::text_of(kernel->name()));
    digest.add(std::uint64_t{kernel->parameters()->size()});
    for (const auto* name : *kernel->parameters()) digest.add(table_layout::text_of(name));
    digest.add(std::uint64_t{kernel->sections()->size()});
    for (const Section* section : *kernel->sections()) {
      digest.add(std::uint64_t{section->kind()}).add(std::uint64_t{section->version()});
      digest.add(table_layout::values_of(section->bytes()));
    }
  }
  return digest.value();
}

}  // namespace model_schema

namespace {

using namespace model_schema;  // NOLINT: the names of the schema, in this file only

// Hostile files must not cost it more than a fraction of a
// second.
constexpr table_layout::Limits kLimits = {8, 200000};

bool is_name(const flatbuffers::String* s) {
  if (s == nullptr || s->size() == 0 || s->size() > kMaxNameBytes) return false;
  for (const char c : *s) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

template <class T>
bool is_share(T x) {
  return x >= 0 && x <= 1;  // false for NaN
}

bool is_time(double ns) { return std::isfinite(ns) && ns >= 0; }

bool is_shape(const flatbuffers::Vector<std::int64_t>* v) {
  return v == nullptr || v->size() <= kMaxDimensions;
}

bool are_features(const flatbuffers::Vector<double>* v) {
  if (v == nullptr) return true;
  if (v->size() > kMaxFeatures) return false;
  for (const double feature : *v) {
    if (!is_time(feature)) return false;
  }
  return true;
}

bool ascending_shares(const flatbuffers::Vector<float>& values) {
  for (flatbuffers::uoffset_t i = 0; i < values.size(); ++i) {
    if (!is_share(values[i]) || (i > 0 && values[i] < values[i - 1])) return false;
  }
  return true;
}

// Each returns what is wrong, or null.
const char* problem_in(const SourcesSection& section) {
  const auto& sources = *section.sources();
  if (sources.size() == 0 || sources.size() > kMaxSources) return "the number of sources";
  if (section.inputs() != nullptr && section.inputs()->size() > kMaxDimensions + kMaxFeatures)
    return "the number of inputs";
  for (flatbuffers::uoffset_t i = 0; section.inputs() != nullptr && i < section.inputs()->size();
       ++i) {
    if (!is_name(section.inputs()->Get(i))) return "the name of an input";
  }
  for (const ModelSource* s : sources) {
    if (!is_name(s->device())) return "a source's device name";
    if (!is_shape(s->shape()) || !are_features(s->features())) return "a source's shape";
    if (s->quantiles()->size() != kQuantileCount) return "the number of quantiles";
    if (!ascending_shares(*s->quantiles())) return "quantiles that do not ascend within [0, 1]";
    if (!is_share(s->well_performing())) return "a well-performing fraction";
    if (s->valid_count() == 0 || s->measured_count() > s->valid_count()) return "a source's counts";
    if (!is_time(s->best_time_ns()) || !is_time(s->median_run_ns()) ||
        !is_time(s->median_compile_ns())) {
      return "a source's times";
    }
  }
  return nullptr;
}

const char* problem_in(const PortfolioSection& section, std::size_t parameters,
                       std::size_t sources) {
  const std::size_t entries = section.score()->size();
  if (entries > kMaxPortfolio) return "the portfolio's size";
  if (section.values()->size() != entries * parameters) return "the portfolio's values";
  if (section.relative()->size() != entries * sources)
    return "the portfolio's relative performances";
  for (const float score : *section.score()) {
    if (!is_share(score)) return "a portfolio score";
  }
  for (const float q : *section.relative()) {
    if (!is_share(q) && q != -1.0f) return "a portfolio entry's relative performance";
  }
  return nullptr;
}

const char* problem_in(const FirstPicksSection& section, std::size_t parameters,
                       std::size_t sources) {
  if (section.picks()->size() > kMaxPicks) return "the number of first picks";
  for (const PickEntry* pick : *section.picks()) {
    if (pick->source() < -1 || pick->source() >= static_cast<std::int64_t>(sources)) {
      return "a first pick's source";
    }
    if (!is_shape(pick->shape()) || !are_features(pick->features())) return "a first pick's shape";
    if (pick->values()->size() != parameters) return "a first pick's values";
    if (!is_share(pick->expected())) return "a first pick's expectation";
  }
  return nullptr;
}

const char* problem_in(const QualitySection& section) {
  bool right = section.held_out()->size() <= kMaxSources;
  for (const HeldOut* result : *section.held_out()) {
    right = right && is_name(result->device()) && is_shape(result->shape()) &&
            are_features(result->features()) && is_share(result->first_pick());
  }
  if (!right) return "a held-out result";
  if (section.selectors() == nullptr) return nullptr;
  right = section.selectors()->size() <= kMaxSelectors;
  for (const SelectorQuality* result : *section.selectors()) {
    right = right && (result->device() == nullptr || is_name(result->device())) &&
            is_share(result->retained()) && is_share(result->worst()) &&
            is_share(result->accuracy()) && is_time(static_cast<double>(result->against_single()));
  }
  return right ? nullptr : "a selector's quality";
}

const char* problem_in(const Selector& selector, std::size_t parameters) {
  if (selector.device() != nullptr && !is_name(selector.device())) return "a selector's device";
  const auto& inputs = *selector.inputs();
  const std::size_t count = inputs.size();
  if (count == 0 || count > kMaxDimensions + kMaxFeatures)
    return "the number of a selector's inputs";
  for (const auto* name : inputs) {
    if (!is_name(name)) return "the name of a selector's input";
  }
  if (selector.low()->size() != count || selector.high()->size() != count) {
    return "a selector's ranges";
  }
  for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
    if (!is_time(selector.low()->Get(i)) || !is_time(selector.high()->Get(i)))
      return "a selector's range";
  }
  const std::size_t features = selector.exponents()->size() / count;
  if (selector.exponents()->size() % count != 0 || features > kMaxSelectorFeatures)
    return "a selector's features";
  for (const std::int8_t exponent : *selector.exponents()) {
    if (exponent < -kMaxExponent || exponent > kMaxExponent) return "a selector's exponent";
  }
  const std::size_t classes = selector.classes()->size() / parameters;
  if (selector.classes()->size() % parameters != 0 || classes == 0 ||
      classes > learners::kMaxClasses) {
    return "a selector's classes";
  }
  const auto nodes =
      learners::tree_nodes_in(Bytes(selector.nodes()->data(), selector.nodes()->size()));
  if (!nodes.ok() ||
      !learners::verify(*nodes, {features, static_cast<std::uint32_t>(classes)}).ok()) {
    return "a selector's tree";
  }
  for (const learners::TreeNode& node : *nodes) {
    if (!node.is_leaf() && (node.is_categorical() || std::signbit(node.threshold())))
      return "a threshold of a selector's tree";
  }
  return nullptr;
}

const char* problem_in(const SelectorSection& section, std::size_t parameters) {
  if (section.selectors()->size() > kMaxSelectors) return "the number of selectors";
  for (const Selector* selector : *section.selectors()) {
    if (const char* problem = problem_in(*selector, parameters)) return problem;
  }
  return nullptr;
}

const char* problem_in(const PublishedSection& section, std::size_t parameters) {
  if (section.picks()->size() > kMaxPublished) return "the number of published configurations";
  for (const PublishedPick* pick : *section.picks()) {
    if (!is_name(pick->device())) return "a published configuration's device";
    if (pick->values()->size() != parameters) return "a published configuration's values";
  }
  return nullptr;
}

// The section as a verified table of its own, or null.
const void* open_section(const Section& section, Place place) {
  const std::uint8_t* data = section.bytes()->data();
  // Values are read in place; the writer aligns sections to 8 bytes.
  if (reinterpret_cast<std::uintptr_t>(data) % 8 != 0) return nullptr;
  const std::size_t size = section.bytes()->size();
  if (!table_layout::is_flatbuffer(data, size, layout::kTables, place, kLimits)) return nullptr;
  return data + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(data);
}

// By SectionKind; null: the kernel has none that is read here.
using Sections = std::array<const void*, 7>;
constexpr Place kNowhere = at_model_file;
constexpr std::array<Place, std::tuple_size_v<Sections>> kPlaces = {
    kNowhere, at_sources_section,  at_portfolio_section, at_first_picks_section,
    kNowhere, at_selector_section, at_published_section};

template <class T>
const T* part(const Sections& found, SectionKind kind) {
  return static_cast<const T*>(found[static_cast<std::size_t>(kind)]);
}

const char* take(const Section& section, Place place, const void*& slot) {
  if (slot != nullptr) return "two sections of the same kind";
  slot = open_section(section, place);
  return slot == nullptr ? "a damaged section" : nullptr;
}

const char* collect(const KernelEntry& kernel, Sections& found) {
  if (kernel.sections()->size() > kMaxSections) return "the number of sections";
  for (const Section* section : *kernel.sections()) {
    const std::size_t kind = section->kind();
    // Of a later version: like an unknown kind.
    if (section->version() != kSectionVersion || kind >= kPlaces.size()) continue;
    if (kPlaces[kind] == kNowhere) continue;
    if (const char* problem = take(*section, kPlaces[kind], found[kind])) return problem;
  }
  return nullptr;
}

const char* check_names(const KernelEntry& kernel) {
  if (!is_name(kernel.name())) return "a kernel's name";
  const auto& names = *kernel.parameters();
  if (names.size() == 0 || names.size() > kMaxParameters) return "the number of parameters";
  for (flatbuffers::uoffset_t i = 0; i < names.size(); ++i) {
    if (!is_name(names[i])) return "a parameter's name";
    for (flatbuffers::uoffset_t j = 0; j < i; ++j) {
      if (names[i]->size() == names[j]->size() && names[i]->str() == names[j]->str()) {
        return "two parameters of the same name";
      }
    }
  }
  return nullptr;
}

const char* check_kernel(const KernelEntry& kernel, Sections& found) {
  if (const char* problem = check_names(kernel)) return problem;
  if (const char* problem = collect(kernel, found)) return problem;
  const std::size_t parameters = kernel.parameters()->size();
  if (const auto* published = part<PublishedSection>(found, SectionKind::published)) {
    if (const char* problem = problem_in(*published, parameters)) return problem;
  }
  const auto* known = part<SourcesSection>(found, SectionKind::sources);
  if (known == nullptr) return nullptr;  // the rest is read with them only
  if (const char* problem = problem_in(*known)) return problem;
  const std::size_t sources = known->sources()->size();
  if (const auto* portfolio = part<PortfolioSection>(found, SectionKind::portfolio)) {
    if (const char* problem = problem_in(*portfolio, parameters, sources)) return problem;
  }
  if (const auto* picks = part<FirstPicksSection>(found, SectionKind::first_picks)) {
    if (const char* problem = problem_in(*picks, parameters, sources)) return problem;
  }
  const auto* selectors = part<SelectorSection>(found, SectionKind::selectors);
  return selectors != nullptr ? problem_in(*selectors, parameters) : nullptr;
}

Status corrupt(const std::string& name, const char* what) {
  return Status(StatusCode::corrupt, "model '%': %", name, what);
}

Status check_header(const model_schema::ModelFile& model, const std::string& name) {
  if (model.format_version() != 1) {
    return Status(StatusCode::version_mismatch, "model '%': format version %, expected 1", name,
                  model.format_version());
  }
  if (model.minimum_agent() > kModelReaderVersion) {
    return Status(StatusCode::version_mismatch, "model '%': asks for model reader %, this one is %",
                  name, model.minimum_agent(), kModelReaderVersion);
  }
  if (model.kernels()->size() > kMaxKernels) return corrupt(name, "too many kernels");
  if (content_digest(model) != model.content_digest()) {
    return corrupt(name, "its content does not match its digest");
  }
  return Status();
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::open(std::vector<std::uint8_t> bytes,
                                                 const std::string& name) {
  if (bytes.size() > kMaxModelBytes) {
    return Status(StatusCode::out_of_memory, "model '%': % bytes, expected at most %", name,
                  bytes.size(), kMaxModelBytes);
  }
  if (bytes.size() < 16 || !model_schema::ModelFileBufferHasIdentifier(bytes.data())) {
    return corrupt(name, "is not a model file (expected identifier ITM1 at byte 4)");
  }
  if (!table_layout::is_flatbuffer(bytes.data(), bytes.size(), layout::kTables, at_model_file,
                                   kLimits))
    return corrupt(name, "its structure is damaged");

  const std::shared_ptr<Model> model = shared(new Model);
  model->bytes_ = std::move(bytes);
  const auto& root = *model_schema::GetModelFile(model->bytes_.data());
  if (Status status = check_header(root, name); !status.ok()) return status;
  for (flatbuffers::uoffset_t i = 0; i < root.kernels()->size(); ++i) {
    const KernelEntry& kernel = *root.kernels()->Get(i);
    Sections found{};
    if (const char* problem = check_kernel(kernel, found)) {
      return corrupt(name, joined("kernel %: % is not acceptable", i, problem).c_str());
    }
    KernelKnowledge knowledge;
    knowledge.entry_ = &kernel;
    knowledge.published_ = part<PublishedSection>(found, SectionKind::published);
    knowledge.sources_ = part<SourcesSection>(found, SectionKind::sources);
    if (knowledge.sources_ != nullptr) {
      knowledge.portfolio_ = part<PortfolioSection>(found, SectionKind::portfolio);
      knowledge.first_picks_ = part<FirstPicksSection>(found, SectionKind::first_picks);
      knowledge.selectors_ = part<SelectorSection>(found, SectionKind::selectors);
    } else if (knowledge.published_ == nullptr) {
      continue;
    }
    model->kernels_.push_back(knowledge);
  }
  model->content_digest_ = root.content_digest();
  model->generation_ = root.generation();
  return std::shared_ptr<const Model>(model);
}

Result<KernelKnowledge::Quality> KernelKnowledge::quality() const {
  Quality quality;
  const void* stored_quality = nullptr;
  const char* problem = nullptr;
  for (const Section* section : *entry_->sections()) {
    const bool own = section->kind() == static_cast<std::uint32_t>(SectionKind::quality) &&
                     section->version() == kSectionVersion;
    if (own && problem == nullptr) problem = take(*section, at_quality_section, stored_quality);
  }
  const auto* found = static_cast<const QualitySection*>(stored_quality);
  if (problem == nullptr && found != nullptr) problem = problem_in(*found);
  if (problem != nullptr) return Status(StatusCode::corrupt, "kernel '%': %", name(), problem);
  if (found == nullptr || sources_ == nullptr) return quality;
  for (const auto* result : *found->held_out()) {
    push(quality.held_out,
         HeldOut{table_layout::text_of(result->device()),
                 Shape(table_layout::values_of(result->shape()),
                       table_layout::values_of(result->features())),
                 static_cast<double>(result->first_pick()), result->evaluations()});
  }
  if (found->selectors() == nullptr) return quality;
  for (const auto* stored : *found->selectors()) {
    SelectorQuality one;
    one.device = table_layout::text_of(stored->device());
    one.shapes = stored->shapes();
    one.folds = stored->folds();
    one.retained = static_cast<double>(stored->retained());
    one.worst = static_cast<double>(stored->worst());
    one.against_single = static_cast<double>(stored->against_single());
    one.accuracy = static_cast<double>(stored->accuracy());
    push(quality.selectors, one);
  }
  return quality;
}

}  // namespace idletune
