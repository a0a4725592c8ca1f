// Compiled CUDA programs, and finding them again, on a scripted driver and NVRTC.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <string>

#include <idletune/cuda.hpp>

#include "tests/unit/cuda/stub.hpp"
#include "tests/unit/cuda/stub_device.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace std::chrono_literals;
using namespace idletune;
using namespace idletune::test;

TEST_CASE("programs say their limits, and a kernel that is not there is a compile error") {
  CudaStub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, "-DSHARED_BYTES=4096", 4);
  CHECK(program->lanes() == 4);
  CHECK(program->max_work_group_size() == 768);
  CHECK(program->local_memory_bytes() == 4096);
  CompileRequest request = request_for();
  request.entry = "absent";
  auto absent = device->compile(request);
  REQUIRE(absent.code() == StatusCode::compile_error);
  CHECK(absent.status().message() ==
        "kernel 'absent': cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)\n"
        "expected it as extern \"C\" __global__");
  request.entry = "";
  CHECK(device->compile(request).code() == StatusCode::invalid_argument);
  CHECK(device->compile(request_for("", 257)).code() == StatusCode::invalid_argument);
  CompileRequest broken = request_for();
  broken.source = "#error";
  CHECK(device->compile(broken).code() == StatusCode::compile_error);
  program.reset();
  device.reset();
  CHECK(stub.new_objects() == 0);
  CHECK(stub.live_programs() == 0);
}

TEST_CASE("an image that the driver refuses is an error with the driver's log") {
  CudaStub stub;
  auto device = open_stub(stub);
  stub.set(CUDA_STUB_ARCHITECTURE, 90);  // another device than NVRTC was told about
  auto refused = device->compile(request_for());
  REQUIRE(refused.code() == StatusCode::compile_error);
  CHECK(refused.status().message() ==
        "kernel 'scale': cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209)\n"
        "not made for this device");
}

TEST_CASE("an architecture newer than NVRTC gets PTX, which the driver compiles") {
  CudaStub stub;
  stub.set(CUDA_STUB_ARCHITECTURE, 121);
  auto device = open_stub(stub);
  auto program = compile_on(*device);
  CHECK(std::string(stub.last_image()).rfind("stub ptx compute_90\n", 0) == 0);
  ScaleProblem problem(*device);
  CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
}

TEST_CASE("a compiled CUDA program is found again, by options, source and architecture") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
  {
    auto device = open_with_cache(stub, folder);
    auto program = compile_on(*device, "-DA=1");
    ScaleProblem problem(*device);
    CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
    CHECK(cuda::cache_counters(*device).hits == 1);
    CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
    compile_on(*device, "-DA=2");
    CHECK(cuda::cache_counters(*device).misses == 1);
    CHECK(cuda::cache_counters(*device).stored == 1);
  }
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
  stub.set(CUDA_STUB_ARCHITECTURE, 72);
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 3);
}

TEST_CASE("another NVRTC compiles anew, another driver does not") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder));
  stub.set(CUDA_STUB_DRIVER_VERSION, 12040);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 1);
  stub.set_nvrtc(NVRTC_STUB_VERSION, 12040);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
  compile_on(*open_with_cache(stub, folder));
  CHECK(stub.nvrtc_calls("nvrtcCompileProgram") == 2);
}

TEST_CASE("damaged and refused cached images are dropped and compiled again") {
  CudaStub stub;
  TemporaryFolder folder;
  auto only_file = [&] {
    const auto entries = std::filesystem::directory_iterator(folder.path() + "/programs");
    return entries->path().string();
  };
  compile_on(*open_with_cache(stub, folder));
  std::string file = content_of(only_file());
  file[70] = static_cast<char>(file[70] ^ 1);
  overwrite(only_file(), file);
  auto device = open_with_cache(stub, folder);
  compile_on(*device);
  CHECK(cuda::cache_counters(*device).rejected == 1);
  CHECK(cuda::cache_counters(*device).stored == 1);
  // Intact, but the driver does not want it this once: NVRTC's fresh image is taken.
  stub.fail("cuModuleGetFunction", cuda::kNotFound, 0);
  CHECK(device->compile(request_for()).code() == StatusCode::compile_error);
  stub.fail("cuModuleGetFunction", cuda::kSuccess, 0);
  CHECK(cuda::cache_counters(*device).rejected == 2);
  compile_on(*device);
  // A lack of memory says nothing about the image.
  stub.fail("cuModuleLoadDataEx", cuda::kOutOfMemory, 0);
  CHECK(device->compile(request_for()).code() == StatusCode::out_of_memory);
  CHECK(cuda::cache_counters(*device).rejected == 2);
}

TEST_CASE("a device without a cache folder keeps programs where it is told") {
  CudaStub stub;
  TemporaryFolder folder;
  for (std::uint64_t start = 0; start < 2; ++start) {
    auto device = open_stub(stub);
    device->keep_programs_in(folder.path());
    compile_on(*device);
    CHECK(cuda::cache_counters(*device).hits == start);
  }
  CHECK(folder.files().size() == 1);
}

TEST_CASE("a program that cannot be kept runs, and is counted") {
  CudaStub stub;
  TemporaryFolder folder;
  cuda::OpenOptions options = stub.options();
  options.cache_folder = folder.path() + "/file";
  REQUIRE(std::ofstream(options.cache_folder).put('x'));
  auto device = required(cuda::open(0, options));
  compile_on(*device);
  CHECK(cuda::cache_counters(*device).store_errors == 1);
}

TEST_CASE("without NVRTC cached programs run, and others are refused with the reason") {
  CudaStub stub;
  TemporaryFolder folder;
  compile_on(*open_with_cache(stub, folder), "-DA=1");
  cuda::OpenOptions options = stub.options();
  options.cache_folder = folder.path() + "/programs";
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  auto device = required(cuda::open(0, options));
  CHECK(!device->info().has_compiler);
  CHECK(device->info().driver.find("no NVRTC") != std::string::npos);
  auto program = compile_on(*device, "-DA=1");
  ScaleProblem problem(*device);
  CHECK(device->run(*program, groups_of(8, 4), problem.arguments, 1s).ok());
  auto refused = device->compile(request_for("-DA=2"));
  REQUIRE(refused.code() == StatusCode::unsupported);
  CHECK(refused.status().message().find(
            "kernel 'scale' is not in the program cache and cannot be compiled: NVRTC "
            "'/nowhere/libnvrtc.so'") == 0);
}
