#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/import.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using idletune::test::bytes_of;
using idletune::test::extra;
using idletune::test::read_bytes;
using idletune::test::recorded_caches;
using idletune::test::test_data;

namespace {

History import_ours(const std::string& name) {
  const std::string path = test_data("kernel_tuner/" + name);
  auto histories = required(import_histories(read_bytes(path), path));
  REQUIRE(histories.size() == 1);
  return std::move(histories.front());
}

Status error_of(const std::string& json) {
  const auto imported = import_kernel_tuner(json, "some.json");
  CHECK(imported.status().message().find("some.json") != std::string::npos);
  return imported.status();
}

}  // namespace

TEST_CASE("a cache with words for failures keeps every field") {
  const History h = import_ours("words.json");
  CHECK(h.kernel == "blur");
  CHECK(h.device == "Board One");
  CHECK(h.shape == Shape{640, 480});
  REQUIRE(h.rows() == 8);
  using S = TrialStatus;
  CHECK(h.status == std::vector<S>{S::correct, S::correct, S::compile, S::runtime, S::constraints,
                                   S::correct, S::runtime, S::runtime});
  CHECK(h.run_time_ns(0) == 4e6);
  CHECK(h.best_time_ns() == 2e6);
  CHECK(h.compile_time_ns(0) == 100.25e6);
  CHECK(std::isnan(h.compile_time[4]));
  CHECK(h.sample_count == std::vector<std::uint32_t>{2, 2, 0, 0, 0, 1, 0, 0});
  CHECK(h.samples == std::vector<double>{4.5, 3.5, 2.0, 2.0, 2.1});
  REQUIRE(h.parameters.size() == 4);
  CHECK(h.parameters[1].kind(0) == CellKind::text);
  CHECK(h.parameters[1].text(5) == "tile");
  CHECK(h.parameters[2].kind(0) == CellKind::real);
  CHECK(h.parameters[2].code(5) == 2);
  CHECK(h.parameters[3].kind(0) == CellKind::boolean);
  CHECK(extra(h, "verification_time").kind(0) == CellKind::integer);
  CHECK(extra(h, "verification_time").real(1) == 0.25);
  CHECK(extra(h, "time").text(6) == "ExplodedConfig");
  CHECK(extra(h, "time").kind(0) == CellKind::absent);
  CHECK(extra(h, "nested").kind(5) == CellKind::json);
  CHECK(extra(h, "nested").text(5) == "{\"a\":[1,2]}");
  CHECK(extra(h, "timestamp").text(0) == "2023-01-24 04:46:16.858251+00:00");
  CHECK(h.warnings == std::vector<std::string>{
                          "1 configuration with an unknown word for a time: failed (runtime)",
                          "1 configuration without a time: failed (runtime)",
                          "3 configurations without a compile time"});
}

TEST_CASE("the words that Kernel Tuner 1.5 has in a member of their own are statuses") {
  const History h = import_ours("add-Board_Five.json");
  using S = TrialStatus;
  CHECK(h.status == std::vector<S>{S::correct, S::constraints, S::correct, S::constraints,
                                   S::runtime, S::constraints, S::compile, S::constraints});
  CHECK(h.run_time[2] == 3.25);
  CHECK(extra(h, "time").text(6) == "CompilationFailedConfig");
  for (const CellColumn& column : h.extras) CHECK(column.name() != "__error__");
  CHECK(h.warnings ==
        std::vector<std::string>{"its device is '': took 'Board Five' from the file's name"});
}

TEST_CASE("a failure counts whatever name it has, and beside a time") {
  const auto imported = required(import_kernel_tuner(
      R"({"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a"], "later": {"x": 1},
          "cache": {
          "1": {"a": 1, "GFLOP/s": "InvalidConfig"},
          "2": {"a": 2, "time": "CompilationFailedConfig", "__error__": "CompilationFailedConfig"},
          "3": {"a": 3, "time": 4.5, "__error__": "RuntimeFailedConfig"},
          "4": {"a": 4, "time": 4.5, "__error__": null, "unheard_of": [1, {"b": 2}]},
          "5": {"a": 5, "__error__": {"stage": "link"}}}})",
      "some.json"));
  using S = TrialStatus;
  CHECK(imported.status ==
        std::vector<S>{S::constraints, S::compile, S::runtime, S::correct, S::runtime});
  CHECK(std::isnan(imported.run_time[2]));
  CHECK(imported.run_time[3] == 4.5);
  CHECK(
      imported.warnings ==
      std::vector<std::string>{"1 configuration with an error beside a time: the error counts",
                               "1 configuration with an unknown word for a time: failed (runtime)",
                               "no compile times"});
}

TEST_CASE("a problem's size beyond 64 bits is left out with a warning, in every format") {
  const std::string beyond = "9223372036854775808";
  const auto cache = import_kernel_tuner(
      R"({"device_name": "d", "kernel_name": "k", "problem_size": [64, )" + beyond +
          R"(], "tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 2}}})",
      "some.json");
  const auto t4 = import_t4(
      R"({"results": [{"configuration": {"a": 1}, "invalidity": "correct", "correctness": 1,
          "measurements": [{"name": "time", "value": 2}]}], "metadata": {"timeunit": "ms",
          "device": "d", "kernel_name": "k", "problem_size": )" +
          beyond + "}}",
      "some.json");
  const auto clblast = import_clblast(
      R"({"kernel_family": "copy", "device": "d", "arg_m": ")" + beyond +
          R"(", "results": [{"kernel": "copy", "time": 2, "parameters": {"a": 1}}]})",
      "some.json");
  REQUIRE(cache.ok());
  REQUIRE(t4.ok());
  REQUIRE_MESSAGE(clblast.ok(), clblast.status().message());
  for (const History& history : {*cache, *t4, clblast->front()}) {
    CHECK(history.shape == Shape());
    const auto& warnings = history.warnings;
    CHECK(std::count_if(warnings.begin(), warnings.end(), [&](const std::string& warning) {
            return warning.find(beyond) != std::string::npos;
          }) == 1);
  }
}

TEST_CASE("a cache that was never closed keeps its complete configurations") {
  const History h = import_ours("open.json");
  CHECK(h.rows() == 2);
  CHECK(h.shape == Shape{640});
  REQUIRE(h.warnings.size() == 1);
  CHECK(h.warnings[0].find("kept the 2 complete configurations") != std::string::npos);
}

TEST_CASE("an older cache has its values in the keys and huge times for failures") {
  const History h = import_ours("blur-Board_Three-run1.json");
  CHECK(h.device == "Board Three");
  REQUIRE(h.rows() == 4);
  using S = TrialStatus;
  CHECK(h.status == std::vector<S>{S::correct, S::runtime, S::correct, S::runtime});
  CHECK(h.parameters[0].kind(0) == CellKind::integer);
  CHECK(h.parameters[0].integer(2) == 32);
  CHECK(h.parameters[1].text(3) == "tile");
  CHECK(h.shape.size() == 0);
  CHECK(h.warnings.size() == 3);  // the device, the huge times, no compile times
}

TEST_CASE("a cache cut at any byte imports what is complete or says where it broke") {
  const std::vector<std::uint8_t> bytes = read_bytes(test_data("kernel_tuner/words.json"));
  const std::string text(bytes.begin(), bytes.end());
  std::size_t most = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto imported = import_kernel_tuner(text.substr(0, size), "cut.json");
    if (imported.ok()) {
      CHECK(imported->rows() >= most);
      most = imported->rows();
    } else {
      CHECK(most == 0);
      CHECK(imported.status().message().find("cut.json") != std::string::npos);
    }
  }
  CHECK(most == 8);
}

TEST_CASE("the name given by the caller wins over the file's") {
  const std::string path = test_data("kernel_tuner/open.json");
  ImportOptions options;
  options.kernel = "gauss";
  options.device = "Other";
  const auto histories = required(import_histories(read_bytes(path), path, options));
  CHECK(histories.front().kernel == "gauss");
  CHECK(histories.front().device == "Other");
}

TEST_CASE("broken caches are refused with file and place") {
  CHECK(error_of("{\"kernel_name\": \"k\",\n \"cache\": [}").message().find("line 2") !=
        std::string::npos);
  CHECK(error_of("[1, 2]").message().find("top level") != std::string::npos);
  CHECK(error_of("{\"device_name\": \"d\", \"tune_params_keys\": [\"a\"]}")
            .message()
            .find("kernel_name") != std::string::npos);
  CHECK(error_of("{\"device_name\": \"d\", \"kernel_name\": \"k\"}")
            .message()
            .find("tune_params_keys") != std::string::npos);
  const std::string head =
      "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"], ";
  CHECK(error_of(head + "\"cache\": {}}").message().find("no measurement") != std::string::npos);
  CHECK(error_of(head + "\"cache\": {\"1\": {\"time\": 1}}}")
            .message()
            .find("'1' has 1 values, expected 2") != std::string::npos);
  CHECK(error_of(head + "\"cache\": {\"1,2\": 3}}").message().find("no object") !=
        std::string::npos);
  std::string deep = "{\"x\": ";
  deep.append(1000, '[');
  CHECK(error_of(deep).message().find("32 levels") != std::string::npos);
}

TEST_CASE("files of no known format are unsupported") {
  const std::string text = "hello";
  const auto imported = import_histories(bytes_of(text), "a.txt");
  CHECK(imported.code() == StatusCode::unsupported);
}

TEST_CASE("a packed file larger than the limit is refused before it is unpacked") {
  const std::string path = test_data("kernel_tuner/words.json");
  ImportOptions options;
  options.limit_bytes = 100;
  const auto imported = import_histories(read_bytes(path), path, options);
  CHECK(imported.code() == StatusCode::out_of_memory);
}

TEST_CASE("a cache with sorted keys, whose measurements come before its parameters, imports") {
  const std::string text =
      "{\"cache\": {\"16,row\": {\"time\": 2.5}, \"32,row\": {\"time\": 1.5}}, \"device_name\": "
      "\"d\", "
      "\"kernel_name\": \"k\", \"restrictions\": [\"wg > 8\"], \"tune_params_keys\": [\"wg\", "
      "\"mode\"]}";
  const auto imported = required(import_histories(bytes_of(text), "x.json"));
  const History& h = imported.front();
  REQUIRE(h.rows() == 2);
  CHECK(h.parameters[0].integer(1) == 32);
  CHECK(h.run_time == std::vector<double>{2.5, 1.5});
  CHECK(h.constraints == std::vector<std::string>{"wg > 8"});
}

TEST_CASE("a configuration that a cache has twice counts once, with the last measurement") {
  const std::string text =
      "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"a\", \"b\"], "
      "\"cache\": {"
      "\"1,x\": {\"time\": 1.0, \"times\": [1.0, 1.0], \"note\": \"first\"}, \"2,x\": {\"time\": "
      "2.0, \"times\": [2.0]}, "
      "\"1,x\": {\"time\": 3.0, \"times\": [3.0, 4.0, 5.0]}}}";
  const auto imported = required(import_kernel_tuner(text, "x.json"));
  REQUIRE(imported.rows() == 2);
  CHECK(imported.run_time == std::vector<double>{2.0, 3.0});
  CHECK(imported.samples == std::vector<double>{2.0, 3.0, 4.0, 5.0});
  CHECK(imported.parameters[0].integer(1) == 1);
  CHECK(extra(imported, "note").kind(1) == CellKind::absent);
  CHECK(imported.warnings.front() ==
        "1 configuration measured more than once: the last of each counts");
  CHECK(space_of(imported).ok());
}

TEST_CASE("every recorded cache imports and survives the round trip" *
          doctest::test_suite("recorded data")) {
  std::size_t files = 0;
  for (const char* folder : {"kernel_tuner", "kernel_tuner_repeats"}) {
    for (const std::string& path : recorded_caches(folder)) {
      CAPTURE(path);
      const auto imported = required(import_histories(read_bytes(path), path));
      const History& history = imported.front();
      CHECK(history.rows() > 4000);
      CHECK(space_of(history).ok());
      const std::vector<std::uint8_t> bytes = write_history(history);
      const auto read = required(read_history(bytes, path));
      CHECK(write_history(read) == bytes);
      CHECK(read.samples == history.samples);
      CHECK(read.parameters == history.parameters);
      CHECK(read.extras == history.extras);
      ++files;
    }
  }
  if (files == 0) return test::skip(test::kNoRecordedData);
  CHECK(files == 62);
}
