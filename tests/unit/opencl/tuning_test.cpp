// The agent and its helper on the stub OpenCL library, which runs one kernel on the CPU.
#include <doctest/doctest.h>

#include <string>

#include <idletune/opencl.hpp>

#include "models/host/pack/pack.hpp"
#include "tests/unit/agent/first_step.hpp"
#include "tests/unit/opencl/stub_device.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("the helper opens the OpenCL library that the application opened, and its cache") {
  Stub stub;
  KernelDescription kernel =
      made_kernel("stub_scale",
                  "__kernel void stub_scale(__global float* out, __global const float* in, "
                  "float factor, int n) {}");
  kernel.dialect = Dialect::opencl;
  kernel.parameters = {{"RUN_US", ParameterKind::work_group, {500, 100}, 500}};
  kernel.launch.global = {"round_up(N, 32)"};
  kernel.launch.local = {"32"};
  kernel.arguments = {made_buffer("out", "N", Access::out), made_input("in", "N", 1, 2),
                      made_scalar("factor", 3), made_dimension("n", "N")};
  TemporaryFolder folder;
  auto device = required(opencl::open(0, options_for(stub, folder.path() + "/cache")));
  expect_a_step(*device, required(pack(kernel)), folder.path());
  CHECK(files_in(folder.path() + "/cache") > 0);
  CHECK(files_in(folder.path() + "/programs") == 0);
}
