#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/import.hpp"
#include "models/host/history/time_unit.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

using S = TrialStatus;

TEST_CASE("a T4 file with every wart keeps what can be kept and says what it did") {
  const History h = import_one("t4/warts.t4.json");
  CHECK(h.kernel == "warts");
  CHECK(h.device == "Board Nine");  // given by import_one, for the file's name has none
  CHECK(h.nanoseconds_per_unit == 1e6);
  REQUIRE(h.rows() == 9);
  CHECK(h.parameter_names() == std::vector<std::string>{"wg", "mode"});
  CHECK(h.status == std::vector<S>{S::correct, S::correct, S::compile, S::timeout, S::runtime,
                                   S::runtime, S::correctness, S::runtime, S::correct});
  CHECK(h.run_time_ns(0) == 4e6);
  CHECK(h.run_time_ns(1) == 2.5e6);  // the mean of its single times
  CHECK(h.run_time_ns(8) == 6e6);    // measured twice: the last one
  CHECK(h.compile_time_ns(0) == 100.25e6);
  CHECK(h.compile_time_ns(1) == 120e6);
  CHECK(std::isnan(h.compile_time[3]));
  CHECK(h.sample_count == std::vector<std::uint32_t>{2, 2, 0, 0, 0, 0, 0, 0, 0});
  CHECK(h.samples == std::vector<double>{4.5, 3.5, 2.0, 3.0});
  CHECK(extra(h, "framework_time").real(0) == 1.5);
  CHECK(extra(h, "strategy_time").integer(0) == 0);
  CHECK(extra(h, "verification_time").integer(0) == 2);
  CHECK(extra(h, "energy").real(0) == 2.5);
  CHECK(extra(h, "energy.unit").text(0) == "J");
  CHECK(extra(h, "timestamp").text(0) == "2023-12-22 09:53:48+00:00");
  CHECK(extra(h, "time").text(2) == "CompilationFailedConfig");
  CHECK(extra(h, "time").real(5) == 1e20);
  CHECK(extra(h, "times").text(4) == "[\"oops\"]");
  CHECK(extra(h, "invalidity").text(7) == "exploded");
  CHECK(h.warnings ==
        std::vector<std::string>{
            "T4 files name no kernel: took 'warts' from the file's name",
            "its unit of time is 'miliseconds': taken as milliseconds",
            "1 configuration without a measurement \"time\": took the mean of their single times",
            "1 configuration with single times that are no times: kept, not as samples",
            "2 configurations called correct with a time that is none (a word, 0, negative, 11 "
            "days or more): "
            "failed (runtime)",
            "1 configuration called correct with \"correctness\" 0: failed (correctness)",
            "1 configuration with an unknown \"invalidity\": failed (runtime)",
            "1 configuration without \"invalidity\": judged by their time",
            "1 configuration measured more than once: the last of each counts",
            "1 configuration with other parameters than the first: left out",
            "6 configurations without a compile time"});
}

TEST_CASE("KTT's T4 files have numbers in quotation marks, counters and data movement") {
  const History h = import_one("t4/ktt_style.t4.json");
  CHECK(h.device == "Board Two");
  CHECK(h.nanoseconds_per_unit == 1e3);
  REQUIRE(h.rows() == 2);
  CHECK(h.status == std::vector<S>{S::correct, S::correctness});
  CHECK(h.run_time_ns(0) == 812.5e3);
  CHECK(h.parameter_names() == std::vector<std::string>{"WG", "ALPHA", "MODE"});
  CHECK(h.parameters[0].kind(0) == CellKind::integer);
  CHECK(h.parameters[0].integer(1) == 32);
  CHECK(h.parameters[1].real(0) == 0.5);
  CHECK(h.parameters[2].text(1) == "tile");
  CHECK(extra(h, "data_movement_time").real(0) == 72360.1);
  CHECK(extra(h, "strategy_time").real(0) == 42.7);
  CHECK(extra(h, "times.kernel_overhead").real(1) == 10.5);
  CHECK(extra(h, "dram_reads").real(0) == 12);
  CHECK(extra(h, "compilation_data").kind(0) == CellKind::json);
  CHECK(extra(h, "time").real(1) == 400.25);
  CHECK(h.warnings.size() == 3);  // the kernel's name, two parameters in quotation marks
}

TEST_CASE("a T4 file cut at any byte imports what is complete or says where it broke") {
  const std::vector<std::uint8_t> bytes = read_bytes(test_data("t4/warts.t4.json"));
  const std::string text(bytes.begin(), bytes.end());
  std::size_t most = 0;
  for (std::size_t size = 0; size < text.size() - 1; ++size) {
    const auto imported = import_t4(text.substr(0, size), "cut-Device.t4.json");
    if (imported.ok()) {
      CHECK(imported->rows() >= most);
      most = imported->rows();
    } else {
      CHECK(most == 0);
      CHECK(imported.status().message().find("cut-Device.t4.json") != std::string::npos);
    }
  }
  CHECK(most == 9);
}

TEST_CASE("what stands behind the results of a T4 file counts for them") {
  const auto h = required(import_t4(R"({"results": [{"configuration": {"a": 1},
      "invalidity": "correct", "measurements": [{"name": "time", "value": 1.5e9}]}],
      "metadata": {"timeunit": "nanoseconds", "device": "d", "kernel_name": "k"}})",
                                    "x.json"));
  CHECK(h.run_time_ns(0) == 1.5e9);
}

TEST_CASE("where a T4 file says no unit of time, that of its measurements counts") {
  const auto h = required(import_t4(R"({"metadata": {"device": "d", "kernel_name": "k"},
      "results": [{"configuration": {"a": 1}, "invalidity": "correct",
      "measurements": [{"name": "time", "value": 250, "unit": "us"}]}]})",
                                    "x.json"));
  CHECK(h.run_time_ns(0) == 250e3);
}

TEST_CASE("each time of a T4 file counts by its own unit") {
  for (const std::string unit : {"", R"("timeunit": "milliseconds", )"}) {
    const auto h =
        required(import_t4(R"({"metadata": {)" + unit + R"("device": "d", "kernel_name": "k"},
        "results": [{"configuration": {"a": 1}, "invalidity": "correct",
        "measurements": [{"name": "time", "value": 5, "unit": "ms"}]},
        {"configuration": {"a": 2}, "invalidity": "correct",
        "measurements": [{"name": "time", "value": 0.5, "unit": "seconds"}]}]})",
                           "x.json"));
    CHECK(h.run_time_ns(0) == 5e6);
    CHECK(h.run_time_ns(1) == 500e6);
  }
}

TEST_CASE("two texts of one number in a T4 file are one configuration") {
  const auto h =
      required(import_t4(R"({"metadata": {"device": "d", "kernel_name": "k"}, "results": [
      {"configuration": {"WG": "64"}, "measurements": [{"name": "time", "value": 1}]},
      {"configuration": {"WG": "64.0"}, "measurements": [{"name": "time", "value": 2}]}]})",
                         "x.json"));
  REQUIRE(h.rows() == 1);
  CHECK(h.run_time[0] == 2);
  CHECK(space_of(h).ok());
}

TEST_CASE("units of time are read in every spelling, and mistyped ones are recognised") {
  for (const char* word : {"ms", "milliseconds", "Milliseconds", "millisecond"}) {
    CAPTURE(word);
    REQUIRE(time_unit_from(word));
    CHECK(time_unit_from(word)->nanoseconds == 1e6);
    CHECK_FALSE(time_unit_from(word)->mistyped);
  }
  CHECK(time_unit_from("us")->nanoseconds == 1e3);
  CHECK(time_unit_from("ns")->nanoseconds == 1);
  CHECK(time_unit_from("s")->nanoseconds == 1e9);
  for (const char* word : {"miliseconds", "milliseonds", "Millisekonds", "millliseconds"}) {
    CAPTURE(word);
    REQUIRE(time_unit_from(word));
    CHECK(time_unit_from(word)->nanoseconds == 1e6);
    CHECK(time_unit_from(word)->mistyped);
  }
  CHECK(time_unit_from("mircoseconds")->nanoseconds == 1e3);
  for (const char* word : {"", "minutes", "fortnights", "mseconds", "useconds", "cycles", "m"}) {
    CAPTURE(word);
    CHECK_FALSE(time_unit_from(word));
  }
}
