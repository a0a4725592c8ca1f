// The models of a running agent: when they come and go, and whoever asks for that.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <idletune/device.hpp>
#include <idletune/options.hpp>
#include <idletune/result.hpp>
#include <idletune/slots.hpp>

#include "agent/api/model_file.hpp"
#include "platform/os/clock.hpp"
#include "platform/os/mutex.hpp"

namespace idletune {
namespace detail {

class AgentState;

// What tries models and keeps them across restarts; a program contains none unless it names one. One
// thread at a time, which has no lock of the agent's.
class KeptModels {
 public:
  virtual ~KeptModels() = default;
  // Before anything else, and then it looks. `own`: the program's model; null: there is none, or it cannot be read.
  virtual Status open(const std::string& own_path, const ModelPointer& own) = 0;
  virtual const ModelPointer& newest() const = 0;
  virtual ModelStanding standing() const = 0;
  virtual Status receive(const std::string& path) = 0;
  virtual Status confirm() = 0;
  virtual Status reject(const std::string& why) = 0;
  // Takes what was pushed since it looked last. Errors: of what was found and refused.
  virtual Status look() = 0;
  // Of the clock: when it wants to look, at the latest.
  virtual Nanoseconds due() const = 0;
  // The agent ends as it should.
  virtual void end() = 0;
};

// Any thread, but none that has a lock of the agent's. Without KeptModels there is one model from one
// file; what is pushed meanwhile, and going back, are of this process alone.
class AgentModels {
 public:
  // All of them outlive it. `options.model` becomes the path of the program's own model; empty:
  // there is none.
  AgentModels(AgentOptions& options, const MonotonicClock& clock, AgentState& agent);
  void open() IDLETUNE_EXCLUDES(mutex_);
  const FileTrust* trust() const { return options_.trust; }
  // As of Agent.
  Status reload(const std::string& path) IDLETUNE_EXCLUDES(mutex_);
  Status confirm() IDLETUNE_EXCLUDES(mutex_);
  Status reject(const std::string& why) IDLETUNE_EXCLUDES(mutex_);
  // Between two steps of tuning: takes over what was pushed, now and then; returns how long that
  // took.
  Nanoseconds look() IDLETUNE_EXCLUDES(mutex_);
  // The agent ends as it should.
  void end() IDLETUNE_EXCLUDES(mutex_);

 private:
  Status off(const char* what) const;
  Status receive(const std::string& path) IDLETUNE_REQUIRES(mutex_);
  Status replace(const std::string& path) IDLETUNE_REQUIRES(mutex_);
  void take_pushed() IDLETUNE_REQUIRES(mutex_);
  void tell_agent(const Status& status) IDLETUNE_REQUIRES(mutex_);

  AgentOptions& options_;
  const MonotonicClock& clock_;
  AgentState& agent_;
  Mutex mutex_;                                                      // before the agent's
  std::unique_ptr<KeptModels> kept_ IDLETUNE_PT_GUARDED_BY(mutex_);  // null: nothing is kept
  ModelPointer used_ IDLETUNE_GUARDED_BY(mutex_);
  ModelPointer before_ IDLETUNE_GUARDED_BY(mutex_);
  Status gone_back_ IDLETUNE_GUARDED_BY(mutex_);          // why; without slots
  Status read_last_ IDLETUNE_GUARDED_BY(mutex_);          // what was wrong with it
  std::uint64_t stamp_ IDLETUNE_GUARDED_BY(mutex_) = 0;   // of the own file when it was read last
  Nanoseconds looked_at_ IDLETUNE_GUARDED_BY(mutex_){0};  // of the clock
  std::atomic<std::int64_t> next_look_{INT64_MAX};        // likewise
};

}  // namespace detail

class ModelSlots {
 public:
  virtual ~ModelSlots() = default;
  virtual std::unique_ptr<detail::KeptModels> make(const FileTrust* trust,
                                                   const MonotonicClock& clock,
                                                   detail::AgentState& agent) const = 0;
};

}  // namespace idletune
