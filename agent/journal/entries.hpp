// What a journal remembers, as plain values. Bytes: README.md; functions: journal.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <idletune/configuration.hpp>

namespace idletune::journal {

// A kernel at a shape on a device under a driver. `kernel` is the digest of source and space,
// `device` and `driver` are DeviceInfo's keys, `shape` is digest_of(Shape).
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

bool operator==(const ShapeKey& a, const ShapeKey& b);
bool operator==(const TrialKey& a, const TrialKey& b);
bool operator<(const ShapeKey& a, const ShapeKey& b);
bool operator<(const TrialKey& a, const TrialKey& b);
inline bool operator!=(const ShapeKey& a, const ShapeKey& b) { return !(a == b); }
inline bool operator!=(const TrialKey& a, const TrialKey& b) { return !(a == b); }

// Who, where, and with which values: the identity of a trial, digests computed in one place.
struct Trial {
  std::uint64_t kernel = 0;
  std::uint64_t device = 0;
  std::uint64_t driver = 0;
  Shape shape;
  Configuration configuration;
  ShapeKey shape_key() const;
  TrialKey key() const;
};

// The first stage whose danger an intent announces. Stored; the numbers never change.
enum class IntentStage : std::uint8_t { compile = 0, run = 1 };

// Written and synced before a configuration's first compile and before its first run.
struct Intent {
  Trial trial;
  IntentStage stage = IntentStage::compile;
  bool isolated = true;  // happens in the helper program (true) or in the application's process
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
  Trial trial;  // shape and configuration may be empty if only digests were known
  TrialKey key;
  QuarantineReason reason = QuarantineReason::crash;
  std::string detail;  // one line, at most kMaxDetailBytes; cut on writing
};
inline constexpr std::size_t kMaxDetailBytes = 200;

// A configuration that was being tried when the board or the process died for a reason unknown.
struct Suspect {
  Trial trial;
  TrialKey key;
  std::uint32_t deaths = 0;
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
};

// The configuration in use for a shape.
struct Adoption {
  Trial trial;
  std::chrono::nanoseconds expected{0};  // its device time when adopted
  std::chrono::nanoseconds default_time{
      0};  // the default's, measured alternating with it; 0: unknown
  std::uint32_t checked_seeds = 0;
};

// What a digest stands for, so that a journal can be read away from its board. Stored; the numbers
// never change.
enum class NameKind : std::uint8_t { device = 1, driver = 2, kernel = 3 };

struct Name {
  NameKind kind = NameKind::device;
  std::uint64_t digest = 0;
  // Lines without a newline at the end. device: backend, platform, name, vendor, compute units;
  // driver: its version; kernel: name, number of valid configurations, dimensions, parameters (the
  // last two separated by spaces) and, where there are any, features (separated by semicolons;
  // those that are computed with "=" and how).
  std::string text;
};
inline constexpr std::size_t kMaxNameBytes = 3000;  // of the text; longer ones are not kept

// The account of the 2 % promise (agent/scheduler/README.md), summed over all sessions of this
// journal.
struct Ledger {
  std::chrono::nanoseconds charged{0};      // tuning time charged to the application
  std::chrono::nanoseconds kernel_time{0};  // device time of the application's own launches
  std::chrono::nanoseconds savings{0};      // lower bound of what adopted configurations saved
};
bool operator==(const Ledger& a, const Ledger& b);

// How often a shape is launched, for estimating the launches still to come. Cumulative.
struct ShapeStatistics {
  std::uint64_t kernel = 0;
  Shape shape;
  std::uint64_t launches = 0;
  std::uint64_t active_seconds = 0;  // time during which the application was launching it
  std::uint32_t sessions = 0;        // in how many sessions it was seen
};

}  // namespace idletune::journal
