#include "platform/os/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include <idletune/text.hpp>

#include "platform/os/error.hpp"

namespace idletune {
namespace {

bool is_in_memory(int file) {
  constexpr unsigned long kTmpfs = 0x01021994, kRamfs = 0x858458f6;
  struct statfs found {};
  if (::fstatfs(file, &found) != 0) return false;
  const auto kind = static_cast<unsigned long>(found.f_type) & 0xffffffffu;
  return kind == kTmpfs || kind == kRamfs;
}

// One that nobody else can have made, and that has room: writing to it cannot fail later.
int usable(const std::string& path, std::size_t bytes) {
  const int file = ::openat(AT_FDCWD, path.c_str(),
                            O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return -1;
  struct stat status {};
  const bool ours = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
  const WithinFileLimit limit;
  if (ours && is_in_memory(file)) {
    errno = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
    if (errno == 0) return file;
  }
  ::close(file);
  return -1;
}

}  // namespace

std::vector<std::string> MemoryFile::usual_places() {
  return {joined("/run/user/%", static_cast<std::uint64_t>(::geteuid())), "/dev/shm"};
}

Result<std::unique_ptr<MemoryFile>> MemoryFile::open(const std::string& about, std::size_t bytes,
                                                     const std::vector<std::string>& places) {
  struct stat folder {};
  if (::stat(about.c_str(), &folder) != 0) return system_error("find", about, errno);
  const std::string name =
      joined("/idletune-%-%-%", static_cast<std::uint64_t>(::geteuid()),
             static_cast<std::uint64_t>(folder.st_dev), static_cast<std::uint64_t>(folder.st_ino));
  for (const std::string& place : places) {
    std::string path = place + name;
    const int file = usable(path, bytes);
    if (file < 0) continue;
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (data == MAP_FAILED) continue;
    return std::unique_ptr<MemoryFile>(new MemoryFile(data, bytes, std::move(path)));
  }
  return Status(StatusCode::unsupported, "no folder in memory");
}

void MemoryFile::remove() const { (void)::unlinkat(AT_FDCWD, path_.c_str(), 0); }

MemoryFile::~MemoryFile() { ::munmap(data_, bytes_); }

}  // namespace idletune
