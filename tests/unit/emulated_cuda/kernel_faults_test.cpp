// Faults seeded in the kernels of this repository: the emulated device finds each, and nothing in
// the kernel as it is.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/emulated_cuda/package_run.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace emulated_cuda;

namespace {

struct Seeded {
  const char* kernel;
  std::vector<std::pair<const char*, std::int64_t>> parameters;  // other than the default's
  Shape shape;
  SourceFault fault;
  const char* finding;  // how one begins
};

const std::vector<Seeded> kSeeded{
    // --- barriers that are not there, or not for all ---
    {"transpose/transpose",
     {{"LOCAL_TILE", 1}},
     {19, 21},
     {"  LOCAL_BARRIER();\n", ""},
     "race: reads shared memory that another thread wrote"},
    {"reduction/reduction",
     {},
     {3, 200},
     {"partial[own] += partial[own + distance];\n    LOCAL_BARRIER();",
      "partial[own] += partial[own + distance];"},
     "race: reads shared memory that another thread wrote"},
    {"reduction/reduction",
     {},
     {3, 200},
     {"if (own < distance) partial[own] += partial[own + distance];\n    LOCAL_BARRIER();",
      "if (own < distance) { partial[own] += partial[own + distance];\n    LOCAL_BARRIER(); }"},
     "barrier: "},
    {"hotspot/hotspot",
     {},
     {20, 23},
     {"    }\n    LOCAL_BARRIER();\n  }\n}", "    }\n  }\n}"},
     "race: "},
    {"bicg/bicg",
     {{"STAGE_P", 1}},
     {30, 40},
     {"#if STAGE_P == 1 || STAGE_R == 1\n    LOCAL_BARRIER();\n#endif\n#pragma unroll\n    for",
      "#pragma unroll\n    for"},
     "race: reads shared memory that another thread wrote"},
    {"mvt_block/mvt_block",
     {},
     {45},
     {"if (own >= n) return;", "if (own >= n) return;\n  LOCAL_BARRIER();"},
     "barrier: some threads of the block have left before it"},
    {"conv2d/conv2d",
     {{"LOCAL_TILE", 1}},
     {11, 19},
     {"  LOCAL_BARRIER();\n", ""},
     "race: reads shared memory that another thread wrote"},
    {"gemm/gemm",
     {{"SA", 1}, {"SB", 1}},
     {9, 21, 35},
     {"#if SA == 1 || SB == 1\n    LOCAL_BARRIER();", "#if SA == 1 || SB == 1\n"},
     "race: "},
    // --- beyond the ends ---
    {"transpose/transpose",
     {},
     {19, 21},
     {"const int inside = row < rows && column", "const int inside = column"},
     "illegal address: reads 4 bytes"},
    {"transpose/transpose",
     {{"LOCAL_TILE", 1}},
     {19, 21},
     {"if (row < rows && column < columns) {\n      out", "if (row < rows) {\n      out"},
     "illegal address: writes 4 bytes"},
    {"transpose/transpose",
     {{"LOCAL_TILE", 1}},
     {19, 21},
     {"float tile[TILE_ROWS * PITCH]", "float tile[TILE_ROWS * PITCH - 1]"},
     "illegal address: writes 4 bytes at 252 of 252 bytes of shared memory"},
    {"hotspot/hotspot",
     {},
     {20, 23},
     {"if (row >= 0 && row < rows && column >= 0 && column < columns) {\n      tiles",
      "if (row < rows && column >= 0 && column < columns) {\n      tiles"},
     "illegal address: reads 4 bytes"},
    {"histogram/histogram",
     {},
     {1000, 50},
     {"if (at >= n) break;", "if (at > n) break;"},
     "illegal address: reads 4 bytes 0 behind"},
    {"histogram/histogram",
     {},
     {1000, 50},
     {"ATOMIC_ADD_INT(counts + value, 1)", "ATOMIC_ADD_INT(counts + value + 1, 1)"},
     "illegal address: changes 4 bytes 0 behind 200 bytes"},
    {"bicg/bicg",
     {},
     {30, 40},
     {"      if (row < m) {", "      if (row <= m) {"},
     "illegal address: reads 4 bytes"},
    {"mvt_block/mvt_block",
     {},
     {45},
     {"if (own >= n) return;", ""},
     "illegal address: reads 4 bytes"},
    {"gemm/gemm",
     {},
     {9, 21, 35},
     {"row_start[r] = a + (size_t)min(row, M - 1) * K", "row_start[r] = a + (size_t)row * K"},
     "illegal address: reads 4 bytes"},
    // --- what nobody wrote ---
    {"reduction/reduction",
     {},
     {3, 200},
     {"partial[own] = sum;", "if (own != 5) partial[own] = sum;"},
     "unwritten: reads shared memory that nobody wrote"},
    {"histogram/histogram",
     {{"ITEMS", 64}, {"CACHE", 16}},
     {1000, 50},
     {"    found[place] = 0;\n  }\n#endif", "  }\n#endif"},
     "unwritten: "},
    {"row_sums/two_step",
     {},
     {5, 3000},
     {"if (LOCAL_ID(0) == 0) partial[row * GROUPS",
      "if (LOCAL_ID(0) == 0 && GROUP_ID(0) != 3) partial[row * GROUPS"},
     "unwritten: reads global memory that nobody wrote"},
    // --- between blocks ---
    {"reduction/reduction",
     {{"GROUPS", 8}, {"ATOMICS", 1}},
     {3, 2000},
     {"ATOMIC_ADD_FLOAT(y + row, partial[0]);", "y[row] += partial[0];"},
     "race: reads global memory that another block writes"},
    {"histogram/histogram",
     {},
     {1000, 50},
     {"ATOMIC_ADD_INT(counts + value, 1)", "counts[value] += 1"},
     "race: reads global memory that another block writes"},
    {"transpose/transpose",
     {},
     {19, 21},
     {"out[(size_t)(column + lane) * rows + row]",
      "out[(size_t)(column + lane) * (rows - 8) + row]"},
     "race: writes global memory that another block writes"},
    // --- addresses, and limits ---
    {"transpose/transpose",
     {},
     {19, 21},
     {"out[(size_t)(column + lane) * rows + row] = lanes",
      "*(GLOBAL float*)((GLOBAL char*)out + 2) = lanes"},
     "misaligned: writes 4 bytes"},
    {"transpose/transpose",
     {},
     {19, 21},
     {"WORK_GROUP(WGX, WGY, 1)", "WORK_GROUP(WGX, 1, 1)"},
     "limit: transpose: 64 threads, its launch bounds say 8"},
};

// The findings, or "-" where there is no NVRTC.
std::string found_in(const Seeded& seeded, bool faulty) {
  const EmulatedDriver emulated;
  auto device = cuda::open(0, emulated.options());
  REQUIRE_MESSAGE(device.ok(), device.status().to_string());
  if (!(*device)->info().has_compiler) return "-";
  const auto package = package_with(seeded.kernel, faulty ? &seeded.fault : nullptr);
  const Status status = run_package(**device, *package, seeded.shape,
                                    configuration_with(*package, seeded.parameters));
  if (!faulty) CHECK_MESSAGE(status.ok(), status.to_string());
  return emulated.found();
}

}  // namespace

TEST_CASE("faults seeded in kernels are found, each as what it is" * doctest::test_suite("NVRTC")) {
  std::size_t found = 0;
  for (const Seeded& seeded : kSeeded) {
    CAPTURE(std::string(seeded.kernel));
    CAPTURE(std::string(seeded.fault.wrong));
    const std::string right = found_in(seeded, false);
    if (right == "-") return idletune::test::skip("no NVRTC");
    CHECK(right == "");
    const std::string wrong = found_in(seeded, true);
    const bool is_found =
        ("\n" + wrong).find(std::string("\n") + seeded.finding) != std::string::npos;
    CHECK_MESSAGE(is_found, "findings: " << wrong);
    found += is_found ? 1 : 0;
  }
  MESSAGE("figure: emulated_cuda: " << found << " of " << kSeeded.size() << " seeded faults found");
}
