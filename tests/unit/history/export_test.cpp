#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/host/history/export.hpp"
#include "models/host/history/import.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<History> sample_histories() {
  std::vector<History> histories;
  for (const char* name : {"kernel_tuner/words.json", "kernel_tuner/open.json", "t4/warts.t4.json",
                           "t4/ktt_style.t4.json", "ktt/two_kernels.json", "ktt/sample.xml",
                           "clblast/copy_fast.json"}) {
    const std::string path = test_data(name);
    ImportOptions options;
    if (std::string(name).find("warts") != std::string::npos) options.device = "Board Nine";
    auto imported = required(import_histories(read_bytes(path), path, options));
    for (History& history : imported) histories.push_back(std::move(history));
  }
  return histories;
}

// Every status, with and without what a source may have said in place of a time.
History every_status() {
  History h;
  h.kernel = "k";
  h.device = "Board";
  h.driver = "driver 7";
  h.shape = Shape{64, 32};
  h.nanoseconds_per_unit = 1;
  h.valid_count = 100;
  h.constraints = {"a <= 7"};
  h.notes = {{"origin", "measured here"}};
  h.warnings = {"something"};
  h.parameters.emplace_back("a");
  h.extras.emplace_back("clock");
  h.extras.emplace_back("time");
  for (int s = 0; s < static_cast<int>(kTrialStatusCount); ++s) {
    for (int with_time = 0; with_time < 2; ++with_time) {
      const auto status = static_cast<TrialStatus>(s);
      h.parameters[0].push_integer(2 * s + with_time);
      h.status.push_back(status);
      h.run_time.push_back(status == TrialStatus::correct ? 1000.25 + with_time : kNone);
      h.compile_time.push_back(s == 1 ? kNone : 5e6 + s);
      h.sample_count.push_back(status == TrialStatus::correct ? 2 : 0);
      h.extras[0].push_real(0.1 * s);
      if (with_time == 1 && s % 2 == 0) {
        h.extras[1].push_text("RuntimeFailedConfig");
      } else if (with_time == 1) {
        h.extras[1].push_real(7.5);
      } else {
        h.extras[1].push_absent();
      }
    }
  }
  h.samples = {1000.0, 1000.5, 1001.0, 1001.5};
  return h;
}

// A problem that features and names tell from others of the same dimensions.
History with_features() {
  History h = every_status();
  h.shape = Shape({1138, 4054}, {2.0, 80.5, 1e-300});
  h.inputs = {"ROWS", "ENTRIES", "nzmin", "avLowBand", "least"};
  return h;
}

}  // namespace

TEST_CASE("a number of the problem's size stays one in a cache, as old Kernel Tuners want it") {
  const std::string with_number =
      R"({"device_name": "d", "kernel_name": "k", "problem_size": 20000000,
          "tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 2}}})";
  auto history = required(import_kernel_tuner(with_number, "some.json"));
  const auto size_of = [](const History& exported) {
    return nlohmann::json::parse(*export_kernel_tuner(exported))["problem_size"];
  };
  CHECK(size_of(history) == 20000000);
  history.shape = Shape{5};
  CHECK(size_of(history) == nlohmann::json::array({5}));
}

TEST_CASE("a history exported to T4 and imported again is the same, whatever it came from") {
  std::vector<History> histories = sample_histories();
  histories.push_back(every_status());
  histories.push_back(with_features());
  for (const History& history : histories) {
    CAPTURE(history.kernel);
    const auto text = required(export_t4(history));
    const auto back = required(import_t4(text, "another-name.t4.json"));
    CHECK(back.warnings == history.warnings);
    CHECK(back.notes == history.notes);
    CHECK(back.status == history.status);
    CHECK(back.extras.size() == history.extras.size());
    CHECK(back == history);
    CHECK(*export_t4(back) == text);
  }
}

TEST_CASE(
    "a history exported to a Kernel Tuner cache and imported again is the same in milliseconds") {
  std::vector<History> histories = sample_histories();
  histories.push_back(every_status());
  histories.push_back(with_features());
  for (const History& history : histories) {
    CAPTURE(history.kernel);
    const auto text = required(export_kernel_tuner(history));
    const auto back = required(import_kernel_tuner(text, "another-name.json"));
    const History expected = in_unit(history, 1e6);
    CHECK(back.warnings == expected.warnings);
    CHECK(back.notes == expected.notes);
    CHECK(back.status == expected.status);
    CHECK(back == expected);
  }
}

TEST_CASE("what Kernel Tuner calls an error in a T4 file makes no failure of a correct row") {
  const auto history = required(import_t4(R"({"results": [{"configuration": {"a": 1},
      "invalidity": "correct", "measurements": [{"name": "time", "value": 2},
      {"name": "__error__", "value": "none"}]}],
      "metadata": {"timeunit": "milliseconds", "device": "d", "kernel_name": "k"}})",
                                          "x.json"));
  CHECK(required(import_kernel_tuner(required(export_kernel_tuner(history)), "x")) == history);
  CHECK(required(import_t4(required(export_t4(history)), "x")) == history);
}

TEST_CASE("times stay the same through a cache and back, whatever unit a T4 file gives them") {
  for (const std::string unit : {"seconds", "microseconds", "milliseconds"}) {
    CAPTURE(unit);
    const std::string measured = R"({"name": "time", "unit": ")" + unit + R"(", "value": 0.5})";
    const auto source = required(import_t4(R"({"metadata": {"timeunit": ")" + unit +
                                               R"(", "device": "d", "kernel_name": "k"},
            "results": [{"configuration": {"a": 1}, "invalidity": "correct",
            "measurements": [)" + measured + R"(]}, {"configuration": {"a": 2},
            "invalidity": "correctness", "measurements": [)" +
                                               measured + "]}]}",
                                           "x.json"));
    const auto cache = required(import_kernel_tuner(required(export_kernel_tuner(source)), "x"));
    const auto back = required(import_t4(required(export_t4(cache)), "x"));
    CHECK(back == cache);
    CHECK(back.run_time_ns(0) == source.run_time_ns(0));
    CHECK(extra(back, "time").real(1) == back.run_time[0]);
    CHECK(extra(back, "time.unit").text(1) == "milliseconds");
  }
}

TEST_CASE("a metric of a cache that is called correctness makes no failure in T4") {
  const auto history = required(import_kernel_tuner(
      R"({"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a"], "cache": {
          "1": {"a": 1, "time": 2, "correctness": 0}, "2": {"a": 2, "time": 2, "correctness": 0.0},
          "3": {"a": 3, "time": "RuntimeFailedConfig", "correctness": 0}}})",
      "x.json"));
  CHECK(history.count(TrialStatus::correct) == 2);
  CHECK(required(import_t4(required(export_t4(history)), "x")) == history);
}

TEST_CASE("a T4 export has what the schema wants of every result") {
  const auto text = required(export_t4(every_status()));
  const auto json = nlohmann::json::parse(text);
  CHECK(json["schema_version"] == "1.0.0");
  CHECK(json["metadata"]["timeunit"] == "nanoseconds");
  CHECK(json["metadata"]["device"] == "Board");
  CHECK(json["metadata"]["problem_size"] == nlohmann::json::array({64, 32}));
  REQUIRE(json["results"].size() == 14);
  for (const auto& result : json["results"]) {
    CHECK(result["configuration"].is_object());
    CHECK(result["times"].is_object());
    CHECK(result["correctness"].is_number());
    const std::string invalidity = result["invalidity"];
    CHECK(invalidity != "crash");  // the schema does not know it
    CHECK(result["measurements"][0]["name"] == "time");
    // No tool shall take what failed for a time.
    CHECK(result["measurements"][0]["value"].is_number() == (invalidity == "correct"));
  }
  CHECK(json["results"][0]["times"]["runtimes"] == nlohmann::json::array({1000.0, 1000.5}));
  CHECK(json["results"][0]["times"]["compilation"] == 5e6);
}

TEST_CASE("a cache export has what Kernel Tuner wants of it") {
  const auto text = required(export_kernel_tuner(every_status()));
  CHECK(text.substr(text.size() - 3) == "}\n}");  // else it appends brackets of its own
  const auto json = nlohmann::json::parse(text);
  CHECK(json["device_name"] == "Board");
  CHECK(json["kernel_name"] == "k");
  CHECK(json["tune_params_keys"] == nlohmann::json::array({"a"}));
  CHECK(json["tune_params"]["a"].size() == 14);
  CHECK(json["objective"] == "time");
  REQUIRE(json["cache"].size() == 14);
  CHECK(json["cache"]["0"]["time"] == doctest::Approx(1000.25e-6).epsilon(1e-15));
  CHECK(json["cache"]["2"]["time"] == "CompilationFailedConfig");
  CHECK(json["cache"]["4"]["time"] == "RuntimeFailedConfig");
  CHECK(json["cache"]["10"]["time"] == "InvalidConfig");
}

TEST_CASE("what cannot be exported is refused") {
  History h = every_status();
  h.run_time[0] = kNone;
  CHECK(export_t4(h).code() == StatusCode::invalid_argument);
  CHECK(export_kernel_tuner(h).code() == StatusCode::invalid_argument);
  History empty;
  CHECK(export_t4(empty).code() == StatusCode::invalid_argument);

  History commas;
  commas.kernel = commas.device = "x";
  commas.parameters.emplace_back("a");
  commas.parameters.emplace_back("b");
  const char* values[2][2] = {{"1,2", "3"}, {"1", "2,3"}};
  for (const auto& row : values) {
    commas.parameters[0].push_text(row[0]);
    commas.parameters[1].push_text(row[1]);
    commas.status.push_back(TrialStatus::correct);
    commas.run_time.push_back(1);
    commas.compile_time.push_back(kNone);
    commas.sample_count.push_back(0);
  }
  CHECK(export_t4(commas).ok());
  CHECK(export_kernel_tuner(commas).code() == StatusCode::unsupported);

  for (const char* name : {"time", "times", "compile_time", "extra"}) {
    History twice = commas;
    twice.parameters.resize(1);
    twice.parameters[0] = CellColumn(name);
    twice.extras = {CellColumn("extra")};
    for (int row = 0; row < 2; ++row) {
      twice.parameters[0].push_integer(row);
      twice.extras[0].push_integer(row);
    }
    CHECK(export_kernel_tuner(twice).code() == StatusCode::unsupported);
  }
}

TEST_CASE("changing the unit changes every time that is known to be one") {
  const History h = import_one("ktt/sample.xml");  // microseconds
  const History in_ms = in_unit(h, 1e6);
  CHECK(in_ms.nanoseconds_per_unit == 1e6);
  CHECK(in_ms.run_time_ns(0) == doctest::Approx(h.run_time_ns(0)).epsilon(1e-15));
  CHECK(in_ms.run_time[0] == 35535.3 / 1000);
  CHECK(extra(in_ms, "strategy_time").real(0) == 42.754 / 1000);
  CHECK(extra(in_ms, "computation2.Duration").real(0) == 535.3);  // the source's own
  CHECK(note(in_ms, "nanoseconds_per_unit.source") == "1000.0");
  CHECK(in_unit(h, 1e3) == h);
}
