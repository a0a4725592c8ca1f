// Reading an .itmodel: what histories on other devices say about a kernel, before (and while) it is
// measured here. The file is read in place from memory that the Model owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/predict/quantiles.hpp"
#include "models/predict/selector.hpp"
#include "models/space/space.hpp"

namespace idletune {

namespace model_schema {
struct KernelEntry;
struct SourcesSection;
struct PortfolioSection;
struct FirstPicksSection;
struct SelectorSection;
struct PublishedSection;
}  // namespace model_schema

// The model-reader version of this build: models that ask for a higher one are refused.
inline constexpr std::uint32_t kModelReaderVersion = 2;
inline constexpr std::size_t kMaxModelBytes = std::size_t{64} << 20;

// One historical device at one problem size. Views into the model; valid as long as it lives.
struct HistoricalSource {
  std::string_view device;
  Shape shape;  // with all features, computed ones too; empty: the history did not say
  QuantileView relative_performance;    // distribution of q over the valid configurations
  double well_performing_fraction = 0;  // p_b(0.9)
  std::uint64_t valid_count = 0;        // valid configurations of the space
  std::uint64_t measured_count = 0;     // of them measured; fewer than valid_count: a sample
  double best_time_ns = 0;
  double median_run_ns = 0;
  double median_compile_ns = 0;  // 0: unknown

  bool is_sample() const { return measured_count < valid_count; }
  // p_b(ratio), 0 < ratio <= 1: exact at 0.9, interpolated between stored quantiles elsewhere. Of a
  // sample, relative to the best one seen, which overstates it.
  double fraction(double ratio) const;
  // The same; of a sample, the lower end of the 80 % interval instead.
  double cautious_fraction(double ratio) const;
};

// How near the evidence behind an answer is to the question (best first).
enum class PickQuality : std::uint8_t {
  exact = 0,          // this device, this shape
  selector = 1,       // this device, by a tree over shapes that were measured on it
  nearest_shape = 2,  // this device, another shape
  published = 3,      // this device, published by others without times
  other_device = 4,   // other devices
  other_kind = 5,     // devices of another kind: processors for a GPU, or the other way round
  none = 6            // nothing known: the kernel's default
};
// "exact", "selector", "nearest_shape", "published", "other_device", "other_kind", "default".
const char* pick_quality_name(PickQuality quality);

// What is known about one kernel. Cheap to copy (a few pointers); valid as long as its Model lives.
// Every function may be called from any thread.
class KernelKnowledge {
 public:
  std::string_view name() const;
  std::size_t parameter_count() const;
  std::string_view parameter(std::size_t i) const;
  // -1: it knows none of this name.
  std::int32_t column_of(std::string_view name) const;

  // Names of the dimensions and features of its problems, blanks between; empty: not known.
  // Allocates.
  std::string input_names() const;

  std::size_t source_count() const;  // 0: nothing but published configurations is known
  HistoricalSource source(std::size_t i) const;

  // Configurations that were good somewhere, the most useful first.
  std::size_t portfolio_size() const;
  Span<const std::int64_t> portfolio_values(std::size_t entry) const;  // parameter_count() values
  double portfolio_score(std::size_t entry) const;                     // expected q, in [0, 1]
  // q of the entry on that source, in [0, 1] (0: failed there); negative where not measured.
  double portfolio_relative(std::size_t entry, std::size_t source) const;
  // The same for all sources; source_count() values.
  Span<const float> portfolio_row(std::size_t entry) const;

  std::size_t first_pick_count() const;
  struct Pick {
    std::int32_t source = -1;  // -1: best over all sources
    Shape shape;               // empty: any
    Span<const std::int64_t> values;
    double expected = 0;  // q
  };
  Pick first_pick(std::size_t i) const;

  // Trees from shapes to configurations.
  std::size_t selector_count() const;
  SelectorView selector(std::size_t i) const;
  std::string_view selector_input(std::size_t selector, std::size_t input) const;

  // How first picks do on devices that were left out, and selectors on shapes.
  struct HeldOut {
    std::string_view device;
    Shape shape;
    double first_pick = 0;          // q there
    std::uint32_t evaluations = 0;  // to 95 % of the best; 0: not within the portfolio
  };
  struct SelectorQuality {
    std::string_view device;  // empty: over all devices
    std::uint32_t shapes = 0;
    std::uint32_t folds = 0;
    double retained = 0;        // mean q of what it chose (DTPR)
    double worst = 0;           // the lowest
    double against_single = 0;  // mean speed-up over one configuration for all shapes (DTTR)
    double accuracy = 0;        // share of shapes whose best class it named
  };
  struct Quality {
    std::vector<HeldOut> held_out;
    std::vector<SelectorQuality> selectors;
  };
  // For people: no board asks, so that it is verified here, not by Model::open. Allocates. Error:
  // corrupt.
  Result<Quality> quality() const;

  // What others published as good, without times.
  struct Published {
    std::string_view device;  // a device's name, or one word that a family's names contain
    Span<const std::int64_t> values;
    std::uint32_t devices = 1;  // of a family: how many of its devices it is published for
  };
  std::size_t published_count() const;
  Published published(std::size_t i) const;
  std::string_view published_origin() const;  // empty: there is none

  // Average over sources of the share of the space with q >= r; 0 < r <= 1. Exact at r = 0.9,
  // interpolated between stored quantiles elsewhere. 0 without sources.
  double well_performing_fraction(double r) const;

 private:
  friend class Model;
  const model_schema::KernelEntry* entry_ = nullptr;
  const model_schema::SourcesSection* sources_ = nullptr;         // may be null
  const model_schema::PortfolioSection* portfolio_ = nullptr;     // may be null
  const model_schema::FirstPicksSection* first_picks_ = nullptr;  // may be null
  const model_schema::SelectorSection* selectors_ = nullptr;      // may be null
  const model_schema::PublishedSection* published_ = nullptr;     // may be null
};

// A verified model in memory. Immutable.
class Model {
 public:
  // Takes the file's bytes; `name` is for messages. Verifies structure and meaning of everything it
  // will ever read, but quality(). Errors: corrupt (structure, digest, values), version_mismatch (a
  // newer format, or a higher minimum agent), out_of_memory (too large).
  static Result<std::shared_ptr<const Model>> open(std::vector<std::uint8_t> bytes,
                                                   const std::string& name);
  std::uint64_t content_digest() const { return content_digest_; }
  std::uint64_t generation() const { return generation_; }
  std::size_t size_bytes() const { return bytes_.size(); }
  Bytes bytes() const { return {bytes_.data(), bytes_.size()}; }

  const std::vector<KernelKnowledge>& kernels() const { return kernels_; }
  // The entry for a kernel of this name that knows half at least of the space's parameters with
  // several values (several kernels may share a name) and whose problems have inputs of these
  // names, where both say; null if none does.
  const KernelKnowledge* kernel(std::string_view name, const Space& space,
                                std::string_view inputs = {}) const;

  std::size_t provenance_count() const;
  std::string_view provenance(std::size_t i) const;

 private:
  Model() = default;
  std::vector<std::uint8_t> bytes_;
  std::vector<KernelKnowledge> kernels_;
  std::uint64_t content_digest_ = 0;
  std::uint64_t generation_ = 0;
};

// Translates a model's parameter order to a space's, by name. A parameter of the space that the
// model does not know takes its only value, or else the value in `fallback` (the kernel's default
// configuration; may be empty). Parameters that only the model has are ignored.
class SpaceMapping {
 public:
  SpaceMapping(const KernelKnowledge& kernel, const Space& space,
               const Configuration& fallback = {});
  // False if a parameter of the space has no value to take: then map() always fails.
  bool possible() const { return possible_; }
  // Nothing if the values are not a valid configuration of the space.
  std::optional<Configuration> map(Span<const std::int64_t> values) const;

 private:
  Space space_;
  std::vector<std::int32_t> column_;  // per space parameter: model column, or -1
  Configuration constant_;            // the value taken where column is -1
  bool possible_ = true;
};

struct FirstPick {
  Configuration configuration;
  double expected_relative_performance = 0;
  PickQuality quality = PickQuality::none;
};

// How far two problems' features are from each other: squared, in the logarithm, numbers below
// 0.001 taken for it.
double feature_distance(const Shape& a, const Shape& b);

// The configuration to start with for `shape`, with all features, on the device of this name
// (DeviceInfo::name; may be empty): the best that the model has in the order of PickQuality, whose
// README tells how ties are broken. Nothing if the model names none that the space holds: run the
// kernel's default.
std::optional<FirstPick> first_pick(const KernelKnowledge& kernel, const Space& space,
                                    const Shape& shape, std::string_view device,
                                    const Configuration& fallback = {});

}  // namespace idletune
