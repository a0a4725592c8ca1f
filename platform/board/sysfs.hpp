// Reading the small text files of sysfs. Nothing here fails loudly: what cannot be read is absent.
#pragma once

#include <idletune/text.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idletune::sysfs {

// The content of a small file (at most 255 bytes of it) without surrounding white space, valid
// while the object lives. Empty for a file that is not there, is a folder, or whose driver answers
// an error. No allocation where the path is given whole, here and below.
class Text {
 public:
  explicit Text(const std::string& path);
  Text(const std::string& folder, const char* name) : Text(folder + name) {}
  std::string_view view() const { return {bytes_ + begin_, end_ - begin_}; }

 private:
  char bytes_[256];
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// The decimal number at the beginning of `text` ("45" of "45@800000000Hz" and of "45 %"), which is
// cut off it together with the white space before. Nothing if there is none or it does not fit.
std::optional<std::int64_t> take_integer(std::string_view& text);

// The number that is the file's whole content.
std::optional<std::int64_t> read_integer(const std::string& path);
std::optional<std::int64_t> read_integer(const std::string& folder, const char* name);

bool exists(const std::string& path);
bool exists(const std::string& folder, const char* name);

// The names in a folder that begin with `prefix`, zone2 before zone10; at most kMaxNames. Empty for
// a folder that is not there.
inline constexpr std::size_t kMaxNames = 128;
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix = {});

// Whether a devfreq device of this name is the GPU itself (and not the bus bandwidth it asks for).
bool is_gpu(std::string_view name);

}  // namespace idletune::sysfs
