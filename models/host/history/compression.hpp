// zlib and gzip in memory, with limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// A zlib stream of the bytes.
std::vector<std::uint8_t> deflate_bytes(Bytes raw);

// The raw bytes of a zlib stream that must hold exactly `raw_bytes`. Error: corrupt.
Result<std::vector<std::uint8_t>> inflate_bytes(Bytes compressed, std::size_t raw_bytes);

// Whether the bytes begin like a gzip file.
bool has_gzip_magic(Bytes bytes);

struct Gunzipped {
  std::string_view text;   // in the bytes given, or in `unpacked`
  bool truncated = false;  // the stream ended early or was damaged; `text` is what came before
};
// A gzip file's content (several members in a row included), put into `unpacked`; bytes without
// gzip's magic number are the content themselves. Error: out_of_memory past `limit_bytes`.
Result<Gunzipped> gunzip(Bytes bytes, std::size_t limit_bytes, const std::string& name,
                         std::string& unpacked);

}  // namespace idletune
