// What a journal remembers, as plain values, each with the type of its records. Bytes: README.md;
// functions: journal.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>

#include "agent/journal/record.hpp"

namespace idletune::journal {

// A kernel at a shape on a device under a driver. `kernel` is the digest of source and space,
// `device` and `driver` are DeviceInfo's keys, `shape` is digest_of(Shape). Where arguments were
// lent, `driver` is mixed with their digest: times on other data are another driver's.
struct ShapeKey {
  std::uint64_t kernel = 0;
  std::uint64_t device = 0;
  std::uint64_t driver = 0;
  std::uint64_t shape = 0;
};

// One configuration of it. `configuration` is digest_of(Configuration).
struct TrialKey {
  std::uint64_t kernel = 0;
  std::uint64_t device = 0;
  std::uint64_t driver = 0;
  std::uint64_t shape = 0;
  std::uint64_t configuration = 0;
  ShapeKey shape_key() const { return {kernel, device, driver, shape}; }
};

// By so many parts, in this order: kernel, device, shape, driver, configuration. So the entries of
// other drivers lie beside those of this one. Below 0: `a` comes first; 0: they are the same.
int compare(const TrialKey& a, const TrialKey& b, unsigned parts = 5);
inline bool operator==(const TrialKey& a, const TrialKey& b) { return compare(a, b) == 0; }
inline bool operator!=(const TrialKey& a, const TrialKey& b) { return compare(a, b) != 0; }
inline bool operator<(const TrialKey& a, const TrialKey& b) { return compare(a, b) < 0; }
// Where the trials at that shape begin.
inline TrialKey first_of(const ShapeKey& key) {
  return {key.kernel, key.device, key.driver, key.shape, 0};
}
bool operator==(const ShapeKey& a, const ShapeKey& b);
bool operator<(const ShapeKey& a, const ShapeKey& b);
inline bool operator!=(const ShapeKey& a, const ShapeKey& b) { return !(a == b); }

// Who, where, and with which values: the identity of a trial, digests computed in one place.
struct Trial {
  std::uint64_t kernel = 0;
  std::uint64_t device = 0;
  std::uint64_t driver = 0;  // the plain one
  Shape shape;
  Configuration configuration;
  std::uint64_t data = 0;      // digest of the arguments that were lent; 0: made-up ones
  ShapeKey shape_key() const;  // of what was measured on these data
  TrialKey key() const;
  TrialKey plain_key() const;  // of danger, which is the driver's, whatever the data
  std::uint64_t subject() const { return kernel ^ device ^ driver; }
  // Of the subject, by configuration; for what outlives a process.
  std::uint64_t who() const { return who(configuration); }
  std::uint64_t who(const Configuration& other) const;
};

// Where a configuration runs. Stored; the numbers never change.
enum class Where : std::uint8_t {
  helper = 0,   // a stage in the helper program
  here = 1,     // a build, a warm-up or a stage in the application's process
  launches = 2  // launches of the application
};
inline constexpr std::uint8_t kWhereCount = 3;

// The first stage whose danger an intent announces. Stored; the numbers never change.
enum class IntentStage : std::uint8_t { compile = 0, run = 1 };

struct Session {
  static constexpr RecordType kType = RecordType::session;
  std::uint64_t boot = 0;
  std::uint64_t number = 0;  // counts up from 1
};

// Written and synced before a configuration's first compile and before its first run.
struct Intent {
  static constexpr RecordType kType = RecordType::intent;
  Trial trial;
  IntentStage stage = IntentStage::compile;
  bool isolated = true;  // happens in the helper program (true) or in the application's process
};

// Written and synced before a build or a warm-up in the application's process (here), and before
// the first launch of a racer or of what was adopted in this session (launches).
struct Exposure {
  static constexpr RecordType kType = RecordType::exposure;
  Trial trial;
  Where place = Where::here;
  std::uint64_t session = 0;  // of another session it says nothing: older versions keep it unread
};

// How something of a trial ended that had been announced: parked or closed.
struct Ended {
  static constexpr RecordType kType = RecordType::closed;  // or parked
  TrialKey key;
  bool told = false;  // `place` is known; older versions did not tell
  Where place = Where::helper;
  std::uint64_t data = 0;
};

// Why a configuration is not tried again. Stored; the numbers never change.
enum class QuarantineReason : std::uint8_t {
  crash = 0,             // took its helper process down
  hang = 1,              // outlived its deadline
  in_process_death = 2,  // the application's process died while it ran in it
  repeated_death = 3,    // two ambiguous deaths
  wrong_output = 4,      // differs from the reference in a way that marks a broken compiler
  user = 5               // said so by the application or a quirk table
};
const char* quarantine_reason_name(QuarantineReason reason);  // "crash", ...; never null

struct Quarantine {
  static constexpr RecordType kType = RecordType::quarantine;
  Trial trial;  // shape and configuration may be empty if only digests were known
  TrialKey key;
  QuarantineReason reason = QuarantineReason::crash;
  std::string detail;              // one line, at most kMaxDetailBytes; cut on writing
  std::uint64_t acquitted_by = 0;  // under this driver it came to an outcome; 0: under none
};
inline constexpr std::size_t kMaxDetailBytes = 200;

// What happened while a suspect was under way. Stored; the numbers never change.
enum class SuspicionCause : std::uint8_t {
  unknown = 0,          // recorded by a version that did not tell, or will tell more
  crash = 1,            // its helper crashed, seen: confirmed once the reference has run after it
  hang = 2,             // its helper hung, likewise
  helper_killed = 3,    // by somebody else
  helper_vanished = 4,  // nobody knows how
  machine_cut = 5,      // power, or a reboot
  application_died = 6,
  device_lost = 7,  // a crash or a hang after which the reference failed too
  other_driver = 8  // quarantined under another driver; never stored
};
inline constexpr std::uint8_t kSuspicionCauseCount = 9;
const char* suspicion_cause_name(SuspicionCause cause);  // "helper_killed", ...; never null

// A configuration that was under way when the board or a process died, and nobody knows of what.
struct Suspect {
  static constexpr RecordType kType = RecordType::suspect;
  // Where it was under way; of the shape its digest.
  struct Place {
    std::uint64_t shape = 0;
    Where place = Where::helper;
  };
  Trial trial;  // at one of the shapes
  TrialKey key;
  std::uint32_t deaths = 0;
  std::uint64_t session = 0;  // of the death; 0: unknown
  SuspicionCause cause = SuspicionCause::unknown;
  bool retried = false;   // announced since: one more death is another one
  bool survived = false;  // came to an outcome in a trial since, at whatever shape
  std::vector<Place> at;  // not acquitted yet
  std::string detail;     // one line, at most kMaxDetailBytes; cut on writing
  bool crash_seen() const {
    return cause == SuspicionCause::crash || cause == SuspicionCause::hang;
  }
  // The reference has not told yet. Of another session nobody will know: a suspicion like any.
  bool crash_seen_in(std::uint64_t now) const { return crash_seen() && session == now; }
};
inline constexpr std::size_t kMaxDeathPlaces = 128;  // per suspect; the rest is not kept

// A check found its output to be wrong: never there again.
struct Wrong {
  static constexpr RecordType kType = RecordType::wrong;
  Trial trial;
  std::uint64_t class_key = 0;  // of its shapes (agent/tuning); 0: unknown
};

// How a configuration came to be tried. Stored; the numbers never change.
enum class Origin : std::uint8_t {
  unknown = 0,  // recorded by a version that did not tell, or will tell more
  first_pick = 1,
  portfolio = 2,
  random = 3,  // drawn uniformly from the space
  learned = 4,
  application = 5  // runs without tuning, or the application chose it
};
inline constexpr std::uint8_t kOriginCount = 6;

// One measured configuration. Times are device time. All times 0 unless `status` is correct.
struct Measurement {
  static constexpr RecordType kType = RecordType::measurement;
  Trial trial;
  TrialStatus status = TrialStatus::correct;
  std::chrono::nanoseconds median{0};
  std::chrono::nanoseconds minimum{0};
  std::uint32_t samples = 0;
  std::chrono::nanoseconds compile{0};  // 0: not known (cached)
  std::uint32_t checked_seeds = 0;      // input seeds under which its output was right
  std::int64_t unix_seconds = 0;        // wall clock when measured; 0: the board has none
  Origin origin = Origin::unknown;
  std::chrono::nanoseconds setup{0};  // what it prepares once; 0: nothing
  // The default's time beside it, alternating: the ratio outlives changes of clock. 0: unknown.
  std::chrono::nanoseconds default_time{0};
  Where place = Where::helper;  // that ran it
};

// The configuration in use for a shape.
struct Adoption {
  static constexpr RecordType kType = RecordType::adoption;
  Trial trial;
  std::chrono::nanoseconds expected{0};  // its device time when adopted
  std::chrono::nanoseconds default_time{
      0};  // the default's, measured alternating with it; 0: unknown
  std::uint32_t checked_seeds = 0;
};

// Why a shape went back to its default. Stored; the numbers never change.
enum class DemotionReason : std::uint8_t {
  unknown = 0,  // recorded by a version that did not tell, or will tell more
  refused = 1,  // by the driver, where the default went through
  failed = 2,   // a recheck, otherwise than by being slow
  slower_in_trials = 3,
  slower_in_launches = 4
};
inline constexpr std::uint8_t kDemotionReasonCount = 5;

// A configuration that was in use for a shape and is not any more.
struct Demotion {
  static constexpr RecordType kType = RecordType::demotion;
  ShapeKey key;
  Configuration configuration;  // empty: older versions did not tell
  DemotionReason why = DemotionReason::unknown;
  std::uint32_t ratio_millionths = 0;  // its time over the default's beside it; 0: unknown
  std::uint32_t losses = 0;            // so often it lost here, this time included
  std::uint64_t launches = 0;          // of the shape until then (ShapeStatistics)
};

// What a digest stands for, so that a journal can be read away from its board. Stored; the numbers
// never change.
enum class NameKind : std::uint8_t { device = 1, driver = 2, kernel = 3, note = 4 };

struct Name {
  static constexpr RecordType kType = RecordType::name;
  NameKind kind = NameKind::device;
  std::uint64_t digest = 0;
  // Lines without a newline at the end. device: backend, platform, name, vendor, compute units;
  // driver: its version; kernel: name, number of valid configurations, dimensions, parameters (the
  // last two separated by spaces) and, where there are any, features (separated by semicolons;
  // those that are computed with "=" and how); note: what a library noted under a digest of its own.
  std::string text;
};
inline constexpr std::size_t kMaxNameBytes = 3000;  // of the text; longer ones are not kept

// The account of the 2 % promise (agent/scheduler/README.md), summed over all sessions of this
// journal.
struct Ledger {
  static constexpr RecordType kType = RecordType::ledger;
  std::chrono::nanoseconds charged{0};      // tuning time charged to the application
  std::chrono::nanoseconds kernel_time{0};  // device time of the application's own launches
  std::chrono::nanoseconds savings{0};      // lower bound of what adopted configurations saved
  // Stages of which experience had told the 90th percentile, and those of them that it held; both
  // halved now and then, so that the last some thousand count.
  std::uint64_t forecasts = 0;
  std::uint64_t held = 0;
};
bool operator==(const Ledger& a, const Ledger& b);

// How often a shape is launched, for estimating the launches still to come. Cumulative.
struct ShapeStatistics {
  static constexpr RecordType kType = RecordType::shape_statistics;
  std::uint64_t kernel = 0;  // its digest ^ its device's key; before 0.3 the digest alone
  Shape shape;
  std::uint64_t launches = 0;
  std::uint64_t active_seconds = 0;  // written until 0.2, as is the next one
  std::uint32_t sessions = 0;
};

}  // namespace idletune::journal
