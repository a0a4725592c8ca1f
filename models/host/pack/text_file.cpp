#include "models/host/pack/text_file.hpp"

#include <cstddef>
#include <cstdio>
#include <memory>

#include "models/core/plain_file.hpp"

namespace idletune {
namespace {

constexpr std::size_t kMaxFileBytes = 16u << 20;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<std::string> read_text(const std::string& path) {
  if (is_no_plain_file(path)) {
    return Status(StatusCode::invalid_argument, "'" + path + "' is not a plain file");
  }
  std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) return Status(StatusCode::not_found, "'" + path + "' cannot be opened for reading");
  std::string text;
  char block[16384];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    text.append(block, count);
    if (text.size() > kMaxFileBytes) {
      return Status(StatusCode::out_of_memory, "'" + path + "' is larger than " +
                                                   std::to_string(kMaxFileBytes >> 20) + " MiB");
    }
  }
  if (std::ferror(file.get())) return Status(StatusCode::io_error, "'" + path + "' cannot be read");
  return text;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string file_name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace idletune
