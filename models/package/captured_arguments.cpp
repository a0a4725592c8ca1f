#include "models/package/captured_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <idletune/text.hpp>

#include "models/core/digest.hpp"
#include "models/core/scalar.hpp"
#include "models/package/kernel_package.hpp"
#include "models/space/identifier.hpp"

namespace idletune {
namespace {

constexpr char kMagic[4] = {'I', 'T', 'C', '1'};
constexpr std::uint32_t kVersion = 1;

// As they are stored, by a little-endian machine.
struct CaptureHeader {
  char magic[4];
  std::uint32_t version;
  std::uint64_t digest;  // of all that follows
  std::uint8_t dimensions;
  std::uint8_t features;
  std::uint8_t arrays;
  std::uint8_t kernel_length;
  std::uint32_t zero;
};
static_assert(sizeof(CaptureHeader) == 24);

struct ArrayHeader {
  std::uint8_t type;
  std::uint8_t name_length;
  std::uint8_t zero[6];
  std::uint64_t bytes;
};
static_assert(sizeof(ArrayHeader) == 16);

constexpr std::size_t kDigestFrom = 16;

std::size_t padding(std::size_t size) { return (8 - size % 8) % 8; }

Status corrupt(const char* why) { return Status(StatusCode::corrupt, why); }

Status wrong_array(std::string_view name, const std::string& why) {
  return Status(StatusCode::invalid_argument, "captured buffer '%': %", name, why);
}

Status check_indices(const CapturedArguments::Array& array, std::uint64_t bound) {
  const std::size_t size = scalar_size_bytes(array.type);
  for (std::size_t at = 0; at < array.data.size(); at += size) {
    const std::uint64_t index = load_integer(array.type, array.data.data() + at);
    if (index < bound) continue;
    const bool negative = is_signed(array.type) && index >> 63 != 0;
    return wrong_array(array.name,
                       joined("element % is %%, expected 0 to %", at / size, negative ? "-" : "",
                              negative ? 0 - index : index, bound - 1));
  }
  return {};
}

// Takes bytes from the front; nothing once there are too few.
class FrontReader {
 public:
  explicit FrontReader(Bytes rest) : rest_(rest) {}
  Bytes take(std::uint64_t size) {
    if (size > rest_.size()) {
      good_ = false;
      size = 0;
    }
    const Bytes taken = rest_.subspan(0, static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  template <class T>
  T value() {
    T result{};
    const Bytes taken = take(sizeof(T));
    if (!taken.empty()) std::memcpy(&result, taken.data(), sizeof(T));
    return result;
  }
  std::string_view text(std::size_t size) {
    const Bytes taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  bool at_end() const { return good_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  Bytes rest_;
  bool good_ = true;
};

class BackWriter {
 public:
  explicit BackWriter(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  void put(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::uint8_t*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void pad() { bytes_.resize(bytes_.size() + padding(bytes_.size())); }

 private:
  std::vector<std::uint8_t>& bytes_;
};

}  // namespace

std::uint64_t CapturedArguments::digest_in(Bytes beginning) {
  CaptureHeader header{};
  if (beginning.size() < kBeginningBytes) return 0;
  std::memcpy(&header, beginning.data(), kBeginningBytes);
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 ? header.digest : 0;
}

Result<CapturedArguments> CapturedArguments::make(const KernelPackage& package, const Shape& shape,
                                                  std::uint64_t limit_bytes) {
  std::vector<std::uint8_t> list;
  BackWriter records(list);
  std::string names(package.name());
  std::uint64_t total = 0;
  std::size_t behind = 0;  // bytes of the data, each padded
  limit_bytes = std::min<std::uint64_t>(limit_bytes, kMaxBytes / 2);
  CaptureHeader header{};
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (!spec.captured) continue;
    const Result<std::uint64_t> bytes =
        package.buffer_bytes(i, shape, package.default_configuration());
    if (!bytes.ok()) return bytes.status();
    ++header.arrays;
    total += *bytes;
    if (total > limit_bytes) {
      return Status(StatusCode::out_of_memory,
                    "kernel '%': more than the limit of % bytes would be captured", package.name(),
                    limit_bytes);
    }
    const ArrayHeader record{static_cast<std::uint8_t>(spec.type),
                             static_cast<std::uint8_t>(spec.name.size()),
                             {},
                             *bytes};
    records.put(&record, sizeof record);
    const auto size = static_cast<std::size_t>(*bytes);
    behind += size + padding(size);
    names += spec.name;
  }
  if (header.arrays == 0) {
    return Status(StatusCode::invalid_argument, "kernel '%': its package has no captured buffer",
                  package.name());
  }
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.dimensions = static_cast<std::uint8_t>(shape.size());
  header.features = static_cast<std::uint8_t>(shape.feature_count());
  header.kernel_length = static_cast<std::uint8_t>(package.name().size());
  CapturedArguments made;
  BackWriter file(made.bytes_);
  file.put(&header, sizeof header);
  file.put(shape.words().data(), shape.words().size() * sizeof(std::int64_t));
  file.put(list.data(), list.size());
  file.put(names.data(), names.size());
  file.pad();
  // Data need no copy here: they are behind, each at a multiple of eight.
  made.bytes_.resize(made.bytes_.size() + behind);
  if (Status status = made.read(); !status.ok()) return status;
  return made;
}

MutableBytes CapturedArguments::writable(std::size_t array) {
  const Bytes data = arrays_[array].data;
  return {bytes_.data() + (data.data() - bytes_.data()), data.size()};
}

void CapturedArguments::seal() {
  const std::uint64_t digest = digest_of(bytes().subspan(kDigestFrom));
  std::memcpy(bytes_.data() + offsetof(CaptureHeader, digest), &digest, sizeof digest);
}

Result<CapturedArguments> CapturedArguments::open(std::vector<std::uint8_t> bytes,
                                                  std::string_view file_name) {
  CapturedArguments opened;
  opened.bytes_ = std::move(bytes);
  Status status = opened.verify();
  if (status.ok()) status = opened.read();
  if (status.ok()) return opened;
  return Status(status.code(), "captured arguments '%': %", file_name, status.message());
}

Status CapturedArguments::verify() const {
  const auto header = FrontReader(bytes()).value<CaptureHeader>();
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return corrupt("expected a file that begins with ITC1");
  }
  if (header.version != kVersion) {
    return Status(StatusCode::version_mismatch, "version % of the format, expected %",
                  header.version, kVersion);
  }
  if (digest_of(bytes().subspan(kDigestFrom)) != header.digest) {
    return corrupt("damaged (the digest does not match)");
  }
  return {};
}

Status CapturedArguments::read() {
  FrontReader file(bytes());
  const auto header = file.value<CaptureHeader>();
  if (header.dimensions < 1 || header.dimensions > kMaxDimensions ||
      header.features > kMaxFeatures || header.arrays < 1 || header.arrays > kMaxArguments) {
    return corrupt("a number of dimensions, features or buffers is out of range");
  }
  shape_ = Shape();
  for (int i = 0; i < header.dimensions; ++i) shape_.push_back(file.value<std::int64_t>());
  for (int i = 0; i < header.features; ++i) shape_.push_feature(file.value<double>());
  std::array<ArrayHeader, kMaxArguments> records;
  for (int i = 0; i < header.arrays; ++i) records[i] = file.value<ArrayHeader>();
  kernel_ = file.text(header.kernel_length);
  if (!space::is_kernel_name(kernel_)) return corrupt("the kernel's name is no name");
  arrays_ = std::vector<Array>(header.arrays);
  for (int i = 0; i < header.arrays; ++i) {
    if (records[i].type >= kScalarTypeCount) return corrupt("a buffer of an unknown type");
    arrays_[i].name = file.text(records[i].name_length);
    arrays_[i].type = static_cast<ScalarType>(records[i].type);
    if (!space::is_identifier(arrays_[i].name)) return corrupt("a buffer's name is no name");
  }
  (void)file.take(padding(bytes_.size() - file.left()));
  for (int i = 0; i < header.arrays; ++i) {
    arrays_[i].data = file.take(records[i].bytes);
    (void)file.take(padding(arrays_[i].data.size()));
    if (arrays_[i].data.size() % scalar_size_bytes(arrays_[i].type) != 0) {
      return corrupt("a buffer ends within an element");
    }
  }
  return file.at_end() ? Status() : corrupt("its length is not what its header says");
}

const CapturedArguments::Array* CapturedArguments::find(std::string_view name) const {
  for (const Array& array : arrays_) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

Status CapturedArguments::check(const KernelPackage& package) const {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (!spec.captured) continue;
    const Array* array = find(spec.name);
    if (array == nullptr) return wrong_array(spec.name, "missing");
    const Result<std::uint64_t> bytes =
        package.buffer_bytes(i, shape_, package.default_configuration());
    if (!bytes.ok()) return bytes.status();
    if (array->type != spec.type || array->data.size() != *bytes) {
      const std::size_t size = scalar_size_bytes(spec.type);
      return wrong_array(spec.name, joined("% elements of %, expected % of %",
                                           array->data.size() / scalar_size_bytes(array->type),
                                           scalar_type_name(array->type), *bytes / size,
                                           scalar_type_name(spec.type)));
    }
    if (!spec.is_index) continue;
    const Result<std::int64_t> bound = package.index_bound(i, shape_);
    if (!bound.ok()) return bound.status();
    Status status = check_indices(*array, static_cast<std::uint64_t>(*bound));
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace idletune
