// A model that is pushed to a running agent.
#include "agent/src/agent_state.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {

Status AgentState::reload_model(const std::string& given) {
  if (options_.mode == Mode::off)
    return Status(StatusCode::unsupported, "reload_model: the mode is 'off'");
  const std::string path = given.empty() ? options_.model : absolute_path(given);
  if (path.empty()) return Status(StatusCode::invalid_argument, "reload_model: no path");
  const MutexLock reload(reload_mutex_);
  Status status = models_.reload(path);
  use_newest_model();
  const MutexLock lock(mutex_);
  model_status_ = status;
  return status;
}

Status AgentState::rollback_model() {
  if (options_.mode == Mode::off)
    return Status(StatusCode::unsupported, "rollback_model: the mode is 'off'");
  const MutexLock reload(reload_mutex_);
  Status status = models_.rollback();
  use_newest_model();
  return status;
}

void AgentState::use_newest_model() {
  const MutexLock lock(mutex_);
  if (model_ == models_.newest()) return;
  model_ = models_.newest();
  model_status_ = Status();
  engine_->use_model(model_);
}

Nanoseconds AgentState::notice_new_model() {
  const std::int64_t interval = options_.model_check_interval.count();
  if (interval <= 0 || options_.model.empty() || options_.mode == Mode::off) return Nanoseconds{0};
  const std::int64_t now = surroundings_.clock->now().count();
  std::int64_t last = model_checked_at_.load(std::memory_order_relaxed);
  if (now - last < interval ||
      !model_checked_at_.compare_exchange_strong(last, now, std::memory_order_relaxed)) {
    return Nanoseconds{0};
  }
  // While another thread tunes, the take-over would have to wait for it.
  if (!mutex_.try_lock()) return Nanoseconds{0};
  mutex_.unlock();
  {
    const MutexLock reload(reload_mutex_);
    if (!models_.was_replaced()) return Nanoseconds{0};
  }
  const Status status = reload_model(std::string());
  if (status.ok()) {
    tell(options_, 2, "took over %", options_.model);
  } else {
    tell(options_, 1, "%", status.message());
  }
  return surroundings_.clock->now() - Nanoseconds(now);
}

}  // namespace idletune::detail
