// What the tests of the agent on the emulated device share.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "platform/cuda/driver.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/emulated_cuda/emulated_driver.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

namespace emulated_cuda {

using namespace std::chrono_literals;
using namespace idletune;

inline constexpr auto kPatience = 5min;

// The helper opens the same library, and its findings go to a file.
struct HelperEnvironment {
  explicit HelperEnvironment(const std::string& findings_file) : findings(findings_file) {
    const std::string library = tested_library();
    ::setenv("IDLETUNE_CUDA_LIBRARY", library.c_str(), 1);
    ::setenv("IDLETUNE_NVRTC_LIBRARY", library.c_str(), 1);
    ::setenv("IDLETUNE_EMULATED_FINDINGS", findings.c_str(), 1);
  }
  ~HelperEnvironment() {
    ::unsetenv("IDLETUNE_CUDA_LIBRARY");
    ::unsetenv("IDLETUNE_NVRTC_LIBRARY");
    ::setenv("IDLETUNE_EMULATED_FINDINGS", "/dev/null", 1);
  }
  std::string found() const {
    std::ifstream file(findings);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  const std::string findings;
};

inline std::vector<std::uint8_t> packed(const std::string& xml) {
  return required(pack(required(read_kernel_xml(xml))));
}

// A context and a stream of the application's, adopted: a device's primary context, or its own.
struct AdoptedContext {
  explicit AdoptedContext(const EmulatedDriver& emulated, int ordinal = 0, bool own = false,
                          const std::string& compiler = tested_library()) {
    driver = *cuda::load_driver(tested_library());
    if (own) {
      const auto create =
          emulated.function<cuda::Error(cuda::ContextHandle*, unsigned, int)>("cuCtxCreate_v2");
      REQUIRE(create(&context, 0, ordinal) == cuda::kSuccess);
    } else {
      REQUIRE(driver->DevicePrimaryCtxRetain(&context, ordinal) == cuda::kSuccess);
      REQUIRE(driver->CtxPushCurrent(context) == cuda::kSuccess);
    }
    REQUIRE(driver->StreamCreate(&stream, cuda::kStreamNonBlocking) == cuda::kSuccess);
    cuda::OpenOptions options = emulated.options();
    options.nvrtc_library = compiler;
    device = required(cuda::adopt(context, stream, options));
  }
  ~AdoptedContext() {
    cuda::ContextHandle popped = nullptr;
    driver->CtxPopCurrent(&popped);
  }
  std::unique_ptr<Buffer> upload(const std::vector<float>& values) {
    auto buffer = required(device->allocate(values.size() * sizeof(float)));
    REQUIRE(device->write(*buffer, 0, idletune::test::bytes_of(values)).ok());
    return buffer;
  }
  std::vector<float> download(const Buffer& buffer, std::size_t size) {
    std::vector<float> values(size);
    const MutableBytes bytes = idletune::test::writable_bytes_of(values);
    REQUIRE(device->copy_out(buffer.argument(), bytes).ok());
    return values;
  }

  std::shared_ptr<const cuda::Driver> driver;
  cuda::ContextHandle context = nullptr;
  cuda::StreamHandle stream = nullptr;
  std::unique_ptr<Device> device;
};

inline AgentOptions options_with(const std::string& state) {
  AgentOptions options;
  options.state = state;
  options.seed = 1;
  options.run_deadline = 20s;  // the device is slow, and others use the processors
  const char* helper = std::getenv("IDLETUNE_HELPER");
  REQUIRE_MESSAGE(helper != nullptr, "IDLETUNE_HELPER: expected the path of idletune-helper");
  options.helper = helper;
  return options;
}

// Tunes until what is explained is `enough`, or tuning has ended; launches in between.
template <class Enough, class Launch>
Explanation tune(Agent& agent, TunedKernel& kernel, const Shape& shape, Enough enough,
                 Launch launch) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds needs{0};
  for (;;) {
    needs = agent.tune_now(500ms + needs).needs;
    launch();
    auto explanation = required(kernel.explain(shape));
    const bool is_late = std::chrono::steady_clock::now() - start > kPatience;
    if (is_late || enough(explanation) || !agent.status().tuning_enabled) {
      return explanation;
    }
  }
}

inline bool has_compiler(const EmulatedDriver& emulated) {
  auto devices = required(cuda::list(emulated.options()));
  if (devices.front().has_compiler) return true;
  idletune::test::skip("no NVRTC");
  return false;
}

}  // namespace emulated_cuda
