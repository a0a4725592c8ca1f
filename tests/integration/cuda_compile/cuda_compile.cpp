// Compiles portable kernels for CUDA to machine code, without a GPU: the default and the reference
// for every architecture (every parameter value is compiled and run by integration.emulated_cuda).
// Then shows that an error would be seen, and that it is numbered as the kernel's file has its lines.
// Exit status 77: LIBRARY ends with -NOTFOUND, nothing was checked.
// usage: cuda_compile LIBRARY KERNEL.xml...
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/integration/cuda_compile/nvrtc.hpp"

namespace {

using namespace idletune;

constexpr const char* kArchitectures[] = {"sm_87", "sm_90"};
constexpr int kSkipped = 77;

std::shared_ptr<const KernelPackage> package_of(const KernelDescription& description) {
  auto bytes = pack(description);
  if (!bytes.ok()) {
    std::fprintf(stderr, "%s\n", bytes.status().to_string().c_str());
    return nullptr;
  }
  auto package = KernelPackage::open(std::move(*bytes), description.name);
  return package.ok() ? *package : nullptr;
}

class Check {
 public:
  explicit Check(cuda_compile::Nvrtc& compiler) : compiler_(compiler) {}
  int programs() const { return programs_; }
  int failures() const { return failures_; }

  void kernel(const KernelPackage& package) {
    const std::string reference = package.reference().options();
    for (const char* architecture : kArchitectures) {
      compile(package, architecture, package.compile_options(package.default_configuration()));
      if (reference != package.compile_options(package.default_configuration())) {
        compile(package, architecture, reference);
      }
    }
  }

  // `package` is broken on purpose: its compiler must say `message`.
  void broken(const KernelPackage& package, const std::string& message) {
    ++programs_;
    if (build(package, kArchitectures[0],
              package.compile_options(package.default_configuration())) != 0) {
      fail(package, "a seeded error was not seen");
    } else if (compiler_.problem().find(message) == std::string::npos) {
      fail(package, "expected '" + message + "' in: " + compiler_.problem());
    }
  }

  void fail(const KernelPackage& package, const std::string& what) {
    ++failures_;
    std::fprintf(stderr, "%s: %s\n", std::string(package.name()).c_str(), what.c_str());
  }

 private:
  std::size_t build(const KernelPackage& package, const char* architecture,
                    const std::string& defines) {
    std::vector<std::string> options{std::string("--gpu-architecture=") + architecture,
                                     "--std=c++17"};
    std::istringstream words(defines);
    for (std::string word; words >> word;) options.push_back(word);
    return compiler_.compile(std::string(package.source()), std::string(package.name()) + ".cu",
                             options);
  }

  void compile(const KernelPackage& package, const char* architecture, const std::string& defines) {
    ++programs_;
    if (build(package, architecture, defines) == 0) {
      fail(package, std::string(architecture) + " " + defines + "\n" + compiler_.problem());
    }
  }

  cuda_compile::Nvrtc& compiler_;
  int programs_ = 0;
  int failures_ = 0;
};

// The last line of the kernel's file, plus one, holds an error.
void check_error_lines(Check& check, KernelDescription description) {
  int line = 1;
  for (char c : description.source) line += c == '\n' ? 1 : 0;
  description.source += "no_such_type broken_on_purpose;\n";
  const auto package = package_of(description);
  if (package) {
    check.broken(*package, description.source_file + "(" + std::to_string(line) + ")");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: cuda_compile LIBRARY KERNEL.xml...\n");
    return 2;
  }
  // What CMake says where there is none.
  if (std::string(argv[1]).find("-NOTFOUND") != std::string::npos) {
    std::printf("figure: cuda_compile: skipped, libnvrtc.so was not found\n");
    return kSkipped;
  }
  cuda_compile::Nvrtc compiler;
  if (!compiler.open(argv[1])) {
    std::fprintf(stderr, "%s\n", compiler.problem().c_str());
    return 1;
  }
  Check check(compiler);
  for (int i = 2; i < argc; ++i) {
    auto description = read_kernel_xml(argv[i]);
    if (!description.ok()) {
      std::fprintf(stderr, "%s\n", description.status().to_string().c_str());
      return 1;
    }
    const auto package = package_of(*description);
    if (!package) return 1;
    check.kernel(*package);
    if (i == 2) check_error_lines(check, std::move(*description));
  }
  std::printf("figure: cuda_compile: NVRTC %s, %d kernels, %d programs, %d failures\n",
              compiler.version().c_str(), argc - 2, check.programs(), check.failures());
  return check.failures() == 0 ? 0 : 1;
}
