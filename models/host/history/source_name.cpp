#include "models/host/history/source_name.hpp"

#include <algorithm>
#include <iterator>

namespace idletune {

SourceName name_from_path(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  for (const char* ending : {".gz", ".json", ".xml", ".ithistory", ".t4"}) {
    const std::string suffix(ending);
    const bool ends = stem.size() > suffix.size() &&
                      stem.compare(stem.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (ends) stem.resize(stem.size() - suffix.size());
  }
  SourceName name;
  const std::size_t dash = stem.find('-');
  name.kernel = stem.substr(0, dash);
  if (dash == std::string::npos) return name;
  name.device = stem.substr(dash + 1);
  const std::size_t run = name.device.rfind("-run");
  if (run != std::string::npos && run > 0) name.device.resize(run);
  std::replace(name.device.begin(), name.device.end(), '_', ' ');
  return name;
}

bool names_a_device(const std::string& name) {
  static const char* const kHosts[] = {"",      "x86_64",  "amd64", "aarch64",
                                       "arm64", "ppc64le", "i686"};
  return std::find(std::begin(kHosts), std::end(kHosts), name) == std::end(kHosts);
}

}  // namespace idletune
