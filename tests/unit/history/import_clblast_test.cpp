#include <string>

#include <doctest/doctest.h>

#include "models/host/history/import.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/history/recorded_data.hpp"

using namespace idletune;
using namespace idletune::test;

TEST_CASE("what CLBlast's tuner wrote on a CPU imports") {
  const History h = import_one("clblast/copy_fast.json");
  CHECK(h.kernel == "CopyMatrixFast");
  CHECK(h.device == "skylake-avx512-AMD EPYC");
  CHECK(h.driver.find("PoCL 3.1") != std::string::npos);
  CHECK(h.shape == Shape{256, 256});
  CHECK(h.nanoseconds_per_unit == 1e6);
  REQUIRE(h.rows() == 4);
  CHECK(h.parameter_names() ==
        std::vector<std::string>{"COPY_DIMX", "COPY_DIMY", "COPY_VW", "COPY_WPT", "PRECISION"});
  CHECK(h.parameters[2].integer(2) == 4);
  CHECK(h.run_time[0] == 0.035);
  CHECK(h.run_time[1] == 0.030);
  CHECK(h.status[3] == TrialStatus::runtime);
  CHECK(note(h, "clblast.header").find("\"kernel_family\":\"copy\"") != std::string::npos);
  REQUIRE(h.warnings.size() == 3);
  CHECK(h.warnings[0] ==
        "CLBlast's tuners do not record what failed: configurations that are not here may have "
        "failed");
  CHECK(h.warnings[1].find("1 configuration with a time that is none") == 0);
  CHECK(h.warnings[2] == "no compile times");
}

TEST_CASE("a file with two kernels becomes two histories") {
  const std::string text =
      "{\"kernel_family\": \"gemm_routine\", \"clblast_device_name\": \"Board\", \"arg_m\": \"x\", "
      "\"results\": ["
      "{\"kernel\": \"a\", \"time\": 1, \"parameters\": {\"P\": 1}},"
      "{\"kernel\": \"b\", \"time\": 2, \"parameters\": {\"P\": 1}}]}";
  const auto imported = import_clblast(text, "x.json");
  REQUIRE(imported.ok());
  REQUIRE(imported->size() == 2);
  CHECK((*imported)[1].kernel == "b");
  CHECK((*imported)[1].shape.size() == 0);
  CHECK((*imported)[1].warnings[0] ==
        "its sizes are no list of up to 8 integers (arg_m is 'x'): left out");
}

TEST_CASE("CLBlast's database of best parameters is no history and is refused with the reason") {
  const std::string csv =
      "kernel,precision,device_type,vendor,architecture,device,parameters\nCopy,Half,GPU,a,b,c,D="
      "1\n";
  const auto imported = import_histories(test::bytes_of(csv), "best.csv");
  CHECK(imported.code() == StatusCode::unsupported);
  CHECK(imported.status().message().find("best.csv: best parameters without the measurements") ==
        0);
}
