// What a replayed journal knows of what may not run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "agent/journal/entries.hpp"
#include "agent/journal/record.hpp"
#include "agent/journal/table.hpp"
#include "models/core/visitor.hpp"

namespace idletune::journal {

// Owns quarantines, suspects, failed checks, and what is between announcement and outcome. Part of
// a State; threads and visitors as there.
class Dangers {
 public:
  // Bytes are those of encoded records.
  struct Limits {
    std::uint64_t quarantine_bytes = 512u << 10;
    std::uint64_t suspect_bytes = 128u << 10;
    std::uint64_t wrong_bytes = 256u << 10;
    std::uint32_t open_trials = 64;  // and as many exposures
  };
  explicit Dangers(const Limits& limits) : limits_(limits) {}

  // --- Looked up under the plain driver: neither the shape nor the data play a part. ---
  bool is_quarantined(const TrialKey& plain) const;
  bool is_quarantined(const Trial& trial) const { return is_quarantined(trial.plain_key()); }
  // To be tried last and only in the helper program. What is quarantined under another driver and
  // came to no outcome under this one is a suspect too.
  bool is_suspect(const TrialKey& plain) const { return suspect(plain).has_value(); }
  bool is_suspect(const Trial& trial) const { return is_suspect(trial.plain_key()); }
  std::optional<Quarantine> quarantine(const TrialKey& plain) const;
  std::optional<Suspect> suspect(const TrialKey& plain) const;
  std::optional<Suspect> suspect(const Trial& trial) const { return suspect(trial.plain_key()); }
  void for_each_quarantine(const Visitor<const Quarantine&>& visit) const;
  // Those on record, without those of other drivers' quarantines.
  void for_each_suspect(const Visitor<const Suspect&>& visit) const;
  // All of the trial's kernel, device and driver whose configuration is known.
  void for_each_suspect_of(const Trial& trial, const Visitor<const Suspect&>& visit) const;
  std::size_t quarantine_count() const { return quarantines_.entries().size(); }
  std::size_t suspect_count() const { return suspects_.entries().size(); }

  // A check failed at this shape, whatever the data. Never forgotten for want of room elsewhere.
  bool is_wrong(const Trial& trial) const;
  void for_each_wrong(std::uint64_t kernel, std::uint64_t device, std::uint64_t driver,
                      const Visitor<const Wrong&>& visit) const;
  // Little room is left for dangers of this board, and none of them is forgotten: what is not the
  // default should not be tried any more.
  bool full() const;

  // What is between announcement and outcome, oldest first: trials (intents), and exposures.
  struct OpenTrial {
    TrialKey key;
    Trial trial;
    Where place;
    IntentStage stage;
    bool exposed;  // an exposure; `stage` tells nothing then
  };
  const std::list<OpenTrial>& open_trials() const { return open_; }
  bool has_room_for(std::size_t count, bool exposed) const;
  const OpenTrial* open_trial(const TrialKey& key) const;  // no exposure
  bool is_exposed(const TrialKey& key, Where place) const;
  // At least two sessions ended while a helper had it in its hands (Trial::who()), of the last
  // sixteen until a compaction.
  bool is_unfinished(std::uint64_t who) const;

  // --- Taking over records; false: malformed. `names`: the state's. ---
  bool apply_to_trial(RecordType type, Bytes payload, std::uint64_t session, const Table& names);
  bool apply(RecordType type, std::uint8_t version, Bytes payload, const Table& names);
  void apply_wrong(const Wrong& wrong, std::uint8_t version, Bytes payload, const Table& names);
  // Nothing is open any more: the session has ended.
  void close_all();
  // Hands out the tables, with the types of their records.
  template <class Visit>
  void for_each_table(const Visit& visit) const {
    visit(RecordType::quarantine, quarantines_);
    visit(RecordType::suspect, suspects_);
    visit(RecordType::wrong, wrongs_);
  }

 private:
  void open(const OpenTrial& trial);
  template <class Closed>
  void close(const Closed& closed);
  void retried(const TrialKey& plain);
  void acquit(const Ended& ended, const Table& names);
  void accuse(RecordType type, const void* accused, TrialKey& key, Trial& trial,
              std::uint8_t version, Bytes payload, const Table& names);

  Limits limits_;
  std::list<OpenTrial> open_;
  std::array<std::uint64_t, 16> unfinished_{};  // Trial::who(); the oldest is overwritten
  std::uint32_t unfinished_count_ = 0;
  Table quarantines_;  // these two by danger_key()
  Table suspects_;
  Table wrongs_;  // by Trial::plain_key()
};

// Older versions took lent data for another driver, and named it so.
void split_driver(Trial& trial, const Table& names);

}  // namespace idletune::journal
