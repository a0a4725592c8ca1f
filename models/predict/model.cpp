#include "models/predict/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <idletune/text.hpp>

#include "models/core/digest.hpp"
#include "models/devices/device_kind.hpp"
#include "models/devices/device_names.hpp"
#include "models/devices/source_affinity.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "models/schema/table_layout.hpp"

namespace idletune {

static_assert(FLATBUFFERS_LITTLEENDIAN == 1, "models are read in place as little-endian values");

namespace {

using table_layout::text_of;
using table_layout::values_of;

// The lower end of an 80 % interval.
constexpr double kCautiousDeviations = 1.2816;

template <class Stored>
Shape shape_of(const Stored& stored) {
  return Shape(values_of(stored.shape()), values_of(stored.features()));
}

}  // namespace

const char* pick_quality_name(PickQuality quality) {
  switch (quality) {
    case PickQuality::exact: return "exact";
    case PickQuality::selector: return "selector";
    case PickQuality::nearest_shape: return "nearest_shape";
    case PickQuality::published: return "published";
    case PickQuality::other_device: return "other_device";
    case PickQuality::other_kind: return "other_kind";
    case PickQuality::none: return "default";
  }
  return "default";
}

std::string_view KernelKnowledge::name() const { return text_of(entry_->name()); }

std::size_t KernelKnowledge::parameter_count() const { return entry_->parameters()->size(); }

std::string_view KernelKnowledge::parameter(std::size_t i) const {
  return text_of(entry_->parameters()->Get(static_cast<flatbuffers::uoffset_t>(i)));
}

std::int32_t KernelKnowledge::column_of(std::string_view name) const {
  auto column = static_cast<std::int32_t>(parameter_count());
  while (--column >= 0 && parameter(static_cast<std::size_t>(column)) != name) continue;
  return column;
}

std::size_t KernelKnowledge::source_count() const {
  if (sources_ == nullptr) return 0;
  return sources_->sources()->size();
}

std::string KernelKnowledge::input_names() const {
  std::string names;
  const auto* stored = sources_ == nullptr ? nullptr : sources_->inputs();
  for (std::size_t i = 0; stored != nullptr && i < stored->size(); ++i) {
    append(names, "%%", i > 0 ? " " : "",
           text_of(stored->Get(static_cast<flatbuffers::uoffset_t>(i))));
  }
  return names;
}

HistoricalSource KernelKnowledge::source(std::size_t i) const {
  const auto* source = sources_->sources()->Get(static_cast<flatbuffers::uoffset_t>(i));
  HistoricalSource view;
  view.device = text_of(source->device());
  view.shape = shape_of(*source);
  view.relative_performance = QuantileView(values_of(source->quantiles()));
  view.well_performing_fraction = static_cast<double>(source->well_performing());
  view.valid_count = source->valid_count();
  view.measured_count = source->measured_count();
  view.best_time_ns = source->best_time_ns();
  view.median_run_ns = source->median_run_ns();
  view.median_compile_ns = source->median_compile_ns();
  return view;
}

std::size_t KernelKnowledge::portfolio_size() const {
  if (portfolio_ == nullptr) return 0;
  return portfolio_->score()->size();
}

Span<const std::int64_t> KernelKnowledge::portfolio_values(std::size_t entry) const {
  return values_of(portfolio_->values()).subspan(entry * parameter_count(), parameter_count());
}

double KernelKnowledge::portfolio_score(std::size_t entry) const {
  return static_cast<double>(values_of(portfolio_->score())[entry]);
}

double KernelKnowledge::portfolio_relative(std::size_t entry, std::size_t source) const {
  return static_cast<double>(portfolio_row(entry)[source]);
}

Span<const float> KernelKnowledge::portfolio_row(std::size_t entry) const {
  const std::size_t sources = source_count();
  return values_of(portfolio_->relative()).subspan(entry * sources, sources);
}

std::size_t KernelKnowledge::first_pick_count() const {
  if (first_picks_ == nullptr) return 0;
  return first_picks_->picks()->size();
}

KernelKnowledge::Pick KernelKnowledge::first_pick(std::size_t i) const {
  const auto* pick = first_picks_->picks()->Get(static_cast<flatbuffers::uoffset_t>(i));
  return {pick->source(), shape_of(*pick), values_of(pick->values()),
          static_cast<double>(pick->expected())};
}

std::size_t KernelKnowledge::selector_count() const {
  if (selectors_ == nullptr) return 0;
  return selectors_->selectors()->size();
}

SelectorView KernelKnowledge::selector(std::size_t i) const {
  const auto* stored = selectors_->selectors()->Get(static_cast<flatbuffers::uoffset_t>(i));
  SelectorView view;
  view.device = text_of(stored->device());
  view.low = values_of(stored->low());
  view.high = values_of(stored->high());
  view.exponents = values_of(stored->exponents());
  view.classes = values_of(stored->classes());
  view.parameters = parameter_count();
  view.tree = learners::TreeView(*learners::tree_nodes_in(values_of(stored->nodes())));
  return view;
}

std::string_view KernelKnowledge::selector_input(std::size_t selector, std::size_t input) const {
  return text_of(selectors_->selectors()
                     ->Get(static_cast<flatbuffers::uoffset_t>(selector))
                     ->inputs()
                     ->Get(static_cast<flatbuffers::uoffset_t>(input)));
}

std::size_t KernelKnowledge::published_count() const {
  if (published_ == nullptr) return 0;
  return published_->picks()->size();
}

KernelKnowledge::Published KernelKnowledge::published(std::size_t i) const {
  const auto* pick = published_->picks()->Get(static_cast<flatbuffers::uoffset_t>(i));
  return {text_of(pick->device()), values_of(pick->values()), pick->devices()};
}

std::string_view KernelKnowledge::published_origin() const {
  return published_ == nullptr ? std::string_view() : text_of(published_->origin());
}

double HistoricalSource::fraction(double ratio) const {
  if (std::abs(ratio - 0.9) < 1e-9) return well_performing_fraction;
  return relative_performance.share_at_least(ratio);
}

double HistoricalSource::cautious_fraction(double ratio) const {
  const double plain = fraction(ratio);
  if (!is_sample()) return plain;
  const double count = static_cast<double>(measured_count);
  return wilson_lower(plain * count, count, kCautiousDeviations);
}

double KernelKnowledge::well_performing_fraction(double r) const {
  if (sources_ == nullptr) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < source_count(); ++i) sum += source(i).fraction(r);
  return sum / static_cast<double>(source_count());
}

const KernelKnowledge* Model::kernel(std::string_view name, const Space& space,
                                     std::string_view inputs) const {
  const KernelKnowledge* best = nullptr;
  std::size_t best_matches = 0;
  for (const KernelKnowledge& candidate : kernels_) {
    if (candidate.name() != name) continue;
    const std::string named = inputs.empty() ? std::string() : candidate.input_names();
    if (!named.empty() && named != inputs) continue;
    std::size_t matches = 0, unknown = 0;
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      if (candidate.column_of(space.parameter_name(p)) >= 0) {
        ++matches;
      } else if (space.parameter_values(p).size() > 1) {
        ++unknown;
      }
    }
    if (unknown > matches) continue;
    // Of two that fit, the one with more in common; then the one with fewer foreign parameters.
    if (best == nullptr || matches > best_matches ||
        (matches == best_matches && candidate.parameter_count() < best->parameter_count())) {
      best = &candidate;
      best_matches = matches;
    }
  }
  return best;
}

std::size_t Model::provenance_count() const {
  const auto* lines = model_schema::GetModelFile(bytes_.data())->provenance();
  return lines == nullptr ? 0 : lines->size();
}

std::string_view Model::provenance(std::size_t i) const {
  return text_of(model_schema::GetModelFile(bytes_.data())
                     ->provenance()
                     ->Get(static_cast<flatbuffers::uoffset_t>(i)));
}

SpaceMapping::SpaceMapping(const KernelKnowledge& kernel, const Space& space,
                           const Configuration& fallback)
    : space_(space) {
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    const std::int32_t column = kernel.column_of(space.parameter_name(p));
    const bool single = space.parameter_values(p).size() == 1;
    const bool known = fallback.size() == space.parameter_count();
    if (column < 0 && !single && !known) possible_ = false;
    column_.push_back(column);
    constant_.push_back(single ? space.parameter_values(p)[0] : known ? fallback[p] : 0);
  }
}

std::optional<Configuration> SpaceMapping::map(Span<const std::int64_t> values) const {
  if (!possible_) return std::nullopt;
  Configuration mapped;
  for (std::size_t p = 0; p < column_.size(); ++p) {
    const std::int32_t column = column_[p];
    if (column >= 0 && static_cast<std::size_t>(column) >= values.size()) return std::nullopt;
    mapped.push_back(column < 0 ? constant_[p] : values[static_cast<std::size_t>(column)]);
  }
  if (!space_.contains(mapped)) return std::nullopt;
  return mapped;
}

double feature_distance(const Shape& a, const Shape& b) {
  constexpr double kLeast = 1e-3;  // below it features count as it: categories are far apart
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.feature_count(), b.feature_count()); ++i) {
    const double d = std::log(std::max(kLeast, a.feature(i)) / std::max(kLeast, b.feature(i)));
    sum += d * d;
  }
  return sum;
}

namespace {

// Squared distance of two problems in the logarithm; infinite if they cannot be compared.
double shape_distance(const Shape& a, const Shape& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size() || a.feature_count() != b.feature_count()) return kInfinity;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] <= 0 || b[i] <= 0) {
      if (a[i] != b[i]) return kInfinity;
      continue;
    }
    const double d = std::log(static_cast<double>(a[i])) - std::log(static_cast<double>(b[i]));
    sum += d * d;
  }
  return sum + feature_distance(a, b);
}

// A pick that was made for no shape in particular counts like one for a shape a factor e away.
constexpr double kAnyShapeDistance = 1.0;

// What a published configuration is taken to reach: it was tuned with another text of the kernel.
// Both on the cautious side of what CLBlast's entries reach in recorded GEMM spaces: README.md.
constexpr double kPublishedHere = 0.8;
constexpr double kPublishedForFamily = 0.6;

// Gathers candidates and keeps the best one that the space holds.
class BestPick {
 public:
  explicit BestPick(const SpaceMapping& mapping) : mapping_(mapping) {}
  void offer(Span<const std::int64_t> values, PickQuality quality, double distance,
             double expected) {
    if (best_ &&
        (quality > best_->quality || (quality == best_->quality && distance >= distance_))) {
      return;
    }
    const std::optional<Configuration> mapped = mapping_.map(values);
    if (!mapped) return;
    best_ = FirstPick{*mapped, expected, quality};
    distance_ = distance;
  }
  const std::optional<FirstPick>& best() const { return best_; }

 private:
  const SpaceMapping& mapping_;
  std::optional<FirstPick> best_;
  double distance_ = 0;
};

std::size_t count_of_other_kind(const KernelKnowledge& kernel, std::string_view device) {
  const DeviceKind kind = device_kind(device);
  std::size_t count = 0;
  for (std::size_t d = 0; d < kernel.source_count(); ++d) {
    if (of_other_kind(device_kind(kernel.source(d).device), kind)) ++count;
  }
  return count;
}

void offer_measured(const KernelKnowledge& kernel, const Shape& shape, std::string_view device,
                    PickQuality over_all, BestPick& picks) {
  for (std::size_t i = 0; i < kernel.first_pick_count(); ++i) {
    const KernelKnowledge::Pick pick = kernel.first_pick(i);
    const bool here =
        pick.source >= 0 &&
        same_device_model(kernel.source(static_cast<std::size_t>(pick.source)).device, device);
    if (pick.source >= 0 && !here) continue;  // what others do is in the picks over all sources
    const bool same_shape = shape.size() > 0 && pick.shape == shape;
    const double distance = pick.shape.size() == 0 || shape.size() == 0
                                ? kAnyShapeDistance
                                : shape_distance(pick.shape, shape);
    const PickQuality quality = !here        ? over_all
                                : same_shape ? PickQuality::exact
                                             : PickQuality::nearest_shape;
    picks.offer(pick.values, quality, distance, pick.expected);
  }
}

// The entry of the portfolio that was best on the devices most like this one (the mean of q^4 under
// source_affinity, over the sources of its kind at the nearest shape, or over all if none is of its
// kind). Goes before picks over all devices alike at the same distance.
void offer_by_affinity(const KernelKnowledge& kernel, const Shape& shape, std::string_view device,
                       bool knows_kind, BestPick& picks) {
  if (device.empty() || kernel.source_count() == 0) return;
  const DeviceKind kind = device_kind(device);
  const auto distance_to = [&](const HistoricalSource& source) {
    if (knows_kind && of_other_kind(device_kind(source.device), kind)) return HUGE_VAL;
    return source.shape.size() == 0 || shape.size() == 0 ? kAnyShapeDistance
                                                         : shape_distance(source.shape, shape);
  };
  double nearest = kAnyShapeDistance;
  for (std::size_t d = 0; d < kernel.source_count(); ++d) {
    nearest = std::min(nearest, distance_to(kernel.source(d)));
  }
  std::vector<double> weights(kernel.source_count());
  for (std::size_t d = 0; d < weights.size(); ++d) {
    const HistoricalSource source = kernel.source(d);
    weights[d] = distance_to(source) <= nearest ? source_affinity(device, source.device) : 0;
  }
  std::size_t best = kernel.portfolio_size();
  double best_value = 0;
  double best_expected = 0;
  for (std::size_t e = 0; e < kernel.portfolio_size(); ++e) {
    const Span<const float> row = kernel.portfolio_row(e);
    double value = 0;
    double expected = 0;
    double total = 0;
    for (std::size_t d = 0; d < weights.size(); ++d) {
      // What a source did not measure is expected of it as of all.
      const double q = row[d] < 0 ? kernel.portfolio_score(e) : static_cast<double>(row[d]);
      value += weights[d] * q * q * q * q;
      expected += weights[d] * q;
      total += weights[d];
    }
    if (total > 0 && value > best_value * (1 + 1e-12)) {
      best = e;
      best_value = value;
      best_expected = expected / total;
    }
  }
  if (best < kernel.portfolio_size()) {
    picks.offer(kernel.portfolio_values(best),
                knows_kind ? PickQuality::other_device : PickQuality::other_kind, nearest,
                best_expected);
  }
}

void offer_selected(const KernelKnowledge& kernel, const Shape& shape, std::string_view device,
                    PickQuality over_all, BestPick& picks) {
  double inputs[kMaxDimensions + kMaxFeatures];
  const std::size_t count = shape.input_count();
  for (std::size_t i = 0; i < count; ++i) inputs[i] = shape.input(i);
  const bool is_processor = device_kind(device) == DeviceKind::processor;
  for (std::size_t i = 0; i < kernel.selector_count(); ++i) {
    const SelectorView selector = kernel.selector(i);
    const bool here = same_device_model(selector.device, device);
    const bool of_kin = is_processor && device_kind(selector.device) == DeviceKind::processor;
    if ((!here && !of_kin && !selector.device.empty()) || !selector.covers({inputs, count})) {
      continue;
    }
    const SelectorView::Choice choice = selector.select({inputs, count});
    const PickQuality quality = here     ? PickQuality::selector
                                : of_kin ? PickQuality::other_device
                                         : over_all;
    // After what is measured at this very shape.
    picks.offer(selector.values(choice.number), quality, std::numeric_limits<double>::min(),
                choice.expected);
  }
}

bool measured_in_family(const KernelKnowledge& kernel, std::string_view word) {
  for (std::size_t i = 0; i < kernel.source_count(); ++i) {
    if (device_name_contains(kernel.source(i).device, word)) return true;
  }
  return false;
}

// What is published for a family goes before what was measured on devices of others, not before
// measurements within the family.
void offer_published(const KernelKnowledge& kernel, std::string_view device, BestPick& picks) {
  for (std::size_t i = 0; i < kernel.published_count(); ++i) {
    const KernelKnowledge::Published entry = kernel.published(i);
    if (same_device_model(entry.device, device)) {
      picks.offer(entry.values, PickQuality::published, 0, kPublishedHere);
    } else if (device_name_contains(device, entry.device) &&
               !measured_in_family(kernel, entry.device)) {
      picks.offer(entry.values, PickQuality::other_device, -static_cast<double>(entry.devices),
                  kPublishedForFamily);
    }
  }
}

}  // namespace

std::optional<FirstPick> first_pick(const KernelKnowledge& kernel, const Space& space,
                                    const Shape& shape, std::string_view device,
                                    const Configuration& fallback) {
  const SpaceMapping mapping(kernel, space, fallback);
  if (!mapping.possible()) return std::nullopt;
  BestPick picks(mapping);
  const std::size_t others = count_of_other_kind(kernel, device);
  const PickQuality over_all = others > 0 ? PickQuality::other_kind : PickQuality::other_device;
  offer_by_affinity(kernel, shape, device, others < kernel.source_count(), picks);
  offer_measured(kernel, shape, device, over_all, picks);
  offer_selected(kernel, shape, device, over_all, picks);
  offer_published(kernel, device, picks);
  return picks.best();
}

}  // namespace idletune
