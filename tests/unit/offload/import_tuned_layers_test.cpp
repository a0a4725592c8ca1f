#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/host/offload/import_samples.hpp"
#include "models/host/offload/layer_features.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;
using idletune::test::bytes_of;

namespace {

// One line of a log. `result`: "[seconds, ...], error".
std::string line(const std::string& target, const std::string& task, const std::string& arguments,
                 const std::string& result) {
  return R"({"input": [")" + target + R"(", ")" + task + R"(", )" + arguments +
         R"(, {}], "config": {}, "result": [)" + result + R"(, 1.0, 2.0], "version": 0.2})" + "\n";
}

const std::string kGpu = "opencl -model=board9 -device=mali";
const std::string kCpu = "llvm -device=arm_cpu -model=board9 -mattr=+neon";
const std::string kStrided =
    R"([["TENSOR", [2, 6, 9, 9], "float32"], ["TENSOR", [8, 6, 3, 3], "float32"], )"
    R"([2, 2], [1, 1, 1, 1], [1, 1], "float32"])";
const std::string kDepthwise =
    R"([["TENSOR", [1, 6, 9, 7], "float32"], ["TENSOR", [6, 2, 3, 3], "float32"], )"
    R"([1, 1], [0, 0], [1, 1], "float32"])";

Result<SampleSet> read(const std::string& gpu, const std::string& cpu) {
  return import_tuned_layers(bytes_of(gpu), "gpu.log", bytes_of(cpu), "cpu.log");
}

double tuned_feature(const SampleSet& set, std::size_t sample, const char* name) {
  return set.samples[sample].features[set.features.find(name)];
}

}  // namespace

TEST_CASE("a convolution that both devices were tuned for is a sample with its best times") {
  const std::string gpu =
      "# tuned\n" + line(kGpu, "conv2d_nchw_spatial_pack.mali", kStrided, "[0.004, 0.003], 0") +
      line(kGpu, "conv2d_nchw_winograd.mali", kStrided, "[0.002], 0") +
      line(kGpu, "conv2d_nchw_winograd.mali", kStrided, "[0.005], 0");
  const std::string cpu = line(kCpu, "conv2d_nchw_spatial_pack.arm_cpu", kStrided, "[0.001], 0");
  const auto set = required(read(gpu, cpu));
  CHECK(set.device == "board9");
  REQUIRE(set.samples.size() == 1);
  CHECK(set.variants ==
        std::vector<std::string>{"conv2d_nchw_spatial_pack", "conv2d_nchw_winograd"});
  CHECK(set.samples[0].cpu_ms == doctest::Approx(1));
  CHECK(set.samples[0].gpu_ms[0] == doctest::Approx(3));
  CHECK(set.samples[0].gpu_ms[1] == doctest::Approx(2));
  CHECK(set.features == layer_features());
  CHECK(set.samples[0].groups.program == "81 pixels, side 3 every 2");
  CHECK(tuned_feature(set, 0, "batch") == 2);
  CHECK(tuned_feature(set, 0, "out_pixels") == 25);  // (9 + 2 - 3) / 2 + 1 = 5 on each side
  CHECK(tuned_feature(set, 0, "depth") == 54);
  CHECK(tuned_feature(set, 0, "groups") == 1);
  CHECK(set.remarks.empty());
}

TEST_CASE("windows may be oblong, dilated, and move by other steps in rows than in columns") {
  const auto read_one = [](const std::string& arguments) {
    return required(read(line(kGpu, "conv2d_nchw.mali", arguments, "[0.004], 0"),
                         line(kCpu, "conv2d_nchw.arm_cpu", arguments, "[0.001], 0")));
  };
  const auto arguments = [](const std::string& window, const std::string& rest) {
    return R"([["TENSOR", [1, 192, 17, 17], "float32"], ["TENSOR", [192, 192, )" + window +
           R"(], "float32"], )" + rest + R"(, "float32"])";
  };
  const SampleSet high = read_one(arguments("7, 1", "[1, 1], [3, 0], [1, 1]"));
  const SampleSet wide = read_one(arguments("1, 7", "[1, 1], [0, 3], [1, 1]"));
  for (const SampleSet* set : {&high, &wide}) {
    CHECK(tuned_feature(*set, 0, "operations") == 17 * 17 * 192 * (2 * 192 * 7 + 1.0));
    CHECK(tuned_feature(*set, 0, "depth") == 192 * 7);
    CHECK(tuned_feature(*set, 0, "window") == doctest::Approx(std::sqrt(7.0)));
  }
  CHECK(high.samples[0].groups.program == "289 pixels, side 7x1 every 1");
  // A dilated window of 3 reaches as far as one of 5.
  const SampleSet dilated = read_one(arguments("3, 3", "[1, 1], [0, 0], [2, 2]"));
  CHECK(tuned_feature(dilated, 0, "out_pixels") == 13 * 13);
  CHECK(tuned_feature(dilated, 0, "depth") == 192 * 9);
  CHECK(tuned_feature(read_one(arguments("3, 3", "[1, 1], [0, 0], 2")), 0, "out_pixels") ==
        13 * 13);
  CHECK(tuned_feature(read_one(arguments("3, 3", R"([1, 1], [0, 0], "NCHW")")), 0, "out_pixels") ==
        15 * 15);
  CHECK(tuned_feature(read_one(arguments("3, 3", "[1, 2], [1, 1], [1, 1]")), 0, "out_pixels") ==
        17 * 9);
}

TEST_CASE("a depthwise convolution has a group per channel, and padding may be told once") {
  const auto set =
      required(read(line(kGpu, "depthwise_conv2d_nchw.mali", kDepthwise, "[0.004], 0"),
                    line(kCpu, "depthwise_conv2d_nchw.arm_cpu", kDepthwise, "[0.001], 0")));
  CHECK(tuned_feature(set, 0, "groups") == 6);
  CHECK(tuned_feature(set, 0, "out_channels") == 12);
  CHECK(tuned_feature(set, 0, "out_pixels") == 35);
  CHECK(tuned_feature(set, 0, "depth") == 9);
}

TEST_CASE("lines without a use are counted, and those of other boards are no partners") {
  const std::string other = "llvm -model=board8";
  std::string half = kStrided;
  half.replace(half.find("float32"), 7, "float16");
  const std::string gpu = line(kGpu, "conv2d_nchw_spatial_pack.mali", kStrided, "[0.004], 0") +
                          line(kGpu, "dense.mali", kStrided, "[0.004], 0") +
                          line(kGpu, "conv2d_nchw_spatial_pack.mali", "[[3], 4]", "[0.004], 0") +
                          line(kGpu, "conv2d_nchw_spatial_pack.mali", half, "[0.004], 0") +
                          line(kGpu, "conv2d_nchw_spatial_pack.mali", kStrided, "[1e10], 4") +
                          line(kGpu, "conv2d_nchw_spatial_pack.mali", kStrided, "[0], 0");
  const std::string cpu = line(other, "conv2d_nchw_spatial_pack.arm_cpu", kStrided, "[9], 0") +
                          line(kCpu, "conv2d_nchw_spatial_pack.arm_cpu", half, "[9], 0");
  CHECK(read(gpu, cpu).status().message() ==
        "gpu.log: no convolution that cpu.log has too, on the same board");
  const auto set = required(
      read(gpu, cpu + line(kCpu, "conv2d_nchw_spatial_pack.arm_cpu", kStrided, "[0.001], 0")));
  REQUIRE(set.samples.size() == 1);
  CHECK(set.samples[0].cpu_ms == doctest::Approx(1));
  CHECK(set.remarks == std::vector<std::string>{
                           "gpu.log: 3 of 6 lines are no convolutions in single precision's plain "
                           "layout",
                           "gpu.log: 2 of 6 lines failed, or have no time above 0 and below 1e6 "
                           "ms",
                           "cpu.log: 1 of 3 lines are no convolutions in single precision's plain "
                           "layout"});
}

TEST_CASE("what is no log of AutoTVM is refused with its line") {
  const std::string good = line(kGpu, "conv2d_nchw_spatial_pack.mali", kStrided, "[0.004], 0");
  for (const char* bad : {"{\"input\": [", "[]", "{\"input\": [1, 2], \"result\": []}", "a,b"}) {
    CAPTURE(bad);
    CHECK(read(good + bad, good).status().message() ==
          "gpu.log, line 2: not a line of AutoTVM, with 'input' and 'result'");
  }
  CHECK_FALSE(read("", good).ok());
}
