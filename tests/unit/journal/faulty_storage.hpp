// A folder in memory that remembers every operation, so that tests can cut the power between any
// two of them and look at what a real medium might hold then; it can also fail like a full or
// read-only one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "platform/os/storage.hpp"

namespace idletune::test {

using Content = std::vector<std::uint8_t>;
using Files = std::map<std::string, Content>;

// What happened, in the order in which the system was asked.
struct DiskOperation {
  enum class Kind : std::uint8_t {
    write,        // data to the end of inode
    truncate,     // inode to size
    sync_file,    // inode
    sync_failed,  // of inode: what was not synced yet can never be relied on
    link,         // a new inode under name
    rename,       // name to target
    remove,       // name
    sync_folder,
    reached  // no operation: the test's own mark
  };
  Kind kind = Kind::reached;
  int inode = -1;
  Content data;
  std::size_t size = 0;
  std::string name;
  std::string target;
};

// Which operations fail, and how. Operations that change something are counted from 0. With
// `internal` the process counts as dead: nothing it asks for happens any more.
struct DiskFault {
  std::uint64_t first = UINT64_MAX;
  std::uint64_t count = UINT64_MAX;
  StatusCode code = StatusCode::io_error;
  bool torn = false;  // a failing append arrives by half
};

// A disk outlives the storages opened on it (processes come and go; the page cache stays).
struct Disk {
  explicit Disk(const Files& files = {});
  Files files() const;  // as running processes see them

  int folders_made = 0;  // so often somebody deleted the folders below and made them anew
  std::map<int, Content> inodes;
  std::map<std::string, int> folder;
  std::map<int, Content> first_inodes;  // as the disk began, all of it on the medium
  std::map<std::string, int> first_folder;
  std::vector<DiskOperation> operations;
  DiskFault fault;
  std::string unreadable;               // the file of that name, for now
  std::string unremovable;              // likewise
  std::uint64_t reads = 0;              // of whole files
  std::function<void()> before_sync;    // of a file; on whatever thread syncs
  std::function<void()> before_change;  // any operation that is counted below
  std::uint64_t changes = 0;            // operations asked for, failed ones too
  int next_inode = 0;
  std::set<int> below;  // inodes of folders below (FolderBelow)
  bool locked = false;

  bool fails();
  void perform(DiskOperation operation);
};

std::unique_ptr<Storage> open_faulty_storage(std::shared_ptr<Disk> disk);

// How a cut treats what was not synced.
enum class Cut : std::uint8_t {
  clean,        // operations up to some point arrived whole, later ones not at all
  torn,         // the same, and the last write arrived in part
  zero_filled,  // the same, but from some byte on there are zeros where data should be
  reordered     // blocks and folder operations arrived in any order or not at all
};
inline constexpr Cut kAllCuts[] = {Cut::clean, Cut::torn, Cut::zero_filled, Cut::reordered};

// Walks a disk's operations and makes the images that cuts leave behind.
class PowerCutter {
 public:
  explicit PowerCutter(const Disk& disk);
  std::size_t position() const { return position_; }  // operations begun so far
  bool at_end() const { return position_ == disk_.operations.size(); }
  void advance();
  // The medium if the power goes now. An operation that was begun and not synced may or may not be
  // there.
  Files image(Cut cut, Random& random) const;

 private:
  struct Inode {
    Content durable;
    std::vector<Content> versions;      // after each operation since
    std::vector<std::size_t> sequence;  // when each of them came to be
    bool broken = false;                // a sync failed: nothing more becomes durable
  };
  struct FolderChange {
    DiskOperation operation;
    int inode;             // what link and rename put under the name
    std::size_t sequence;  // when
  };
  void change_folder(const DiskOperation& operation);
  Files ordered_image(Cut cut, Random& random) const;
  Files reordered_image(Random& random) const;
  static void apply(const FolderChange& change, std::map<std::string, int>& folder);

  const Disk& disk_;
  std::size_t position_ = 0;
  std::map<int, Inode> inodes_;
  std::map<std::string, int> durable_folder_;
  std::map<std::string, int> live_folder_;
  std::vector<FolderChange> folder_changes_;
};

}  // namespace idletune::test
