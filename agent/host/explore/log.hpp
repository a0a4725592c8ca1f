// The progress of an exploration on the disk: what was measured survives a kill or a power cut at
// any moment. README.md has the bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include <idletune/result.hpp>

#include "agent/host/explore/results.hpp"
#include "platform/os/storage.hpp"

namespace idletune::explore {

inline constexpr char kLogName[] = "results";
// What a list's identity says of its run times ("median"). A log that was begun before identities
// said so has the smallest ones, and goes on with them.
inline constexpr char kEstimator[] = "estimator";

// What all results of one log have in common: kernel, device, driver, shape, settings. A flat JSON
// object; two are the same exploration iff they are equal.
using Identity = nlohmann::json;

// Used by one thread. Appending fails only if the storage does.
class Log {
 public:
  // Opens or creates the log in `storage` (owned), which it locks. A torn tail is cut off. Errors:
  // busy (another process is at it), invalid_argument (the log is another exploration's: the
  // message names what differs), corrupt, version_mismatch, and those of Storage.
  static Result<std::unique_ptr<Log>> open(std::unique_ptr<Storage> storage,
                                           const Identity& identity);

  const Identity& identity() const { return identity_; }  // the log's own
  const std::vector<ExploredConfiguration>& results() const { return results_; }
  const std::vector<ControlMeasurement>& controls() const { return controls_; }

  // With the process dead right after, it is read back. A power cut may take what was not synced.
  Status append(const ExploredConfiguration& result);
  Status append(const ControlMeasurement& control);
  Status sync();
  // sync(), where the last such call is some seconds ago.
  Status sync_if_due();

 private:
  using Clock = std::chrono::steady_clock;
  explicit Log(std::unique_ptr<Storage> storage);
  Status create(const Identity& identity);
  Status load(Bytes file, const Identity& identity);
  Status take(std::uint8_t type, Bytes payload, const Identity& identity);
  Status append_record(std::uint8_t type, const nlohmann::json& value);

  std::unique_ptr<Storage> storage_;
  std::unique_ptr<AppendFile> file_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t generation_ = 0;
  Identity identity_;
  Clock::time_point next_sync_;
  std::vector<ExploredConfiguration> results_;
  std::vector<ControlMeasurement> controls_;
};

}  // namespace idletune::explore
