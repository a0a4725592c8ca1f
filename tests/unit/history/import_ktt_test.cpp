#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/import.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

using S = TrialStatus;

TEST_CASE("KTT's JSON keeps statuses, overheads and counters, one history per kernel") {
  const std::string path = test_data("ktt/two_kernels.json");
  const auto imported = import_histories(read_bytes(path), path);
  REQUIRE_MESSAGE(imported.ok(), imported.status().message());
  REQUIRE(imported->size() == 2);
  const History& blur = (*imported)[0];
  CHECK(blur.kernel == "Blur");
  CHECK(blur.device == "Board Three");
  CHECK(blur.nanoseconds_per_unit == 1e3);
  CHECK(blur.status == std::vector<S>{S::correct, S::runtime, S::compile, S::runtime,
                                      S::correctness, S::runtime, S::runtime});
  CHECK(blur.run_time_ns(0) == 17188e3);
  CHECK(blur.samples == std::vector<double>{17188});
  CHECK(std::isnan(blur.compile_time[0]));  // its Overhead is compilation and profiling
  CHECK(blur.parameters[0].integer(1) == 32);
  CHECK(blur.parameters[1].real(0) == 0.5);
  CHECK(extra(blur, "strategy_time").real(1) == 75.013);
  CHECK(extra(blur, "data_movement_time").real(0) == 7103.589);
  CHECK(extra(blur, "verification_time").real(0) == 20.5);
  CHECK(extra(blur, "TotalOverhead").real(0) == 3527104.436);
  CHECK(extra(blur, "computation.Overhead").real(0) == 15959.772);
  CHECK(extra(blur, "computation.GlobalSize.X").integer(0) == 64);
  CHECK(extra(blur, "computation.CompilationData.RegistersCount").integer(0) == 28);
  CHECK(extra(blur, "computation.counter.dram__sectors_read.sum").real(0) == 2112507);
  CHECK(extra(blur, "computation.counter.warps").real(0) == 18446744073709551616.0);
  CHECK(extra(blur, "computation.counter.warps").kind(1) == CellKind::absent);
  CHECK(extra(blur, "Status").text(3) == "DeviceLimitsExceeded");
  CHECK(extra(blur, "Status").text(6) == "Molten");
  CHECK(extra(blur, "time").real(4) == 5.5);
  CHECK(blur.valid_count == 0);  // SpaceSize is of which kernel?
  CHECK(note(blur, "ktt.counter_types") ==
        R"({"dram__sectors_read.sum":"Double","warps":"UnsignedInt"})");
  CHECK(note(blur, "ktt.parameter_types") == R"({"SCALE":"Double","WG":"UnsignedInt"})");
  CHECK(blur.warnings ==
        std::vector<std::string>{"no CompilationOverhead, and the kernels' Overhead includes "
                                 "profiling: kept, but not as compile time",
                                 "1 configuration called Ok with a duration that is none (0, "
                                 "negative, huge, a word): failed (runtime)",
                                 "1 configuration with an unknown status: failed (runtime)",
                                 "no compile times"});

  const History& sum = (*imported)[1];
  CHECK(sum.kernel == "Sum");
  REQUIRE(sum.rows() == 1);
  CHECK(sum.run_time_ns(0) == 32e3);
  CHECK(sum.compile_time_ns(0) == 150.5e3);
  CHECK(extra(sum, "computation2.KernelFunction").text(0) == "second");
  CHECK(sum.warnings ==
        std::vector<std::string>{
            "no CompilationOverhead: took the kernels' Overhead (compilation and launch) for it"});
}

TEST_CASE("KTT's XML gives what its JSON would, and the size of the space that was sampled") {
  const History h = import_one("ktt/sample.xml");
  CHECK(h.kernel == "Sum");
  CHECK(h.device == "Board & Two");
  CHECK(h.nanoseconds_per_unit == 1e3);
  CHECK(h.valid_count == 12);
  CHECK(h.status == std::vector<S>{S::correct, S::correctness, S::runtime});
  CHECK(h.run_time_ns(0) == doctest::Approx(35535.3e3).epsilon(1e-15));
  CHECK(h.compile_time[0] == 91001.2);
  REQUIRE(h.parameters.size() == 4);
  CHECK(h.parameters[0].integer(0) == 32);
  CHECK(h.parameters[1].boolean(0));
  CHECK_FALSE(h.parameters[1].boolean(1));
  CHECK(h.parameters[2].real(0) == 0.5);
  CHECK(h.parameters[3].kind(0) == CellKind::text);  // a String, though it looks like a number
  CHECK(h.parameters[3].text(1) == "float4");
  CHECK(extra(h, "computation.KernelFunction").text(0) == "sum");
  CHECK(extra(h, "computation.counter.reads").integer(0) == 12);
  CHECK(extra(h, "computation2.Duration").real(0) == 535.3);
  CHECK(extra(h, "strategy_time").real(0) == 42.754);
  CHECK(extra(h, "time").text(2) == "nan");
  CHECK(h.warnings == std::vector<std::string>{
                          "1 configuration called Ok with a duration that is none (0, negative, "
                          "huge, a word): failed (runtime)"});
}

TEST_CASE("KTT files cut at any byte import what is complete or say where they broke") {
  for (const char* name : {"ktt/two_kernels.json", "ktt/sample.xml"}) {
    CAPTURE(name);
    const std::string path = test_data(name);
    std::vector<std::uint8_t> bytes = read_bytes(path);
    const std::size_t full = bytes.size();
    std::size_t most = 0;
    for (std::size_t size = 0; size < full; ++size) {
      const auto imported = import_histories(Bytes(bytes.data(), size), path);
      std::size_t rows = 0;
      if (imported.ok()) {
        for (const History& history : *imported) rows += history.rows();
      } else {
        CHECK(imported.status().message().find(path) != std::string::npos);
      }
      CHECK(rows >= most);
      most = rows;
    }
    CHECK(most == (std::string(name).find("xml") != std::string::npos ? 3 : 8));
  }
}

TEST_CASE("what stands behind the results of a KTT file counts for them") {
  const auto histories = required(import_ktt_json(R"({"Results": [{"KernelName": "k",
      "Status": "Ok", "TotalDuration": 1.5e9,
      "Configuration": [{"Name": "a", "Value": 1}]}],
      "Metadata": {"TimeUnit": "Nanoseconds", "Device": "d"}})",
                                                  "x.json"));
  CHECK(histories[0].run_time_ns(0) == 1.5e9);
}

TEST_CASE("a name for the kernel fits only files with one kernel") {
  const std::string path = test_data("ktt/two_kernels.json");
  ImportOptions options;
  options.kernel = "mine";
  const auto imported = import_histories(read_bytes(path), path, options);
  CHECK(imported.code() == StatusCode::invalid_argument);
}
