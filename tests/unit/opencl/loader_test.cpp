#include "platform/opencl/loader.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <idletune/opencl.hpp>

#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using namespace idletune::opencl;
using namespace idletune::test;

TEST_CASE("a library that is not there is not found, and the message names it") {
  auto api = load("/nowhere/libOpenCL.so.1");
  REQUIRE(api.code() == StatusCode::not_found);
  CHECK(api.status().message().find("/nowhere/libOpenCL.so.1") != std::string::npos);
  idletune::opencl::OpenOptions options;
  options.library = "/nowhere/libOpenCL.so.1";
  CHECK(idletune::opencl::list(options).code() == StatusCode::not_found);
  CHECK(idletune::opencl::open(0, options).code() == StatusCode::not_found);
  CHECK(idletune::opencl::open_matching({}, options).code() == StatusCode::not_found);
  int handle = 0;
  CHECK(idletune::opencl::adopt(&handle, &handle, nullptr, options).code() ==
        StatusCode::not_found);
}

TEST_CASE("a library that is no plain file is refused, and a pipe is not waited for") {
  const idletune::test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/libOpenCL.so.1";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto api = load(pipe);
  REQUIRE(api.code() == StatusCode::invalid_argument);
  CHECK(api.status().message() == "OpenCL library '" + pipe + "': not a plain file");
}

TEST_CASE("a library without OpenCL functions is unsupported, and the message names one") {
  auto api = load("libm.so.6");
  REQUIRE(api.code() == StatusCode::unsupported);
  CHECK(api.status().message().find("lacks cl") != std::string::npos);
}

TEST_CASE("a library given by its path has its functions resolved from itself") {
  Stub stub;
  auto api = load(stub.path);
  REQUIRE_MESSAGE(api.ok(), api.status().to_string());
  CHECK((*api)->path == stub.path);
  CHECK(((*api)->CreateCommandQueueWithProperties != nullptr));
  cl_uint count = 0;
  CHECK((*api)->GetPlatformIDs(0, nullptr, &count) == CL_SUCCESS);
  CHECK(count == 1);
  CHECK(stub.calls("clGetPlatformIDs") == 1);
}

TEST_CASE("errors have their OpenCL names") {
  CHECK(std::string(error_name(CL_SUCCESS)) == "CL_SUCCESS");
  CHECK(std::string(error_name(CL_OUT_OF_RESOURCES)) == "CL_OUT_OF_RESOURCES");
  CHECK(std::string(error_name(-1001)) == "CL_PLATFORM_NOT_FOUND_KHR");
  CHECK(std::string(error_name(-4711)) == "unknown OpenCL error");
  const idletune::Status status = idletune::opencl::to_status(-54, "clEnqueueNDRangeKernel");
  CHECK(status.code() == StatusCode::device_error);
  CHECK(status.message() == "clEnqueueNDRangeKernel: CL_INVALID_WORK_GROUP_SIZE (-54)");
  CHECK(idletune::opencl::to_status(CL_SUCCESS, "clFlush").ok());
}
