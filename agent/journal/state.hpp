// What a replayed journal knows. Changed by records alone, so that the state after a replay is the
// state before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "agent/journal/codec.hpp"
#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "models/core/visitor.hpp"

namespace idletune::journal {

// How much is remembered. Bytes are those of encoded records; in memory each costs about 100 more.
struct StateLimits {
  std::uint64_t measurement_bytes = 1u << 20;
  std::uint64_t adoption_bytes = 512u << 10;
  std::uint64_t quarantine_bytes = 512u << 10;
  std::uint64_t suspect_bytes = 128u << 10;
  std::uint64_t statistics_bytes = 256u << 10;
  std::uint64_t name_bytes = 128u << 10;
  std::uint64_t unknown_bytes = 64u << 10;
  std::uint32_t measurements_per_shape = 4096;
  std::uint32_t open_trials = 64;
  // The shares of a file of at most `max_file_bytes` (two thirds of it in all).
  static StateLimits of_file(std::uint64_t max_file_bytes, std::uint32_t measurements_per_shape);
};

// Records by key, with their age and their size; the building block of State.
class Table {
 public:
  struct Entry {
    Payload payload;
    std::uint8_t version = 0;  // of the record
    std::uint64_t serial = 0;  // counts up: smaller is older
    std::uint64_t rank = 0;    // of measurements and statistics: larger is worth less
  };
  using Map = std::map<TrialKey, Entry>;
  void put(const TrialKey& key, Entry entry);  // replaces
  bool erase(const TrialKey& key);
  Map::iterator erase(Map::iterator entry);
  const Payload* find(const TrialKey& key) const;
  Map& entries() { return entries_; }
  const Map& entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }  // as records
  // Entries from the oldest to the newest.
  std::vector<const Entry*> by_age() const;

 private:
  Map entries_;
  std::uint64_t bytes_ = 0;
};

enum class Replayed : std::uint8_t { understood, unknown_type, malformed };

// One thread at a time; const functions may run concurrently with each other. Visitors must not
// change the state. Values handed to visitors live until the visitor returns.
class State {
 public:
  explicit State(const StateLimits& limits = StateLimits()) : limits_(limits) {}

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

  // --- Danger. Shapes play no part: a configuration is dangerous under a driver or it is not.
  // --------
  bool is_quarantined(const TrialKey& key) const;
  bool is_suspect(const TrialKey& key) const;  // to be tried last and only in the helper program
  std::optional<Quarantine> quarantine(const TrialKey& key) const;
  std::optional<Suspect> suspect(const TrialKey& key) const;
  void for_each_quarantine(const Visitor<const Quarantine&>& visit) const;
  void for_each_suspect(const Visitor<const Suspect&>& visit) const;
  std::size_t quarantine_count() const { return quarantines_.entries().size(); }
  std::size_t suspect_count() const { return suspects_.entries().size(); }

  // Trials between intent and outcome, oldest first.
  struct OpenTrial {
    TrialKey key;
    Intent intent;
  };
  const std::vector<OpenTrial>& open_trials() const { return open_; }
  const OpenTrial* open_trial(const TrialKey& key) const;

  // --- Knowledge
  // -----------------------------------------------------------------------------------
  using MeasurementVisitor = Visitor<const Measurement&>;
  // Of exactly this kernel, device, driver and shape, ordered by the configuration's digest.
  void for_each_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const;
  // All there are.
  void for_each_measurement(const MeasurementVisitor& visit) const;
  // Hints: the same kernel, device and shape under other drivers. Never to be trusted unchecked.
  void for_each_stale_measurement(const ShapeKey& key, const MeasurementVisitor& visit) const;
  std::optional<Measurement> measurement(const TrialKey& key) const;
  // Of the key's configuration at every shape.
  void for_each_shape_of(const TrialKey& key, const MeasurementVisitor& visit) const;
  std::size_t measurement_count(const ShapeKey& key) const;
  std::size_t measurement_count() const { return measurements_.entries().size(); }

  std::optional<Adoption> adoption(const ShapeKey& key) const;
  // A hint: what was adopted for the same kernel, device and shape under another driver (the
  // newest).
  std::optional<Adoption> stale_adoption(const ShapeKey& key) const;
  void for_each_adoption(const Visitor<const Adoption&>& visit) const;
  std::size_t adoption_count() const { return adoptions_.entries().size(); }

  const Ledger& ledger() const { return ledger_; }
  std::optional<ShapeStatistics> shape_statistics(std::uint64_t kernel, const Shape& shape) const;
  std::size_t shape_statistics_count() const { return statistics_.entries().size(); }

  // What a digest stands for; nothing if that was never recorded.
  std::optional<Name> name(NameKind kind, std::uint64_t digest) const;

  const Session& session() const { return session_; }    // the newest; number 0: none yet
  bool ended_cleanly() const { return ended_cleanly_; }  // nothing was recorded after a shutdown
  std::size_t unknown_record_count() const { return unknown_.size(); }

 private:
  struct Group {
    std::uint32_t count = 0;
    std::uint64_t bytes = 0;
  };
  struct UnknownRecord {
    std::uint8_t type;
    std::uint8_t version;
    Payload payload;
  };
  bool apply_known(RecordType type, std::uint8_t version, Bytes payload);
  bool apply_to_trial(RecordType type, Bytes payload);
  bool apply_danger(RecordType type, std::uint8_t version, Bytes payload);
  bool apply_to_adoption(RecordType type, std::uint8_t version, Bytes payload);
  void apply_intent(const Intent& intent);
  void apply_measurement(const Measurement& measurement, std::uint8_t version, Bytes payload);
  void keep_unknown(std::uint8_t type, std::uint8_t version, Bytes payload);
  void close_trial(const TrialKey& key);
  void evict_oldest(Table& table, std::uint64_t limit_bytes);
  void evict_worst_ranked(Table& table, std::uint64_t limit_bytes);
  void trim_shape(const ShapeKey& key, std::uint32_t keep);
  void trim_measurements();
  void remove_measurement(Table::Map::iterator entry);

  StateLimits limits_;
  std::uint64_t next_serial_ = 1;
  Session session_;
  bool ended_cleanly_ = false;
  std::vector<OpenTrial> open_;
  Table quarantines_;
  Table suspects_;
  Table measurements_;
  std::map<ShapeKey, Group> groups_;
  Table adoptions_;
  Ledger ledger_;
  bool has_ledger_ = false;
  Table statistics_;
  Table names_;
  std::vector<UnknownRecord> unknown_;
  std::uint64_t unknown_bytes_ = 0;
};

}  // namespace idletune::journal
