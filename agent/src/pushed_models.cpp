#include "agent/src/pushed_models.hpp"

#include <cstdio>
#include <utility>

#include <idletune/options.hpp>

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

Status PushedModels::open(std::string& option) {
  if (option.empty()) option = shipped_model();
  if (option == kNoModel) option.clear();
  option_ = option;
  if (option.empty()) return {};
  stamp_ = file_stamp(option);
  Result<std::shared_ptr<const Model>> model = read_model(option);
  Status status = model.status();
  // A file that was taken away is no model wanted; one that is broken was one.
  if (!model.ok() && model.code() != StatusCode::not_found) model = read_model(previous_of(option));
  if (model.ok()) newest_ = {*model, option};
  return status;
}

Status PushedModels::reload(const std::string& path) {
  if (path == option_) stamp_ = file_stamp(path);
  Result<std::shared_ptr<const Model>> read = read_model(path);
  if (!read.ok()) return read.status();
  const std::shared_ptr<const Model> next = *read;
  const std::shared_ptr<const Model> current = newest_.model;
  if (current != nullptr) {
    if (next->content_digest() == current->content_digest()) return {};
    if (next->generation() < current->generation()) {
      return Status(StatusCode::version_mismatch,
                    "model '%': generation %, expected at least %, which is in use", path,
                    next->generation(), current->generation());
    }
    if (newest_.path == path) (void)write_file_atomically(previous_of(path), current->bytes());
  }
  previous_ = std::exchange(newest_, {next, path});
  return {};
}

Status PushedModels::rollback() {
  const std::string path = newest_.path.empty() ? option_ : newest_.path;
  if (previous_.model == nullptr) {
    Result<std::shared_ptr<const Model>> stored = read_model(previous_of(path));
    if (!stored.ok()) return stored.status();
    previous_ = {*stored, path};
  }
  newest_ = std::exchange(previous_, {});
  if (newest_.path != path) return {};  // the other file is somebody else's affair
  Status status = write_file_atomically(path, newest_.model->bytes());
  if (path == option_) stamp_ = file_stamp(path);
  if (status.ok()) (void)std::remove(previous_of(path).c_str());
  return status;
}

bool PushedModels::was_replaced() const {
  const std::uint64_t stamp = file_stamp(option_);
  return stamp != stamp_ && stamp != 0;
}

}  // namespace idletune::detail
