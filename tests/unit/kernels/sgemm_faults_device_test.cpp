// Faults in kernels/blas/sgemm that each show in one configuration only: a trial of it must refuse it,
// on this machine's OpenCL device, whatever the other configurations do.
#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/trial/trial_executor.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

struct Fault {
  int member;
  std::vector<std::pair<const char*, std::int64_t>> values;  // other than the default's
  Shape shape;
  const char* right;  // within one line of the member's source ...
  const char* wrong;  // ... and what stands there for this configuration
};

const Shape kOdd{35, 67, 37, 1, 0, 0, 0};
const Shape kOddTurned{35, 67, 37, 1, 0, 1, 0};

const Fault kFaults[] = {
    {0,
     {{"COLS", 16}, {"ROWS", 8}, {"VX", 2}},
     kOddTurned,
     "min(column + lane, N - 1) * apart",
     "min(column, N - 1) * apart"},
    {0,
     {{"COLS", 16}, {"ROWS", 16}},
     kOdd,
     "const int depth = alpha == 0.0f ? 0 : K;",
     "const int depth = alpha == 0.0f ? 0 : K - 1;"},
    {0,
     {{"COLS", 16}, {"ROWS", 32}},
     kOdd,
     "for (; d < tile_depth; ++d)",
     "for (++d; d < tile_depth; ++d)"},
    {0,
     {{"COLS", 32}, {"ROWS", 8}},
     {16, 64, 16, 1, 0, 0, 0},
     "if (row >= M) continue",
     "if (row >= M - 1) continue"},
    {0,
     {{"COLS", 32}, {"ROWS", 16}, {"DIMY", 4}, {"VY", 4}, {"LOCAL_A", 1}},
     kOdd,
     "min(group_row + i * VY + lane, M - 1)",
     "min(group_row + i * VY, M - 1)"},
    {0,
     {{"COLS", 64}, {"ROWS", 8}, {"LOCAL_B", 1}},
     kOdd,
     "tile[d * (COLS / VX) + i] =",
     "tile[d * (COLS / VX) + max(i, 1)] ="},
    {0, {{"COLS", 64}, {"ROWS", 16}, {"VX", 4}}, kOdd, "lanes[here - first]", "lanes[0]"},
    {0,
     {{"COLS", 64}, {"ROWS", 32}},
     {32, 64, 16, 1, 0, 0, 0},
     "if (beta != 0.0f) result",
     "if (beta > 0.0f) result"},
    {1,
     {{"DIMM", 1}, {"DIMN", 16}},
     kOdd,
     "own < count && k < depth",
     "own < count && k + 1 < depth"},
    {1,
     {{"DIMM", 2}, {"DIMN", 16}},
     {35, 67, 37, 2, 0, 0, 0},
     "(size_t)GROUP_ID(2) * GROUP_COUNT(1) + GROUP_ID(1)",
     "(size_t)GROUP_ID(1)"},
    {1,
     {{"DIMM", 1}, {"DIMN", 4}},
     {32, 32, 16, 1, 1, 0, 0},
     "keep_a ? M + a_pad :",
     "keep_a ? M + a_pad - 1 :"},
    {1,
     {{"DIMM", 2}, {"DIMN", 8}},
     kOdd,
     "MULTIPLY_ADD(alpha, sum, old)",
     "MULTIPLY_ADD(alpha, sum, 0.0f)"},
    {1,
     {{"DIMM", 8}, {"DIMN", 8}, {"TILE", 16}},
     kOdd,
     "i < TILE * TILE_COLUMNS;",
     "i < TILE * TILE_COLUMNS - 1;"},
    {1,
     {{"DIMM", 2}, {"DIMN", 4}},
     {7, 40, 37, 1, 0, 0, 16},
     "(count - 1) / PANEL * PANEL",
     "(count - 1) / PANEL * 0"},
    {2,
     {{"THIN", 2}, {"WG", 16}},
     {3, 67, 37, 1, 0, 0, 0},
     "LOAD_STORED(VW, from + k *",
     "LOAD_STORED(VW, from + max(k - 1, 0) *"},
    {2,
     {{"THIN", 2}, {"WG", 64}},
     {3, 67, 37, 1, 0, 1, 0},
     "for (int lane = 0; lane < VW; ++lane) sum +=",
     "for (int lane = 1; lane < VW; ++lane) sum +="},
    {2,
     {{"THIN", 4}, {"WG", 16}},
     {3, 67, 37, 1, 0, 1, 0},
     "k = vectors_end + item; k < to_k",
     "k = vectors_end + item + 1; k < to_k"},
    {2,
     {{"THIN", 4}, {"WG", 64}, {"SHARE", 16}},
     {3, 67, 137, 1, 0, 1, 0},
     "if (item < half_way)",
     "if (item + 1 < half_way)"},
    {2,
     {{"THIN", 8}, {"WG", 16}, {"SPLIT", 4}},
     {3, 67, 37, 1, 0, 0, 0},
     "for (int part = 0; part < SPLIT; ++part)",
     "for (int part = 1; part < SPLIT; ++part)"},
    {2,
     {{"THIN", 8}, {"WG", 64}},
     {3, 67, 37, 1, 0, 0, 0},
     "t < min(first + THIN, thin_size)",
     "t < min(first + 1, thin_size)"},
};

// Those that show only where rows lie further apart than they are long, or matrices do not begin
// where their buffers do.
const Fault kPlacedFaults[] = {
    {0, {{"COLS", 16}, {"ROWS", 8}}, kOdd, "N + b_pad, N + c_pad PASS_", "N, N + c_pad PASS_"},
    {0,
     {{"COLS", 16}, {"ROWS", 16}},
     kOddTurned,
     "K + b_pad, N + c_pad PASS_",
     "K + b_pad, N PASS_"},
    {0, {{"COLS", 16}, {"ROWS", 32}}, kOdd, "1 : (size_t)(K + a_pad))", "1 : (size_t)K)"},
    {0,
     {{"COLS", 64}, {"ROWS", 16}},
     {35, 67, 37, 1, 1, 0, 0},
     "(size_t)(M + a_pad) : (size_t)1)",
     "(size_t)M : (size_t)1)"},
    {0,
     {{"COLS", 64}, {"ROWS", 8}},
     kOdd,
     "PLACED_B b + place(1, form, (long)N * K, b_offset",
     "PLACED_B b + place(1, form, (long)N * K, 0"},
    {0,
     {{"COLS", 64}, {"ROWS", 32}},
     {35, 67, 37, 2, 0, 0, 0},
     "PLACED_C c + place(2, form, (long)M * N, c_offset, c_step",
     "PLACED_C c + place(2, form, (long)M * N, c_offset, 0"},
    {1, {{"DIMM", 1}, {"DIMN", 4}}, kOdd, "(TURNED_A(form) ? M : K) + a_pad", "K"},
    {1,
     {{"DIMM", 2}, {"DIMN", 8}},
     kOddTurned,
     "(TURNED_B(form) ? K : N) + b_pad",
     "(TURNED_B(form) ? K : N) + 2 * b_pad"},
    {1,
     {{"DIMM", 2}, {"DIMN", 4}},
     {35, 64, 16, 1, 0, 0, 0},
     "keep_b ? N + b_pad :",
     "keep_b ? N :"},
    {1, {{"DIMM", 1}, {"DIMN", 16}}, kOdd, "* (N + c_pad) + first,", "* N + first,"},
    {1,
     {{"DIMM", 2}, {"DIMN", 16}},
     {35, 67, 37, 2, 0, 0, 0},
     "pack_element(a + place(0, form, (long)M * K, a_offset, a_step",
     "pack_element(a + place(0, form, (long)M * K, a_offset, 0"},
    {2,
     {{"THIN", 8}, {"WG", 16}, {"SPLIT", 4}},
     {3, 67, 37, 1, 0, 0, 0},
     "row * (N + c_pad) + column",
     "row * N + column"},
    {2,
     {{"THIN", 4}, {"WG", 16}},
     {3, 67, 37, 1, 0, 0, 0},
     "own_c + (first + i) * c_thin + j",
     "own_c + (first + i) * N + j"},
    {2,
     {{"THIN", 2}, {"WG", 64}},
     {3, 67, 37, 1, 0, 1, 0},
     "min(own, wide_size - 1) * wide_step",
     "min(own, wide_size - 1) * (size_t)K"},
};

const char* prefix_of(const Fault& fault) {
  constexpr const char* kPrefixes[] = {"direct_", "indirect_", "skinny_"};
  return kPrefixes[fault.member];
}

// The fault's line stands beside the right one, which all other configurations compile.
void seed(std::string& source, const Fault& fault) {
  const std::string_view right(fault.right);
  const std::string member = "ALGORITHM == " + std::to_string(fault.member);
  const std::size_t at = source.find(right, source.find(member + "\n"));
  REQUIRE_MESSAGE(at != std::string::npos, std::string(right) << " is not in the source");
  const std::size_t begin = source.rfind('\n', at) + 1;
  const std::string line = source.substr(begin, source.find('\n', at) - begin);
  REQUIRE(line.back() != '\\');
  std::string wrong = line;
  wrong.replace(at - begin, right.size(), fault.wrong);
  std::string condition = "#if " + member;
  for (const auto& [name, value] : fault.values) {
    condition += " && " + (prefix_of(fault) + std::string(name)) + " == " + std::to_string(value);
  }
  source.replace(begin, line.size(), condition + "\n" + wrong + "\n#else\n" + line + "\n#endif");
}

Configuration configuration_of(const Space& space, const Configuration& start, const Fault& fault) {
  Configuration configuration = start;
  configuration[0] = fault.member;
  for (const auto& [name, value] : fault.values) {
    configuration[*space.parameter_index(prefix_of(fault) + std::string(name))] = value;
  }
  REQUIRE(space.contains(configuration));
  return configuration;
}

KernelDescription described() {
  return required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/blas/sgemm/sgemm.xml"));
}

// All matrices begin somewhere in their buffers, with longer rows, apart from one another.
void place_operands(KernelDescription& description) {
  int place = 0;
  for (DescribedArgument& argument : description.arguments) {
    const std::string_view name = argument.name;
    const auto ends_with = [&](std::string_view end) {
      return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
    };
    if (ends_with("_offset")) argument.fill_low = 3 + 2 * place++;
    if (ends_with("_pad")) argument.fill_low = 1 + 2 * place++;
    // More than what longer rows take.
    if (ends_with("_step")) argument.fill_low = 2000 + place++;
    if (argument.kind == ArgumentKind::scalar) argument.fill_high = argument.fill_low;
    if (name == "a" || name == "b" || name == "c") argument.size.text += " + BATCH * 3000";
  }
  CHECK(place == 9);
}

template <std::size_t Count>
void expect_found(const Fault (&faults)[Count], KernelDescription description) {
  for (const Fault& fault : faults) seed(description.source, fault);
  const auto package = required(KernelPackage::open(required(pack(description)), "sgemm"));
  const auto device = open_first_device();
  TrialExecutor executor(*device, package);
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.wrong));
    TrialRequest request;
    request.stage = TrialStage::check;
    request.shape = fault.shape;
    request.deadline = std::chrono::minutes(1);
    request.configuration = package->default_configuration();
    const TrialOutcome right = executor.run(request);
    CHECK_MESSAGE(right.status == TrialStatus::correct, right.message);
    request.configuration = configuration_of(package->space(), request.configuration, fault);
    const TrialOutcome wrong = executor.run(request);
    CHECK(wrong.stage == TrialStage::check);
    CHECK_MESSAGE(wrong.status == TrialStatus::correctness, wrong.message);
  }
}

}  // namespace

TEST_CASE("twenty faults, each of one configuration only, are found by its trial") {
  CHECK(std::size(kFaults) == 20);
  expect_found(kFaults, described());
}

TEST_CASE("faults on padded and offset operands, each of one configuration only, are found") {
  KernelDescription description = described();
  place_operands(description);
  expect_found(kPlacedFaults, std::move(description));
}
