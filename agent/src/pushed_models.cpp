#include "agent/src/pushed_models.hpp"

#include <cstdio>
#include <utility>

#include <idletune/options.hpp>

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

Status PushedModels::open(std::string& option, const FileTrust* trust) {
  if (option.empty()) option = shipped_model();
  if (option == kNoModel) option.clear();
  option_ = option;
  trust_ = trust;
  if (option.empty()) return {};
  stamp_ = file_stamp(option);
  Result<PushedModel> pushed = read_pushed_model(option, trust);
  Status status = pushed.status();
  // A file that was taken away is no model wanted; one that is broken was one.
  if (!pushed.ok() && pushed.code() != StatusCode::not_found)
    pushed = read_pushed_model(previous_of(option), trust);
  if (pushed.ok()) newest_ = {std::move(*pushed), option};
  return status;
}

Status PushedModels::write(const std::string& path, const PushedModel& pushed) {
  const Bytes content = pushed.model->bytes();
  std::vector<std::uint8_t> file(content.begin(), content.end());
  file.insert(file.end(), pushed.proof.begin(), pushed.proof.end());
  return write_file_atomically(path, file);
}

Status PushedModels::reload(const std::string& path) {
  if (path == option_) stamp_ = file_stamp(path);
  Result<PushedModel> next = read_pushed_model(path, trust_);
  if (!next.ok()) return next.status();
  if (const std::shared_ptr<const Model> current = newest(); current != nullptr) {
    if (next->model->content_digest() == current->content_digest()) return {};
    if (next->model->generation() < current->generation()) {
      return Status(StatusCode::version_mismatch,
                    "model '%': generation %, expected at least %, which is in use", path,
                    next->model->generation(), current->generation());
    }
    if (newest_.path == path) (void)write(previous_of(path), newest_.pushed);
  }
  previous_ = std::exchange(newest_, {std::move(*next), path});
  return {};
}

Status PushedModels::rollback() {
  const std::string path = newest_.path.empty() ? option_ : newest_.path;
  if (previous_.pushed.model == nullptr) {
    Result<PushedModel> stored = read_pushed_model(previous_of(path), trust_);
    if (!stored.ok()) return stored.status();
    previous_ = {std::move(*stored), path};
  }
  newest_ = std::exchange(previous_, {});
  if (newest_.path != path) return {};  // the other file is somebody else's affair
  Status status = write(path, newest_.pushed);
  if (path == option_) stamp_ = file_stamp(path);
  if (status.ok()) (void)std::remove(previous_of(path).c_str());
  return status;
}

bool PushedModels::was_replaced() const {
  const std::uint64_t stamp = file_stamp(option_);
  return stamp != stamp_ && stamp != 0;
}

}  // namespace idletune::detail
