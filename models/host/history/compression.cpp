#include "models/host/history/compression.hpp"

#include <limits>

#include <zlib.h>

namespace idletune {

namespace {

// An inflating z_stream that is always ended.
class Inflater {
 public:
  Inflater(Bytes input, int window_bits) {
    stream_.next_in = const_cast<Bytef*>(input.data());  // zlib's interface; it only reads
    stream_.avail_in = static_cast<uInt>(input.size());
    ready_ = inflateInit2(&stream_, window_bits) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

bool has_gzip_magic(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> deflate_bytes(Bytes raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::vector<std::uint8_t> compressed(size);
  // Cannot fail: the buffer is large enough and the level valid; out of memory throws elsewhere.
  static const Bytef kNothing = 0;
  const Bytef* data = raw.empty() ? &kNothing : raw.data();
  if (compress2(compressed.data(), &size, data, static_cast<uLong>(raw.size()), 6) != Z_OK)
    return {};
  compressed.resize(size);
  return compressed;
}

Result<std::vector<std::uint8_t>> inflate_bytes(Bytes compressed, std::size_t raw_bytes) {
  // Deflate cannot shrink by more than 1032 to 1: refuse promises that would only take memory.
  if (raw_bytes / 1040 > compressed.size())
    return Status(StatusCode::corrupt, "an impossible size");
  std::vector<std::uint8_t> raw(raw_bytes + 1);
  uLongf size = static_cast<uLongf>(raw.size());
  const int code =
      uncompress(raw.data(), &size, compressed.data(), static_cast<uLong>(compressed.size()));
  if (code != Z_OK || size != raw_bytes)
    return Status(StatusCode::corrupt, "a damaged zlib stream");
  raw.resize(raw_bytes);
  return raw;
}

Result<Gunzipped> gunzip(Bytes bytes, std::size_t limit_bytes, const std::string& name,
                         std::string& unpacked) {
  Status too_large(
      StatusCode::out_of_memory,
      name + ": more than " + std::to_string(limit_bytes >> 20) + " MiB when unpacked");
  Gunzipped result;
  if (!has_gzip_magic(bytes)) {
    if (bytes.size() > limit_bytes) return too_large;
    result.text = std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return result;
  }
  if (bytes.size() > std::numeric_limits<uInt>::max()) return too_large;
  Inflater inflater(bytes, 15 + 16);
  if (!inflater.ready()) return Status(StatusCode::internal, name + ": zlib did not start");
  z_stream& stream = inflater.stream();
  unpacked.clear();
  std::vector<char> chunk(std::size_t{1} << 18);
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    const std::size_t more = chunk.size() - stream.avail_out;
    if (more > limit_bytes - unpacked.size()) return too_large;
    unpacked.append(chunk.data(), more);
    if (code == Z_STREAM_END) {
      const Bytes rest(stream.next_in, stream.avail_in);
      if (!has_gzip_magic(rest)) break;
      if (inflateReset(&stream) != Z_OK) break;
    } else if (code != Z_OK) {
      result.truncated = true;
      break;
    }
  }
  result.text = unpacked;
  return result;
}

}  // namespace idletune
