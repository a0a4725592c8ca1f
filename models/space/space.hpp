// A tuning space: parameters, their values, and which combinations are valid.
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

#include "models/core/random.hpp"
#include "models/space/expression.hpp"

namespace idletune {

// What a tuning parameter does. The numbers are stored in files and never change.
enum class ParameterKind : std::uint8_t {
  other = 0,
  work_group = 1,
  coarsening = 2,
  local_caching = 3,
  private_caching = 4,
  tile = 5,
  unrolling = 6,
  padding = 7,
  vectorization = 8,
  atomics = 9
};
inline constexpr std::uint8_t kParameterKindCount = 10;
// "work_group", "tile", ...; "other" for a number that is none. Never null.
const char* parameter_kind_name(ParameterKind kind);
std::optional<ParameterKind> parameter_kind_from_name(std::string_view name);

inline constexpr std::size_t kMaxParameterValues = 65535;

namespace space {
struct Data;  // the immutable contents; models/space/space_data.hpp
}  // namespace space

// How a space knows its valid configurations.
enum class SpaceBacking : std::uint8_t {
  diagram,     // decision diagram: everything below is exact and fast
  rows,        // explicit list (a measured table): likewise; the order is the list's
  constraints  // fallback: no diagram was stored (see indexed())
};

// An immutable tuning space; copying shares the contents. All functions may be called from any
// thread.
//
// With `indexed()` (diagram or rows) the valid configurations are numbered 0 ... valid_count() - 1:
// for a diagram in lexicographic order of value positions (parameters and values as declared), for
// rows in the list's order. Without it (the diagram exceeded its limit when the package was made)
//   contains, key, cursor            work as ever (the cursor backtracks, in the same order),
//   sample                           stays uniform while rejection succeeds, see there,
//   valid_count, at, index_of        say 0, empty, nullopt; count_valid() may find the number.
class Space {
 public:
  Space();  // no parameters and no configurations

  // An explicit list. `rows` holds rows x names.size() values, row after row; kinds may be empty
  // (all `other`) and so may `values` (then each parameter's values are those that occur,
  // ascending). Errors: invalid_argument for too many parameters or values, a duplicate name, a
  // duplicate row, a value that is not among the given ones, a size that is not a multiple.
  static Result<Space> from_rows(Span<const std::string> names, Span<const ParameterKind> kinds,
                                 Span<const std::vector<std::int64_t>> values,
                                 Span<const std::int64_t> rows);

  std::size_t parameter_count() const;
  std::string_view parameter_name(std::size_t parameter) const;
  ParameterKind parameter_kind(std::size_t parameter) const;
  // In declared order, distinct.
  Span<const std::int64_t> parameter_values(std::size_t parameter) const;
  // The position of `value` among the parameter's values.
  std::optional<std::size_t> value_position(std::size_t parameter, std::int64_t value) const;
  // The parameter of that name.
  std::optional<std::size_t> parameter_index(std::string_view name) const;

  // The static constraints (those that read no dimension), as declared. None for rows.
  Span<const Expression> constraints() const;

  // Size of the Cartesian product; UINT64_MAX (and saturated) if it does not fit.
  std::uint64_t combinations() const;
  bool combinations_saturated() const;

  SpaceBacking backing() const;
  bool indexed() const { return backing() != SpaceBacking::constraints; }
  // Number of valid configurations; 0 also if it is not known (not indexed()).
  std::uint64_t valid_count() const;
  // Counts by enumeration where the number is not known. nullopt if there are more than `limit`.
  std::optional<std::uint64_t> count_valid(std::uint64_t limit) const;

  // The configuration of that number; empty if `index` >= valid_count(). O(parameters x log
  // values).
  Configuration at(std::uint64_t index) const;
  // Its number; nullopt if it is not valid (or not indexed()).
  std::optional<std::uint64_t> index_of(const Configuration& configuration) const;
  bool contains(const Configuration& configuration) const;

  // A valid configuration, uniformly distributed; empty if none is found. Without an index: values
  // are drawn parameter by parameter and a draw is abandoned at the first violated constraint,
  // which is uniform too; after kSampleAttempts abandoned draws the next valid configuration after
  // a random point is taken (valid, no longer uniform), looking at no more than kSampleWalk partial
  // ones.
  Configuration sample(Random& random) const;
  static constexpr std::uint32_t kSampleAttempts = 20000;
  static constexpr std::uint32_t kSampleWalk = 2000000;

  // Walks the valid configurations in order, without a look-up per configuration. The cursor refers
  // to the space's contents and keeps them alive; one thread per cursor.
  class Cursor {
   public:
    // The next configuration into `out`; false at the end.
    bool next(Configuration& out);

   private:
    friend class Space;
    void begin_at(std::uint64_t first);
    bool next_path();
    bool next_valid();
    std::shared_ptr<const space::Data> data_;
    // Per level:
    std::uint16_t position_[kMaxParameters] = {};        // value position
    std::uint32_t edge_[kMaxParameters] = {};            // diagram: current edge
    std::uint32_t node_[kMaxParameters] = {};            // diagram: current node
    std::uint32_t first_of_level_[kMaxParameters] = {};  // diagram: first node of the next level
    std::uint64_t row_ = 0;
    bool started_ = false;
    bool done_ = true;
  };
  // Starts at configuration `first` (numbers beyond the end: an exhausted cursor; without an index
  // only 0 is a place to start quickly, others are walked to).
  Cursor cursor(std::uint64_t first = 0) const;

  // Identity of the space: names, values and constraints (rows: names, values and rows). The same
  // on every architecture. Kinds do not count.
  std::uint64_t digest() const;
  // Stable identity of a configuration: parameter names and values, nothing else; the same for the
  // same named values in any space with these parameters in this order.
  std::uint64_t key(const Configuration& configuration) const;

  // For the package reader and the builder.
  explicit Space(std::shared_ptr<const space::Data> data) : data_(std::move(data)) {}
  const space::Data& data() const { return *data_; }

 private:
  std::shared_ptr<const space::Data> data_;
};

// "MWG=64 NWG=32 ..." for people.
std::string to_text(const Space& space, const Configuration& configuration);

}  // namespace idletune
