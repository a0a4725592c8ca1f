#include "tests/emulated_cuda/remembered_launches.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;

namespace {

// %rd2[i] = %rd1[i] + 1
const std::string kAddOne = kernel_ptx(
    2,
    "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd1, %rd10; add.s64 %rd12, %rd2, %rd10;\n"
    "ld.global.u32 %r1, [%rd11]; add.u32 %r1, %r1, 1; st.global.u32 [%rd12], %r1;");

struct Played {
  Launch launch_of(std::uint64_t in, std::uint64_t out) const {
    Launch launch;
    launch.kernel = module->find("test");
    launch.block[0] = 4;
    launch.parameters.resize(16);
    std::memcpy(launch.parameters.data(), &in, 8);
    std::memcpy(launch.parameters.data() + 8, &out, 8);
    return launch;
  }
  void interpret(const Launch& launch) {
    device.turn.take();
    remembered.keep(launch, run_kernel(launch, loaded, device.memory, device.findings, device.turn),
                    device.memory);
    device.turn.give_back();
  }
  bool repeat(const Launch& launch) { return remembered.repeat(launch, device.memory) != nullptr; }
  void overwrite(std::uint64_t address, std::uint32_t value) {
    Allocation& allocation = *device.memory.find(address);
    std::memcpy(allocation.data.data(), &value, sizeof value);
    allocation.version = device.memory.new_version();
  }
  std::vector<std::uint32_t> numbers(std::uint64_t address) {
    return device.download<std::uint32_t>(address);
  }

  TestDevice device;
  std::unique_ptr<Module> module = parse_ptx(kAddOne);
  LoadedModule loaded = load_module(*module, device.memory);
  RememberedLaunches remembered;
};

}  // namespace

TEST_CASE("a launch that is known writes again what it wrote, and nothing else") {
  Played played;
  const std::uint64_t in = played.device.upload<std::uint32_t>({1, 2, 3, 4, 5, 6});
  const std::uint64_t out = played.device.upload<std::uint32_t>({9, 9, 9, 9, 9, 9});
  const Launch launch = played.launch_of(in, out);
  CHECK(!played.repeat(launch));
  played.interpret(launch);
  const std::vector<std::uint32_t> written{2, 3, 4, 5, 9, 9};
  CHECK(played.numbers(out) == written);
  CHECK(played.repeat(launch));
  CHECK(played.numbers(out) == written);
  played.overwrite(out, 7);
  CHECK(played.repeat(launch));
  CHECK(played.numbers(out) == written);
  Launch other = launch;
  other.block[0] = 3;
  CHECK(!played.repeat(other));
}

TEST_CASE("a launch is not known any more when its inputs are others, and again when it was run") {
  Played played;
  const std::uint64_t in = played.device.upload<std::uint32_t>({1, 2, 3, 4});
  const std::uint64_t out = played.device.upload<std::uint32_t>({9, 9, 9, 9});
  const Launch launch = played.launch_of(in, out);
  played.interpret(launch);
  played.overwrite(in, 10);
  CHECK(!played.repeat(launch));
  played.interpret(launch);
  CHECK(played.repeat(launch));
  CHECK(played.numbers(out) == std::vector<std::uint32_t>{11, 3, 4, 5});
  // What another launch wrote is another input, too.
  played.interpret(played.launch_of(out, in));
  CHECK(!played.repeat(launch));
}

TEST_CASE("a launch that reads what it writes is never known") {
  Played played;
  const std::uint64_t numbers = played.device.upload<std::uint32_t>({1, 2, 3, 4});
  const Launch launch = played.launch_of(numbers, numbers);
  played.interpret(launch);
  CHECK(!played.repeat(launch));
  played.interpret(launch);
  CHECK(played.numbers(numbers) == std::vector<std::uint32_t>{3, 4, 5, 6});
}

TEST_CASE("a launch whose output was freed is not known any more") {
  Played played;
  const std::uint64_t in = played.device.upload<std::uint32_t>({1, 2, 3, 4});
  const std::uint64_t out = played.device.upload<std::uint32_t>({9, 9, 9, 9});
  const Launch launch = played.launch_of(in, out);
  played.interpret(launch);
  CHECK(played.device.memory.release(out));
  CHECK(!played.repeat(launch));
}
