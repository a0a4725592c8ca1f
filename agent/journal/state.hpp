// What a replayed journal knows. Changed by records alone, so that the state after a replay is the
// state before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "agent/journal/codec.hpp"
#include "agent/journal/dangers.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "agent/journal/table.hpp"
#include "models/core/visitor.hpp"

namespace idletune::journal {

// How much is remembered. Bytes are those of encoded records; in memory each costs about 100 more.
struct StateLimits {
  std::uint64_t measurement_bytes = 1u << 20;
  std::uint64_t adoption_bytes = 512u << 10;
  std::uint64_t demotion_bytes = 128u << 10;
  std::uint64_t statistics_bytes = 256u << 10;
  std::uint64_t name_bytes = 128u << 10;
  std::uint64_t unknown_bytes = 64u << 10;
  std::uint32_t measurements_per_shape = 4096;
  Dangers::Limits dangers;
  // The shares of a file of at most `max_file_bytes` (three quarters of it in all).
  static StateLimits of_file(std::uint64_t max_file_bytes, std::uint32_t measurements_per_shape);
};

enum class Replayed : std::uint8_t { understood, unknown_type, malformed };

// One thread at a time; const functions may run concurrently with each other. Visitors must not
// change the state. Values handed to visitors live until the visitor returns.
class State {
 public:
  explicit State(const StateLimits& limits = StateLimits())
      : limits_(limits), dangers_(limits.dangers) {}

  // Takes over what a record says. Unknown types are kept verbatim (the newest unknown_bytes of
  // them).
  Replayed apply(std::uint8_t type, std::uint8_t version, Bytes payload);
  // Hands out the records that make up this state, in an order that `apply` turns into the same
  // state.
  using RecordSink = Visitor<std::uint8_t, std::uint8_t, Bytes>;  // type, version, payload
  void for_each_live_record(const RecordSink& sink) const;
  std::uint64_t live_bytes() const;  // of those records
  // The same for equal states, whatever way led there.
  std::uint64_t digest() const;

  const Dangers& dangers() const { return dangers_; }

  // --- Knowledge ---
  using MeasurementVisitor = Visitor<const Measurement&>;
  // Of exactly this kernel, device, driver and shape, ordered by the configuration's digest.
  void for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const;
  // All there are.
  void for_each_measurement(const MeasurementVisitor& visit) const;
  std::optional<Measurement> measurement(const TrialKey& key) const;
  // What one says today: its time by the clock by which the default takes `untuned`, since another
  // session may have had another one; 0: it failed. Nothing: of a death for which the
  // configuration was not blamed in the end.
  std::optional<std::chrono::nanoseconds> time_of(const Measurement& measurement,
                                                  std::chrono::nanoseconds untuned) const;
  // Of the key's configuration at every shape.
  void for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const;
  std::size_t measurement_count(const ShapeKey& key) const;
  std::size_t measurement_count() const { return measurements_.entries().size(); }
  // How many were applied, forgotten and replaced ones included.
  std::uint64_t measurements_applied() const { return applied_; }

  std::optional<Adoption> adoption(const ShapeKey& key) const;
  // A hint: what was adopted for the same kernel, device and shape under another driver (the
  // newest).
  std::optional<Adoption> stale_adoption(const ShapeKey& key) const;
  void for_each_adoption(const Visitor<const Adoption&>& visit) const;
  std::size_t adoption_count() const { return adoptions_.entries().size(); }

  bool was_demoted(const TrialKey& key) const { return demotions_.find(key) != nullptr; }
  // How configurations lost the shape the last time.
  void for_each_demotion(const ShapeKey& key, const Visitor<const Demotion&>& visit) const;

  const Ledger& ledger() const { return ledger_; }
  std::optional<ShapeStatistics> shape_statistics(std::uint64_t kernel, const Shape& shape) const;

  // What a digest stands for; nothing if that was never recorded.
  std::optional<Name> name(NameKind kind, std::uint64_t digest) const;

  // Which models are kept (agent/slots knows what it says); empty: nobody has said.
  Bytes models() const { return models_; }

  const Session& session() const { return session_; }    // the newest; number 0: none yet
  bool ended_cleanly() const { return ended_cleanly_; }  // nothing was recorded after a shutdown

 private:
  struct Group {
    std::uint32_t count = 0;
    std::uint64_t bytes = 0;
  };
  bool apply_known(RecordType type, std::uint8_t version, Bytes payload);
  bool apply_to_adoption(RecordType type, std::uint8_t version, Bytes payload);
  void apply_measurement(const Measurement& measurement, std::uint8_t version, Bytes payload);
  void keep_unknown(std::uint8_t type, std::uint8_t version, Bytes payload);

  void trim_shape(const ShapeKey& key, std::uint32_t keep);
  void trim_measurements();
  void remove_measurement(const TrialKey& key);

  StateLimits limits_;
  Session session_;
  bool ended_cleanly_ = false;
  Dangers dangers_;
  Table measurements_;
  std::uint64_t applied_ = 0;
  std::map<ShapeKey, Group> groups_;
  Table adoptions_;
  Table demotions_;  // by Trial::key()
  Ledger ledger_;
  bool has_ledger_ = false;
  Table statistics_;
  Table names_;
  Payload models_;
  LogRecords unknown_;
  std::uint64_t unknown_bytes_ = 0;
};

}  // namespace idletune::journal
