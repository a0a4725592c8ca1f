// Packages for tests of the agent on a device: small spaces, some of them deadly.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "tests/paths.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

inline std::vector<std::uint8_t> packed(const KernelDescription& description) {
  return required(pack(description));
}

inline KernelDescription described(const std::string& file) {
  return required(read_kernel_xml(file));
}

// The kernel that is wrong on purpose (tests/data/kernels/README.md): BUG 0..9, TILE 8 and 16.
inline KernelDescription broken_kernel() {
  return described(IDLETUNE_TEST_DATA_FOLDER "/kernels/broken.xml");
}

// Each work item loses time before the code `before` of the source where `condition` holds: the
// default, say, so that whatever the device likes, others beat it.
inline KernelDescription slow_where(KernelDescription description, const std::string& condition,
                                    const std::string& before, int turns = 2000) {
  const std::size_t at = description.source.find(before);
  REQUIRE_MESSAGE(at != std::string::npos, before);
  description.source.insert(at, "\n#if " + condition + "\nfor (volatile int lost = 0; lost < " +
                                    std::to_string(turns) + "; ++lost) {}\n#endif\n");
  return description;
}

// kernels/gemm with some dozens of its configurations, those that compile soonest, and a default that
// most of them beat.
inline KernelDescription small_gemm() {
  KernelDescription gemm = described(IDLETUNE_SOURCE_FOLDER "/kernels/gemm/gemm.xml");
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> values{
      {"MWG", {8, 16, 32}}, {"NWG", {8, 16}}, {"KWG", {16}},  {"MDIMC", {8}},  {"NDIMC", {8}},
      {"MDIMA", {8}},       {"NDIMB", {8}},   {"KWI", {2}},   {"VWM", {1, 2}}, {"VWN", {1, 2}},
      {"STRM", {0, 1}},     {"STRN", {0}},    {"SA", {0, 1}}, {"SB", {0}}};
  REQUIRE(values.size() == gemm.parameters.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(gemm.parameters[i].name == values[i].first);
    gemm.parameters[i].values = values[i].second;
    gemm.parameters[i].default_value = values[i].second.front();
  }
  return slow_where(std::move(gemm), "MWG == 8 && NWG == 8", "if (group_column + MWG <= N", 300);
}

// out = 2 * in, in groups of WIDTH. FATAL 1 executes an illegal instruction; FATAL 2 takes 256 MiB
// of local memory that the description is silent about, which makes PoCL abort. Valid are FATAL 0
// with each WIDTH, and whatever `fatal_where` allows.
inline KernelDescription fatal_kernel(const std::string& fatal_where) {
  KernelDescription kernel = made_kernel("fatal", R"(
__kernel void fatal(const int n, const __global float* in, __global float* out) {
  const int i = (int)get_global_id(0);
#if FATAL == 1
  __builtin_trap();
#elif FATAL == 2
  __local float much[64 * 1024 * 1024];
  much[get_local_id(0)] = in[min(i, n - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (much[0] < 0) out[0] = much[1];
#endif
  if (i < n) out[i] = 2.0f * in[i];
}
)");
  kernel.dialect = Dialect::opencl;
  kernel.parameters = {{"FATAL", ParameterKind::other, {0, 1, 2}, 0},
                       {"WIDTH", ParameterKind::work_group, {8, 16, 32, 64}, 8}};
  kernel.constraints = {DescribedExpression("FATAL == 0 || " + fatal_where)};
  kernel.launch.global = {"round_up(N, WIDTH)"};
  kernel.launch.local = {"WIDTH"};
  kernel.arguments = {made_dimension("n", "N"), made_input("in", "N", 0.5, 1.5),
                      made_buffer("out", "N", Access::out)};
  return kernel;
}

// `parts` of the source, each replaced by what the value of a new last parameter, FAULT, chooses: 1
// for the first of them and so on.
inline KernelDescription with_faults(
    KernelDescription description, const std::vector<std::pair<std::string, std::string>>& parts) {
  DescribedParameter fault{"FAULT", ParameterKind::other, {0}, 0};
  for (const auto& [part, faulty] : parts) {
    const auto value = static_cast<std::int64_t>(fault.values.size());
    fault.values.push_back(value);
    const std::size_t at = description.source.find(part);
    REQUIRE_MESSAGE(at != std::string::npos, part);
    description.source.replace(at, part.size(),
                               "\n#if FAULT == " + std::to_string(value) + "\n" + faulty +
                                   "\n#else\n" + part + "\n#endif\n");
  }
  description.parameters.push_back(fault);
  return description;
}

}  // namespace idletune::test
