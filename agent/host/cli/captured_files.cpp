#include "agent/host/cli/captured_files.hpp"

#include <filesystem>

#include "agent/host/report/numbers.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

Result<CapturedArguments> read_captured(const std::string& path) {
  return CapturedArguments::open(must(read_file(path, CapturedArguments::kMaxBytes)), path);
}

std::vector<std::string> captured_below(const std::string& state_folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(state_folder + "/captures", error), end;
       !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".itcapture") found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

json describe_captured(const CapturedArguments& captured) {
  const Shape& shape = captured.shape();
  const json buffers =
      list_of(captured.arrays(), [](const CapturedArguments::Array& array) -> json {
        return {{"name", std::string(array.name)},
                {"type", scalar_type_name(array.type)},
                {"elements", array.data.size() / scalar_size_bytes(array.type)}};
      });
  return {
      {"format", "captured arguments"},
      {"kernel", std::string(captured.kernel())},
      {"shape", report::shape_object(shape)},
      {"features", list_of(shape.feature_count(), [&](std::size_t i) { return shape.feature(i); })},
      {"digest", hexadecimal(captured.digest())},
      {"bytes", captured.bytes().size()},
      {"buffers", buffers}};
}

}  // namespace idletune::cli
