#include "platform/board/sysfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "models/core/order.hpp"

namespace idletune::sysfs {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\0'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Text::Text(const std::string& path) {
  // Without O_NONBLOCK a fifo in the sensor's place would hang the caller.
  const int descriptor = ::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, bytes_, sizeof bytes_ - 1);
  } while (count < 0 && errno == EINTR);
  ::close(descriptor);
  if (count <= 0) return;
  end_ = static_cast<std::size_t>(count);
  while (end_ > begin_ && is_space(bytes_[end_ - 1])) --end_;
  while (begin_ < end_ && is_space(bytes_[begin_])) ++begin_;
}

std::optional<std::int64_t> take_integer(std::string_view& text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (negative) ++at;
  if (at >= text.size() || !is_digit(text[at])) return std::nullopt;
  std::int64_t value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    const int digit = text[at] - '0';
    if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  text.remove_prefix(at);
  return negative ? -value : value;
}

std::optional<std::int64_t> read_integer(const std::string& path) {
  const Text text(path);
  std::string_view rest = text.view();
  const auto value = take_integer(rest);
  return rest.empty() ? value : std::nullopt;
}

std::optional<std::int64_t> read_integer(const std::string& folder, const char* name) {
  return read_integer(folder + name);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
bool exists(const std::string& folder, const char* name) { return exists(folder + name); }

std::vector<std::string> names_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name.substr(0, prefix.size()) != prefix) continue;
    names.push_back(std::string(name));
    if (names.size() == kMaxNames) break;
  }
  ::closedir(listing);
  sort_stably(names, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

bool is_gpu(std::string_view name) {
  const auto contains = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (contains("gpubw") || contains("busmon")) return false;
  static constexpr char kParts[][6] = {"gpu", "mali", "ga10b", "gv11b", "gp10b", "gm20b", "kgsl"};
  for (const std::string_view part : kParts) {
    if (contains(part)) return true;
  }
  return false;
}

}  // namespace idletune::sysfs
