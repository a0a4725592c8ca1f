// Gives a fuzzer each file of the folders named on the command line, and each truncation of it to a
// power of two: the corpus as a regression test, on every architecture and without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
  const auto give = [&](std::size_t size) {
    // An allocation of exactly this size lets the address sanitizer see a read past the end.
    const std::vector<std::uint8_t> input(content.begin(),
                                          content.begin() + static_cast<std::ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(input.data(), input.size());
  };
  give(content.size());
  for (std::size_t size = 1; size < content.size(); size *= 2) give(size);
  give(0);
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++files;
    }
  }
  std::printf("%d inputs\n", files);
  return files > 0 ? 0 : 1;
}
