#include "platform/os/storage.hpp"

#include <idletune/text.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "platform/os/error.hpp"

namespace idletune {
namespace {

// An open descriptor, closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) close();
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return value_; }
  bool ok() const { return value_ >= 0; }

 private:
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }
  int value_;
};

constexpr mode_t kOwnersFile = 0600;
constexpr mode_t kOwnersFolder = 0700;

int open_retrying(int folder, const char* name, int flags, mode_t mode = kOwnersFile) {
  int descriptor;
  do {
    descriptor = ::openat(folder, name, flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

Status write_all(int descriptor, Bytes data, const std::string& path) {
  const WithinFileLimit limit;
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("writing", path, errno);
    data = data.subspan(static_cast<std::size_t>(written));
  }
  return Status();
}

// `whole`: metadata too (a file cut short), not only what reading the data back needs.
Status sync_descriptor(int descriptor, bool whole, const std::string& path) {
  int failed;
  do {
    failed = whole ? ::fsync(descriptor) : ::fdatasync(descriptor);
  } while (failed != 0 && errno == EINTR);
  return failed == 0 ? Status() : system_error("syncing", path, errno);
}

// Of reading, out_of_memory says that a file is too long; short of memory one may be another day.
Status unread(std::string_view doing, const std::string& path) {
  Status why = system_error(doing, path, errno);
  if (why.code() != StatusCode::out_of_memory) return why;
  return {StatusCode::io_error, "%", why.message()};
}

Result<std::vector<std::uint8_t>> read_open_file(const Descriptor& file, const std::string& path,
                                                 std::size_t limit_bytes) {
  struct stat info {};
  if (!file.ok() || ::fstat(file.get(), &info) != 0) return unread("opening", path);
  if (!S_ISREG(info.st_mode)) {
    return {StatusCode::invalid_argument, "reading '%': not a plain file", path};
  }
  const auto too_long = [&]() {
    return Status(StatusCode::out_of_memory, "reading '%': longer than the % bytes allowed", path,
                  limit_bytes);
  };
  const std::uint64_t size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit_bytes) return too_long();
  // The size may change while we read (or be 0, as in /proc): read to the end whatever it says.
  constexpr std::size_t kMore = 256;
  std::vector<std::uint8_t> bytes;
  bytes.resize(static_cast<std::size_t>(size) + kMore);
  std::size_t filled = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unread("reading", path);
    filled += static_cast<std::size_t>(got);
    if (filled > limit_bytes) return too_long();
    if (got == 0 || filled == bytes.size()) bytes.resize(got == 0 ? filled : filled + kMore);
    if (got == 0) return bytes;
  }
}

std::uint64_t inode_identity(const struct stat& info) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(info.st_dev)).add(static_cast<std::uint64_t>(info.st_ino));
  return digest.value() | 1;
}

// Takes away what others may do with a file or folder of this user's.
void keep_for_owner(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || info.st_uid != ::geteuid()) return;
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return;
  const mode_t others = info.st_mode & (S_IRWXG | S_IRWXO);
  if (others != 0) (void)::fchmod(descriptor, (info.st_mode & 07777) ^ others);
}

// The folder in which the last name of the path stands.
std::string parent_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

Status sync_folder_at(const std::string& folder) {
  const Descriptor opened(open_retrying(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (!opened.ok()) return system_error("opening the folder", folder, errno);
  return sync_descriptor(opened.get(), true, folder);
}

// Makes the folder (one level) where it is missing.
Result<Descriptor> open_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), kOwnersFolder) == 0) {
    (void)sync_folder_at(parent_of(folder));  // which may be nobody's to read
  } else if (errno != EEXIST) {
    const int error = errno;
    struct stat info {};
    // Some systems answer EROFS or EACCES for folders that exist.
    if (::stat(folder.c_str(), &info) != 0) return system_error("making the folder", folder, error);
  }
  Descriptor descriptor(open_retrying(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (!descriptor.ok() && errno == ENOTDIR) {
    return Status(StatusCode::invalid_argument, "opening '%': expected a folder", folder);
  }
  if (!descriptor.ok()) return system_error("opening the folder", folder, errno);
  return descriptor;
}

// Whether write_file_atomically made it in a process that is gone. One of this process's number is
// another's: containers begin with the same ones each time.
bool is_left_over(std::string_view name) {
  constexpr std::string_view kMark = ".tmp";
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return false;
  const std::string numbers(name.substr(mark + kMark.size()));
  char* end = nullptr;
  const long pid = std::strtol(numbers.c_str(), &end, 10);
  const char* second = end + 1;
  if (pid <= 0 || *end != '-' || *second == '\0') return false;
  while (*second >= '0' && *second <= '9') ++second;
  if (*second != '\0') return false;
  return pid == ::getpid() || (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH);
}

bool begins_with_one_of(std::string_view name, Span<const std::string_view> beginnings) {
  for (const std::string_view beginning : beginnings) {
    if (name.substr(0, beginning.size()) == beginning) return true;
  }
  return false;
}

class PosixAppendFile final : public AppendFile {
 public:
  PosixAppendFile(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status append(Bytes data) override { return write_all(file_.get(), data, path_); }
  Status sync() override { return sync_descriptor(file_.get(), false, path_); }
  std::uint64_t identity() const override {
    struct stat info {};
    return ::fstat(file_.get(), &info) == 0 ? inode_identity(info) : 0;
  }

 private:
  Descriptor file_;
  std::string path_;
};

// Works relative to a descriptor of the folder; only identity_of asks where the path leads by now.
class PosixStorage final : public Storage {
 public:
  PosixStorage(Descriptor folder, std::string path)
      : folder_(std::move(folder)), path_(std::move(path)), place_(absolute_path(path_)) {}

  Result<std::vector<std::uint8_t>> read(std::string_view name, std::size_t limit_bytes) override {
    if (Status plain = check_name(name); !plain.ok()) return plain;
    const Descriptor file(
        open_retrying(folder_.get(), std::string(name).c_str(), O_RDONLY | O_NONBLOCK));
    return read_open_file(file, path_of(name), limit_bytes);
  }

  Result<std::unique_ptr<AppendFile>> open_append(std::string_view name) override {
    return open_for_writing(name, 0);
  }
  Result<std::unique_ptr<AppendFile>> create(std::string_view name) override {
    return open_for_writing(name, O_TRUNC);
  }

  Status rename(std::string_view from, std::string_view to) override {
    if (Status plain = check_name(from); !plain.ok()) return plain;
    if (Status plain = check_name(to); !plain.ok()) return plain;
    const std::string source(from);
    const std::string target(to);
    if (::renameat(folder_.get(), source.c_str(), folder_.get(), target.c_str()) == 0)
      return Status();
    return system_error(joined("renaming to '%'", target), path_of(from), errno);
  }

  Status remove(std::string_view name) override {
    if (Status plain = check_name(name); !plain.ok()) return plain;
    if (::unlinkat(folder_.get(), std::string(name).c_str(), 0) == 0) return Status();
    return system_error("removing", path_of(name), errno);
  }

  Status truncate(std::string_view name, std::uint64_t size_bytes) override {
    if (Status plain = check_name(name); !plain.ok()) return plain;
    const Descriptor file(open_retrying(folder_.get(), std::string(name).c_str(), O_WRONLY));
    if (!file.ok()) return system_error("opening", path_of(name), errno);
    if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
      return system_error("truncating", path_of(name), errno);
    }
    return sync_descriptor(file.get(), true, path_of(name));
  }

  Status sync_folder() override { return sync_descriptor(folder_.get(), true, path_); }

  Result<std::vector<std::string>> list() override {
    // A descriptor of its own: reading a folder moves a position that duplicates share.
    const int descriptor = open_retrying(folder_.get(), ".", O_RDONLY | O_DIRECTORY);
    if (descriptor < 0) return system_error("listing", path_, errno);
    DIR* entries = ::fdopendir(descriptor);
    if (entries == nullptr) {
      const int error = errno;
      ::close(descriptor);
      return system_error("listing", path_, error);
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(entries)) {
      struct stat info {};
      if (::fstatat(descriptor, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISREG(info.st_mode)) {
        push(names, entry->d_name);
      }
    }
    ::closedir(entries);
    return names;
  }

  Status lock() override {
    wants_lock_ = true;
    int failed;
    do {
      failed = ::flock(folder_.get(), LOCK_EX | LOCK_NB);
    } while (failed != 0 && errno == EINTR);
    if (failed == 0) return Status();
    if (errno == EWOULDBLOCK) {
      return {StatusCode::busy, "locking '%': in use by another agent", path_};
    }
    return {StatusCode::unsupported, "locking '%': %", path_, error_text(errno)};
  }

  std::uint64_t identity_of(std::string_view name) const override {
    struct stat info {};
    const std::string path = joined("%/%", place_, name);
    return ::stat(path.c_str(), &info) == 0 ? inode_identity(info) : 0;
  }

  Status open_again() override {
    Result<Descriptor> folder = open_folder(place_);
    if (!folder.ok()) return folder.status();
    folder_ = std::move(*folder);  // closes the old one, which gives up its lock
    return wants_lock_ ? lock() : Status();
  }

 private:
  std::string path_of(std::string_view name) const { return joined("%/%", path_, name); }

  Status check_name(std::string_view name) const {
    if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
        name.find('\0') == std::string_view::npos) {
      return Status();
    }
    return {StatusCode::invalid_argument, "'%' in '%': expected a plain file name", name, path_};
  }

  Result<std::unique_ptr<AppendFile>> open_for_writing(std::string_view name, int flags) {
    if (Status plain = check_name(name); !plain.ok()) return plain;
    Descriptor file(open_retrying(folder_.get(), std::string(name).c_str(),
                                  O_WRONLY | O_CREAT | O_APPEND | flags));
    if (!file.ok()) return system_error("opening for writing", path_of(name), errno);
    keep_for_owner(file.get());  // it may be an earlier release's
    return std::unique_ptr<AppendFile>(new PosixAppendFile(std::move(file), path_of(name)));
  }

  Descriptor folder_;
  std::string path_;   // as it was given, for messages
  std::string place_;  // the same, absolute
  bool wants_lock_ = false;
};

}  // namespace

Replacement replace_whole(Storage& storage, std::string_view beside, std::string_view name,
                          Bytes bytes) {
  Replacement done;
  Result<std::unique_ptr<AppendFile>> file = storage.create(beside);
  done.status = file.status();
  if (!file.ok()) return done;
  done.file = std::move(*file);
  done.status = done.file->append(bytes);
  if (done.status.ok()) done.status = done.file->sync();
  if (!done.status.ok()) {
    (void)storage.remove(beside);
    return done;
  }
  done.status = storage.rename(beside, name);
  if (done.status.ok()) done.status = storage.sync_folder();
  done.settled = done.status.ok();
  return done;
}

Result<std::unique_ptr<Storage>> open_posix_storage(const std::string& folder) {
  Result<Descriptor> descriptor = open_folder(folder);
  if (!descriptor.ok()) return descriptor.status();
  return std::unique_ptr<Storage>(new PosixStorage(std::move(*descriptor), folder));
}

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::size_t limit_bytes) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const Descriptor file(open_retrying(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK));
  return read_open_file(file, path, limit_bytes);
}

bool read_beginning(const std::string& path, MutableBytes out) {
  const Descriptor file(open_retrying(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK));
  if (!file.ok()) return false;
  return ::read(file.get(), out.data(), out.size()) == static_cast<ssize_t>(out.size());
}

std::uint64_t file_stamp(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  Digest digest;
  digest.add(static_cast<std::uint64_t>(info.st_ino));
  digest.add(static_cast<std::uint64_t>(info.st_size));
  digest.add(static_cast<std::uint64_t>(info.st_mtim.tv_sec));
  digest.add(static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
  return digest.value() | 1;
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  char* folder = ::getcwd(nullptr, 0);
  if (folder == nullptr) return path;
  std::string result = joined("%/%", folder, path);
  std::free(folder);  // NOLINT: the C library allocated it
  return result;
}

void tidy_folder(const std::string& folder, Span<const std::string_view> own_names) {
  const Descriptor opened(
      open_retrying(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  DIR* entries = opened.ok() ? ::opendir(folder.c_str()) : nullptr;
  if (entries == nullptr) return;
  bool own = true;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (is_left_over(name)) {
      (void)::unlinkat(opened.get(), entry->d_name, 0);
    } else if (!own_names.empty() && !begins_with_one_of(name, own_names)) {
      own = false;
    }
  }
  ::closedir(entries);
  if (own) keep_for_owner(opened.get());
}

Status replace_file(const std::string& from, const std::string& to) {
  if (::renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()) == 0) return {};
  return system_error(joined("renaming '%' to", from), to, errno);
}

Status write_file_atomically(const std::string& path, Bytes data, FileSync sync,
                             FileReaders readers) {
  static std::atomic<unsigned> writings{0};  // of this process: threads may write the same path
  const std::string temporary =
      joined("%.tmp%-%", path, ::getpid(), writings.fetch_add(1, std::memory_order_relaxed));
  Status status;
  {
    const Descriptor file(open_retrying(AT_FDCWD, temporary.c_str(),
                                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
                                        readers == FileReaders::owner ? kOwnersFile : 0644));
    if (!file.ok()) return system_error("opening for writing", temporary, errno);
    status = write_all(file.get(), data, temporary);
    if (status.ok() && sync == FileSync::yes) {
      status = sync_descriptor(file.get(), false, temporary);
    }
  }
  if (status.ok()) status = replace_file(temporary, path);
  if (!status.ok()) {
    ::unlinkat(AT_FDCWD, temporary.c_str(), 0);
  } else if (sync == FileSync::yes) {
    status = sync_folder_at(parent_of(path));
  }
  return status;
}

}  // namespace idletune
