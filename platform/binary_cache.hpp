// Compiled programs on the flash, so that the second start and the second process do not compile.
// The bytes are described in platform/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// What a compiled program depends on.
struct BinaryKey {
  std::uint64_t driver = 0;  // DeviceInfo::driver_key
  std::uint64_t source = 0;  // digest of the source text
  std::uint64_t build = 0;   // digest of entry point and options
};

// A folder of binaries, one file per key. Files are written atomically and checked completely
// before their content is handed out: drivers are known to abort the process on damaged binaries.
// Several processes may use one folder; used by one thread at a time.
class BinaryCache {
 public:
  enum class Lookup : std::uint8_t { hit, absent, damaged };

  // A cache that never holds anything.
  BinaryCache() = default;
  // `folder` is created (one level) when the first binary is stored. Empty: nothing is held until
  // begin_in().
  BinaryCache(std::string folder, std::uint64_t limit_bytes);

  // Goes into `folder` if it has none yet.
  void begin_in(const std::string& folder) {
    if (!enabled()) folder_ = folder;
  }
  bool enabled() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  // `hit` fills `binary` and renews the file's claim to stay. A damaged file is deleted.
  Lookup find(const BinaryKey& key, std::vector<std::uint8_t>& binary);
  // Deletes the files unused for longest until the binary has room within the limit, and stores it.
  // Binaries larger than a quarter of the limit are not stored (ok). Errors: of
  // write_file_atomically; no_space also where the disk leaves too little within(); io_error where
  // the folder cannot be created.
  Status store(const BinaryKey& key, Bytes binary);
  // Deletes the file of `key`, if there is one.
  void drop(const BinaryKey& key);
  // The limit in force: half of what the disk would have free without the cache, at most. The
  // journal is on that disk as well.
  static std::uint64_t within(std::uint64_t limit_bytes, std::uint64_t held_bytes,
                              std::uint64_t free_bytes) {
    const std::uint64_t half = held_bytes / 2 + free_bytes / 2;
    return half < limit_bytes ? half : limit_bytes;
  }

 private:
  std::string path_of(const BinaryKey& key) const;
  bool make_room(std::uint64_t bytes);

  std::string folder_;
  std::uint64_t limit_bytes_ = 0;
};

}  // namespace idletune
