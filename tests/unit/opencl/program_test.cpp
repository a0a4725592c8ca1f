// Compiled OpenCL programs, and finding them again, on a library whose every answer is scripted.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("a build failure has the first lines of the log and leaks nothing") {
  Stub stub;
  auto device = open_stub(stub);
  const long before = stub.live_objects();
  stub.fail("clBuildProgram", CL_BUILD_PROGRAM_FAILURE, 0);
  auto program = device->compile(request_with(1));
  REQUIRE(program.code() == StatusCode::compile_error);
  const std::string message = program.status().message();
  CHECK(message.find("kernel 'entry': clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)\n"
                     "stub.cl:1: error: scripted\n") == 0);
  CHECK(message.find("stub.cl:20:") != std::string::npos);
  CHECK(message.find("stub.cl:21:") == std::string::npos);
  CHECK(std::string(stub.last_options()) == "-DA=1");
  stub.fail("clGetProgramBuildInfo", CL_INVALID_PROGRAM, 0);
  program = device->compile(request_with(1));
  CHECK(program.status().message() ==
        "kernel 'entry': clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)");
  stub.fail("clBuildProgram", CL_COMPILER_NOT_AVAILABLE, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::unsupported);
  stub.fail("clBuildProgram", CL_OUT_OF_HOST_MEMORY, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::out_of_memory);
  stub.reset();
  stub.fail("clCreateProgramWithSource", CL_INVALID_VALUE, 0);
  CHECK(device->compile(request_with(1)).code() == StatusCode::device_error);
  stub.reset();
  stub.fail("clCreateKernel", CL_INVALID_KERNEL_NAME, 2);  // the third of four
  program = device->compile(request_with(3));
  REQUIRE(program.code() == StatusCode::compile_error);
  CHECK(program.status().message() ==
        "kernel 'entry': clCreateKernel: CL_INVALID_KERNEL_NAME (-46)");
  CHECK(stub.live_objects() == before);
}

TEST_CASE("the kernel's own limits are reported") {
  Stub stub;
  auto device = open_stub(stub);
  stub.set(STUB_KERNEL_WORK_GROUP_SIZE, 96);
  auto program = compile_on(*device);
  CHECK(program->max_work_group_size() == 96);
  CHECK(program->local_memory_bytes() == 1024);
  stub.fail("clGetKernelWorkGroupInfo", CL_INVALID_KERNEL, 0);
  program = compile_on(*device);
  CHECK(program->max_work_group_size() == device->info().max_work_group_size);
  CHECK(program->local_memory_bytes() == 0);
}

TEST_CASE("a cached binary is used, and its bytes are those the driver gave") {
  Stub stub;
  TemporaryFolder folder;
  const opencl::OpenOptions options = options_for(stub, folder.path());
  {
    auto device = required(opencl::open(0, options));
    compile_on(*device);
    CHECK(stub.binaries_given() == 0);
    CHECK(folder.files().size() == 1);
  }
  auto device = required(opencl::open(0, options));
  stub.reset();
  auto program = compile_on(*device, 2);
  CHECK(program->lanes() == 2);
  CHECK(stub.calls("clCreateProgramWithSource") == 0);
  CHECK(stub.binaries_given() == 1);
  std::size_t size = 0;
  const unsigned char* binary = stub.last_binary(&size);
  CHECK(std::string(binary, binary + size) == "stub binary of kernel text");
  CHECK(opencl::cache_counters(*device).hits == 1);
}

TEST_CASE("a device keeps programs where it is told, unless it was made with a folder") {
  Stub stub;
  TemporaryFolder own;
  TemporaryFolder told;
  opencl::OpenOptions options = options_for(stub);
  for (int start = 0; start < 2; ++start) {
    auto device = required(opencl::open(0, options));
    device->keep_programs_in(told.path());
    compile_on(*device);
    CHECK(opencl::cache_counters(*device).hits == static_cast<std::uint64_t>(start));
  }
  CHECK(told.files().size() == 1);
  options.cache_folder = own.path();
  auto device = required(opencl::open(0, options));
  device->keep_programs_in(told.path());
  compile_on(*device);
  CHECK(opencl::cache_counters(*device).hits == 0);
  CHECK(own.files().size() == 1);
}

TEST_CASE("another source, entry, option or driver misses the cache") {
  Stub stub;
  TemporaryFolder folder;
  const opencl::OpenOptions options = options_for(stub, folder.path());
  auto device = required(opencl::open(0, options));
  compile_on(*device);
  CompileRequest request = request_with(1);
  request.source = "kernel text ";
  CHECK(device->compile(request).ok());
  request = request_with(1);
  request.entry = "entry2";
  CHECK(device->compile(request).ok());
  request = request_with(1);
  request.options = "-DA=2";
  CHECK(device->compile(request).ok());
  stub.set(STUB_OPENCL_MAJOR, 2);  // an update of the driver
  auto updated = required(opencl::open(0, options));
  compile_on(*updated);
  CHECK(stub.binaries_given() == 0);
  CHECK(opencl::cache_counters(*device).misses == 4);
  CHECK(opencl::cache_counters(*updated).misses == 1);
  CHECK(folder.files().size() == 5);
}

TEST_CASE("a damaged cache file never reaches the driver and is replaced") {
  Stub stub;
  TemporaryFolder folder;
  const opencl::OpenOptions options = options_for(stub, folder.path());
  auto device = required(opencl::open(0, options));
  compile_on(*device);
  REQUIRE(folder.files().size() == 1);
  const std::string path = folder.files()[0];
  const std::string intact = content_of(path);
  std::uint64_t damaged = 0;
  auto compile_with = [&](const std::string& content) {
    overwrite(path, content);
    compile_on(*device);
    ++damaged;
    REQUIRE(stub.binaries_given() == 0);
    REQUIRE(content_of(path) == intact);
  };
  for (std::size_t at = 0; at < intact.size(); at += 3) {
    std::string flipped = intact;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    compile_with(flipped);
    compile_with(intact.substr(0, at));
  }
  compile_with(intact + "x");
  CHECK(opencl::cache_counters(*device).rejected == damaged);
  compile_on(*device);
  CHECK(stub.binaries_given() == 1);
}

TEST_CASE("a binary that the driver refuses is dropped and the source compiled") {
  Stub stub;
  TemporaryFolder folder;
  const opencl::OpenOptions options = options_for(stub, folder.path());
  auto device = required(opencl::open(0, options));
  compile_on(*device);
  const long before = stub.live_objects();
  stub.fail("clCreateProgramWithBinary", CL_INVALID_BINARY, 0);
  compile_on(*device);
  CHECK(stub.binaries_given() == 1);
  CHECK(opencl::cache_counters(*device).rejected == 1);
  CHECK(opencl::cache_counters(*device).stored == 2);
  CHECK(stub.live_objects() == before);
}

TEST_CASE("a cache that cannot be written costs nothing but itself") {
  Stub stub;
  opencl::OpenOptions options = options_for(stub, "/nowhere/at/all");
  auto device = opencl::open(0, options);
  REQUIRE(device.ok());
  compile_on(**device);
  CHECK(opencl::cache_counters(**device).store_errors == 1);
  TemporaryFolder folder;
  options.cache_folder = folder.path();
  device = opencl::open(0, options);
  REQUIRE(device.ok());
  stub.fail("clGetProgramInfo", CL_INVALID_PROGRAM, 0);  // a driver that keeps its binaries
  compile_on(**device);
  CHECK(opencl::cache_counters(**device).store_errors == 1);
  CHECK(folder.files().empty());
}

TEST_CASE("another kernel function of a program is made without building again") {
  Stub stub;
  auto device = open_stub(stub);
  auto program = compile_on(*device, 2);
  stub.reset();
  auto other = required(program->another("second"));
  CHECK(other->lanes() == 2);
  CHECK(stub.calls("clBuildProgram") == 0);
  CHECK(stub.calls("clCreateKernel") == 3);  // the tuner's, too
  program.reset();                           // the program lives as long as any of its kernels
  CHECK(stub.calls("clReleaseProgram") == 0);
  const Argument arguments[] = {1.0f};
  CHECK(other->enqueue(1, two_dimensions(), arguments, {}, nullptr).ok());
  stub.fail("clCreateKernel", CL_INVALID_KERNEL_NAME, 0);
  CHECK(other->another("third").code() == StatusCode::compile_error);
  other = nullptr;
  CHECK(stub.calls("clReleaseProgram") == 1);
}
