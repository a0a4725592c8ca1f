#include "agent/lab/replay_device.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

using namespace idletune;
using replay::MemoryTable;
using replay::ReplayDevice;
using replay::ReplayOptions;

namespace {

Nanoseconds us(std::int64_t value) { return Nanoseconds(value * 1000); }

MemoryTable table_of_all_statuses() {
  DeviceInfo device;
  device.name = "board";
  device.compute_units = 4;
  MemoryTable table(device, {"WG", "UNROLL"});
  const auto add = [&table](std::int64_t wg, TrialStatus status, std::vector<Nanoseconds> samples) {
    REQUIRE(table.add({wg, 1}, status, std::move(samples), us(1000)).ok());
  };
  add(1, TrialStatus::correct, {us(100), us(110), us(120)});
  add(2, TrialStatus::compile, {});
  add(3, TrialStatus::runtime, {});
  add(4, TrialStatus::correctness, {us(50)});
  add(5, TrialStatus::timeout, {});
  add(6, TrialStatus::constraints, {});
  add(7, TrialStatus::crash, {});
  return table;
}

Result<std::unique_ptr<Program>> compile(ReplayDevice& device, const std::string& options) {
  CompileRequest request;
  request.source = "unused";
  request.entry = "kernel";
  request.options = options;
  return device.compile(request);
}

std::unique_ptr<Program> compiled(ReplayDevice& device, int wg) {
  auto program = compile(device, "-DWG=" + std::to_string(wg) + " -DUNROLL=1");
  REQUIRE(program.ok());
  return std::move(*program);
}

// Status of one run with no arguments.
Result<RunTimes> run(ReplayDevice& device, Program& program, Nanoseconds deadline = us(1000000)) {
  return device.run(program, Range(), {}, deadline);
}

}  // namespace

TEST_CASE("compiling and running advance the virtual clock by what was recorded") {
  const MemoryTable table = table_of_all_statuses();
  ReplayOptions options;
  options.start = us(7);
  options.launch_overhead = us(5);
  ReplayDevice device(table, options);
  CHECK(device.now() == us(7));
  CHECK(device.info().backend == "replay");
  const auto program = compiled(device, 1);
  CHECK(device.now() == us(1007));
  Nanoseconds expected = device.now();
  for (int i = 0; i < 20; ++i) {
    const auto times = run(device, *program);
    REQUIRE(times.ok());
    CHECK(times->wall == times->device + us(5));
    expected += times->wall;
    CHECK(device.now() == expected);
  }
  device.advance(us(3));
  device.advance(us(-3));
  CHECK(device.now() == expected + us(3));
}

TEST_CASE("samples are chosen among the recorded ones, the same for the same seed") {
  const MemoryTable table = table_of_all_statuses();
  const auto play = [&table](std::uint64_t seed) {
    ReplayOptions options;
    options.seed = seed;
    ReplayDevice device(table, options);
    const auto program = compiled(device, 1);
    std::vector<std::int64_t> samples;
    for (int i = 0; i < 300; ++i) samples.push_back(run(device, *program)->device.count());
    return samples;
  };
  CHECK(play(1) == play(1));
  CHECK(play(1) != play(2));
  std::map<std::int64_t, int> counts;
  for (std::int64_t sample : play(1)) ++counts[sample];
  REQUIRE(counts.size() == 3);
  for (const auto& [sample, count] : counts) {
    CAPTURE(sample);
    CHECK(count > 60);  // 100 expected, standard deviation 8.2
    CHECK(count < 140);
  }
}

TEST_CASE("recorded failures come at the stage where they happened") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  CHECK(compile(device, "-DWG=2 -DUNROLL=1").code() == StatusCode::compile_error);
  CHECK(device.now() == us(1000));  // a failing compile takes its time too
  CHECK(compile(device, "-DWG=6 -DUNROLL=1").code() == StatusCode::invalid_argument);
  CHECK(run(device, *compiled(device, 3)).code() == StatusCode::device_error);
  const auto crash = run(device, *compiled(device, 7));
  CHECK(crash.code() == StatusCode::device_error);
  CHECK(crash.status().message() == "crash");
  CHECK(run(device, *compiled(device, 4)).code() == StatusCode::corrupt);
}

TEST_CASE("a hanging run lasts until the deadline") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  const auto program = compiled(device, 5);
  const Nanoseconds before = device.now();
  CHECK(run(device, *program, us(250)).code() == StatusCode::timeout);
  CHECK(device.now() == before + us(250));
  CHECK(run(device, *program, Nanoseconds(0)).code() == StatusCode::timeout);
  CHECK(device.now() ==
        before + us(250) + ReplayOptions().hang_time + ReplayOptions().launch_overhead);
}

TEST_CASE("a run slower than its deadline is a timeout at the deadline") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  const auto program = compiled(device, 1);
  const Nanoseconds before = device.now();
  CHECK(run(device, *program, us(60)).code() == StatusCode::timeout);
  CHECK(device.now() == before + us(60));
}

TEST_CASE("the configuration is read from the compile options") {
  const MemoryTable table = table_of_all_statuses();
  const ReplayDevice device(table);
  CHECK(*device.parse_options("-DWG=8 -DUNROLL=-2") == Configuration{8, -2});
  CHECK(*device.parse_options("  -cl-fast-relaxed-math -D WG=8\t-DOTHER=x -DFLAG -DUNROLL=2 ") ==
        Configuration{8, 2});
  CHECK(*device.parse_options("-DWG=1 -DUNROLL=2 -DWG=3") == Configuration{3, 2});
  CHECK(device.parse_options("-DOTHER=1")->empty());
  CHECK(device.parse_options("")->empty());
  CHECK(device.parse_options("-D")->empty());
  const auto missing = device.parse_options("-DWG=8");
  CHECK(missing.code() == StatusCode::invalid_argument);
  CHECK(missing.status().message() ==
        "compile options lack a definition of tuning parameter 'UNROLL'");
  for (const char* bad : {"-DWG=8x -DUNROLL=1", "-DWG= -DUNROLL=1", "-DWG=1.5 -DUNROLL=1",
                          "-DWG=99999999999999999999 -DUNROLL=1"}) {
    CAPTURE(bad);
    CHECK(device.parse_options(bad).code() == StatusCode::invalid_argument);
  }
}

TEST_CASE("a configuration that was not measured cannot be compiled") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  CHECK(compile(device, "-DWG=100 -DUNROLL=1").code() == StatusCode::invalid_argument);
  CHECK(device.now() == Nanoseconds(0));
}

TEST_CASE("a program without tuning parameters is the reference") {
  const MemoryTable table = table_of_all_statuses();
  ReplayOptions options;
  options.reference_run = us(40);
  ReplayDevice device(table, options);
  auto program = compile(device, "-cl-std=CL1.2");
  REQUIRE(program.ok());
  CHECK(device.now() == Nanoseconds(0));
  CHECK(run(device, **program)->device == us(40));
}

TEST_CASE("buffers are memory that writes and reads reach within their bounds") {
  const MemoryTable table = table_of_all_statuses();
  ReplayOptions options;
  options.copy_bytes_per_ns = 0.5;
  ReplayDevice device(table, options);
  auto buffer = device.allocate(8);
  REQUIRE(buffer.ok());
  CHECK((*buffer)->size_bytes() == 8);
  const std::array<std::uint8_t, 4> data{1, 2, 3, 4};
  REQUIRE(device.write(**buffer, 4, data).ok());
  CHECK(device.now() == Nanoseconds(8));
  std::array<std::uint8_t, 8> back{};
  REQUIRE(device.read(**buffer, 0, back).ok());
  CHECK(back == std::array<std::uint8_t, 8>{0, 0, 0, 0, 1, 2, 3, 4});
  CHECK(device.now() == Nanoseconds(24));
  CHECK(device.write(**buffer, 5, data).code() == StatusCode::invalid_argument);
  CHECK(device.read(**buffer, SIZE_MAX, back).code() == StatusCode::invalid_argument);
  CHECK(device.now() == Nanoseconds(24));
  REQUIRE(device.allocate(0).ok());
}

TEST_CASE("a correct run leaves buffers alone and a wrong one spoils them where outputs are read") {
  const MemoryTable table = table_of_all_statuses();
  ReplayOptions options;
  options.outputs_are_read = true;
  ReplayDevice device(table, options);
  auto buffer = device.allocate(4);
  REQUIRE(buffer.ok());
  const std::array<std::uint8_t, 4> data{1, 2, 3, 250};
  REQUIRE(device.write(**buffer, 0, data).ok());
  const std::vector<Argument> arguments{Argument(std::int32_t{7}), (*buffer)->argument()};
  std::array<std::uint8_t, 4> back{};

  const auto right = compiled(device, 1);
  REQUIRE(device.run(*right, Range(), arguments, us(10000)).ok());
  REQUIRE(device.read(**buffer, 0, back).ok());
  CHECK(back == data);

  const auto wrong = compiled(device, 4);
  REQUIRE(device.run(*wrong, Range(), arguments, us(10000)).ok());
  REQUIRE(device.read(**buffer, 0, back).ok());
  CHECK(back == std::array<std::uint8_t, 4>{254, 253, 252, 5});
}

TEST_CASE("an application's launch takes its time and can be profiled") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  const auto program = compiled(device, 1);
  const Nanoseconds before = device.now();
  void* profile = nullptr;
  REQUIRE(program->enqueue(0, Range(), {}, LaunchOptions(), &profile).ok());
  REQUIRE(profile != nullptr);
  const auto time = device.elapsed(profile);
  REQUIRE(time.ok());
  CHECK(device.now() == before + *time + ReplayOptions().launch_overhead);
  REQUIRE(program->enqueue(0, Range(), {}, LaunchOptions(), nullptr).ok());
  CHECK(program->enqueue(1, Range(), {}, LaunchOptions(), nullptr).code() ==
        StatusCode::invalid_argument);
  CHECK(device.elapsed(nullptr).code() == StatusCode::invalid_argument);
}

TEST_CASE("the virtual clock stops at its end instead of wrapping") {
  const MemoryTable table = table_of_all_statuses();
  ReplayDevice device(table);
  device.advance(us(1));
  device.advance(Nanoseconds::max());
  CHECK(device.now() == Nanoseconds::max());
  device.advance(us(1));
  CHECK(device.now() == Nanoseconds::max());
}
