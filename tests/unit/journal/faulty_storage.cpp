#include "tests/unit/journal/faulty_storage.hpp"

#include <algorithm>
#include <utility>

namespace idletune::test {
namespace {

using Kind = DiskOperation::Kind;

DiskOperation operation(Kind kind, int inode) {
  DiskOperation result;
  result.kind = kind;
  result.inode = inode;
  return result;
}

class FaultyFile final : public AppendFile {
 public:
  FaultyFile(std::shared_ptr<Disk> disk, int inode) : disk_(std::move(disk)), inode_(inode) {}

  Status append(Bytes data) override {
    DiskOperation write = operation(Kind::write, inode_);
    if (disk_->fails()) {
      if (disk_->fault.torn && disk_->changes == disk_->fault.first + 1) {
        write.data.assign(data.begin(),
                          data.begin() + static_cast<std::ptrdiff_t>(data.size() / 2));
        disk_->perform(std::move(write));
      }
      return {disk_->fault.code, "scripted failure of append"};
    }
    write.data.assign(data.begin(), data.end());
    disk_->perform(std::move(write));
    return Status();
  }

  Status sync() override {
    if (disk_->before_sync) disk_->before_sync();
    if (disk_->fails()) {
      if (disk_->fault.code != StatusCode::internal)
        disk_->perform(operation(Kind::sync_failed, inode_));
      return {disk_->fault.code, "scripted failure of sync"};
    }
    disk_->perform(operation(Kind::sync_file, inode_));
    return Status();
  }

 private:
  std::shared_ptr<Disk> disk_;
  int inode_;
};

class FaultyStorage final : public Storage {
 public:
  explicit FaultyStorage(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  ~FaultyStorage() override {
    if (owns_lock_) disk_->locked = false;
  }

  Result<std::vector<std::uint8_t>> read(std::string_view name, std::size_t limit_bytes) override {
    const auto entry = disk_->folder.find(std::string(name));
    if (entry == disk_->folder.end()) return not_found(name);
    ++disk_->reads;
    if (name == disk_->unreadable) return {StatusCode::io_error, "scripted failure of read"};
    const Content& content = disk_->inodes[entry->second];
    if (content.size() > limit_bytes) return {StatusCode::out_of_memory, "too long"};
    return Content(content);
  }

  Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) override {
    const auto entry = disk_->folder.find(std::string(name));
    if (entry == disk_->folder.end()) return create(name);
    return std::unique_ptr<AppendFile>(new FaultyFile(disk_, entry->second));
  }

  Result<std::unique_ptr<AppendFile>> create(std::string_view name) override {
    if (disk_->fails()) return failure("create");
    const auto entry = disk_->folder.find(std::string(name));
    int inode;
    if (entry != disk_->folder.end()) {
      inode = entry->second;
      disk_->perform(operation(Kind::truncate, inode));
    } else {
      inode = disk_->next_inode++;
      DiskOperation link = operation(Kind::link, inode);
      link.name = std::string(name);
      disk_->perform(std::move(link));
    }
    return std::unique_ptr<AppendFile>(new FaultyFile(disk_, inode));
  }

  Status rename(std::string_view from, std::string_view to) override {
    if (disk_->fails()) return failure("rename");
    if (disk_->folder.count(std::string(from)) == 0) return not_found(from);
    DiskOperation rename = operation(Kind::rename, -1);
    rename.name = std::string(from);
    rename.target = std::string(to);
    disk_->perform(std::move(rename));
    return Status();
  }

  Status remove(std::string_view name) override {
    if (disk_->fails()) return failure("remove");
    if (name == disk_->unremovable) return {StatusCode::read_only, "scripted failure of remove"};
    if (disk_->folder.count(std::string(name)) == 0) return not_found(name);
    DiskOperation remove = operation(Kind::remove, -1);
    remove.name = std::string(name);
    disk_->perform(std::move(remove));
    return Status();
  }

  Status truncate(std::string_view name, std::uint64_t size_bytes) override {
    if (disk_->fails()) return failure("truncate");
    const auto entry = disk_->folder.find(std::string(name));
    if (entry == disk_->folder.end()) return not_found(name);
    DiskOperation truncate = operation(Kind::truncate, entry->second);
    truncate.size = static_cast<std::size_t>(size_bytes);
    disk_->perform(std::move(truncate));
    disk_->perform(operation(Kind::sync_file, entry->second));
    return Status();
  }

  Status sync_folder() override {
    if (disk_->fails()) return failure("sync_folder");
    disk_->perform(operation(Kind::sync_folder, -1));
    return Status();
  }

  Result<std::vector<std::string>> list() override {
    std::vector<std::string> names;
    for (const auto& entry : disk_->folder) names.push_back(entry.first);
    return names;
  }

  Status lock() override {
    if (disk_->locked) return {StatusCode::busy, "another storage has the disk"};
    disk_->locked = true;
    owns_lock_ = true;
    return Status();
  }

 private:
  Status failure(const char* what) const {
    return {disk_->fault.code, std::string("scripted failure of ") + what};
  }
  static Status not_found(std::string_view name) {
    return {StatusCode::not_found, "no file '" + std::string(name) + "'"};
  }

  std::shared_ptr<Disk> disk_;
  bool owns_lock_ = false;
};

void apply_to_content(const DiskOperation& operation, Content& content) {
  if (operation.kind == Kind::write) {
    content.insert(content.end(), operation.data.begin(), operation.data.end());
  } else {
    content.resize(operation.size, 0);
  }
}

}  // namespace

// --- Disk ---

Disk::Disk(const Files& files) {
  for (const auto& [name, content] : files) {
    folder[name] = next_inode;
    inodes[next_inode++] = content;
  }
  first_inodes = inodes;
  first_folder = folder;
}

Files Disk::files() const {
  Files result;
  for (const auto& [name, inode] : folder) result[name] = inodes.at(inode);
  return result;
}

bool Disk::fails() {
  if (before_change) before_change();
  const std::uint64_t number = changes++;
  return number >= fault.first && number - fault.first < fault.count;
}

void Disk::perform(DiskOperation operation) {
  switch (operation.kind) {
    case Kind::write:
    case Kind::truncate: apply_to_content(operation, inodes[operation.inode]); break;
    case Kind::link:
      inodes[operation.inode] = {};
      folder[operation.name] = operation.inode;
      break;
    case Kind::rename:
      folder[operation.target] = folder.at(operation.name);
      folder.erase(operation.name);
      break;
    case Kind::remove: folder.erase(operation.name); break;
    case Kind::sync_file:
    case Kind::sync_failed:
    case Kind::sync_folder:
    case Kind::reached: break;
  }
  operations.push_back(std::move(operation));
}

std::unique_ptr<Storage> open_faulty_storage(std::shared_ptr<Disk> disk) {
  return std::make_unique<FaultyStorage>(std::move(disk));
}

// --- PowerCutter ---

PowerCutter::PowerCutter(const Disk& disk)
    : disk_(disk), durable_folder_(disk.first_folder), live_folder_(disk.first_folder) {
  for (const auto& [inode, content] : disk.first_inodes) inodes_[inode].durable = content;
}

void PowerCutter::apply(const FolderChange& change, std::map<std::string, int>& folder) {
  switch (change.operation.kind) {
    case Kind::link: folder[change.operation.name] = change.inode; break;
    case Kind::rename:
      folder[change.operation.target] = change.inode;
      folder.erase(change.operation.name);
      break;
    default: folder.erase(change.operation.name); break;
  }
}

void PowerCutter::change_folder(const DiskOperation& operation) {
  FolderChange change{operation, operation.inode, position_};
  if (operation.kind == Kind::rename) change.inode = live_folder_.at(operation.name);
  if (operation.kind == Kind::link) inodes_[operation.inode];
  apply(change, live_folder_);
  folder_changes_.push_back(std::move(change));
}

void PowerCutter::advance() {
  const DiskOperation& operation = disk_.operations[position_];
  switch (operation.kind) {
    case Kind::write:
    case Kind::truncate: {
      Inode& inode = inodes_[operation.inode];
      Content next = inode.versions.empty() ? inode.durable : inode.versions.back();
      apply_to_content(operation, next);
      inode.versions.push_back(std::move(next));
      inode.sequence.push_back(position_);
      break;
    }
    case Kind::sync_file: {
      Inode& inode = inodes_[operation.inode];
      if (inode.broken || inode.versions.empty()) break;
      inode.durable = inode.versions.back();
      inode.versions.clear();
      inode.sequence.clear();
      break;
    }
    case Kind::sync_failed: inodes_[operation.inode].broken = true; break;
    case Kind::link:
    case Kind::rename:
    case Kind::remove: change_folder(operation); break;
    case Kind::sync_folder:
      durable_folder_ = live_folder_;
      folder_changes_.clear();
      break;
    case Kind::reached: break;
  }
  ++position_;
}

Files PowerCutter::image(Cut cut, Random& random) const {
  return cut == Cut::reordered ? reordered_image(random) : ordered_image(cut, random);
}

// Everything begun before a random moment arrived, nothing after it. The moment is the present half
// of the time.
Files PowerCutter::ordered_image(Cut cut, Random& random) const {
  const std::size_t moment =
      random.below(2) == 0 ? position_ : static_cast<std::size_t>(random.below(position_ + 1));
  std::map<std::string, int> folder = durable_folder_;
  for (const FolderChange& change : folder_changes_) {
    if (change.sequence < moment) apply(change, folder);
  }
  Files files;
  for (const auto& [name, number] : folder) {
    const Inode& inode = inodes_.at(number);
    std::size_t arrived = 0;
    while (arrived < inode.versions.size() && inode.sequence[arrived] < moment) ++arrived;
    Content content = arrived == 0 ? inode.durable : inode.versions[arrived - 1];
    const std::size_t before =
        arrived < 2 ? inode.durable.size() : inode.versions[arrived - 2].size();
    if (arrived > 0 && content.size() > before) {
      const std::size_t written = content.size() - before;
      if (cut == Cut::torn)
        content.resize(before + static_cast<std::size_t>(random.below(written + 1)));
      if (cut == Cut::zero_filled) {
        // Zeros may reach back over all that was not synced.
        const std::size_t safe = std::min(inode.durable.size(), content.size());
        const std::size_t from =
            safe + static_cast<std::size_t>(random.below(content.size() - safe + 1));
        std::fill(content.begin() + static_cast<std::ptrdiff_t>(from), content.end(),
                  std::uint8_t{0});
      }
    }
    files[name] = std::move(content);
  }
  return files;
}

// Every block is of a version of its own, the size of yet another; every folder change may be
// missing.
Files PowerCutter::reordered_image(Random& random) const {
  static constexpr std::size_t kBlockSizes[] = {8, 64, 512};
  const std::size_t block = kBlockSizes[random.below(3)];
  std::map<std::string, int> folder = durable_folder_;
  for (const FolderChange& change : folder_changes_) {
    if (random.below(2) == 0) apply(change, folder);
  }
  Files files;
  for (const auto& [name, number] : folder) {
    const Inode& inode = inodes_.at(number);
    const auto version = [&]() -> const Content& {
      const std::uint64_t choice = random.below(inode.versions.size() + 1);
      return choice == 0 ? inode.durable : inode.versions[static_cast<std::size_t>(choice - 1)];
    };
    Content content(version().size(), 0);
    for (std::size_t start = 0; start < content.size(); start += block) {
      const Content& from = version();
      const std::size_t end = std::min({start + block, content.size(), from.size()});
      for (std::size_t i = start; i < end; ++i) content[i] = from[i];
    }
    files[name] = std::move(content);
  }
  return files;
}

}  // namespace idletune::test
