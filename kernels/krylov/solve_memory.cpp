#include "kernels/krylov/solve_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace idletune::krylov {
namespace {

constexpr std::size_t kBytes = 56;
constexpr std::uint32_t kMagic = 0x4d4b5449;  // "ITKM"
constexpr std::uint32_t kVersion = 1;
constexpr double kSame = 1.25;  // times of which one is less than this times the other

// FNV-1a: another byte anywhere gives another number.
class Fnv {
 public:
  Fnv& add(Bytes bytes) {
    for (const std::uint8_t byte : bytes) value_ = (value_ ^ byte) * 0x100000001b3ULL;
    return *this;
  }
  Fnv& add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      const auto byte = static_cast<std::uint8_t>(number >> (8 * i));
      add(Bytes(&byte, 1));
    }
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void put(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t take(Bytes from, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) value = value << 8 | from[at + i - 1];
  return value;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double number_at(Bytes from, std::size_t at) {
  const std::uint64_t bits = take(from, at, 8);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool similar(double a, double b) { return a <= kSame * b && b <= kSame * a; }

bool similar(const SolveMemory& a, const SolveMemory& b) {
  return a.format == b.format && same(a.variant, b.variant) && a.reverted == b.reverted &&
         similar(a.iterations, b.iterations) && similar(a.product_us, b.product_us) &&
         similar(a.csr_us, b.csr_us);
}

Bytes bytes_of(const std::vector<std::int32_t>& numbers) {
  return {reinterpret_cast<const std::uint8_t*>(numbers.data()),
          numbers.size() * sizeof(std::int32_t)};
}

// At most one byte more than there should be, of a plain file. False: there is nothing, or `fault`
// says why not.
bool read(const std::string& path, std::vector<std::uint8_t>& bytes, std::string& fault) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat info {};
  ssize_t got = -1;
  if (file >= 0 && ::fstat(file, &info) == 0) {
    bytes.resize(kBytes + 1);
    if (S_ISREG(info.st_mode)) got = ::read(file, bytes.data(), bytes.size());
    if (got >= 0) bytes.resize(static_cast<std::size_t>(got));
  }
  if (file < 0 && errno == ENOENT) return false;
  if (got < 0)
    fault = file >= 0 && !S_ISREG(info.st_mode) ? "not a plain file" : std::strerror(errno);
  if (file >= 0) ::close(file);
  return got >= 0;
}

// Beside it first, under a name of its own: nobody finds half of it.
bool write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::string part = path + ".XXXXXX";
  const int file = ::mkostemp(&part[0], O_CLOEXEC);
  if (file < 0) return false;
  const bool whole = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(kBytes);
  const bool fine = ::close(file) == 0 && whole && ::rename(part.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (!fine) ::unlink(part.c_str());
  errno = error;
  return fine;
}

}  // namespace

std::vector<std::uint8_t> bytes_of(const SolveMemory& memory, std::uint64_t key) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kBytes);
  put(bytes, kMagic, 4);
  put(bytes, kVersion, 4);
  put(bytes, key, 8);
  put(bytes, memory.iterations, 4);
  put(bytes, static_cast<std::uint64_t>(memory.format), 2);
  put(bytes, memory.reverted ? 1 : 0, 2);
  put(bytes, static_cast<std::uint32_t>(memory.variant.kind), 4);
  put(bytes, static_cast<std::uint32_t>(memory.variant.work_group), 4);
  put(bytes, bits_of(memory.product_us), 8);
  put(bytes, bits_of(memory.csr_us), 8);
  put(bytes, Fnv().add(Bytes(bytes)).value(), 8);
  return bytes;
}

Result<SolveMemory> memory_in(Bytes bytes, std::uint64_t key) {
  if (bytes.size() != kBytes || take(bytes, 0, 4) != kMagic)
    return {StatusCode::corrupt, "no memory of solves"};
  if (take(bytes, 4, 4) != kVersion) return {StatusCode::corrupt, "of another version"};
  if (take(bytes, kBytes - 8, 8) != Fnv().add(Bytes(bytes.data(), kBytes - 8)).value())
    return {StatusCode::corrupt, "damaged"};
  SolveMemory memory;
  memory.iterations = static_cast<std::uint32_t>(take(bytes, 16, 4));
  const std::uint64_t format = take(bytes, 20, 2);
  memory.format = static_cast<SparseFormat>(format);
  memory.reverted = take(bytes, 22, 2) != 0;
  memory.variant.kind = static_cast<std::int32_t>(take(bytes, 24, 4));
  memory.variant.work_group = static_cast<std::int32_t>(take(bytes, 28, 4));
  memory.product_us = number_at(bytes, 32);
  memory.csr_us = number_at(bytes, 40);
  const bool numbers = memory.product_us >= 0 && std::isfinite(memory.product_us) &&
                       memory.csr_us >= 0 && std::isfinite(memory.csr_us);
  if (take(bytes, 8, 8) != key || format >= kSparseFormats || !numbers)
    return {StatusCode::corrupt, "not of this structure"};
  return memory;
}

void MemoryFile::open(const std::string& folder, const DeviceInfo& device, std::size_t number_bytes,
                      const SparsityPattern& pattern) {
  if (folder.empty()) return;
  Fnv digest;
  digest.add({reinterpret_cast<const std::uint8_t*>(device.name.data()), device.name.size()});
  digest.add(device.driver_key()).add(number_bytes);
  digest.add(static_cast<std::uint64_t>(pattern.rows));
  digest.add(static_cast<std::uint64_t>(pattern.columns));
  digest.add(bytes_of(pattern.row_start)).add(bytes_of(pattern.column));
  key_ = digest.value();
  char name[32] = "/";
  for (int i = 0; i < 16; ++i) name[1 + i] = "0123456789abcdef"[key_ >> (60 - 4 * i) & 15];
  path_ = folder + name + ".itsolves";
  std::vector<std::uint8_t> bytes;
  std::string fault;
  const bool is_there = read(path_, bytes, fault);
  if (!is_there && fault.empty()) {
    note_ = "nothing was known of this structure";
    return;
  }
  const auto memory =
      is_there ? memory_in(bytes, key_) : Result<SolveMemory>(StatusCode::corrupt, {fault});
  known_ = memory.ok();
  if (known_) memory_ = *memory;
  note_ = known_ ? joined("the last solve took % iterations, in %", memory_.iterations,
                          sparse_format_name(memory_.format))
                 : joined("%: %; done without it", path_, memory.status().message());
}

void MemoryFile::keep(const SolveMemory& memory) {
  if (path_.empty() || (known_ && similar(memory, memory_))) return;
  memory_ = memory;
  known_ = true;
  if (!write(path_, bytes_of(memory, key_)))
    note_ = joined("%: cannot be written: %", path_, std::strerror(errno));
}

}  // namespace idletune::krylov
