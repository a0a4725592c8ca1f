#include "platform/binary_cache.hpp"

#include <idletune/text.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <list>
#include <string_view>

#include "models/core/digest.hpp"
#include "platform/os/clock.hpp"
#include "platform/os/error.hpp"
#include "platform/os/storage.hpp"

namespace idletune {
namespace {

constexpr char kCacheMagic[8] = {'I', 'T', 'B', 'I', 'N', 'A', 'R', 'Y'};
constexpr std::uint32_t kCacheVersion = 1;
constexpr std::size_t kHeaderBytes = 56;
constexpr std::size_t kHeaderChecksumAt = 52;
constexpr std::string_view kSuffix = ".itbinary";
constexpr std::time_t kRenewAfterSeconds = 86400;     // spares the flash a write per start
constexpr std::time_t kAbandonedAfterSeconds = 3600;  // temporaries of writers that died

void put(std::uint8_t* at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint64_t get(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{at[i]} << (8 * i);
  return value;
}

void fill_header(std::uint8_t* header, const BinaryKey& key, Bytes binary) {
  std::memcpy(header, kCacheMagic, sizeof kCacheMagic);
  put(header + 8, kCacheVersion, 4);
  put(header + 12, kHeaderBytes, 4);
  put(header + 16, key.driver, 8);
  put(header + 24, key.source, 8);
  put(header + 32, key.build, 8);
  put(header + 40, binary.size(), 8);
  put(header + 48, crc32c(binary), 4);
  put(header + kHeaderChecksumAt, crc32c({header, kHeaderChecksumAt}), 4);
}

bool is_intact(Bytes file, const BinaryKey& key) {
  if (file.size() <= kHeaderBytes) return false;
  // The payload's own size and checksum are part of the header, so one comparison settles all.
  std::uint8_t expected[kHeaderBytes];
  fill_header(expected, key, file.subspan(kHeaderBytes));
  return std::memcmp(file.data(), expected, kHeaderBytes) == 0 &&
         get(file.data() + 40, 8) == file.size() - kHeaderBytes;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

struct CachedFile {
  std::string path;
  std::uint64_t size_bytes;
  std::time_t used;
};

// The binaries in `folder`; deletes what dead writers left behind. Other files are not touched.
std::list<CachedFile> scan(const std::string& folder) {
  std::list<CachedFile> files;
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return files;
  const std::int64_t now = real_clock().unix_seconds();
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name.find(kSuffix) == std::string_view::npos) continue;
    std::string path = joined("%/%", folder, entry->d_name);
    struct stat status {};
    if (::fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    if (!ends_with(name, kSuffix)) {
      if (now - status.st_mtime > kAbandonedAfterSeconds) ::unlinkat(AT_FDCWD, path.c_str(), 0);
      continue;
    }
    files.push_back({std::move(path), static_cast<std::uint64_t>(status.st_size), status.st_mtime});
  }
  ::closedir(listing);
  return files;
}

void renew(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (real_clock().unix_seconds() - status.st_mtime > kRenewAfterSeconds) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  }
}

}  // namespace

BinaryCache::BinaryCache(std::string folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

BinaryCache::Lookup BinaryCache::find(const BinaryKey& key, std::vector<std::uint8_t>& binary) {
  if (!enabled()) return Lookup::absent;
  const std::string path = path_of(key);
  const std::uint64_t limit = std::min<std::uint64_t>(limit_bytes_ / 4 + kHeaderBytes, SIZE_MAX);
  auto file = read_file(path, static_cast<std::size_t>(limit));
  if (!file.ok()) return Lookup::absent;  // perhaps for a moment
  if (!is_intact(*file, key)) {
    drop(key);
    return Lookup::damaged;
  }
  renew(path);
  binary.assign(file->begin() + kHeaderBytes, file->end());
  return Lookup::hit;
}

Status BinaryCache::store(const BinaryKey& key, Bytes binary) {
  if (!enabled() || binary.empty() || binary.size() > limit_bytes_ / 4) return {};
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("creating the program cache", folder_, errno);
  }
  if (!make_room(kHeaderBytes + binary.size())) {
    return Status(StatusCode::no_space, "%: the disk has no room for a program of % bytes", folder_,
                  binary.size());
  }
  std::vector<std::uint8_t> file(kHeaderBytes + binary.size());
  fill_header(file.data(), key, binary);
  std::memcpy(file.data() + kHeaderBytes, binary.data(), binary.size());
  return write_file_atomically(path_of(key), file, FileSync::yes, FileReaders::owner);
}

void BinaryCache::drop(const BinaryKey& key) {
  if (enabled()) ::unlinkat(AT_FDCWD, path_of(key).c_str(), 0);
}

std::string BinaryCache::path_of(const BinaryKey& key) const {
  const std::uint64_t value = Digest().add(key.driver).add(key.source).add(key.build).value();
  return joined("%/%%", folder_, hexadecimal(value), kSuffix);
}

bool BinaryCache::make_room(std::uint64_t bytes) {
  std::list<CachedFile> files = scan(folder_);
  std::uint64_t held_bytes = 0;
  for (const CachedFile& file : files) held_bytes += file.size_bytes;
  struct statvfs disk {};
  const bool known = ::statvfs(folder_.c_str(), &disk) == 0;
  const std::uint64_t limit =
      known ? within(limit_bytes_, held_bytes, std::uint64_t{disk.f_bavail} * disk.f_frsize)
            : limit_bytes_;
  if (bytes > limit / 4 + kHeaderBytes) return false;
  while (!files.empty() && held_bytes + bytes > limit) {
    const auto oldest =
        std::min_element(files.begin(), files.end(), [](const CachedFile& a, const CachedFile& b) {
          return a.used != b.used ? a.used < b.used : a.path < b.path;
        });
    if (::unlinkat(AT_FDCWD, oldest->path.c_str(), 0) == 0) held_bytes -= oldest->size_bytes;
    files.erase(oldest);
  }
  return true;
}

}  // namespace idletune
