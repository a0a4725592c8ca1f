// How kernels run: parts of a warp apart and together again, blocks, special registers, atomics,
// limits, ends.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/memory_cost.hpp"
#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

using Numbers = std::vector<std::uint32_t>;

// What each of the threads stores of %r1.
Numbers stored_by(const std::string& body, unsigned threads) {
  TestDevice device;
  const std::uint64_t out = device.allocate(4 * threads);
  const std::string store =
      "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd1, %rd10;\n"
      "st.global.u32 [%rd10], %r1;";
  CHECK(device.run(kernel_ptx(1, body + "\n" + store), 1, threads, {out}) == 0);
  CHECK(device.found() == "");
  return device.download<std::uint32_t>(out);
}

Numbers counted(std::uint32_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TEST_CASE("threads that go different ways come together again") {
  // Each runs as many rounds as its number; how many are together shows afterwards.
  const std::string rounds =
      "mov.u32 %r1, 0;\n$next: setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra $end;\n"
      "add.u32 %r1, %r1, 1;\nbra $next;\n$end:\n";
  CHECK(stored_by(rounds, 40) == counted(40));
  CHECK(stored_by(rounds + "activemask.b32 %r1;", 32) == Numbers(32, ~0u));
  const std::string ways =
      "and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;\n@%p1 bra $even;\n"
      "activemask.b32 %r1;\nbra $end;\n$even: activemask.b32 %r1;\n$end:";
  Numbers masks = stored_by(ways, 32);
  CHECK(masks[0] == 0x55555555);
  CHECK(masks[1] == 0xaaaaaaaa);
}

TEST_CASE("a table of labels is jumped by") {
  const std::string jump =
      "$list: .branchtargets $a, $b, $c;\nrem.u32 %r2, %r0, 3; brx.idx %r2, $list;\n"
      "$a: mov.u32 %r1, 10; bra $end;\n$b: mov.u32 %r1, 11; bra $end;\n"
      "$c: mov.u32 %r1, 12;\n$end:";
  CHECK(stored_by(jump, 5) == Numbers{10, 11, 12, 10, 11});
}

TEST_CASE("threads of a warp exchange values and votes") {
  const auto shuffled = [](const std::string& what) {
    return stored_by("shfl.sync." + what + ", -1;", 32);
  };
  CHECK(shuffled("up.b32 %r1, %r0, 3, 0")[10] == 7);
  CHECK(shuffled("up.b32 %r1, %r0, 3, 0")[2] == 2);
  CHECK(shuffled("down.b32 %r1, %r0, 3, 31")[10] == 13);
  CHECK(shuffled("down.b32 %r1, %r0, 3, 31")[30] == 30);
  CHECK(shuffled("bfly.b32 %r1, %r0, 5, 31")[10] == 15);
  CHECK(shuffled("idx.b32 %r1, %r0, 5, 31")[10] == 5);
  // In segments of 8.
  CHECK(shuffled("idx.b32 %r1, %r0, 5, 0x181f")[10] == 13);
  CHECK(shuffled("down.b32 %r1, %r0, 3, 0x181f")[6] == 6);
  CHECK(stored_by("setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, -1;", 32)[7] == 31);
  CHECK(stored_by(
            "setp.lt.u32 %p1, %r0, 5; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r1, 1, 0, %p2;",
            32)[0] == 0);
  CHECK(stored_by(
            "setp.lt.u32 %p1, %r0, 5; vote.sync.any.pred %p2, !%p1, -1; selp.b32 %r1, 1, 0, %p2;",
            32)[0] == 1);
}

TEST_CASE("atomic operations give what was there before") {
  TestDevice device;
  const std::uint64_t counter = device.upload(Numbers{0, 100, 5});
  const std::uint64_t out = device.allocate(4 * 96);
  const std::string body =
      "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd2, %rd10;\n"
      "atom.global.add.u32 %r1, [%rd1], 1; st.global.u32 [%rd10], %r1;\n"
      "red.global.min.u32 [%rd1+4], %r0;\natom.global.cas.b32 %r2, [%rd1+8], 5, %r0;";
  CHECK(device.run(kernel_ptx(2, body), 1, 96, {counter, out}) == 0);
  CHECK(device.found() == "");
  CHECK(device.download<std::uint32_t>(counter) == Numbers{96, 0, 0});
  CHECK(device.download<std::uint32_t>(out) == counted(96));
}

TEST_CASE("numbers of threads and blocks have three axes") {
  TestDevice device;
  const std::string sum =
      "mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %r0;\n"
      "mov.u32 %r2, %ctaid.z; mad.lo.u32 %r1, %r2, 6, %r1;\n"
      "mul.wide.u32 %rd10, %r1, 4; add.s64 %rd10, %rd1, %rd10; st.global.u32 [%rd10], %r1;";
  const auto module = parse_ptx(kernel_ptx(1, sum));
  const std::uint64_t out = device.allocate(4 * 12);
  Launch launch;
  launch.kernel = module->find("test");
  launch.block[0] = 3;
  launch.block[1] = 2;
  launch.grid[2] = 2;
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &out, 8);
  device.turn.take();
  run_kernel(launch, load_module(*module, device.memory), device.memory, device.findings,
             device.turn);
  device.turn.give_back();
  CHECK(device.found() == "");
  CHECK(device.download<std::uint32_t>(out) == counted(12));
}

TEST_CASE("what is beyond a board's limits is named") {
  const auto module = parse_ptx(kernel_ptx(0, ".shared .align 4 .b8 tile[40000];"));
  const Board& board = default_board();
  Launch launch;
  launch.kernel = module->find("test");
  CHECK(over_limits(board, launch) == "");
  launch.block[0] = 1024;
  launch.block[1] = 2;
  CHECK(over_limits(board, launch) ==
        "test: 2048 threads in a block, Emulated Jetson Orin Nano has 1024");
  launch.block[1] = 1;
  launch.block[2] = 65;
  CHECK(over_limits(board, launch).find("65 threads along an axis") != std::string::npos);
  launch.block[2] = 1;
  launch.grid[1] = 65536;
  CHECK(over_limits(board, launch).find("65536 blocks along an axis") != std::string::npos);
  launch.grid[1] = 0;
  CHECK(over_limits(board, launch) == "test: no threads");
  launch.grid[1] = 1;
  launch.dynamic_shared_bytes = 9153;
  CHECK(over_limits(board, launch).find("49153 bytes of shared memory") != std::string::npos);
}

TEST_CASE(
    "a block has registers for its threads where the compiler must see to it, or it is small") {
  const auto threads = [](const std::string& limits, const std::string& registers) {
    const auto module = parse_ptx(".version 8.0\n.target sm_53\n.address_size 64\n.entry test()\n" +
                                  limits + "\n{\n" + registers + "\nret;\n}\n");
    return threads_with_registers(*board_named("jetson_nano"), *module->find("test"));
  };
  CHECK(threads("", "") == 1024);
  CHECK(threads("", ".reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<99>;") == 320);
  CHECK(threads("", ".reg .b32 %r<999>;") == 128);
  CHECK(threads(".maxntid 1024, 1, 1", ".reg .b32 %r<999>;") == 1024);
  CHECK(threads(".maxntid 1024, 1, 1\n.maxnreg 64", ".reg .b32 %r<999>;") == 512);
}

TEST_CASE("a kernel without end lets others run, and ends when all are to end") {
  TestDevice device;
  int error = 0;
  std::thread endless([&] { error = device.run(kernel_ptx(0, "$again: bra $again;"), 1, 1, {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  device.turn.take();
  device.turn.give_back();
  device.turn.end_all();
  endless.join();
  CHECK(error == kLaunchFailed);
}

TEST_CASE("modelled time grows with the work and is never nothing") {
  TestDevice device;
  const Board& board = default_board();
  const auto nanoseconds = [&](const std::string& body) {
    CHECK(device.run(kernel_ptx(0, body), 1, 64, {}) == 0);
    Launch launch;
    launch.kernel = device.module->find("test");
    launch.block[0] = 64;
    return modelled_nanoseconds(board, launch, device.work);
  };
  const double little = nanoseconds("");
  const std::string rounds =
      "mov.u32 %r1, 0;\n$next: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000;\n"
      "@%p1 bra $next;";
  CHECK(little > 0);
  CHECK(nanoseconds(rounds) > little);
}
