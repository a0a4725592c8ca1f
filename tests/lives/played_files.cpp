#include "tests/lives/played_files.hpp"

#include <algorithm>
#include <utility>

#include "models/package/captured_arguments.hpp"
#include "tests/lives/draw.hpp"

namespace idletune::lives {

bool PlayedFiles::read_beginning(const std::string& path, MutableBytes out) const {
  const auto file = files_.find(path);
  if (file == files_.end() || file->second.content.size() < out.size()) return false;
  std::copy_n(file->second.content.begin(), out.size(), out.begin());
  return true;
}

// What is told of the agent's decisions is written too, and nobody reads it here.
Status PlayedFiles::write(const std::string& path, Bytes data, FileSync sync) {
  if (path.find("/captures/") == std::string::npos) return {};
  if (Status status = on_write(sync); !status.ok()) return status;
  File& file = files_[path];
  if (file.synced) file.before = std::move(file.content);
  file.content.assign(data.begin(), data.end());
  file.synced = sync == FileSync::yes;
  return {};
}

bool PlayedFiles::holds(const std::string& path, std::uint64_t digest) const {
  const auto file = files_.find(path);
  if (file == files_.end()) return false;
  const auto opened = CapturedArguments::open(file->second.content, path);
  return opened.ok() && opened->digest() == digest;
}

void PlayedFiles::power_cut(std::uint64_t draw) {
  for (auto& [path, file] : files_) {
    if (std::exchange(file.synced, true)) continue;
    draw = mix(draw, 98);
    if (draw % 4 == 0) file.content = file.before;
    if (draw % 4 == 1) file.content.resize(file.content.size() / 2);
    if (draw % 4 == 2 && !file.content.empty()) file.content.back() ^= 1;
  }
}

}  // namespace idletune::lives
