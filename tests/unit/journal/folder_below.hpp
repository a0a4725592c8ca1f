// Folders below a state folder that is in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::test {

// One of the folders below the state folder: on the same medium, under longer names.
class FolderBelow final : public Storage {
 public:
  FolderBelow(const std::shared_ptr<Disk>& disk, std::string name)
      : disk_(disk),
        name_(std::move(name) + "-"),
        all_(open_faulty_storage(disk)),
        opened_(disk->folders_made) {}
  Result<std::vector<std::uint8_t>> read(std::string_view name, std::size_t limit) override {
    return all_->read(long_name(name), limit);
  }
  Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) override {
    return all_->open_append(long_name(name));
  }
  Result<std::unique_ptr<AppendFile>> create(std::string_view name) override {
    if (opened_ != disk_->folders_made) return Status(StatusCode::not_found, "it is deleted");
    Result<std::unique_ptr<AppendFile>> created = all_->create(long_name(name));
    if (created.ok()) disk_->below.insert(disk_->folder.at(long_name(name)));
    return created;
  }
  Status rename(std::string_view from, std::string_view to) override {
    return all_->rename(long_name(from), long_name(to));
  }
  Status remove(std::string_view name) override { return all_->remove(long_name(name)); }
  Status truncate(std::string_view name, std::uint64_t size) override {
    return all_->truncate(long_name(name), size);
  }
  Status sync_folder() override { return all_->sync_folder(); }
  Result<std::vector<std::string>> list() override {
    Result<std::vector<std::string>> names = all_->list();
    if (!names.ok()) return names;
    std::vector<std::string> mine;
    if (opened_ != disk_->folders_made) return mine;
    for (const std::string& name : *names) {
      if (name.rfind(name_, 0) == 0) mine.push_back(name.substr(name_.size()));
    }
    return mine;
  }
  Status lock() override { return {}; }
  Status open_again() override {
    opened_ = disk_->folders_made;
    return {};
  }

 private:
  std::string long_name(std::string_view name) const { return name_ + std::string(name); }
  std::shared_ptr<Disk> disk_;
  std::string name_;
  std::unique_ptr<Storage> all_;
  int opened_;
};

}  // namespace idletune::test
