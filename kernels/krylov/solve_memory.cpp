#include "kernels/krylov/solve_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace idletune::krylov {
namespace {

// A file of version 0.2.0, little-endian: "ITKM"; the version, 1 (4 bytes); the digest (8); iterations
// (4); the format's number and 1 if CSR won (2 each); kind and work group (4 each); microseconds of a
// product with that kernel and in CSR (8-byte floats); FNV-1a of what is before (8).
constexpr std::size_t kBytes = 56;
constexpr std::uint32_t kMagic = 0x4d4b5449;  // "ITKM"
constexpr std::uint32_t kVersion = 1;
constexpr const char* kMarkNames[] = {"running", "died", "wrong"};
constexpr double kSame = 1.25;  // times of which one is less than this times the other

// FNV-1a: another byte anywhere gives another number.
class Fnv {
 public:
  Fnv() = default;
  explicit Fnv(std::uint64_t from) : value_(from) {}
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

std::uint64_t take(Bytes from, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) value = value << 8 | from[at + i - 1];
  return value;
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

bool read_format(const char* name, SparseFormat& format) {
  for (std::size_t i = 0; i < kSparseFormats; ++i) {
    format = static_cast<SparseFormat>(i);
    if (std::strcmp(name, sparse_format_name(format)) == 0) return true;
  }
  return false;
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

}  // namespace

std::string text_of(const SolveMemory& memory) {
  return joined("solve iterations=% format=% kind=% group=% reverted=% product_ns=% csr_ns=%",
                memory.iterations, sparse_format_name(memory.format), memory.variant.kind,
                memory.variant.work_group, memory.reverted ? 1 : 0,
                std::llround(1e3 * memory.product_us), std::llround(1e3 * memory.csr_us));
}

std::optional<SolveMemory> memory_in(const std::string& text) {
  SolveMemory memory;
  char format[8] = "";
  int reverted = 0, end = 0;
  long long product_ns = -1, csr_ns = -1;
  const int read = std::sscanf(text.c_str(),
                               "solve iterations=%" SCNu32 " format=%7[A-Z] kind=%" SCNd32
                               " group=%" SCNd32 " reverted=%d product_ns=%lld csr_ns=%lld%n",
                               &memory.iterations, format, &memory.variant.kind,
                               &memory.variant.work_group, &reverted, &product_ns, &csr_ns, &end);
  const bool whole = read == 7 && static_cast<std::size_t>(end) == text.size();
  if (!whole || !read_format(format, memory.format) || product_ns < 0 || csr_ns < 0)
    return std::nullopt;
  memory.reverted = reverted != 0;
  memory.product_us = 1e-3 * static_cast<double>(product_ns);
  memory.csr_us = 1e-3 * static_cast<double>(csr_ns);
  return memory;
}

std::string text_of(const KernelMarks& marks) {
  std::string text = "products";
  for (const auto& [kernel, mark] : marks.all()) {
    append(text, " %=%", name_of(kernel), kMarkNames[static_cast<std::size_t>(mark)]);
  }
  return text;
}

KernelMarks marks_in(const std::string& text) {
  KernelMarks marks;
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    ProductKernel kernel;
    char format[8] = "", word[8] = "";
    const int read = std::sscanf(
        text.c_str() + at, " %7[A-Z]/%" SCNd32 "/%" SCNd32 "/%" SCNd32 "=%7[a-z]", format,
        &kernel.variant.kind, &kernel.variant.work_group, &kernel.variant.fused, word);
    if (read != 5 || !read_format(format, kernel.format)) continue;
    for (std::size_t i = 0; i < std::size(kMarkNames); ++i) {
      if (kMarkNames[i] == std::string_view(word)) marks.put(kernel, static_cast<KernelMark>(i));
    }
  }
  return marks;
}

std::uint64_t device_digest(const DeviceInfo& device, std::size_t number_bytes) {
  Fnv digest;
  digest.add({reinterpret_cast<const std::uint8_t*>(device.name.data()), device.name.size()});
  return digest.add(device.driver_key()).add(number_bytes).value();
}

std::string name_of(const ProductKernel& kernel) {
  return joined("%/%/%/%", sparse_format_name(kernel.format), kernel.variant.kind,
                kernel.variant.work_group, kernel.variant.fused);
}

Result<SolveMemory> memory_in_file(Bytes bytes, std::uint64_t key) {
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

void StructureMemory::open(const SolverOptions& options, const DeviceInfo& device,
                           std::size_t number_bytes, const SparsityPattern& pattern) {
  notes_ = options.notes;
  if (notes_ == nullptr && options.memory_folder.empty()) return;
  Fnv digest(device_digest(device, number_bytes));
  digest.add(static_cast<std::uint64_t>(pattern.rows));
  digest.add(static_cast<std::uint64_t>(pattern.columns));
  digest.add(bytes_of(pattern.row_start)).add(bytes_of(pattern.column));
  key_ = digest.value();
  note_ = "nothing was known of this structure";
  const auto noted =
      notes_ != nullptr ? memory_in(notes_->noted(key_)) : std::optional<SolveMemory>();
  kept_ = noted.has_value();
  if (noted) return take(*noted);
  if (!options.memory_folder.empty()) read_file(options.memory_folder);
}

void StructureMemory::take(const SolveMemory& memory) {
  known_ = true;
  memory_ = memory;
  note_ = joined("the last solve took % iterations, in %", memory.iterations,
                 sparse_format_name(memory.format));
}

// Of an earlier version, which is left as it is.
void StructureMemory::read_file(const std::string& folder) {
  char name[32] = "/";
  for (int i = 0; i < 16; ++i) name[1 + i] = "0123456789abcdef"[key_ >> (60 - 4 * i) & 15];
  const std::string path = folder + name + ".itsolves";
  std::vector<std::uint8_t> bytes;
  std::string fault;
  const bool is_there = read(path, bytes, fault);
  if (!is_there && fault.empty()) return;
  const auto memory =
      is_there ? memory_in_file(bytes, key_) : Result<SolveMemory>(StatusCode::corrupt, {fault});
  if (memory.ok()) return take(*memory);
  note_ = joined("%: %; done without it", path, memory.status().message());
}

bool StructureMemory::keep(const SolveMemory& memory) {
  if (notes_ == nullptr || (known_ && similar(memory, memory_) && kept_)) return false;
  memory_ = memory;
  known_ = kept_ = true;
  notes_->note(key_, text_of(memory));
  return true;
}

}  // namespace idletune::krylov
