#include "agent/cli/kernel_file.hpp"

#include <cerrno>
#include <cstdlib>

#include "models/package/kernel_package.hpp"
#include "models/package/pack.hpp"
#include "models/package/xml.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

Result<std::vector<std::uint8_t>> read_kernel(const std::string& path) {
  const std::string ending = ".xml";
  const bool is_xml = path.size() >= ending.size() &&
                      path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  if (!is_xml) return read_file(path, KernelPackage::kMaxBytes);
  Result<KernelDescription> description = read_kernel_xml(path);
  if (!description.ok()) return description.status();
  return pack(*description);
}

Result<std::vector<std::int64_t>> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  const char* position = text.c_str();
  for (;;) {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(position, &end, 10);
    const bool separated = *end == ',' || *end == 'x';
    if (end == position || errno != 0 || value < 1 || (*end != '\0' && !separated)) {
      return Status(StatusCode::invalid_argument,
                    "shape '" + text + "': expected numbers from 1 on, such as 256,256,256");
    }
    shape.push_back(value);
    if (*end == '\0') return shape;
    position = end + 1;
  }
}

}  // namespace idletune::cli
