// What is wrong with a kernel is found and named: one small kernel for each kind of fault, and the
// right one beside it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "platform/cuda/driver_api.hpp"
#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

// Of each thread's number times 4 behind a pointer: %rd10.
const std::string kOwnWord = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd10, %rd1, %rd10;\n";
const std::string kTile =
    ".shared .align 4 .b8 tile[256];\nmov.u32 %r10, tile; mad.lo.s32 %r11, %r0, 4, %r10;\n";

// The findings of `body` for 64 threads in each of `blocks`, with 64 written numbers for %rd1.
std::string found_in(const std::string& body, unsigned blocks = 1, unsigned threads = 64,
                     int error = 0) {
  TestDevice device;
  const std::uint64_t numbers = device.upload(std::vector<std::uint32_t>(64, 7));
  CHECK(device.run(kernel_ptx(1, body), blocks, threads, {numbers}) == error);
  return device.found();
}

}  // namespace

TEST_CASE("an access outside of memory ends the kernel, with the instruction, block and thread") {
  CHECK(found_in(kOwnWord + "ld.global.u32 %r1, [%rd10];") == "");
  CHECK(
      found_in(kOwnWord + "\n.loc 1 42 3\nld.global.u32 %r1, [%rd10+4];", 1, 64, kIllegalAddress) ==
      "illegal address: reads 4 bytes 0 behind 256 bytes: test, PTX line 13 (test.cl:42), "
      "block 0,0,0, thread 63,0,0\n");
  CHECK(found_in(kOwnWord + "st.global.u32 [%rd10+-8], %r0;", 1, 64, kIllegalAddress)
            .find("illegal address: writes 4 bytes 8 before 256 bytes") == 0);
  CHECK(found_in(kTile + "st.shared.u32 [%r11+4], %r0;", 1, 64, kIllegalAddress)
            .find("illegal address: writes 4 bytes at 256 of 256 bytes of shared memory") == 0);
  CHECK(
      found_in(".local .align 4 .b8 depot[8];\nst.local.u32 [depot+8], %r0;", 1, 1, kIllegalAddress)
          .find("illegal address: writes 4 bytes at 8 of 8 bytes of local memory") == 0);
  CHECK(found_in("mov.u64 %rd5, 16; ld.u32 %r1, [%rd5];", 1, 1, kIllegalAddress)
            .find("illegal address: reads 4 bytes where nothing is allocated") == 0);
}

TEST_CASE("an address that is no multiple of the size ends the kernel") {
  CHECK(found_in("ld.global.u32 %r1, [%rd1+2];", 1, 1, kMisalignedAddress)
            .find("misaligned: reads 4 bytes") == 0);
  CHECK(found_in("ld.global.v2.u32 {%r1, %r2}, [%rd1+4];", 1, 1, kMisalignedAddress)
            .find("misaligned: reads 8 bytes") == 0);
}

TEST_CASE("memory that was freed is known") {
  TestDevice device;
  const std::uint64_t numbers = device.upload(std::vector<std::uint32_t>(64, 7));
  device.memory.release(numbers);
  CHECK(device.run(kernel_ptx(1, "ld.global.u32 %r1, [%rd1+8];"), 1, 1, {numbers}) ==
        kIllegalAddress);
  CHECK(device.found().find("reads 4 bytes at 8 of 256 bytes that were freed") !=
        std::string::npos);
}

TEST_CASE("reading what nobody wrote is found in every memory") {
  TestDevice device;
  const std::uint64_t nothing = device.allocate(256);
  CHECK(device.run(kernel_ptx(1, "@%p1 ld.global.u32 %r1, [%rd1];\nld.global.u32 %r1, [%rd1];"), 1,
                   1, {nothing}) == 0);
  CHECK(device.found().find(
            "unwritten: depends on a predicate that nobody wrote: test, PTX line 10") == 0);
  CHECK(
      device.found().find("unwritten: reads global memory that nobody wrote: test, PTX line 11") !=
      std::string::npos);
  CHECK(found_in(kTile + "ld.shared.u32 %r1, [%r11];").find("unwritten: reads shared memory") == 0);
  CHECK(found_in(kTile + "st.shared.u32 [%r11], %r0; ld.shared.u32 %r1, [%r11];") == "");
  // Of the next block, too: shared memory does not keep what a block left.
  CHECK(found_in(kTile + "mov.u32 %r2, %ctaid.x; setp.eq.s32 %p1, %r2, 0;\n"
                         "@%p1 st.shared.u32 [%r11], %r0;\nld.shared.u32 %r1, [%r11];",
                 2)
            .find("block 1,0,0, thread 0,0,0") != std::string::npos);
  const std::string local = ".local .align 8 .b8 depot[8];\nst.local.u32 [depot], %r0;\n";
  CHECK(found_in(local + "ld.local.u32 %r1, [depot];") == "");
  CHECK(found_in(local + "ld.local.v2.u32 {%r1, %r2}, [depot];")
            .find("unwritten: reads local memory") == 0);
}

TEST_CASE("a register that nobody wrote counts where memory or the way depends on it") {
  CHECK(found_in(kOwnWord + "add.s32 %r1, %r2, 1;\nst.global.u32 [%rd10], %r1;")
            .find("unwritten: reads a register that nobody wrote: test, PTX line 12") == 0);
  CHECK(found_in("ld.global.u32 %r1, [%rd5];", 1, 1, kIllegalAddress)
            .find("unwritten: reads a register") == 0);
  CHECK(found_in("setp.lt.s32 %p1, %r2, %r0;\n@%p1 bra $end;\n$end:").find("PTX line 11") !=
        std::string::npos);
  CHECK(found_in("add.s32 %r1, %r2, 1;") == "");
  // Only what was chosen counts, and a half that is not used does not.
  CHECK(found_in(kOwnWord + "setp.ge.s32 %p1, %r0, 0; selp.b32 %r1, %r0, %r2, %p1;\n"
                            "st.global.u32 [%rd10], %r1;") == "");
  CHECK(found_in(kOwnWord + "setp.ge.s32 %p1, %r0, 5; selp.b32 %r1, %r0, %r2, %p1;\n"
                            "st.global.u32 [%rd10], %r1;")
            .find("thread 0,0,0") != std::string::npos);
  CHECK(found_in(kOwnWord +
                 "mov.b64 %rd5, {%r0, %r2}; cvt.u32.u64 %r1, %rd5; st.global.u32 [%rd10], %r1;") ==
        "");
  CHECK(found_in(kOwnWord +
                 "setp.lt.s32 %p1, %r0, 3;\n@%p1 mov.u32 %r1, 4;\nst.global.u32 [%rd10], %r1;")
            .find("thread 3,0,0") != std::string::npos);
}

TEST_CASE("races in shared memory are found between two barriers") {
  const std::string turned = "xor.b32 %r12, %r0, 63; mad.lo.s32 %r12, %r12, 4, %r10;\n";
  const std::string write = kTile + turned + "st.shared.u32 [%r11], %r0;\n";
  CHECK(found_in(write + "bar.sync 0;\nld.shared.u32 %r1, [%r12];") == "");
  CHECK(found_in(write + "ld.shared.u32 %r1, [%r12];")
            .find("race: reads shared memory that another thread wrote since the last barrier") !=
        std::string::npos);
  CHECK(found_in(write + "bar.sync 0;\nld.shared.u32 %r1, [%r12];\nst.shared.u32 [%r11], %r10;")
            .find("race: writes shared memory that another thread read since the last barrier") !=
        std::string::npos);
  CHECK(found_in(
            write +
            "bar.sync 0;\nld.shared.u32 %r1, [%r12];\nbar.sync 0;\nst.shared.u32 [%r11], %r10;") ==
        "");
  CHECK(found_in(kTile + "st.shared.u32 [tile], %r0;")
            .find("race: writes shared memory that another thread wrote since the last barrier") ==
        0);
  // All write the same.
  CHECK(found_in(kTile + "st.shared.u32 [tile], 5;") == "");
  // One writes what its whole warp has just read.
  CHECK(found_in(write + "bar.sync 0;\nld.shared.u32 %r1, [tile];\nsetp.eq.s32 %p1, %r0, 31;\n"
                         "@%p1 st.shared.u32 [tile], 9;",
                 1, 32)
            .find("race: writes shared memory that another thread read") != std::string::npos);
}

TEST_CASE("threads of a warp may also wait for each other alone") {
  const std::string neighbour = "xor.b32 %r12, %r0, 1; mad.lo.s32 %r12, %r12, 4, %r10;\n";
  const std::string write = kTile + neighbour + "st.shared.u32 [%r11], %r0;\n";
  CHECK(found_in(write + "bar.warp.sync -1;\nld.shared.u32 %r1, [%r12];") == "");
  CHECK(found_in(write + "ld.shared.u32 %r1, [%r12];").find("race: reads shared memory") == 0);
  // Those of another warp they have not waited for.
  CHECK(found_in(kTile +
                 "xor.b32 %r12, %r0, 32; mad.lo.s32 %r12, %r12, 4, %r10;\n"
                 "st.shared.u32 [%r11], %r0;\nbar.warp.sync -1;\nld.shared.u32 %r1, [%r12];")
            .find("race: reads shared memory") != std::string::npos);
}

TEST_CASE("races in global memory are found between blocks") {
  CHECK(found_in(kOwnWord + "mov.u32 %r1, %ctaid.x; st.global.u32 [%rd10], %r1;", 1) == "");
  CHECK(found_in(kOwnWord + "mov.u32 %r1, %ctaid.x; st.global.u32 [%rd10], %r1;", 2)
            .find("race: writes global memory that another block writes: test, PTX line 11 "
                  "(test.cl:100), block 1,0,0, thread 0,0,0") == 0);
  CHECK(found_in(kOwnWord +
                     "ld.global.u32 %r1, [%rd10]; add.s32 %r1, %r1, 1; st.global.u32 [%rd10], %r1;",
                 2)
            .find("race: reads global memory that another block writes") == 0);
  CHECK(found_in(kOwnWord + "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 0;\n"
                            "@%p1 ld.global.u32 %r2, [%rd10];\n@!%p1 st.global.u32 [%rd10], %r1;",
                 2)
            .find("race: writes global memory that another block reads") == 0);
  CHECK(found_in("red.global.add.u32 [%rd1], 1;", 8) == "");
  CHECK(found_in("red.global.add.u32 [%rd1], 1;\nst.global.u32 [%rd1], %r0;", 2)
            .find("race: writes global memory that another block writes") == 0);
  CHECK(found_in(kOwnWord + "st.global.u32 [%rd10], %r0; ld.global.nc.u32 %r1, [%rd10];")
            .find("race: reads through the read-only cache what this kernel writes") == 0);
}

TEST_CASE("every thread of a block must reach a barrier, and the same one") {
  const std::string half = "setp.lt.s32 %p1, %r0, 32;\n";
  CHECK(found_in(half + "bar.sync 0;") == "");
  CHECK(found_in(half + "@%p1 ret;\nbar.sync 0;")
            .find("barrier: some threads of the block have left before it: test, PTX line 12") ==
        0);
  CHECK(found_in(half + "@%p1 bra $a;\nbar.sync 0;\nret;\n$a: bar.sync 0;")
            .find("barrier: threads of a block wait at different ones") == 0);
}

TEST_CASE("constant memory is read and not written") {
  TestDevice device;
  const std::string table = ".const .align 4 .b32 table[2] = {5, 6};\n";
  const std::uint64_t out = device.allocate(4);
  CHECK(device.run(kernel_ptx(1, "ld.const.u32 %r1, [table+4]; st.global.u32 [%rd1], %r1;", table),
                   1, 1, {out}) == 0);
  CHECK(device.download<std::uint32_t>(out)[0] == 6);
  CHECK(device.run(kernel_ptx(0, "mov.u64 %rd5, table; st.global.u32 [%rd5], %r0;", table), 1, 1,
                   {}) == kIllegalAddress);
  CHECK(device.found().find("constant: writes constant memory") == 0);
}

TEST_CASE("threads of a warp only hear from those that are there") {
  const std::string down = "shfl.sync.down.b32 %r1|%p1, %r0, 16, 31, ";
  CHECK(found_in(down + "-1;", 1, 64) == "");
  CHECK(found_in(down + "-1;", 1, 24)
            .find("warp: shfl reads a thread that is not there: test, PTX line 10 "
                  "(test.cl:100), block 0,0,0, thread 8,0,0") == 0);
  CHECK(found_in("setp.lt.s32 %p2, %r0, 8;\n@%p2 bra $end;\n" + down + "-1;\n$end:", 1, 32)
            .find("warp: threads of the member mask are elsewhere") == 0);
  CHECK(found_in(down + "1;", 1, 2).find("warp: a thread is not in its own member mask") !=
        std::string::npos);
}

TEST_CASE("what PTX does not define is found") {
  CHECK(found_in("mov.u32 %r1, 0; div.s32 %r2, %r0, %r1;")
            .find("undefined: an integer is divided by zero") == 0);
  CHECK(found_in("$list: .branchtargets $a, $b;\nmov.u32 %r1, 2; brx.idx %r1, $list;\n$a:\n$b:", 1,
                 1, kLaunchFailed)
            .find("undefined: brx.idx outside its labels") == 0);
  CHECK(found_in("trap;", 1, 1, kLaunchFailed).find("trap: test") == 0);
}

TEST_CASE("a finding is told once for an instruction and counted") {
  TestDevice device;
  const std::uint64_t nothing = device.allocate(256);
  device.run(kernel_ptx(1, kOwnWord + "ld.global.u32 %r1, [%rd10];"), 1, 64, {nothing});
  REQUIRE(device.findings.list().size() == 1);
  CHECK(device.findings.times(device.findings.list()[0]) == 64);
  device.findings.clear();
  CHECK(device.findings.list().empty());
}
