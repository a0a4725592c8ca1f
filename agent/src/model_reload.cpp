// Which model an agent uses: the one that it starts with, the ones that are pushed while it runs,
// and the way back.
#include <cstdio>
#include <utility>

#include "agent/src/agent_state.hpp"
#include "agent/src/model_file.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"

namespace idletune::detail {
namespace {

std::string previous_of(const std::string& path) { return path + ".previous"; }

// The model that ships with the kernels: beside the program, or where idletune was installed; empty
// if it is in neither place.
std::string shipped_model() {
  constexpr char kName[] = "/idletune.itmodel";
  if (const Result<std::string> own = self_executable_folder(); own.ok()) {
    if (file_stamp(*own + kName) != 0) return *own + kName;
  }
  const std::string installed = std::string(IDLETUNE_INSTALLED_DATA) + kName;
  return file_stamp(installed) != 0 ? installed : std::string();
}

}  // namespace

// A file that cannot be used costs nothing but itself: then the one before it serves.
void AgentState::open_model() {
  if (options_.mode == Mode::off) return;
  if (options_.model.empty()) options_.model = shipped_model();
  if (options_.model == kNoModel) options_.model.clear();
  if (options_.model.empty()) return;
  model_stamp_ = file_stamp(options_.model);
  Result<std::shared_ptr<const Model>> model = read_model(options_.model);
  model_status_ = model.status();
  if (!model.ok()) {
    tell(options_, 1, "%", model_status_.message());
    // A file that was taken away is no model wanted; one that is broken was one.
    if (model.code() != StatusCode::not_found) model = read_model(previous_of(options_.model));
  }
  if (model.ok()) model_ = {*model, options_.model};
}

AgentState::ModelInUse AgentState::model_in_use() const {
  const MutexLock lock(mutex_);
  return model_;
}

void AgentState::take_over(ModelInUse next) {
  const MutexLock lock(mutex_);
  model_ = std::move(next);
  model_status_ = Status();
  engine_->use_model(model_.model);
}

Status AgentState::read_and_take_over(const std::string& path) {
  Result<std::shared_ptr<const Model>> read = read_model(path);
  if (!read.ok()) return read.status();
  const std::shared_ptr<const Model> next = *read;
  const ModelInUse in_use = model_in_use();
  const std::shared_ptr<const Model> current = in_use.model;
  if (current != nullptr) {
    if (next->content_digest() == current->content_digest()) return {};
    if (next->generation() < current->generation()) {
      return Status(StatusCode::version_mismatch,
                    "model '%': generation %, expected at least %, which is in use", path,
                    next->generation(), current->generation());
    }
    if (in_use.path == path) (void)write_file_atomically(previous_of(path), current->bytes());
  }
  previous_model_ = in_use;
  take_over({next, path});
  return {};
}

Status AgentState::reload_model(const std::string& given) {
  if (options_.mode == Mode::off)
    return Status(StatusCode::unsupported, "reload_model: the mode is 'off'");
  const std::string path = given.empty() ? options_.model : absolute_path(given);
  if (path.empty()) return Status(StatusCode::invalid_argument, "reload_model: no path");
  const MutexLock reload(reload_mutex_);
  if (path == options_.model) model_stamp_ = file_stamp(path);
  Status status = read_and_take_over(path);
  const MutexLock lock(mutex_);
  model_status_ = status;
  return status;
}

Status AgentState::rollback_model() {
  if (options_.mode == Mode::off)
    return Status(StatusCode::unsupported, "rollback_model: the mode is 'off'");
  const MutexLock reload(reload_mutex_);
  const ModelInUse refuted = model_in_use();
  const std::string path = refuted.path.empty() ? options_.model : refuted.path;
  if (previous_model_.model == nullptr) {
    Result<std::shared_ptr<const Model>> stored = read_model(previous_of(path));
    if (!stored.ok()) return stored.status();
    previous_model_ = {*stored, path};
  }
  const ModelInUse next = std::exchange(previous_model_, {});
  take_over(next);
  if (next.path != path) return {};  // the other file is somebody else's affair
  Status status = write_file_atomically(path, next.model->bytes());
  if (path == options_.model) model_stamp_ = file_stamp(path);
  if (status.ok()) (void)std::remove(previous_of(path).c_str());
  return status;
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
    const std::uint64_t stamp = file_stamp(options_.model);
    if (stamp == model_stamp_ || stamp == 0) return Nanoseconds{0};
  }
  const Status status = reload_model(std::string());
  if (status.ok()) {
    tell(options_, 2, "took over %", options_.model);
  } else {
    tell(options_, 1, "%", status.message());
  }
  return surroundings_.clock->now() - Nanoseconds(now);
}

void AgentState::fill_model_status(AgentStatus& status) const {
  status.model = model_status_;
  if (model_.model == nullptr) return;
  status.model_generation = model_.model->generation();
  status.model_digest = model_.model->content_digest();
}

}  // namespace idletune::detail
