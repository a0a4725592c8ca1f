#include "tests/emulated_cuda/ptx_parser.hpp"

#include <doctest/doctest.h>

#include <string>

#include "platform/cuda/driver_api.hpp"
#include "tests/emulated_cuda/instruction_table.hpp"
#include "tests/emulated_cuda/problem.hpp"
#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;

namespace {

// What is said of a text; empty if it is right.
std::string problem_of(const std::string& ptx, int error = idletune::cuda::kInvalidPtx) {
  try {
    parse_ptx(ptx);
    return {};
  } catch (const emulated_cuda::Problem& problem) {
    CHECK(problem.error == error);
    return problem.text;
  }
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a kernel has its name, its parameters, its memory and its limit of threads") {
  const auto module = parse_ptx(
      ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n"
      ".shared .align 8 .b8 whole[24];\n.const .align 4 .b32 numbers[2] = {7, 0f3F800000};\n"
      ".visible .entry first(.param .u32 n, .param .u64 .ptr .global .align 1 out,\n"
      " .param .align 8 .b8 three[12])\n.maxntid 64, 2, 1\n{\n.shared .align 4 .b8 tile[100];\n"
      ".local .align 16 .b8 depot[48];\nret;\n}\n"
      ".entry second()\n.reqntid 32\n{\nret;\n}\n");
  CHECK(module->target == "sm_80, texmode_independent");
  REQUIRE(module->find("first") != nullptr);
  const Kernel& kernel = *module->find("first");
  REQUIRE(kernel.parameters.size() == 3);
  CHECK(kernel.parameters[1].offset == 8);
  CHECK(kernel.parameters[2].offset == 16);
  CHECK(kernel.parameters[2].bytes == 12);
  CHECK(kernel.parameter_bytes == 28);
  CHECK(kernel.shared_bytes == 124);
  CHECK(kernel.local_bytes == 48);
  CHECK(kernel.most_threads == 128);
  CHECK(module->find("second")->exact_threads == 32);
  CHECK(module->find("third") == nullptr);
  REQUIRE(module->variables.size() == 1);
  CHECK(module->variables[0].initial == std::vector<unsigned char>{7, 0, 0, 0, 0, 0, 0x80, 0x3f});
}

TEST_CASE("an instruction knows its line and its place in the source") {
  const auto module = parse_ptx(kernel_ptx(1,
                                           "add.s32 %r1, %r0, 1;\n.loc 1 8 2, function_name f, "
                                           "inlined_at 2 5 1\nsub.s32 %r1, %r0, 1;"));
  const auto& code = module->find("test")->code;
  const Instruction& add = code[code.size() - 4];
  const Instruction& subtract = code[code.size() - 3];
  CHECK(subtract.line == add.line + 2);
  CHECK(module->source_places[add.source] == "test.cl:100");
  CHECK(module->source_places[subtract.source] == "test.cl:8, inlined at ?:5");
}

TEST_CASE("what the table does not have is refused by name") {
  CHECK(problem_of(kernel_ptx(0, "nop;")).empty() == false);
  for (const char* instruction :
       {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 %f1, %f1, %f1, %f1",
        "nop",
        "add.rz.f32 %f1, %f1, %f1",
        "fma.rm.f64 %fd1, %fd1, %fd1, %fd1",
        "add.f16 %rs1, %rs1, %rs1",
        "cvt.rz.f32.f64 %f1, %fd1",
        "cvt.f32.f64 %f1, %fd1",
        "cvt.s32.f32 %r1, %f1",
        "ld.shared.nc.f32 %f1, [%rd1]",
        "bar.sync 1",
        "bar.arrive 0",
        "mul.s32 %r1, %r1, %r1",
        "setp.lo.f32.s32 %p1, %f1, %f1",
        "setp.equ.s32 %p1, %r1, %r1",
        "atom.global.add.b32 %r1, [%rd1], %r1",
        "shfl.down.b32 %r1, %r1, 1, 31, -1",
        "min.NaN.f32 %f1, %f1, %f1",
        "call f",
        "st.const.u32 [%rd1], %r1",
        "prmt.b32.f4e %r1, %r1, %r1, %r1",
        "add.cc.u32 %r1, %r1, %r1"}) {
    const std::string text = problem_of(kernel_ptx(0, std::string(instruction) + ";"));
    CAPTURE(instruction);
    CAPTURE(text);
    const std::string name = std::string(instruction).substr(0, std::string(instruction).find(' '));
    CHECK(says(text, ("unsupported instruction " + name).c_str()));
    CHECK(says(text, "PTX line 9"));
  }
}

TEST_CASE("operands of another size or kind are refused") {
  for (const char* instruction :
       {"add.s32 %r1, %rd1, %r1", "add.s64 %rd1, %r1, %rd1", "add.s32 %p1, %r1, %r1",
        "and.pred %p1, %r1, %p1", "add.s32 7, %r1, %r1", "add.s32 %tid.x, %r1, %r1",
        "add.s32 %r1, %r1, %r20", "mov.u32 %r1, %clock", "ld.global.v2.f32 %f1, [%rd1]",
        "ld.global.f32 {%f1, %f2}, [%rd1]", "ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1]",
        "ld.global.f32 %f1, %rd1", "st.global.f64 [%rd1], %f1", "bra nowhere",
        "setp.lt.s32 %r1, %r1, %r1", "selp.b32 %r1, %r1, %r1, %r1", "add.s32 %r1, %r1",
        "ret %r1"}) {
    CAPTURE(instruction);
    CHECK(problem_of(kernel_ptx(1, std::string(instruction) + ";")) != "");
  }
}

TEST_CASE("PTX that is cut off anywhere is refused") {
  const std::string whole = kernel_ptx(
      2,
      "{ .reg .b32 %a<3>; mov.u32 %a1, %r0; }\nsetp.lt.s32 %p1, %r0, 5;\n@%p1 bra $end;\n"
      "st.global.u32 [%rd1+4], %r0;\n$end: bar.sync 0;",
      ".global .align 4 .b8 table[16] = {1, 2};\n");
  CHECK(problem_of(whole).empty());
  const std::size_t last = whole.rfind('}');
  for (std::size_t size = 0; size < last; ++size) {
    CAPTURE(size);
    try {
      // What ends between two declarations is whole.
      CHECK(parse_ptx(whole.substr(0, size))->kernels.empty());
    } catch (const emulated_cuda::Problem& problem) {
      CHECK(problem.text != "");
    }
  }
}

TEST_CASE("PTX of a later version, two kernels of one name and functions are refused") {
  CHECK(says(problem_of(".version 10.0\n.target sm_87\n", idletune::cuda::kUnsupportedPtxVersion),
             "PTX of version 10.0"));
  CHECK(says(problem_of(kernel_ptx(0, "") + ".entry test()\n{\nret;\n}\n"),
             "two kernels are called 'test'"));
  CHECK(says(problem_of(kernel_ptx(0, "") + ".func f()\n{\nret;\n}\n"), "unsupported: .func f()"));
  CHECK(says(problem_of("nonsense"), "the text ends within 'nonsense'"));
  CHECK(says(problem_of(""), "no .version"));
  CHECK(says(problem_of(kernel_ptx(0, "$a:\n$a:")), "label '$a' stands twice"));
}

TEST_CASE("sizes that nobody can have are refused before anything is made of them") {
  for (const char* statement :
       {".reg .b32 %q<4000000000>", ".shared .align 4 .b8 t[99999999999]",
        ".local .align 3 .b8 t[8]", ".shared .align 4 .b8 t[65536][65536]", ".reg .b32 %q<-1>"}) {
    CAPTURE(statement);
    CHECK(problem_of(kernel_ptx(0, std::string(statement) + ";")) != "");
  }
}

TEST_CASE("every row of the table can be told from the others") {
  CHECK(instruction_table().size() > 60);
  for (const InstructionRow& row : instruction_table()) {
    CAPTURE(row.name);
    CHECK((row.decode != nullptr));
    CHECK(row.least_operands <= row.most_operands);
  }
}
