// Broken, truncated, foreign and hostile inputs: one clear line each, and no more memory than the
// limits allow.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/host/history/compression.hpp"
#include "models/host/history/import.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

struct Refused {
  std::string input;
  std::string expected;  // a part of the message
  StatusCode code = StatusCode::corrupt;
};

void check_refused(const std::vector<Refused>& table, const std::string& path = "folder/bad.json") {
  for (const Refused& refused : table) {
    CAPTURE(refused.input.substr(0, 200));
    const auto imported = import_histories(bytes_of(refused.input), path);
    REQUIRE_FALSE(imported.ok());
    const std::string message = imported.status().message();
    CAPTURE(message);
    CHECK(imported.code() == refused.code);
    CHECK(message.find(path) == 0);
    CHECK(message.find(refused.expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 400);
  }
}

const std::string kCacheHead =
    R"({"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a", "b"], )";
const std::string kT4Head =
    R"({"metadata": {"timeunit": "milliseconds", "device": "d", "kernel_name": "k"}, "results": [)";
const std::string kKttHead =
    R"({"Metadata": {"Device": "d", "TimeUnit": "Microseconds"}, "Results": [)";
const std::string kClblastHead =
    R"({"kernel_family": "f", "clblast_device_name": "d", "results": [)";
const std::string kXmlHead =
    "<TuningData><Metadata Device=\"d\" TimeUnit=\"Microseconds\" />\n<Results>\n";
const std::string kXmlTail = "</Results></TuningData>";

}  // namespace

TEST_CASE("what is no results file at all is unsupported, and the message lists what is") {
  const StatusCode code = StatusCode::unsupported;
  check_refused(
      {{"", "no known format", code},
       {" \n ", "no known format", code},
       {"hello", "no known format (expected a Kernel Tuner cache, T4", code},
       {"{}", "no known format", code},
       {"[]", "no known format", code},
       {"{\"a\": {\"tune_params_keys\": 1}, \"b\": [{\"Results\": 2}]}", "no known format", code},
       {"{\"a", "no known format", code},
       {"<html></html>", "no known format", code},
       {"\x7f"
        "ELF\x02\x01\x01",
        "no known format", code},
       {"\x1f\x8b", "no known format", code},
       {"{\"sections\": []}", "best parameters without the measurements", code}});
}

TEST_CASE("bad Kernel Tuner caches are refused with file, place and reason") {
  check_refused({
      {kCacheHead + "\"cache\": {\n\"1,2\": {\"time\": 1}}}}",
       "line 2, column 21: not the JSON expected: syntax error"},
      {kCacheHead + "\"cache\": [}", "line 1"},
      {kCacheHead + "\"cache\": {}}", "no measurement in \"cache\""},
      {kCacheHead + "\"cache\": {\"1,2\": 3}}", "configuration '1,2' is no object"},
      {kCacheHead + "\"cache\": {\"1\": {\"time\": 1}}}",
       "configuration '1' has 1 values, expected 2"},
      {kCacheHead + "\"cache\": {\"\\n\\u0001\": {\"time\": 1}}}",
       "configuration '  ' has 1 values"},
      {R"({"tune_params_keys": ["a"], "cache": {"1": {"time": 1}}})", "no \"kernel_name\""},
      {R"({"kernel_name": "k", "tune_params_keys": ["a"], "cache": {"1": {"time": 1}}})",
       "no device name"},
      {R"({"tune_params_keys": [], "cache": {"1": {"time": 1}}})",
       "0 tuning parameters, expected 1 to 32"},
      {R"({"tune_params_keys": ["a", "a"], "cache": {"1,1": {"time": 1}}})",
       "parameter 'a' is listed twice"},
      {R"({"tune_params_keys": [1], "cache": {"1": {"time": 1}}})",
       "holds something that is no name"},
      {R"({"tune_params_keys": {}, "cache": {"1": {"time": 1}}})", "no list \"tune_params_keys\""},
      {R"({"tune_params_keys": [)" + repeated("\"a\",", 40) +
           R"("b"], "cache": {"1": {"time": 1}}})",
       "41 tuning parameters"},
      {kCacheHead + "\"cache\": {\"1,2\": {\"x\": " + repeated("[", 100000),
       "nested deeper than 32 levels"},
      {kCacheHead + "\"cache\": {\"1,2\": {\"time\": 1e999}}}", "not the JSON expected"},
      {kCacheHead + "\"cache\": {\"1,2\": {\"time\": 1, \"x\": \"\xff\"}}}", "ill-formed UTF-8"},
  });
}

TEST_CASE("bad T4 results are refused with file, place and reason") {
  check_refused({
      {kT4Head + "]}", "no measurement in \"results\""},
      {kT4Head + "\n1]}", "line 2, column 2: a result that is no object"},
      {kT4Head + "{}]}", "a result without an object \"configuration\""},
      {kT4Head + R"({"configuration": {}}]})", "0 tuning parameters"},
      {kT4Head + R"({"configuration": {"a": 1, "a": 2}}]})", "parameter 'a' is listed twice"},
      {kT4Head + "{\"configuration\": " + repeated("{\"a\":", 50), "nested deeper than 32 levels"},
      {kT4Head + "}", "not the JSON expected"},
      {R"({"metadata": {"timeunit": "fortnights", "device": "d"}, "results": [{"configuration": {"a": 1}}]})",
       "the unit of time is 'fortnights', expected nanoseconds, microseconds, milliseconds or "
       "seconds"},
      {R"({"metadata": {}, "results": [{"configuration": {"a": 1}}]})", "no device name"},
      {R"({"metadata": 1, "results": 7})", "no measurement"},
  });
}

TEST_CASE("bad KTT results in JSON are refused with file, place and reason") {
  const std::string good = R"("KernelName": "k", "Configuration": [{"Name": "a", "Value": 1}])";
  check_refused({
      {kKttHead + "]}", "no measurement in \"Results\""},
      {kKttHead + "\n\n[]]}", "line 3"},
      {kKttHead + "{}]}", "a result without \"Configuration\""},
      {kKttHead + R"({"Configuration": []}]})", "a result without \"KernelName\""},
      {kKttHead + R"({"KernelName": "k", "Configuration": []}]})", "0 tuning parameters"},
      {kKttHead + R"({"KernelName": "k", "Configuration": [{"Name": "a"}]}]})",
       "without \"Name\" or \"Value\""},
      {kKttHead + R"({"KernelName": "k", "Configuration": [3]}]})",
       "without \"Name\" or \"Value\""},
      {R"({"Metadata": {"Device": "d", "TimeUnit": "Moons"}, "Results": [{)" + good + "}]}",
       "TimeUnit is 'Moons'"},
      {R"({"Metadata": {}, "Results": [{)" + good + "}]}", "no device name"},
  });
}

TEST_CASE("bad KTT results in XML are refused with file, place and reason") {
  const std::string good =
      "<KernelResult KernelName=\"k\"><Configuration><Pair Name=\"a\" "
      "Value=\"1\"/></Configuration></KernelResult>\n";
  check_refused(
      {
          {kXmlHead + kXmlTail, "no measurement"},
          {"<TuningData", "no XML of KTT's"},
          {"<x/><TuningData>", "no XML of KTT's"},
          {kXmlHead + good + "</Wrong></TuningData>", "no XML of KTT's"},
          {kXmlHead + "<KernelResult><a></KernelResult>" + kXmlTail,
           "line 3, column 1: a <KernelResult> that is no XML"},
          {kXmlHead + "<KernelResult/>" + good + kXmlTail, "a <KernelResult> that is no XML"},
          {kXmlHead + good + "oops" + good + kXmlTail, "line 4, column 1: expected <KernelResult>"},
          {kXmlHead + "<KernelResult></KernelResult>" + kXmlTail, "without \"Configuration\""},
          {kXmlHead + "<KernelResult KernelName=\"k\">" + repeated("<a>", 5000) +
               "</KernelResult>" + kXmlTail,
           "no XML"},
          {"<TuningData><Results>" + good + kXmlTail, "no device name"},
          {"<TuningData><Metadata Device=\"d\" TimeUnit=\"Moons\"/><Results>" + good + kXmlTail,
           "TimeUnit is 'Moons'"},
          {"<TuningData>" + std::string(std::size_t{17} << 20, ' ') + kXmlTail,
           "more than 16 MiB outside"},
          {kXmlHead + "<KernelResult>" + std::string(std::size_t{17} << 20, ' ') +
               "</KernelResult>" + kXmlTail,
           "a <KernelResult> of more than 16 MiB"},
      },
      "folder/bad.xml");
}

TEST_CASE("bad CLBlast results are refused with file, place and reason") {
  check_refused({
      {kClblastHead + "]}", "no measurement in \"results\""},
      {kClblastHead + "2]}", "a result that is no object"},
      {kClblastHead + "{}]}", "a result without \"parameters\""},
      {kClblastHead + R"({"parameters": {"a": 1}}]})", "a result without \"kernel\""},
      {kClblastHead + R"({"kernel": "k", "time": 1, "parameters": {}}]})", "0 tuning parameters"},
      {R"({"kernel_family": "f", "results": [{"kernel": "k", "time": 1, "parameters": {"a": 1}}]})",
       "no device name"},
      {R"({"kernel_family": "f", "device": "a"b", "results": []})", "not the JSON expected"},
  });
}

TEST_CASE("what would take too much memory is refused") {
  const StatusCode code = StatusCode::out_of_memory;
  std::string many_extras = kCacheHead + "\"cache\": {\"1,2\": {\"time\": 1";
  for (int i = 0; i < 5000; ++i) many_extras += ", \"x" + std::to_string(i) + "\": 1";
  many_extras += "}}}";
  std::string many_kernels = kKttHead;
  for (int i = 0; i < 100; ++i) {
    many_kernels += (i > 0 ? "," : "") + std::string("{\"KernelName\": \"k") + std::to_string(i) +
                    "\", \"Configuration\": [{\"Name\": \"a\", \"Value\": 1}]}";
  }
  std::string many_members = "{";
  for (int i = 0; i < 2000; ++i) many_members += "\"m" + std::to_string(i) + "\": 1, ";
  check_refused({
      {many_extras, "more than 4096 different things recorded per configuration", code},
      {kT4Head + "{\"configuration\": {\"a\": [" + repeated("1,", std::size_t{1} << 20) + "1]}}]}",
       "more than a million values", code},
      {many_kernels + "]}", "more than 64 kernels"},
      {many_members + "\"tune_params_keys\": []}", "more than 1,000 members at the top level"},
  });
}

TEST_CASE("a few wide configurations among many narrow ones do not multiply") {
  // 3,000 different extras, then rows until the limit on cells: refused long before memory runs
  // out.
  std::string text = kCacheHead + "\"cache\": {\"0,0\": {\"time\": 1";
  for (int i = 0; i < 3000; ++i) text += ", \"x" + std::to_string(i) + "\": 1";
  text += "}";
  for (int i = 1; i < 12000; ++i) text += ", \"" + std::to_string(i) + ",0\": {\"time\": 1}";
  text += "}}";
  check_refused({{text, "more than 4 million configurations or 32 million values",
                  StatusCode::out_of_memory}});
}

TEST_CASE("a gzip bomb is refused before it is unpacked") {
  // Members of a mebibyte of blanks each: 1,000 times smaller than what they hold.
  const std::vector<std::uint8_t> member = read_bytes(test_data("history_bombs/blanks.gz"));
  std::vector<std::uint8_t> bomb;
  for (int i = 0; i < 40; ++i) bomb.insert(bomb.end(), member.begin(), member.end());
  ImportOptions options;
  options.limit_bytes = std::size_t{32} << 20;
  const auto imported = import_histories(bomb, "bomb.json.gz", options);
  CHECK(imported.code() == StatusCode::out_of_memory);
  CHECK(imported.status().message() == "bomb.json.gz: more than 32 MiB when unpacked");
}

TEST_CASE("a gzip file cut at any byte gives its complete configurations or one line") {
  const std::string path = test_data("history_bombs/words.json.gz");
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  std::size_t most = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const auto imported = import_histories(Bytes(bytes.data(), size), path);
    if (!imported.ok()) {
      CHECK(imported.status().message().find(path) == 0);
      continue;
    }
    CHECK(imported->front().rows() >= most);
    most = imported->front().rows();
  }
  CHECK(most == 8);
}

TEST_CASE("a cache with as many extras as are taken becomes a file that is read again") {
  std::string text = kCacheHead + "\"cache\": {\"1,2\": {\"time\": 1.5";
  for (int i = 0; i < 4096; ++i) text += ", \"x" + std::to_string(i) + "\": " + std::to_string(i);
  const auto imported = required(import_kernel_tuner(text + "}}}", "some.json"));
  CHECK(imported.extras.size() == 4096);
  const auto read = required(read_history(write_history(imported), "some.ithistory"));
  CHECK(read == imported);
}
