#include "agent/api/agent_models.hpp"

#include <algorithm>
#include <utility>

#include "agent/api/agent_state.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

const char* model_state_name(ModelState state) {
  static constexpr char kNames[][10] = {"none", "confirmed", "trial"};
  return kNames[static_cast<std::size_t>(state)];
}

namespace detail {
namespace {

// The model that ships with the kernels: beside the program, or where idletune was installed; empty
// if it is in neither place.
std::string shipped_model() {
  const Result<std::string> own = self_executable_folder();
  std::string path = own.ok() ? joined("%/idletune.itmodel", *own) : std::string();
  if (path.empty() || file_stamp(path) == 0) path = IDLETUNE_INSTALLED_DATA "/idletune.itmodel";
  return file_stamp(path) != 0 ? path : std::string();
}

}  // namespace

AgentModels::AgentModels(AgentOptions& options, const MonotonicClock& clock, AgentState& agent)
    : options_(options), clock_(clock), agent_(agent) {
  if (options.slots != nullptr) kept_ = options.slots->make(options.trust, clock, agent);
}

Status AgentModels::off(const char* what) const {
  if (options_.mode != Mode::off) return {};
  return Status(StatusCode::unsupported, "%: the mode is 'off'", what);
}

void AgentModels::open() {
  if (options_.mode == Mode::off) return;
  const MutexLock lock(mutex_);
  std::string& path = options_.model;
  if (path.empty()) path = shipped_model();
  if (path == kNoModel) path.clear();
  Result<ModelPointer> own = ModelPointer();
  if (!path.empty()) {
    stamp_ = file_stamp(path);
    own = read_model(path, options_.trust);
  }
  Status status = own.status();
  ModelPointer model = own.ok() ? *own : ModelPointer();
  if (kept_ == nullptr) {
    used_ = std::move(model);
  } else if (Status kept = kept_->open(path, model); !kept.ok()) {
    status = kept;
  }
  read_last_ = status;
  take_pushed();
}

void AgentModels::take_pushed() {
  Status status = read_last_;
  if (kept_ != nullptr) {
    if (Status pushed = kept_->look(); !pushed.ok()) status = pushed;
  }
  tell_agent(status);
}

void AgentModels::tell_agent(const Status& status) {
  ModelStanding standing;
  std::int64_t next = INT64_MAX;
  if (kept_ != nullptr) {
    standing = kept_->standing();
    used_ = kept_->newest();
    next = kept_->due().count();
  } else {
    if (used_ != nullptr) standing.state = ModelState::confirmed;
    standing.gone_back = gone_back_;
  }
  const std::int64_t interval = options_.model_check_interval.count();
  if (interval > 0) next = std::min(next, looked_at_.count() + interval);
  next_look_.store(next, std::memory_order_relaxed);
  agent_.use_model(used_, standing, status);
}

Status AgentModels::receive(const std::string& path) {
  if (path == options_.model) stamp_ = file_stamp(path);
  return read_last_ = kept_ != nullptr ? kept_->receive(path) : replace(path);
}

Status AgentModels::replace(const std::string& path) {
  Result<ModelPointer> next = read_model(path, options_.trust);
  if (!next.ok()) return next.status();
  if (used_ != nullptr) {
    if ((*next)->content_digest() == used_->content_digest()) return {};
    if ((*next)->generation() < used_->generation()) {
      return Status(StatusCode::version_mismatch,
                    "model '%': generation %, expected at least %, which is in use", path,
                    (*next)->generation(), used_->generation());
    }
  }
  before_ = std::exchange(used_, std::move(*next));
  return {};
}

Status AgentModels::reload(const std::string& given) {
  if (Status status = off("reload_model"); !status.ok()) return status;
  const std::string path = given.empty() ? options_.model : absolute_path(given);
  if (path.empty()) return Status(StatusCode::invalid_argument, "reload_model: no path");
  const MutexLock lock(mutex_);
  Status status = receive(path);
  tell_agent(status);
  return status;
}

Status AgentModels::confirm() {
  if (Status status = off("confirm_model"); !status.ok()) return status;
  const MutexLock lock(mutex_);
  if (kept_ == nullptr) return Status(StatusCode::not_found, "confirm_model: no model is on trial");
  Status status = kept_->confirm();
  if (status.ok()) tell_agent(status);
  return status;
}

Status AgentModels::reject(const std::string& why) {
  if (Status status = off("reject_model"); !status.ok()) return status;
  const MutexLock lock(mutex_);
  Status status;
  if (kept_ != nullptr) {
    status = kept_->reject(why);
  } else if (before_ != nullptr) {
    used_ = std::exchange(before_, nullptr);
    gone_back_ = Status(StatusCode::untrusted, why);
  } else {
    status = Status(StatusCode::not_found, "reject_model: there is no model before this one");
  }
  if (status.code() != StatusCode::not_found) tell_agent(status);  // it went back, kept or not
  return status;
}

void AgentModels::end() {
  const MutexLock lock(mutex_);
  if (kept_ != nullptr) kept_->end();
}

Nanoseconds AgentModels::look() {
  std::int64_t next = next_look_.load(std::memory_order_relaxed);
  if (next == INT64_MAX) return Nanoseconds{0};
  const Nanoseconds now = clock_.now();
  // While another thread tunes, whatever follows would have to wait for it.
  if (now.count() < next || agent_.tunes() ||
      !next_look_.compare_exchange_strong(next, INT64_MAX, std::memory_order_relaxed)) {
    return Nanoseconds{0};
  }
  const MutexLock lock(mutex_);
  looked_at_ = now;
  const std::uint64_t stamp = file_stamp(options_.model);
  if (stamp != stamp_ && stamp != 0) (void)receive(options_.model);
  take_pushed();
  return clock_.now() - now;
}

}  // namespace detail
}  // namespace idletune
