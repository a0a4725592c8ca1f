// The file system as the agent needs it, behind an interface so that tests can cut the power.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// A file open for appending. Closed by the destructor (which syncs nothing).
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // Appends all of it, in one write where the system allows. no_space, read_only, io_error; a
  // failed append may have torn the tail.
  virtual Status append(Bytes data) = 0;
  // Returns after everything appended is on the medium. After an error nobody knows what the medium
  // holds of it, and a later success says nothing about it: write the data anew elsewhere.
  // io_error.
  virtual Status sync() = 0;
  // Of the file, whatever name leads to it by now; 0: nobody can tell.
  virtual std::uint64_t identity() const { return 0; }
};

// One folder. Names are plain file names without separators (else invalid_argument). Error codes:
// not_found, read_only (also: not permitted), no_space, io_error; messages name the path. Used by
// one thread at a time.
class Storage {
 public:
  virtual ~Storage() = default;
  // The whole file. out_of_memory if it is longer than `limit_bytes`.
  virtual Result<std::vector<std::uint8_t>> read(std::string_view name,
                                                 std::size_t limit_bytes) = 0;
  virtual Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) = 0;  // creates it
  virtual Result<std::unique_ptr<AppendFile>> create(std::string_view name) = 0;       // truncates
  virtual Status rename(std::string_view from, std::string_view to) = 0;               // replaces
  virtual Status remove(std::string_view name) = 0;
  // Cuts the file to `size_bytes` and returns after that is on the medium.
  virtual Status truncate(std::string_view name, std::uint64_t size_bytes) = 0;
  // Returns after creations, renames and removals are on the medium.
  virtual Status sync_folder() = 0;
  virtual Result<std::vector<std::string>> list() = 0;  // plain files, in any order
  // Takes the folder for this Storage (advisory; released by the destructor, or the death of the
  // process and of what it forked without exec; it works on read-only storage). `busy` if another
  // Storage, here or in another process, has it; unsupported where the file system has no locks.
  virtual Status lock() = 0;
  // AppendFile::identity() of what lies under `name` at the path that this was opened with, now:
  // the folder may have been deleted or replaced since. 0: nothing is there, or nobody can tell.
  virtual std::uint64_t identity_of(std::string_view) const { return 0; }
  // Goes over to the folder that is at that path now (made if it is missing), with a lock where
  // there was to be one. Errors: those of opening and of locking.
  virtual Status open_again() { return Status(); }
};

// What became of a file that was to take the place of another.
struct Replacement {
  Status status;
  std::unique_ptr<AppendFile> file;  // it, open to append; null: it could not even be created
  bool settled = true;               // false: nobody knows which of the two the medium has
};
// `bytes` under the name `beside`, synced, then under `name`, then the folder synced: a cut leaves the
// old file or the new one. Settled, after an error, is the old one, and nothing is left beside.
Replacement replace_whole(Storage& storage, std::string_view beside, std::string_view name,
                          Bytes bytes);

// The real thing. Creates the folder (one level) if it is missing, whose name is then on the medium
// if the parent may be read. Folder and files that it creates are their owner's alone, and so is a
// file of this user's that it opens to write. not_found (no parent folder), read_only, no_space,
// io_error, invalid_argument (not a folder).
Result<std::unique_ptr<Storage>> open_posix_storage(const std::string& folder);

// Whole-file functions outside a Storage, for model and package files. Errors name the path. Any
// thread. out_of_memory if the file is longer than `limit_bytes`; invalid_argument if it is not a
// plain file.
Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t limit_bytes);
// Fills `out` from the file's first bytes; false if it has fewer, or cannot be read.
bool read_beginning(const std::string& path, MutableBytes out);
// Another number whenever a file took the place of another or was written to (inode, size, time of
// change); 0 if there is none. One system call.
std::uint64_t file_stamp(const std::string& path);
enum class FileSync : std::uint8_t { no, yes };
enum class FileReaders : std::uint8_t { everybody, owner };
// Writes `path` atomically: temporary beside it, fsync, rename, fsync of the folder. After an error
// the old file is untouched, unless only the folder's fsync failed. FileSync::no: without either
// fsync, so that nobody waits for the medium; a power cut may leave anything there.
// FileReaders::everybody: as the process's umask allows.
Status write_file_atomically(const std::string& path, Bytes data, FileSync sync = FileSync::yes,
                             FileReaders readers = FileReaders::everybody);

// So that it stays what it is when the application changes its working folder.
std::string absolute_path(const std::string& path);
// `from` takes the place of `to` at once; nothing is synced. Errors: those of the system.
Status replace_file(const std::string& from, const std::string& to);
// Removes from the folder what write_file_atomically left there in processes that have died. If
// this user owns it and all names in it begin with one of `own_names` (none: whatever they are),
// nobody else may read it from now on. Best effort; for whoever has the lock on it.
void tidy_folder(const std::string& folder, Span<const std::string_view> own_names = {});

}  // namespace idletune
