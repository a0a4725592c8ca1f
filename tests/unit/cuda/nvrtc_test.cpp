#include "platform/cuda/nvrtc.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/paths.hpp"
#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace idletune::cuda;
using namespace idletune::test;

namespace {

std::shared_ptr<const Nvrtc> load_stub(const std::string& path) {
  return required(Nvrtc::load(path, 12020));
}

// The machine's own NVRTC; null where there is none.
std::shared_ptr<const Nvrtc> load_real() {
  auto nvrtc = Nvrtc::load("", 13000);
  if (nvrtc.ok()) return *nvrtc;
  idletune::test::skip(nvrtc.status().message());
  return nullptr;
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

constexpr const char* kScaleGroups = R"(
extern "C" __global__ void scale(float* out, const float* in, float factor, int n) {
  __shared__ float part[GROUP];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = factor * part[threadIdx.x];
}
)";

}  // namespace

TEST_CASE("OpenCL's options are translated where there is a counterpart, else left out") {
  using Words = std::vector<std::string>;
  CHECK(nvrtc_options("") == Words{});
  CHECK(nvrtc_options("  -DA=1 \t-DB  ") == Words{"-DA=1", "-DB"});
  CHECK(nvrtc_options("-cl-std=CL1.2 -cl-fast-relaxed-math -DA=1 -cl-mad-enable "
                      "-cl-denorms-are-zero -cl-no-signed-zeros --maxrregcount=64") ==
        Words{"--use_fast_math", "-DA=1", "--fmad=true", "--ftz=true", "--maxrregcount=64"});
}

TEST_CASE("options that OpenCL's compilers know and NVRTC does not are left out") {
  CudaStub stub;
  const auto nvrtc = load_stub(stub.nvrtc_path);
  const auto image =
      nvrtc->compile(kScaleGroups, "scale",
                     "-w -Werror -g -DGROUP=64 -kernel-arg-info -create-library -cl-std=CL1.2 "
                     "-enable-link-options",
                     {87, true});
  CHECK_MESSAGE(image.ok(), image.status().to_string());
  CHECK(std::string(stub.last_options()) == "-w -DGROUP=64 --gpu-architecture=sm_87 ");
}

TEST_CASE("machine code is made for what NVRTC knows, PTX of the next lower one otherwise") {
  CudaStub stub;
  const auto nvrtc = load_stub(stub.nvrtc_path);
  CHECK(nvrtc->version() == 12020);
  CHECK(nvrtc->version_text() == "12.2");
  auto target = nvrtc->target_for(87);
  REQUIRE(target.ok());
  CHECK(target->architecture == 87);
  CHECK(target->machine_code);
  target = nvrtc->target_for(121);
  REQUIRE(target.ok());
  CHECK(target->architecture == 90);
  CHECK(!target->machine_code);
  stub.set_nvrtc(NVRTC_STUB_LOWEST_ARCHITECTURE, 75);
  target = nvrtc->target_for(72);
  REQUIRE(target.code() == StatusCode::unsupported);
  CHECK(target.status().message() ==
        "NVRTC 12.2 generates code for sm_75 and up; expected one that knows sm_72");
}

TEST_CASE("the image says what it was compiled for, and with which options") {
  CudaStub stub;
  const auto nvrtc = load_stub(stub.nvrtc_path);
  auto image = nvrtc->compile(kScaleGroups, "scale", "-DGROUP=64 -cl-std=CL1.2", {87, true});
  REQUIRE_MESSAGE(image.ok(), image.status().to_string());
  CHECK(text_of(*image).rfind("stub cubin sm_87\n", 0) == 0);
  CHECK(std::string(stub.last_options()) == "-DGROUP=64 --gpu-architecture=sm_87 ");
  image = nvrtc->compile(kScaleGroups, "scale", "", {80, false});
  REQUIRE(image.ok());
  CHECK(text_of(*image).rfind("stub ptx compute_80\n", 0) == 0);
  CHECK(image->back() == 0);
  CHECK(stub.live_programs() == 0);
}

TEST_CASE("a source or option that is refused is a compile_error with the log") {
  CudaStub stub;
  const auto nvrtc = load_stub(stub.nvrtc_path);
  auto image = nvrtc->compile("#error", "scale", "", {87, true});
  REQUIRE(image.code() == StatusCode::compile_error);
  CHECK(image.status().message() ==
        "kernel 'scale': NVRTC: NVRTC_ERROR_COMPILATION (6)\n"
        "kernel.cu(1): error: #error directive");
  image = nvrtc->compile(kScaleGroups, "scale", "--no-such", {87, true});
  CHECK(image.code() == StatusCode::compile_error);
  CHECK(stub.live_programs() == 0);
}

TEST_CASE("failures of NVRTC itself are not the kernel's") {
  CudaStub stub;
  const auto nvrtc = load_stub(stub.nvrtc_path);
  for (const char* call :
       {"nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"}) {
    CAPTURE(call);
    stub.fail_nvrtc(call, 7);
    CHECK(nvrtc->compile(kScaleGroups, "scale", "", {87, true}).code() == StatusCode::unsupported);
    stub.fail_nvrtc(call, 1);
    CHECK(nvrtc->compile(kScaleGroups, "scale", "", {87, true}).code() ==
          StatusCode::out_of_memory);
    stub.fail_nvrtc(call, 0);
    CHECK(stub.live_programs() == 0);
  }
}

TEST_CASE("an NVRTC without machine code gives PTX for the device's own architecture") {
  CudaStub stub(IDLETUNE_STUB_CUDA, IDLETUNE_STUB_NVRTC_10);
  const auto nvrtc = load_stub(stub.nvrtc_path);
  auto target = required(nvrtc->target_for(53));
  CHECK(target.architecture == 53);
  CHECK(!target.machine_code);
}

TEST_CASE("a missing or foreign library is said") {
  auto missing = Nvrtc::load("/nowhere/libnvrtc.so", 12020);
  REQUIRE(missing.code() == StatusCode::not_found);
  CHECK(missing.status().message().find("/nowhere/libnvrtc.so") != std::string::npos);
  auto foreign = Nvrtc::load(IDLETUNE_STUB_CUDA, 12020);
  REQUIRE(foreign.code() == StatusCode::unsupported);
  CHECK(foreign.status().message().find("lacks nvrtc") != std::string::npos);
}

// Its folder stands first in the loader's path: 13 is no NVRTC, 12 and 10.2 are the stubs.
TEST_CASE("the newest NVRTC that the driver may use and that knows the device is taken" *
          doctest::test_suite("NVRTC by name")) {
  if (std::getenv("IDLETUNE_NVRTC_BY_NAME") == nullptr) {
    idletune::test::skip("the stubs have no names of NVRTC here");
    return;
  }
  CudaStub newer(IDLETUNE_STUB_CUDA, IDLETUNE_STUB_NVRTC);
  const auto taken = [](int driver, int architecture) {
    const auto nvrtc = Nvrtc::load("", driver, architecture);
    return nvrtc.ok() ? (*nvrtc)->path() : nvrtc.status().to_string();
  };
  const std::string older = taken(11040, 87);
  CHECK(taken(0, 87) == IDLETUNE_STUB_NVRTC);
  CHECK(taken(13000, 87) == IDLETUNE_STUB_NVRTC);
  CHECK(taken(12020, 87) == IDLETUNE_STUB_NVRTC);
  CHECK(older.find("/nvrtc_by_name/libnvrtc.so.10.2") != std::string::npos);
  newer.set_nvrtc(NVRTC_STUB_HIGHEST_ARCHITECTURE, 80);
  CHECK(taken(0, 80) == IDLETUNE_STUB_NVRTC);
  CHECK(taken(0, 87) == older);
}

TEST_CASE("the machine's NVRTC makes machine code for Jetson Orin and Hopper without a GPU" *
          doctest::test_suite("NVRTC")) {
  const auto nvrtc = load_real();
  if (nvrtc == nullptr) return;
  for (int architecture : {87, 90}) {
    CAPTURE(architecture);
    auto target = required(nvrtc->target_for(architecture));
    CHECK(target.machine_code);
    auto image =
        required(nvrtc->compile(kScaleGroups, "scale", "-DGROUP=128 -cl-std=CL1.2", target));
    REQUIRE(image.size() > 1000);
    CHECK(std::memcmp(image.data(),
                      "\x7f"
                      "ELF",
                      4) == 0);
    CHECK(text_of(image).find("scale") != std::string::npos);
  }
}

TEST_CASE("the machine's NVRTC makes PTX for an architecture that it does not know yet" *
          doctest::test_suite("NVRTC")) {
  const auto nvrtc = load_real();
  if (nvrtc == nullptr) return;
  auto target = required(nvrtc->target_for(999));
  CHECK(!target.machine_code);
  CHECK(target.architecture >= 90);
  auto image = required(nvrtc->compile(kScaleGroups, "scale", "-DGROUP=32", target));
  CHECK(text_of(image).find(".entry scale(") != std::string::npos);
  CHECK(image.back() == 0);
  CHECK(nvrtc->target_for(20).code() == StatusCode::unsupported);
}

TEST_CASE("the machine's NVRTC names the line of a mistake, and refuses too much shared memory" *
          doctest::test_suite("NVRTC")) {
  const auto nvrtc = load_real();
  if (nvrtc == nullptr) return;
  auto image = nvrtc->compile("extern \"C\" __global__ void scale() {\n  nonsense;\n}\n", "scale",
                              "", {90, true});
  REQUIRE(image.code() == StatusCode::compile_error);
  CHECK(image.status().message().find("kernel.cu(2): error") != std::string::npos);
  image = nvrtc->compile(kScaleGroups, "scale", "-DGROUP=100000", {87, true});
  CHECK_MESSAGE(image.code() == StatusCode::compile_error, image.status().to_string());
  CHECK(nvrtc->compile(kScaleGroups, "scale", "-DGROUP=1 --no-such", {90, true}).code() ==
        StatusCode::compile_error);
}
