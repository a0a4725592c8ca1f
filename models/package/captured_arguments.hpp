// Arguments that an application lent, for tuning on real data (*.itcapture). The page on the bytes
// is models/package/format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/scalar.hpp>
#include <idletune/span.hpp>

#include "models/package/package_specs.hpp"

namespace idletune {

// Of one problem. Views point into the bytes, which move with it.
class CapturedArguments {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  struct Array {
    std::string_view name;
    ScalarType type = ScalarType::f32;
    Bytes data;
  };

  CapturedArguments() = default;
  CapturedArguments(CapturedArguments&&) noexcept = default;
  CapturedArguments& operator=(CapturedArguments&&) noexcept = default;

  // What the package's captured buffers are at the shape, all zero: data() is then filled in, and
  // seal() ends it. Errors: those of KernelPackage::buffer_bytes; invalid_argument (the package has
  // no captured buffer); out_of_memory (more than `limit_bytes`).
  static Result<CapturedArguments> make(const KernelPackage& package, const Shape& shape,
                                        std::uint64_t limit_bytes);
  MutableBytes writable(std::size_t array);
  void seal();

  // Takes a file's bytes and verifies them. `file_name` is for messages. Errors: corrupt,
  // version_mismatch (of a later version).
  static Result<CapturedArguments> open(std::vector<std::uint8_t> bytes,
                                        std::string_view file_name);
  // Whether the package can be tuned with them: each of its captured buffers is there, of its type
  // and of its length at the shape, with every index below its bound. Error: invalid_argument,
  // naming buffer and element; those of KernelPackage::buffer_bytes.
  Status check(const KernelPackage& package) const;

  std::string_view kernel() const { return kernel_; }
  const Shape& shape() const { return shape_; }
  Span<const Array> arrays() const { return {arrays_.data(), arrays_.size()}; }
  const Array* find(std::string_view name) const;  // null: there is none
  Bytes bytes() const { return Bytes(bytes_); }
  std::uint64_t digest() const { return digest_in(bytes()); }  // of everything in it

  // The digest that a file with this beginning has if it is intact; 0 where it is none.
  static constexpr std::size_t kBeginningBytes = 16;
  static std::uint64_t digest_in(Bytes beginning);

 private:
  Status verify() const;  // the first bytes, and the digest
  Status read();          // the rest

  std::vector<std::uint8_t> bytes_;
  std::string_view kernel_;
  Shape shape_;
  std::vector<Array> arrays_;
};

}  // namespace idletune
